{#- Refuses to go on in a lake whose proof is gone, and with it what runs must remember of their sources. -#}
{%- macro check_state() -%}
    {%- if execute and candidate('starting_cut_id') | int > 0 and not is_incremental() -%}
        {%- do exceptions.raise_compiler_error(
            this ~ ': is gone, and with it what runs must remember of their sources; run once with --full-refresh'
        ) -%}
    {%- endif -%}
{%- endmacro -%}
