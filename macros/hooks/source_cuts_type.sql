{#- What the pointer says of one source, as a Spark type. Its fields are columns of int_cut. -#}
{%- macro source_cuts_type() -%}
    array<struct<
        source: string, commit_number: bigint, commit_position: string, transaction_id: string,
        committed_at: timestamp, link_position: string,
        end_markers: array<struct<
            transaction_id: string, topic: string, `offset`: bigint, known_from: bigint
        >>,
        log_positions: map<string, string>, snapshot_position: string, first_transaction_ids: array<string>,
        proof: string, decisions: array<string>,
        history_from: bigint, history_from_at: timestamp
    >>
{%- endmacro -%}
