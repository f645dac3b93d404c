with

open_unit as (

    select
        source,
        unit_kind,
        unit_id
    from {{ ref('proof') }}
    where cut_id = {{ candidate('cut_id') }} and kind = 'open'

),

refused_source as (

    select source from {{ ref('proof') }}
    where cut_id = {{ candidate('cut_id') }} and kind = 'refusal'

)

select
    {{ candidate('cut_id') }}L as cut_id,
    {{ staged_columns('message') }}
from {{ ref('int_message') }} as message
left join open_unit
    on
        message.source = open_unit.source
        and message.unit_kind = open_unit.unit_kind
        and message.unit_id = open_unit.unit_id
left join refused_source
    on message.source = refused_source.source and not message.is_unplaced
where
    not message.is_repeated_delivery
    and (
        open_unit.source is not null
        -- A change of which nothing tells a transaction waits for one.
        or (message.kind = 'change' and message.unit_id is null)
        or message.is_unplaced
        or refused_source.source is not null
    )
