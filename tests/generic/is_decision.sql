{#-
    Every row is a decision that runs understand, with who, when and why. One that is not fails with a sentence that
    says which it is and what to write. dbt-spark writes an empty field of text as None (1.11.0).
    What accepts something has a form of its own: reasons/accepted.py has the same.
-#}
{%- test is_decision(model, decisions) -%}
{%- set who = "concat('operator_decision: ', coalesce(transaction_id, 'a transaction'), ' of ', "
    ~ "coalesce(source, 'a source'), ': ')" -%}
{#- Projects made by an earlier version have a list without it. -#}
{%- set known = decisions + (['accept'] if 'accept' not in decisions else []) -%}
{%- set settings = [
    'provide.transaction.metadata', 'skipped.operations', 'value.converter.schemas.enable'
] -%}
{%- set forms = [
    'flag (' ~ flag_names() | join('|') ~ ') of .+',
    'message .+-([0-9]+|[*])-([0-9]+|[*])',
    'setting (' ~ settings | join('|') | replace('.', '[.]') ~ ')',
    'table .+',
] -%}
select
    source,
    transaction_id
from {{ model }}
where
    case
        when decision is null or decision not in ('{{ known | join("', '") }}')
            then raise_error(concat(
                {{ who }}, 'is decided as ', coalesce(concat('"', decision, '"'), 'nothing'),
                '; write {{ known[:-1] | join(", ") }} or {{ known[-1] }}'
            ))
        when decided_on is null
            then raise_error(concat(
                {{ who }}, 'has no decided_on that is a day; write one such as 2026-11-21'
            ))
        {% for column in ['source', 'transaction_id', 'decided_by', 'reason'] -%}
        when coalesce(trim({{ column }}), '') in ('', 'None')
            then raise_error(concat({{ who }}, 'has no {{ column }}; write one'))
        {%- endfor %}
        when decision = 'accept' and not rlike(transaction_id, {{ string_literal('(?s)^(' ~ forms | join('|') ~ ')$') }})
            then raise_error(concat(
                {{ who }}, 'nothing that can be accepted is called so; write flag <flag> of <schema.table>, '
                'message <topic>-<partition>-<offset>, setting <setting> or table <schema.table>, with a flag of '
                'docs/runbook.md or one of these settings: {{ settings | join(", ") }}'
            ))
        else false
    end
{%- endtest -%}
