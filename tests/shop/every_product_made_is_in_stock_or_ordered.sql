with

product as (

    select
        built.sku,
        built.made,
        built.stock,
        built._change.source
    from {{ ref('cur_products') }} as built

),

ordered_product as (

    select
        built._change.source,
        built.sku,
        sum(built.qty) as ordered_quantity
    from {{ ref('cur_order_items') }} as built
    group by built._change.source, built.sku

)

select
    product.source,
    product.sku,
    product.made,
    product.stock,
    ordered_product.sku as ordered_sku,
    ordered_product.ordered_quantity
from product
full join ordered_product
    on
        product.source = ordered_product.source
        and product.sku = ordered_product.sku
where product.stock + coalesce(ordered_product.ordered_quantity, 0) is distinct from product.made
