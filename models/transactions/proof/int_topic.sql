{#- dbt finds what a model reads only outside of conditions. -#}
{%- set message = ref('stg_message') -%}
{%- set types = {
    'said': 'string', 'topic': 'string', 'source': 'string', 'connector': 'string', 'database_name': 'string',
    'kind': 'string', 'landing_id': 'bigint', '`offset`': 'bigint', 'message_count': 'bigint',
    'transaction_id': 'string', 'data_collection': 'string', 'position': 'string',
    'collection_counts': 'map<string, bigint>', 'sources': 'array<string>', 'is_leading': 'boolean',
    'has_controls': 'boolean',
} -%}
with

known_topic as (

    select * from {{ source('pointer', 'int_topic') }}
    where cut_id = {{ candidate('starting_cut_id') }}

),

published_source as (

    select source from {{ ref('int_starting_commit') }}

),

seen as (

    select
        topic,
        source,
        connector,
        database_name,
        kind,
        max(struct(landing_id, `offset`)) as latest,
        count(*) as message_count
    from {{ message }}
    group by topic, source, connector, database_name, kind

),

{% if run_has('new_transaction_topic') -%}
-- A topic that no default name places: its ENDs, and the changes of their transactions, show whose
-- it is.
nameless_end as (

    select marker.*
    from {{ message }} as marker
    left anti join known_topic
        on marker.topic = known_topic.topic and known_topic.marker_source is not null
    where marker.kind = 'transaction_marker' and marker.marker = 'END'

),

counted_change as (

    select
        sent.source,
        sent.connector,
        sent.database_name,
        sent.transaction_id,
        sent.data_collection,
        count(distinct sent.event_hash) as change_count,
        max(sent.event_position) as last_position
    from {{ message }} as sent
    left semi join nameless_end
        on sent.transaction_id = nameless_end.transaction_id
    where sent.kind = 'change' and sent.snapshot is null
    group by all

),

{% endif -%}
given as (

    select
        {{ row_of(types, {
            'said': "'seen'", 'topic': 'topic', 'source': 'source', 'connector': 'connector', 'database_name': 'database_name',
            'kind': 'kind', 'landing_id': 'latest.landing_id', '`offset`': 'latest.`offset`',
            'message_count': 'message_count',
        }) }}
    from seen
    union all
    select
        {{ row_of(types, {
            'said': "'known'", 'topic': 'topic', 'source': 'topic_source', 'kind': 'marker_source', 'sources': 'sources',
            'is_leading': 'is_leading', 'has_controls': 'has_controls',
        }) }}
    from known_topic
    union all
    select
        {{ row_of(types, {'said': "'published'", 'source': 'source'}) }}
    from published_source
    union all
    select
        {{ row_of(types, {'said': "'fetched'", 'topic': 'topic'}) }}
    from {{ source('landing', 'range') }}
    where is_landed
    group by topic
    {%- if run_has('new_transaction_topic') %}
    union all
    select
        {{ row_of(types, {
            'said': "'end'", 'topic': 'topic', 'connector': 'connector', 'database_name': 'database_name',
            'transaction_id': 'transaction_id', 'position': 'commit_position',
            'collection_counts': 'collection_counts',
        }) }}
    from nameless_end
    union all
    select
        {{ row_of(types, {
            'said': "'changes'", 'source': 'source', 'connector': 'connector', 'database_name': 'database_name',
            'message_count': 'change_count', 'transaction_id': 'transaction_id',
            'data_collection': 'data_collection', 'position': 'last_position',
        }) }}
    from counted_change
    {%- endif %}
    union all
    select
        {{ row_of(types, {'said': "'settings'", 'source': connector_settings()}) }}

)

select
    -- identity
    topic,

    -- where it comes from
    sources,
    topic_source,
    marker_source,
    shown_prefixes,
    judged_sources,

    -- what it is
    role,
    is_leading,
    has_controls,

    -- counts
    marker_count,

    -- provenance
    {{ candidate('cut_id') }}L as cut_id
from
    place_topics(
        table(select * from given)
        partition by 'lake'
    )
