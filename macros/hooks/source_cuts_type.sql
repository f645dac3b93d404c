{#- What the pointer says of one source, as a Spark type. Its fields are columns of int_cut. -#}
{%- macro source_cuts_type() -%}
    array<struct<
        source: string, commit_number: bigint, commit_position: string, transaction_id: string,
        committed_at: timestamp, snapshot_position: string,
        proof: string, decisions: array<string>,
        history_from: bigint, history_from_at: timestamp
    >>
{%- endmacro -%}
