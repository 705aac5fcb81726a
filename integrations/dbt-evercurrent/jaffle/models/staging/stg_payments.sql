select id as payment_id, order_id, method, cast(cents / 100.0 as decimal(12, 2)) as amount from {{ ref('raw_payments') }}
