with

product as (

    select * from {{ ref('cur_products') }}

),

order_item as (

    select * from {{ ref('cur_order_items') }}

),

sold_product as (

    select
        sku,
        cast(sum(qty * unit_price) as decimal(18, 2)) as ordered_amount,
        sum(qty) as ordered_quantity
    from order_item
    group by sku

)

select
    -- identity
    product.sku,
    product.name as product_name,

    -- amounts
    product.price,
    cast(coalesce(sold_product.ordered_amount, 0) as decimal(18, 2)) as ordered_amount,

    -- quantities
    product.made as made_quantity,
    product.stock as stock_quantity,
    coalesce(sold_product.ordered_quantity, 0) as ordered_quantity
from product
left join sold_product
    on product.sku = sold_product.sku
