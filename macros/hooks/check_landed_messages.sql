{#-
    Refuses a run that would begin before landings that maintenance has removed, because it would lack their rows: a full
    refresh, the first run of a schema, or one behind tables that were restored from an older copy. Nothing is built then.
    A run that has built asks again before it publishes: a machine that slept may have removed them meanwhile.
-#}
{%- macro check_landed_messages(began_after=none) -%}
    {#- dbt finds what a hook reads only outside of conditions. -#}
    {%- set cut, message = source('pointer', 'cut'), source('landing', 'message') -%}
    {%- if execute and flags.WHICH in ['run', 'build'] and load_relation(message) is not none -%}
        {%- for row in run_query('show tblproperties ' ~ message).rows if row[0] == 'dbt_debezium.removed_up_to' -%}
            {%- set start = (began_after or 0) | int -%}
            {%- if began_after is none and load_relation(cut) is not none and not flags.FULL_REFRESH -%}
                {#- While a full refresh is not published, the runs after it begin with the first message too. -#}
                {%- set start = run_query(
                    "select case when max(cut_id) filter (where channel = 'candidate' and starting_cut_id = 0)"
                    ~ " > max(cut_id) filter (where channel = 'published') then 0"
                    ~ " else coalesce(max(landing_id) filter (where channel = 'published'), 0) end from " ~ cut
                ).rows[0][0] | int -%}
            {%- endif -%}
            {%- if start < row[1] | int -%}
                {%- if began_after is not none -%}
                    {%- set refusal = ' were removed while this run read what came after landing ' ~ start
                        ~ ', so it may lack their rows and publishes nothing; restore its schema as it was before' -%}
                {%- else -%}
                    {%- set refusal = ' are removed, and this run would begin after landing ' ~ start ~ ' and lack their rows; '
                        ~ ('leave out --full-refresh' if flags.FULL_REFRESH
                        else 'build in the schema that has them, restore a newer copy of it') -%}
                {%- endif -%}
                {%- do exceptions.raise_compiler_error(
                    message ~ ': old messages up to landing ' ~ row[1] ~ refusal
                    ~ ', or land every topic from its snapshot on into a new lake'
                ) -%}
            {%- endif -%}
        {%- endfor -%}
    {%- endif -%}
{%- endmacro -%}
