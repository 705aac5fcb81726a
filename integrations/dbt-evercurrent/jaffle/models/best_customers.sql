select customer_id, first_name, lifetime_value
from {{ ref('customers') }}
order by lifetime_value desc
limit 3
