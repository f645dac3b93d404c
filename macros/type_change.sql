{#-
    Whether a column's new type holds the values of the old one: type_widened, type_narrowed when the old one holds
    those of the new, else type_changed. A time that begins or ceases to come as ISO text has the type that it had, since
    only time.precision.mode makes it so: encoding_changed.

    >>> type_change('old_type', 'new_type') | length > 0
    True
-#}
{%- macro type_change(old, new) -%}
    {%- set integers = "array_position(array('smallint', 'int', 'bigint'), " -%}
    {%- set size = ", '^decimal[(]([0-9]+),([0-9]+)', " -%}
    {%- set parts = {} -%}
    {%- for type in [old, new] -%}
        {%- set precision = 'try_cast(regexp_extract(' ~ type ~ size ~ '1) as int)' -%}
        {%- set scale = 'try_cast(regexp_extract(' ~ type ~ size ~ '2) as int)' -%}
        {%- do parts.update({type: {'scale': scale, 'digits': precision ~ ' - ' ~ scale}}) -%}
    {%- endfor -%}
    case
        when
            split_part({{ old }}, ' from ', 1) = split_part({{ new }}, ' from ', 1)
            and contains({{ old }}, ' from io.debezium.time.')
            and contains({{ new }}, ' from io.debezium.time.')
            and contains({{ old }}, '.Iso') != contains({{ new }}, '.Iso')
            then 'encoding_changed'
        when {{ integers }}{{ old }}) > 0 and {{ integers }}{{ new }}) > 0
            then
                case
                    when {{ integers }}{{ new }}) > {{ integers }}{{ old }}) then 'type_widened'
                    else 'type_narrowed'
                end
        when {{ old }} = 'float' and {{ new }} = 'double' then 'type_widened'
        when {{ old }} = 'double' and {{ new }} = 'float' then 'type_narrowed'
        when {{ parts[new].scale }} >= {{ parts[old].scale }} and {{ parts[new].digits }} >= {{ parts[old].digits }}
            then 'type_widened'
        when {{ parts[new].scale }} <= {{ parts[old].scale }} and {{ parts[new].digits }} <= {{ parts[old].digits }}
            then 'type_narrowed'
        else 'type_changed'
    end
{%- endmacro -%}
