with

customer_order as (

    select * from {{ ref('cur_orders') }}

),

payment as (

    select * from {{ ref('cur_payments') }}

),

dated_order as (

    select
        id,
        status,
        total,
        to_date(placed_at) as ordered_on
    from customer_order

),

order_payment as (

    select
        order_id,
        sum(amount) as paid_amount
    from payment
    group by order_id

)

select
    -- identity
    dated_order.ordered_on,

    -- amounts
    cast(sum(dated_order.total) as decimal(18, 2)) as ordered_amount,
    cast(coalesce(sum(order_payment.paid_amount), 0) as decimal(18, 2)) as paid_amount,

    -- counts
    count(*) as order_count,
    count_if(dated_order.status = 'paid') as paid_order_count
from dated_order
left join order_payment
    on dated_order.id = order_payment.order_id
group by dated_order.ordered_on
