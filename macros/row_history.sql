{#-
    The row versions that a run adds to the history of one captured table, and the open versions that it closes. The
    law of the project stands here once: history knows upserts, deletes and truncates, in the order
    (commit_number, position), and nothing of connectors.

    captured: {'sources': patterns, 'schema': name, 'table': name}, and where they differ from the usual
        'is_keyless': true for bags of rows (S12),
        'identity': columns that tell rows apart in place of the message key: those of REPLICA IDENTITY USING INDEX (S12),
        'truncate': 'apply', 'ignore' or 'fail' (S8),
        'schema_changes': 'evolve', 'fail' or 'ignore', see check_schema_changes,
        'left_out': columns of the source that the table is to lack.
    columns: {name: Spark type, or '<type> from <encoding>', see decoded}.

    One row per (_source, _row_key, _valid_from) where is_version, else one per open version that ends.
-#}
{%- macro row_history(captured, columns) -%}
{%- set truncate = captured.truncate | default('apply') -%}
{%- if truncate not in ['apply', 'ignore', 'fail'] -%}
    {%- do exceptions.raise_compiler_error(
        captured.table ~ ": truncate: '" ~ truncate ~ "' is not a policy; known: apply, ignore, fail"
    ) -%}
{%- endif -%}
{%- set identity = captured.identity or [] -%}
{%- do check_column_names(full_table_name(captured), columns) -%}
{%- do check_package() -%}
{%- do check_hashed_model(captured, columns) -%}
{%- do model_mark(captured, columns) -%}
{%- do check_schema_changes(captured, columns) -%}
{#- Columns whose messages did not always say the same type: each value is read by what its own message says. -#}
{%- set sent = changed_types(captured) or {} -%}
{%- set absent = absent_columns(captured, columns) -%}
{%- set has_unavailable = has_changes_with(captured, 'unavailable_columns') and not captured.is_keyless -%}
{#- Of keys that a model names in place of those of messages only the merge itself sees which are shared. -#}
{%- set has_moves = has_changes_with(captured, 'old_row_key' if identity else 'shared_key') and not captured.is_keyless -%}
{%- set has_truncations = has_changes_with(captured, 'truncate') -%}
-- The materialization reads where the run starts: {{ ref('int_starting_commit') }}
-- and the public history when commits were made: {{ ref('commit') }}
-- No history is built for a cut that its tests refuse: {{ ref('int_cut') }}
with

change as (

    select placed.*
    from {{ ref('int_change') }} as placed
    where
        placed.cut_id {{ '=' if is_incremental() else '<=' }} {{ candidate('cut_id') }}
        and {{ matches_any('placed.source', captured.sources) }}
        and (
            placed.table_name is null
            or (
                placed.schema_name <=> {{ string_literal(captured.schema) }}
                and placed.table_name = {{ string_literal(captured.table) }}
            )
        )

),

{% if has_truncations -%}
truncation as (

    select
        source,
        sort_array(collect_list(named_struct(
            'commit_number',
            {% if truncate == 'fail' -%}
            case
                when topic is not null
                    then raise_error(concat(
                        'commit ', commit_number, ' of ', source, {{ string_literal(': truncates ' ~ captured.table
                        ~ ', whose policy is fail; set truncate to apply or ignore in its history model') }}
                    ))
                else commit_number
            end
            {%- else -%}
            commit_number
            {%- endif %},
            'position', position
        ))) as places
    from change
    where
        operation = {{ op('truncate') }}
        {%- if truncate == 'ignore' %}
        -- The emptying that belongs to a snapshot was no message.
        and topic is null
        {%- endif %}
    group by source

),

{% endif -%}
{% if captured.is_keyless %}
{{- bag_row_change(full_table_name(captured), columns, sent, absent, has_truncations) }}
{% else -%}
{{ 'message_row_change' if identity else 'row_change' }} as (

    select
        source,
        {% if identity -%}
        to_json(named_struct(
            {% for name in identity -%}
            {{ string_literal(name) }}, coalesce(
                {{ identity_value(identity, name) }},
                -- Rows without it would all have one key.
                raise_error(concat(
                    'commit ', commit_number, ' of ', source,
                    {{ string_literal(': changes a row of ' ~ captured.table ~ " without a value of '" ~ name ~ "', which its "
                        'history model names as identity; name columns that every row and every delete has') }}
                ))
            ){{ ',' if not loop.last }}
            {% endfor %}
        )) as row_key,
        {%- else -%}
        case
            when row_key is null
                then raise_error(concat(
                    'commit ', commit_number, ' of ', source,
                    {{ string_literal(': changes a row of ' ~ captured.table ~ ' without its key; send the key, or name '
                        'columns as identity or is_keyless in its history model') }}
                ))
            else row_key
        end as row_key,
        {%- endif %}
        commit_number,
        position,
        0 as step,
        operation,
        transaction_id,
        committed_at,
        old_row_key,
        new_row_key,
        unavailable_columns,
        {{ "from_json(column_types, 'map<string, string>') as sent_types," if sent }}
        {{ 'json_object_keys(column_types) as sent_columns,' if absent }}
        {{ image_of('after', columns) }} as image
    from change
    where operation != {{ op('truncate') }}

),

{% if identity -%}
-- The headers of a key change name message keys; its other half stands next to it (S9).
row_change as (

    select
        * except (old_row_key, new_row_key, unavailable_columns, {{ 'sent_types, ' if sent }}{{ 'sent_columns, ' if absent }}image),
        case when old_row_key is not null then lag(row_key) over half_order end as old_row_key,
        case when new_row_key is not null then lead(row_key) over half_order end as new_row_key,
        unavailable_columns,
        {{ 'sent_types,' if sent }}
        {{ 'sent_columns,' if absent }}
        image
    from message_row_change
    window half_order as (
        partition by source, commit_number, old_row_key is not null or new_row_key is not null
        order by position
    )

),
{%- endif %}

{% endif -%}
{%- set changes = 'row_change' -%}
{%- if has_moves %}
{{- counted_row_change() }}

{% set changes = 'counted_row_change' -%}
{% endif -%}
{%- if has_unavailable %}
{{- available_row_change(changes, columns, sent, absent) }}

{% set changes = 'available_row_change' -%}
{% endif -%}
ordered_change as (

    select
        row_change.*,
        lead(row_change.commit_number) over row_order as next_commit_number,
        row_number() over row_order as change_number,
        {% if has_truncations -%}
        array_min(filter(
            truncation.places, place -> place > struct(row_change.commit_number, row_change.position)
        )).commit_number as truncated_by,
        array_min(truncation.places).commit_number as first_truncated_by
        {%- else -%}
        cast(null as bigint) as truncated_by,
        cast(null as bigint) as first_truncated_by
        {%- endif %}
    from {{ changes }} as row_change
    {%- if has_truncations %}
    left join truncation
        on row_change.source = truncation.source
    {%- endif %}
    {%- if has_unavailable %}
    -- What stood before the run lent its values only.
    where row_change.commit_number > 0
    {%- endif %}
    {%- if has_moves %}
    -- What a delete leaves under its key is the newer row, which readers see.
    {{ 'and' if has_unavailable else 'where' }} row_change.remaining_rows = 0
    {%- endif %}
    window row_order as (
        partition by row_change.source, row_change.row_key
        order by row_change.commit_number, row_change.position, row_change.step
    )

),

-- A change may begin a version, and the first one of its key ends the version that stood there.
parted_change as (

    select
        *,
        explode(filter(
            {{ 'array(true, false)' if is_incremental() else 'array(true)' }},
            is_version -> case
                when is_version
                    then
                        operation != {{ op('delete') }}
                        and (next_commit_number > commit_number or next_commit_number is null)
                        and (truncated_by > commit_number or truncated_by is null)
                else change_number = 1
            end
        )) as is_version
    from ordered_change

),

decoded_version as (

    select
        *,
        named_struct(
            {% for name, type in columns.items() -%}
            {{ string_literal(name) }}, {{ 'available.' ~ quoted(name) ~ '.decoded' if has_unavailable
                else decoded_as_sent('image.' ~ quoted(name), 'sent_types[' ~ string_literal(name) ~ ']', type, sent.get(name, [])) }}{{ ',' if not loop.last }}
            {% endfor %}
        ) as decoded,
        named_struct(
            {% for name in columns -%}
            {%- set text = 'cast(image.' ~ quoted(name) ~ ' as string)' -%}
            {{ string_literal(name) }}, {{ 'case when available.' ~ quoted(name) ~ ' is null then ' ~ text
                ~ ' else available.' ~ quoted(name) ~ '.raw end' if has_unavailable else text }}{{ ',' if not loop.last }}
            {% endfor %}
        ) as raw
    from parted_change

)

select
    is_version,
    {% for name in columns -%}
    case when is_version then decoded.{{ quoted(name) }} end as {{ quoted(name) }},
    {% endfor -%}
    source as _source,
    row_key as _row_key,
    case when is_version then commit_number end as _valid_from,
    case
        when is_version then least(next_commit_number, truncated_by)
        else least(commit_number, first_truncated_by)
    end as _valid_to,
    case
        when is_version
            then named_struct(
                'source', source,
                'commit_number', commit_number,
                'transaction_id', transaction_id,
                'committed_at', committed_at,
                'unrepresentable', filter(
                    array(
                        {% for name, type in columns.items() -%}
                        case
                            when raw.{{ quoted(name) }} is not null and decoded.{{ quoted(name) }} is null
                                then named_struct(
                                    'column', {{ string_literal(name) }},
                                    'raw_text', {{ raw_text('raw.' ~ quoted(name)) }}
                                )
                        end{{ ',' if not loop.last }}
                        {% endfor %}
                    ),
                    entry -> entry is not null
                ),
                'absent_columns',
                {{ 'array_except(' ~ string_array(absent) ~ ', sent_columns)' if absent else string_array([]) }}
            )
    end as _change
from decoded_version
{%- if has_truncations and is_incremental() %}
union all
-- Rows that nothing else has changed.
select
    false as is_version,
    {% for name in columns -%}
    null as {{ quoted(name) }},
    {% endfor -%}
    built._source,
    built._row_key,
    null as _valid_from,
    array_min(truncation.places).commit_number as _valid_to,
    null as _change
from {{ this }} as built
inner join truncation
    on built._source = truncation.source
left anti join ordered_change
    on built._source = ordered_change.source and built._row_key = ordered_change.row_key
where built._valid_to is null
{%- endif -%}
{%- endmacro -%}
