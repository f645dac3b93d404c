{%- if not run_has('new_transaction_topic') -%}
{{ no_rows({'topic': 'string', 'source_prefixes': 'array<string>'}) }}
{%- else -%}
with

named_topic as (

    select * from {{ ref('int_named_topic') }}

),

-- Topics under another name: MirrorMaker puts an alias before it, `topic.transaction`,
-- `topic.delimiter` and transforms change it. Whose BEGIN and END they hold is shown by ids and
-- counts together: equal ids occur in two databases (S0).
nameless_end as (

    select marker.*
    from {{ ref('stg_message') }} as marker
    left semi join named_topic
        on marker.topic = named_topic.topic and named_topic.source_prefix is null
    where marker.kind = 'transaction_marker' and marker.marker = 'END'

),

counted_change as (

    select
        sent.source_prefix,
        sent.connector,
        sent.database_name,
        sent.transaction_id,
        sent.data_collection,
        count(distinct sent.event_hash, sent.event_position) as received_count,
        max(sent.event_position) as last_event_position
    from {{ ref('int_prefixed_change') }} as sent
    left semi join nameless_end
        on sent.transaction_id = nameless_end.transaction_id
    where sent.snapshot is null
    group by
        sent.source_prefix,
        sent.connector,
        sent.database_name,
        sent.transaction_id,
        sent.data_collection

),

compared_source as (

    select
        nameless_end.topic,
        counted.source_prefix,
        bool_or(
            nameless_end.collection_counts[counted.data_collection] = counted.received_count
        ) as has_equal_count,
        bool_and(
            coalesce(
                nameless_end.collection_counts[counted.data_collection] >= counted.received_count,
                false
            )
            -- PostgreSQL: the LSN of END lies behind all changes of its transaction.
            and coalesce(
                counted.connector != 'postgresql'
                or nameless_end.commit_position >= counted.last_event_position,
                true
            )
        ) as agrees,
        bool_and(
            nameless_end.transaction_id like '________-____-____-____-____________:%'
        ) as has_own_ids
    from nameless_end
    inner join counted_change as counted
        on
            nameless_end.transaction_id = counted.transaction_id
            and coalesce(
                nameless_end.connector = counted.connector,
                counted.connector in ('mysql', 'mariadb', 'sqlserver', 'db2')
            )
            and coalesce(nameless_end.database_name = counted.database_name, true)
    group by nameless_end.topic, counted.source_prefix

),

-- A topic whose name contains that of a source belongs to no other source.
possible_source as (

    select
        nameless.topic,
        known_prefix.source_prefix,
        coalesce(compared.has_equal_count and compared.agrees, false) as is_shown,
        coalesce(compared.has_own_ids, false) as has_own_ids,
        contains(
            concat('.', translate(nameless.topic, '-_/:', '....'), '.'),
            concat('.', translate(known_prefix.source_prefix, '-_/:', '....'), '.')
        ) as has_its_name
    from named_topic as nameless
    inner join {{ ref('int_known_prefix') }} as known_prefix
        on nameless.source_prefix is null
    left join compared_source as compared
        on
            nameless.topic = compared.topic
            and known_prefix.source_prefix = compared.source_prefix

)

select
    -- identity
    topic,

    -- where it comes from
    case
        when bool_or(has_its_name)
            then collect_set(case when has_its_name and is_shown then source_prefix end)
        -- A default name that fits no known source is that of one of which nothing has landed
        -- yet. Only ids that no two databases give out show another source: GTIDs of MySQL, but
        -- not the ids of young servers of PostgreSQL.
        else collect_set(
            case
                when is_shown and (has_own_ids or not endswith(topic, '.transaction'))
                    then source_prefix
            end
        )
    end as source_prefixes
from possible_source
group by topic
{%- endif %}
