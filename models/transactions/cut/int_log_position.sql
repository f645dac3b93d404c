{%- if not run_has('numbered_log', 'starting_log') -%}
{{ no_rows({'source': 'string', 'log_positions': 'map<string, string>'}) }}
{%- else -%}
with

reached_log as (

    select
        source,
        split_part(log_position, '#', 1) as log,
        max(greatest(
            split_part(log_position, '#', 2),
            case when startswith(log_position, 'file#') then last_event_position end
        )) as log_number
    from {{ ref('int_proven_link') }}
    where log_position is not null
    group by source, split_part(log_position, '#', 1)
    union all
    -- Where the last change stands, which no GTID says.
    select
        source,
        'place' as log,
        max(last_event_position) as log_number
    from {{ ref('int_proven_link') }}
    where log_position is not null and last_event_position is not null
    group by source

),

starting_log as (

    select
        source,
        explode(log_positions) as (log, log_number)
    from {{ ref('int_starting_commit') }}

),

latest_log as (

    select
        coalesce(reached_log.source, starting_log.source) as source,
        coalesce(reached_log.log, starting_log.log) as log,
        greatest(reached_log.log_number, starting_log.log_number) as log_number
    from reached_log
    full join starting_log
        on reached_log.source = starting_log.source and reached_log.log = starting_log.log

),

waiting_log as (

    select
        latest_log.source,
        latest_log.log,
        min(split_part(waiting.log_position, '#', 2)) as log_number
    from latest_log
    inner join {{ ref('int_transaction') }} as waiting
        on
            latest_log.source = waiting.source
            and latest_log.log = split_part(waiting.log_position, '#', 1)
            and latest_log.log_number < split_part(waiting.log_position, '#', 2)
    group by latest_log.source, latest_log.log

),

known_number as (

    select
        source,
        log,
        {{ offset_position('log_number') }} as log_number,
        island
    from {{ ref('int_log_island') }}

),

-- Statements of DDL have numbers too, and no place in the chain: past those that follow the last
-- link, up to the next transaction that is held.
passed_log as (

    select
        latest_log.source,
        latest_log.log,
        coalesce(max(passed.log_number), max(latest_log.log_number)) as log_number
    from latest_log
    left join known_number as latest_known
        on
            latest_log.source = latest_known.source
            and latest_log.log = latest_known.log
            and latest_log.log_number = latest_known.log_number
    left join known_number as passed
        on
            latest_known.source = passed.source
            and latest_known.log = passed.log
            and latest_known.island = passed.island
    left join waiting_log
        on latest_log.source = waiting_log.source and latest_log.log = waiting_log.log
    where
        passed.log_number is null
        or (
            passed.log_number >= latest_log.log_number
            and coalesce(passed.log_number < waiting_log.log_number, true)
        )
    group by latest_log.source, latest_log.log

)

select
    -- identity
    source,

    -- position
    map_from_entries(collect_list(struct(log, log_number))) as log_positions
from passed_log
group by source
{%- endif %}
