{#-
    True where the key of a delete is filler and the row before it is not: PostgreSQL sends the columns of the replica
    identity alone, and Debezium fills all others that are not null with zeros. So it is with REPLICA IDENTITY USING INDEX
    on other columns than those of the key (S12). Zeros are those of numbers (of an unbounded numeric in precise mode its
    object), texts, bytes, booleans, uuids, dates and times.

    Hashed values do not show it. Where a table has hashed columns and the key is filler, filler_mark (hashing.py) has
    given the answer before they were hashed: it is the first member of the row, which has no name.

    >>> is_filler_key('row_key', 'before').split('\n')[5].strip()
    value -> rlike(value, '^([0.:Z-]*|false|AA==|1970-01-01.*|[{]"scale":0,"value":"AA=="[}])$')
-#}
{%- macro is_filler_key(row_key, before) -%}
    {%- set empty_decimal = '[{]"scale":0,"value":"AA=="[}]' -%}
    {%- set zeros = ['[0.:Z-]*', 'false', 'AA==', '1970-01-01.*', empty_decimal] -%}
    {%- set filler = string_literal('^(' ~ zeros | join('|') ~ ')$') -%}
    case
        when startswith({{ before }}, '{"":') then startswith({{ before }}, '{"":true')
        else
            forall(
                map_values(from_json({{ row_key }}, 'map<string, string>')),
                value -> rlike(value, {{ filler }})
            )
            and exists(
                map_values(from_json({{ before }}, 'map<string, string>')),
                value -> not rlike(value, {{ filler }})
            )
    end
{%- endmacro -%}
