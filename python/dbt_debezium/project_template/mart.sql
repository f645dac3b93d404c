{{ config(enabled=false) }}
-- An example of a mart: it switches to a new commit together with the tables. Once `scaffold` has written models, name
-- one of yours in place of cur_orders, and remove the first line.
select
    status,
    count(*) as order_count
from {{ ref('cur_orders') }}
group by status
