{#- What judge_sources is given. Of a message: evidence.COLUMNS, by those of int_message. -#}
{%- set types = {
    'judged_source': 'string', 'said': 'string', 'content': 'string', 'settings': 'string', 'number': 'bigint',
    'flag': 'boolean', 'topic': 'string', 'partition': 'bigint', '`offset`': 'bigint', 'kind': 'string',
    'source': 'string', 'connector': 'string', 'database_name': 'string', 'data_collection': 'string',
    'operation': 'string', 'snapshot': 'string', 'unit_kind': 'string', 'unit_id': 'string',
    'transaction_id': 'string', 'is_whole_transaction': 'boolean', 'marker': 'string', 'event_count': 'bigint',
    'collection_counts': 'map<string, bigint>', 'commit_position': 'string', 'log_position': 'string',
    'previous_commit_position': 'string', 'event_position': 'string', 'total_order': 'bigint',
    'data_collection_order': 'bigint', 'committed_at_micros': 'bigint', 'landed_at_micros': 'bigint',
    'leaves_key': 'boolean', 'enters_key': 'boolean', 'signal_type': 'string', 'asks_blocking': 'boolean',
    'emptied_tables': 'array<string>', 'new_names': 'array<string>', 'event_hash': 'bigint', 'content_hash': 'bigint', 'order_hash': 'bigint',
} -%}
{%- set told = {
    'partition': 'cast(partition as bigint)', 'committed_at_micros': 'unix_micros(committed_at)',
    'landed_at_micros': 'unix_micros(landed_at)', 'leaves_key': 'new_row_key is not null',
    'enters_key': 'old_row_key is not null',
} -%}
{%- set facts = ['said', 'content', 'settings', 'number', 'flag'] -%}
{%- set sent = {} -%}
{%- for name in types if name not in facts -%}
{%- do sent.update({name: told.get(name, name)}) -%}
{%- endfor -%}
with

topic as (

    select
        *,
        explode(judged_sources) as judged_source
    from {{ ref('int_topic') }}
    where cut_id = {{ candidate('cut_id') }}

),

-- What landings saw at the ends of partitions, also if they brought nothing. Maintenance may have
-- joined one with later ones. Silence counts from the look after a read, or after a signal, which
-- may ask for reads of an empty table.
look as (

    select * from {{ source('landing', 'range') }}
    where is_landed

),

looked_at as (

    select
        landed.landing_id,
        min_by(look.fetched_at, look.landing_id) as landed_at
    from (
        select distinct landing_id from {{ ref('stg_message') }}
        where snapshot is not null or signal_type is not null
    ) as landed
    inner join look
        on landed.landing_id <= look.landing_id
    group by landed.landing_id

),

message as (

    select
        message.* except (judged_sources, is_unplaced, kind, unit_kind, unit_id),
        topic.judged_source,
        looked_at.landed_at,
        case
            -- BEGIN and END stand among those of other databases, and what cannot be read may be of
            -- any source that sends to the topic.
            when
                message.source = topic.judged_source
                or message.kind in ('transaction_marker', 'quarantined')
                then message.kind
            else 'foreign'
        end as kind,
        case when message.source = topic.judged_source then message.unit_kind else 'foreign' end
            as unit_kind,
        case when message.source = topic.judged_source then message.unit_id end as unit_id
    from {{ ref('int_message') }} as message
    inner join topic
        on message.topic = topic.topic
    left join looked_at
        on
            message.landing_id = looked_at.landing_id
            and (message.snapshot is not null or message.signal_type is not null)
    where not message.is_unplaced

),

known_state as (

    {% if is_incremental() -%}
    select
        source,
        content
    from {{ this }}
    where cut_id = {{ candidate('starting_cut_id') }} and kind = 'state'
    {%- else -%}
    select
        '' as source,
        '' as content
    where false
    {%- endif %}

),

-- A topic may have belonged to another source until now, by its name or by messages that cannot be
-- read: the state of that source knows what has landed of it.
earlier_state as (

    select
        topic.judged_source,
        known.source,
        known.content
    from topic
    inner join {{ source('pointer', 'int_topic') }} as earlier
        on topic.topic = earlier.topic and earlier.cut_id = {{ candidate('starting_cut_id') }}
    inner join known_state as known
        on array_contains(earlier.judged_sources, known.source)
    where not array_contains(earlier.judged_sources, topic.judged_source)
    group by all

),

-- Units of this run that an earlier run has settled.
settled as (

    select
        known.source,
        known.unit_kind,
        known.unit_id,
        known.position,
        known.committed_at
    from {{ source('pointer', 'settled_unit') }} as known
    left semi join {{ ref('int_message') }} as message
        on
            known.source = message.source
            and known.unit_id = coalesce(message.transaction_id, message.unit_id)
    where known.cut_id <= {{ candidate('starting_cut_id') }}

),

given as (

    select
        {{ row_of(types, sent) }}
    from message
    union all
    select
        {{ row_of(types, {
            'said': "'source'", 'judged_source': 'judged.source', 'content': 'known.content',
            'settings': judge_settings(),
        }) }}
    from (
        select judged_source as source from topic
        union distinct
        select source from known_state
    ) as judged
    left join known_state as known
        on judged.source = known.source
    union all
    select
        {{ row_of(types, {
            'said': "'topic'", 'judged_source': 'judged_source', 'topic': 'topic', 'content': 'role', 'flag': 'is_leading',
        }) }}
    from topic
    union all
    select
        {{ row_of(types, {
            'said': "'settled'", 'judged_source': 'source', 'transaction_id': 'unit_id', 'content': 'position',
            'committed_at_micros': 'unix_micros(committed_at)',
        }) }}
    from settled
    where unit_kind = 'transaction'
    union all
    select
        {{ row_of(types, {
            'said': "'settled_snapshot'", 'judged_source': 'source', 'unit_id': 'unit_id',
        }) }}
    from settled
    where unit_kind = 'snapshot'
    union all
    select
        {{ row_of(types, {
            'said': "'decision'", 'judged_source': 'source', 'transaction_id': 'transaction_id', 'content': 'decision',
        }) }}
    from {{ ref('int_operator_decision') }}
    -- Others begin an epoch, which is in the positions.
    where not startswith(transaction_id, 'messages ')
    union all
    select
        {{ row_of(types, {
            'said': "'failed'", 'judged_source': 'source', 'transaction_id': 'transaction_id', 'content': 'min(held_reason)',
        }) }}
    from {{ source('pointer', 'failed_transaction') }}
    where captured_mark in ({{ captured_marks() }})
    group by source, transaction_id
    union all
    select
        {{ row_of(types, {
            'said': "'look'", 'judged_source': 'judged_source', 'topic': 'topic', 'partition': 'partition', 'number': 'latest.end_offset',
            'landed_at_micros': 'unix_micros(latest.fetched_at)', 'flag': 'latest.is_sure_end',
        }) }}
    from (
        select
            topic.judged_source,
            look.topic,
            look.partition,
            max_by(
                struct(look.end_offset, look.fetched_at, look.is_sure_end), look.landing_id
            ) as latest
        from look
        inner join topic
            on look.topic = topic.topic
        group by topic.judged_source, look.topic, look.partition
    ) as latest_look
    union all
    -- An offset without a message is a control record of a transaction of Kafka, or belongs to an
    -- aborted one, unless compaction has removed the message.
    select
        {{ row_of(types, {
            'said': "'fetched'", 'judged_source': 'topic.judged_source', 'topic': 'look.topic', 'partition': 'look.partition', '`offset`': 'look.start_offset',
            'number': 'look.end_offset - 1',
        }) }}
    from look
    inner join topic
        on look.topic = topic.topic
    where
        look.landing_id > {{ candidate('starting_landing_id') }}
        and look.landing_id <= {{ candidate('landing_id') }}
        and look.cleanup_policy = 'delete'
        and look.end_offset > look.start_offset
    union all
    select
        {{ row_of(types, {
            'said': "'earlier_state'", 'judged_source': 'judged_source', 'source': 'source', 'content': 'content',
        }) }}
    from earlier_state

)

select
    * except (committed_at, partition),
    cast(partition as int) as partition,
    timestamp_micros(committed_at) as committed_at,
    {{ candidate('cut_id') }}L as cut_id
from
    judge_sources(
        table(select * from given)
        partition by judged_source
    )
