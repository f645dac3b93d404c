{#-
    What a setting gives for the first of its patterns that a column matches, in which * stands for any text.

    >>> value_by_pattern('topic', {'eu-west.*': 'shop'})
    case when coalesce(rlike(topic, '(?s)^(\\Qeu-west.\\E.*)$'), false) then 'shop' end

    >>> value_by_pattern('topic', {})
    cast(null as string)
-#}
{%- macro value_by_pattern(column, values) -%}
    {%- set cases = [] -%}
    {#- check_settings refuses what is no mapping, and sqlfluff has none. -#}
    {%- for pattern in values if values is mapping -%}
        {%- set condition = matches_any(column, [pattern]) -%}
        {%- do cases.append('when ' ~ condition ~ ' then ' ~ string_literal(values[pattern])) -%}
    {%- endfor -%}
    {{ 'case ' ~ cases | join(' ') ~ ' end' if cases else 'cast(null as string)' }}
{%- endmacro -%}
