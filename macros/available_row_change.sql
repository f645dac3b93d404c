{#-
    Row changes in which each value that was not sent stands as it was at the row's previous place (S11), also when
    the row had another key there. Never across a delete, a truncate or a snapshot: those end a row's life. What the
    history starts too late for stays null, and its placeholder is kept as raw text.

    Reads the CTE `changes`: row_change, or counted_row_change where rows have moved. Adds `decoded`, and `raw`: the text
    of each value that `decoded` cannot hold.
-#}
{%- macro available_row_change(changes, columns, sent, absent) -%}
{%- set has_moves = changes == 'counted_row_change' -%}
decoded_change as (

    select
        *,
        named_struct(
            {% for name, type in columns.items() -%}
            {{ string_literal(name) }}, {{ decoded_as_sent('image.' ~ quoted(name), 'sent_types[' ~ string_literal(name) ~ ']', type, sent.get(name, [])) }}{{ ',' if not loop.last }}
            {% endfor %}
        ) as decoded,
        named_struct(
            {% for name in columns -%}
            {{ string_literal(name) }}, cast(image.{{ quoted(name) }} as string){{ ',' if not loop.last }}
            {% endfor %}
        ) as raw
    from {{ changes }}
    {%- if is_incremental() %}
    union all
    select
        built._source as source,
        built._row_key as row_key,
        0 as commit_number,
        0 as position,
        0 as step,
        {{ op('read') }} as operation,
        null as transaction_id,
        null as committed_at,
        null as old_row_key,
        null as new_row_key,
        null as unavailable_columns,
        {{ 'null as sent_types,' if sent }}
        {{ 'null as sent_columns,' if absent }}
        null as image,
        {{ '0 as remaining_rows,' if has_moves }}
        named_struct(
            {% for name in columns -%}
            {{ string_literal(name) }}, built.{{ quoted(name) }}{{ ',' if not loop.last }}
            {% endfor %}
        ) as decoded,
        named_struct(
            {% for name in columns -%}
            {{ string_literal(name) }}, get(filter(
                built._change.unrepresentable, entry -> entry.column = {{ string_literal(name) }}
            ), 0).raw_text{{ ',' if not loop.last }}
            {% endfor %}
        ) as raw
    from {{ this }} as built
    left semi join row_change
        on built._source = row_change.source and built._row_key = row_change.row_key
    where built._valid_to is null
    {%- endif %}

),

living_change as (

    select
        *,
        concat(
            sum(case when operation in ({{ op('create') }}, {{ op('read') }}) then 1 else 0 end) over (
                partition by source, row_key
                order by commit_number, position, step
            ){{ ' - remaining_rows' if has_moves }},
            '#',
            row_key
        ) as life
    from decoded_change

),

key_change as (

    select
        entered.source,
        entered.life,
        max_by(parted.life, parted.position) as parent
    from living_change as entered
    inner join living_change as parted
        on
            entered.source = parted.source
            and entered.commit_number = parted.commit_number
            and entered.old_row_key = parted.row_key
            and entered.row_key = parted.new_row_key
            and entered.position > parted.position
    where entered.unavailable_columns is not null
    group by entered.source, entered.life

),

row_origin as (

    select
        source,
        inline(trace_origins(collect_list(struct(life, parent))))
    from key_change
    group by source

),

available_row_change as (

    select
        living_change.* except (decoded, raw, life),
        named_struct(
            {% for name in columns -%}
            {%- set column = quoted(name) -%}
            {{ string_literal(name) }}, last_value(case
                when living_change.operation != {{ op('delete') }}
                    and not coalesce(array_contains(living_change.unavailable_columns, {{ string_literal(name) }}), false)
                    then named_struct(
                        'decoded', living_change.decoded.{{ column }},
                        'raw', case when living_change.decoded.{{ column }} is null then living_change.raw.{{ column }} end
                    )
            end, true) over row_life{{ ',' if not loop.last }}
            {% endfor %}
        ) as available
    from living_change
    left join row_origin
        on living_change.source = row_origin.source and living_change.life = row_origin.life
    window row_life as (
        partition by living_change.source, coalesce(row_origin.origin, living_change.life)
        order by living_change.commit_number, living_change.position, living_change.step
        rows between unbounded preceding and current row
    )

),
{%- endmacro -%}
