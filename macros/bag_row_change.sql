{#-
    The changes of a keyless table as changes of keyed rows (S12): a bag holds every content a number of times, and
    its nth copy is a row with the key <hash of the content>#<n>. An insert adds a copy, a delete takes the last one,
    an update does both. Taking a copy that is not there fails the run, which names the first commit that does: the stream
    contradicts itself, and the next run holds that transaction.
-#}
{%- macro bag_row_change(table, columns, sent, absent, has_truncations) -%}
bag_change as (

    select
        source,
        commit_number,
        position,
        0 as step,
        -1 as copies,
        transaction_id,
        committed_at,
        {{ "from_json(column_types, 'map<string, string>') as sent_types," if sent }}
        {{ 'json_object_keys(column_types) as sent_columns,' if absent }}
        {{ image_of('before', columns) }} as image
    from change
    where operation in ({{ op('update') }}, {{ op('delete') }})
    union all
    select
        source,
        commit_number,
        position,
        1 as step,
        1 as copies,
        transaction_id,
        committed_at,
        {{ "from_json(column_types, 'map<string, string>') as sent_types," if sent }}
        {{ 'json_object_keys(column_types) as sent_columns,' if absent }}
        {{ image_of('after', columns) }} as image
    from change
    where operation in ({{ op('create') }}, {{ op('read') }}, {{ op('update') }})

),

bag_content_change as (

    select
        bag_change.*,
        md5(to_json(bag_change.image)) as content,
        {% if has_truncations -%}
        size(filter(
            coalesce(truncation.places, array()),
            place -> place < struct(bag_change.commit_number, bag_change.position)
        )) as truncation_count
        {%- else -%}
        0 as truncation_count
        {%- endif %}
    from bag_change
    {%- if has_truncations %}
    left join truncation
        on bag_change.source = truncation.source
    {%- endif %}

),

{% if is_incremental() -%}
standing_bag as (

    select
        _source as source,
        substring_index(_row_key, '#', 1) as content,
        count(*) as copies
    from {{ this }}
    where _valid_to is null
    group by _source, substring_index(_row_key, '#', 1)

),

{% endif -%}
counted_bag_change as (

    select
        bag_content_change.*,
        {% if is_incremental() -%}
        case when bag_content_change.truncation_count = 0 then coalesce(standing_bag.copies, 0) else 0 end +
        {%- endif %}
        sum(bag_content_change.copies) over (
            partition by
                bag_content_change.source, bag_content_change.content, bag_content_change.truncation_count
            order by bag_content_change.commit_number, bag_content_change.position, bag_content_change.step
        ) as copies_after
    from bag_content_change
    {% if is_incremental() -%}
    left join standing_bag
        on
            bag_content_change.source = standing_bag.source
            and bag_content_change.content = standing_bag.content
    {%- endif %}

),

-- If the run fails on it, failing_commits asks the query up to here.
missing_row as (

    select
        source,
        min(commit_number) as first_commit_number
    from counted_bag_change
    where copies_after < 0
    group by source

),

row_change as (

    select
        counted_bag_change.source,
        -- Not inside of concat: generated code passes over what follows a null, as the content of an update is that
        -- does not show the row before it.
        case
            when copies_after < 0
                then raise_error(concat(
                    'commit ', missing_row.first_commit_number, ' of ', counted_bag_change.source,
                    {{ string_literal(': takes a row that the keyless table ' ~ table ~ ' does not hold; the next run holds '
                        'its transaction') }}
                ))
            when copies > 0 then concat(content, '#', copies_after)
            else concat(content, '#', copies_after + 1)
        end as row_key,
        commit_number,
        position,
        step,
        case when copies > 0 then {{ op('create') }} else {{ op('delete') }} end as operation,
        transaction_id,
        committed_at,
        {{ 'sent_types,' if sent }}
        {{ 'sent_columns,' if absent }}
        image
    from counted_bag_change
    left join missing_row
        on counted_bag_change.source = missing_row.source

),
{%- endmacro -%}
