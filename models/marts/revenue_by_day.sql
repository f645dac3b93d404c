with

customer_order as (

    select * from {{ ref('cur_orders') }}

),

payment as (

    select * from {{ ref('cur_payments') }}

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
    to_date(customer_order.placed_at) as ordered_on,

    -- amounts
    count(*) as order_count,
    count_if(customer_order.status = 'paid') as paid_order_count,
    cast(sum(customer_order.total) as decimal(18, 2)) as ordered_amount,
    cast(coalesce(sum(order_payment.paid_amount), 0) as decimal(18, 2)) as paid_amount
from customer_order
left join order_payment
    on customer_order.id = order_payment.order_id
group by to_date(customer_order.placed_at)
