{#-
    Every row is a decision that runs understand, with who, when and why. One that is not fails with a sentence that
    says which it is and what to write. dbt-spark writes an empty field of text as None (1.11.0).
-#}
{%- test is_decision(model, decisions) -%}
{%- set who = "concat('operator_decision: ', coalesce(transaction_id, 'a transaction'), ' of ', "
    ~ "coalesce(source, 'a source'), ': ')" -%}
select
    source,
    transaction_id
from {{ model }}
where
    case
        when decision is null or decision not in ('{{ decisions | join("', '") }}')
            then raise_error(concat(
                {{ who }}, 'is decided as ', coalesce(concat('"', decision, '"'), 'nothing'),
                '; write {{ decisions[:-1] | join(", ") }} or {{ decisions[-1] }}'
            ))
        when decided_on is null
            then raise_error(concat(
                {{ who }}, 'has no decided_on that is a day; write one such as 2026-11-21'
            ))
        {% for column in ['source', 'transaction_id', 'decided_by', 'reason'] -%}
        when coalesce(trim({{ column }}), '') in ('', 'None')
            then raise_error(concat({{ who }}, 'has no {{ column }}; write one'))
        {%- endfor %}
        else false
    end
{%- endtest -%}
