{#- A value, where this run still holds the lease when the statement reads it; else the statement fails. -#}
{%- macro if_lease_is_held(value, candidate_token=none) -%}
    case
        when
            (select max(lease.token) from {{ source('landing', 'lease') }} as lease) = '{{ lease_token() }}'
            {%- if candidate_token %} and {{ candidate_token }} = '{{ lease_token() }}'{% endif %}
            then {{ value }}
        else raise_error(
            'lake: this run has lost its lease to another one, so it publishes nothing; '
            || 'run it again, once no other run works'
        )
    end
{%- endmacro -%}
