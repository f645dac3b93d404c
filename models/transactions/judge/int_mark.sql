with

fact as (

    select
        source,
        kind,
        mark
    from {{ ref('int_source_mark') }}
    union all
    select
        source,
        kind,
        mark
    from {{ ref('int_chain_end_mark') }}
    union all
    select
        source,
        kind,
        mark
    from {{ ref('int_partition_mark') }}
    union all
    select
        source,
        kind,
        mark
    from {{ ref('int_gap_mark') }}
    {%- if run_has('decision', 'contradiction') %}
    union all
    select
        source,
        kind,
        mark
    from {{ ref('int_decision_mark') }}
    {%- endif %}

),

transaction_mark as (

    select
        source,
        kind,
        position,
        transaction_id,
        0 as event_order,
        mark
    from {{ ref('int_marker_mark') }}
    union all
    select
        source,
        kind,
        position,
        transaction_id,
        0 as event_order,
        mark
    from {{ ref('int_table_mark') }}
    {%- if run_has('doubtful_transaction') %}
    union all
    select
        source,
        kind,
        position,
        transaction_id,
        event_order,
        mark
    from {{ ref('int_event_mark') }}
    {%- endif %}
    {%- if run_has('uncounted_transaction') %}
    union all
    select
        source,
        kind,
        position,
        transaction_id,
        0 as event_order,
        mark
    from {{ ref('int_uncounted_mark') }}
    {%- endif %}

),

ordered_mark as (

    select
        source,
        kind,
        cast(null as string) as position,
        cast(null as int) as link_order,
        cast(null as string) as link_name,
        0 as event_order,
        mark
    from fact
    union all
    select
        source,
        kind,
        position,
        case when transaction_id is not null then 0 end as link_order,
        transaction_id as link_name,
        event_order,
        mark
    from transaction_mark
    {%- if run_has('read') %}
    union all
    select
        source,
        kind,
        position,
        link_order,
        link_name,
        0 as event_order,
        mark
    from {{ ref('int_snapshot_mark') }}
    {%- endif %}
    {%- if run_has('numbered_log', 'starting_log', 'logical_message') %}
    union all
    select
        source,
        kind,
        position,
        link_order,
        cast(null as string) as link_name,
        0 as event_order,
        mark
    from {{ ref('int_log_mark') }}
    {%- endif %}

)

select
    -- identity
    source,
    kind,

    -- order
    position,
    link_order,
    link_name,
    event_order,

    -- payload
    mark
from ordered_mark
