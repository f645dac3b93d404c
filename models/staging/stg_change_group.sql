{%- if not run_has('lone_change') -%}
{{ no_rows({
    'source': 'string', 'transaction_id': 'string', 'group_id': 'string', 'boundary_position': 'string',
}) }}
{%- else -%}
with

message as (

    select
        *,
        {{ epoch_of('event_position') }} as epoch,
        -- Neither a GTID nor a transaction block: the id is the change's own place.
        coalesce(
            kind = 'change'
            and snapshot is null
            and not is_whole_transaction
            and total_order is null
            and startswith(log_position, 'file#'),
            false
        ) as is_lone
    from {{ ref('stg_message') }}
    where
        connector in ('mysql', 'mariadb')
        and kind in ('change', 'schema_change')
        and event_position is not null
        -- A read of a window stands inside the transaction that closes it.
        and coalesce(snapshot != 'incremental', true)

),

lone_source as (

    select source from message
    where is_lone and not is_already_published

),

-- What else stands in the log of such a source is a transaction of its own, or a snapshot.
place as (

    select
        message.source,
        message.is_lone,
        substr(message.event_position, 1, length(message.epoch) + 10) as log_file,
        split_part(message.event_position, ':', -1) as server_id,
        case when message.is_lone then message.transaction_id end as transaction_id,
        min(message.event_position) as event_position
    from message
    left semi join lone_source
        on message.source = lone_source.source
    where not message.is_already_published
    group by
        message.source,
        message.is_lone,
        substr(message.event_position, 1, length(message.epoch) + 10),
        split_part(message.event_position, ':', -1),
        case when message.is_lone then message.transaction_id else message.event_position end,
        case when message.is_lone then message.transaction_id end

),

-- A transaction stays in one file, and one server writes it.
ordered_place as (

    select
        *,
        lead(event_position) over (
            partition by source, log_file
            order by event_position, is_lone
        ) as next_position,
        coalesce(
            is_lone and server_id = lag(case when is_lone then server_id end) over (
                partition by source, log_file
                order by event_position, is_lone
            ),
            false
        ) as is_joined
    from place

),

numbered_place as (

    select
        *,
        count_if(not is_joined) over (
            partition by source, log_file
            order by event_position, is_lone
            rows between unbounded preceding and current row
        ) as group_number
    from ordered_place

),

next_file as (

    select
        source,
        log_file,
        lead(min(event_position)) over (
            partition by source
            order by log_file
        ) as next_file_position
    from place
    group by source, log_file

)

select
    -- identity
    numbered.source,
    numbered.transaction_id,

    -- its group
    max_by(numbered.transaction_id, numbered.event_position) over (
        partition by numbered.source, numbered.log_file, numbered.group_number
    ) as group_id,
    coalesce(
        max_by(numbered.next_position, numbered.event_position) over (
            partition by numbered.source, numbered.log_file, numbered.group_number
        ),
        next_file.next_file_position
    ) as boundary_position
from numbered_place as numbered
inner join next_file
    on numbered.source = next_file.source and numbered.log_file = next_file.log_file
where numbered.is_lone
union all
-- What comes again belongs to the commit that reached it.
select
    late.source,
    late.transaction_id,
    min_by(published.transaction_id, published.log_position) as group_id,
    cast(null as string) as boundary_position
from message as late
inner join {{ source('pointer', 'commit') }} as published
    on
        late.source = published.source
        and late.log_position <= published.log_position
        and startswith(published.log_position, 'file#')
        and published.cut_id <= {{ candidate('starting_cut_id') }}
where late.is_lone and late.is_already_published
group by late.source, late.transaction_id
{%- endif %}
