{#-
    True where the key of a delete is filler and the row before it is not: PostgreSQL sends the columns of the replica
    identity alone, and Debezium fills all others that are not null with zeros. So it is with REPLICA IDENTITY USING INDEX
    on other columns than those of the key (S12).

    >>> is_filler_key('row_key', 'before')
    forall(map_values(from_json(row_key, 'map<string, string>')), value -> rlike(value, '^([0.:Z-]*|false|AA==|1970-01-01.*)$'))
    and exists(map_values(from_json(before, 'map<string, string>')), value -> not rlike(value, '^([0.:Z-]*|false|AA==|1970-01-01.*)$'))
-#}
{%- macro is_filler_key(row_key, before) -%}
    {%- set filler = string_literal('^([0.:Z-]*|false|AA==|1970-01-01.*)$') -%}
    forall(map_values(from_json({{ row_key }}, 'map<string, string>')), value -> rlike(value, {{ filler }}))
    and exists(map_values(from_json({{ before }}, 'map<string, string>')), value -> not rlike(value, {{ filler }}))
{%- endmacro -%}
