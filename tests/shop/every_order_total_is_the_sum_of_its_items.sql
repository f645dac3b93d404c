with

customer_order as (

    select
        built.id,
        built.total,
        built._change.source
    from {{ ref('cur_orders') }} as built

),

order_item as (

    select
        built._change.source,
        built.order_id,
        sum(built.qty * built.unit_price) as item_amount
    from {{ ref('cur_order_items') }} as built
    group by built._change.source, built.order_id

)

select
    customer_order.source,
    customer_order.id,
    customer_order.total,
    order_item.order_id,
    order_item.item_amount
from customer_order
full join order_item
    on
        customer_order.source = order_item.source
        and customer_order.id = order_item.order_id
where customer_order.total is distinct from coalesce(order_item.item_amount, 0)
