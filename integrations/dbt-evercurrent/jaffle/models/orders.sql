{%- set methods = ['card', 'coupon', 'transfer', 'gift'] -%}

with paid as (
    select
        order_id,
        {% for method in methods -%}
        sum(case when method = '{{ method }}' then amount else 0 end) as {{ method }}_amount,
        {% endfor -%}
        sum(amount) as amount
    from {{ ref('stg_payments') }}
    group by order_id
)

select
    o.order_id,
    o.customer_id,
    o.ordered_on,
    o.status,
    {% for method in methods -%}
    coalesce(p.{{ method }}_amount, 0) as {{ method }}_amount,
    {% endfor -%}
    coalesce(p.amount, 0) as amount
from {{ ref('stg_orders') }} as o
left join paid as p on p.order_id = o.order_id
