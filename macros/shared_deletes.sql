{#-
    The deletes of one key after which a row with that key stands, as structs (commit_number, position, row_count), from
    all its changes, as structs (commit_number, position, operation, is_entering).

    Only inside a transaction may two rows have one key, when one takes it on that another has not given up yet:
    `update .. set id = id + 1` where the key is checked as the statement ends (S9). Between transactions there is at most
    one, whatever a stream that lacks deletes says.
-#}
{%- macro shared_deletes(changes) -%}
reduce(
    sort_array({{ changes }}),
    named_struct(
        'commit_number', 0L,
        'row_count', 0L,
        'deletes', cast(array() as array<struct<commit_number: bigint, position: bigint, row_count: bigint>>)
    ),
    (so_far, change) -> transform(
        transform(
            array(if(change.commit_number = so_far.commit_number, so_far.row_count, least(so_far.row_count, 1L))),
            row_count -> case
                when change.operation = {{ op('truncate') }} then 0L
                when change.operation = {{ op('delete') }} then greatest(row_count - 1L, 0L)
                when change.is_entering then row_count + 1L
                else greatest(row_count, 1L)
            end
        ),
        row_count -> named_struct(
            'commit_number', change.commit_number,
            'row_count', row_count,
            'deletes', if(
                change.operation = {{ op('delete') }} and row_count > 0,
                array_append(
                    so_far.deletes,
                    named_struct(
                        'commit_number', change.commit_number, 'position', change.position, 'row_count', row_count
                    )
                ),
                so_far.deletes
            )
        )
    )[0],
    so_far -> so_far.deletes
)
{%- endmacro -%}
