with

customer as (

    select * from {{ ref('cur_customers') }}

),

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

),

customer_total as (

    select
        customer_order.customer_id,
        count(*) as order_count,
        sum(customer_order.total) as ordered_amount,
        coalesce(sum(order_payment.paid_amount), 0) as paid_amount
    from customer_order
    left join order_payment
        on customer_order.id = order_payment.order_id
    group by customer_order.customer_id

)

select
    -- identity
    customer.id as customer_id,
    customer.email,

    -- amounts
    cast(coalesce(customer_total.ordered_amount, 0) as decimal(18, 2)) as ordered_amount,
    cast(coalesce(customer_total.paid_amount, 0) as decimal(18, 2)) as paid_amount,
    customer.balance,

    -- counts
    coalesce(customer_total.order_count, 0) as order_count
from customer
left join customer_total
    on customer.id = customer_total.customer_id
