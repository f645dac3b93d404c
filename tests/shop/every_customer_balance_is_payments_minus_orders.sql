with

customer_entry as (

    select
        customer_order._change.source,
        customer_order.customer_id,
        -customer_order.total as amount
    from {{ ref('cur_orders') }} as customer_order
    union all
    select
        customer_order._change.source,
        customer_order.customer_id,
        payment.amount
    from {{ ref('cur_payments') }} as payment
    inner join {{ ref('cur_orders') }} as customer_order
        on
            payment._change.source = customer_order._change.source
            and payment.order_id = customer_order.id

),

customer_amount as (

    select
        source,
        customer_id,
        sum(amount) as entry_amount
    from customer_entry
    group by source, customer_id

),

customer as (

    select
        built.id,
        built.balance,
        built._change.source
    from {{ ref('cur_customers') }} as built

)

select
    customer.source,
    customer.id,
    customer.balance,
    customer_amount.customer_id,
    customer_amount.entry_amount
from customer
full join customer_amount
    on
        customer.source = customer_amount.source
        and customer.id = customer_amount.customer_id
where customer.balance is distinct from coalesce(customer_amount.entry_amount, 0)
