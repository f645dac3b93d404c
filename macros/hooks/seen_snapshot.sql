{#-
    The newest snapshot of a table when dbt looked at its relations, as text; empty without one. dbt looks once this run
    has taken its lease, and open_cut confirms the lease after that.
-#}
{%- macro seen_snapshot(relation) -%}
    {%- set said = shown_properties(load_relation(relation).information) -%}
    {%- set seen = modules.re.search('current-snapshot-id=(\\d+)', said) -%}
    {{- return(seen[1] if seen else '') -}}
{%- endmacro -%}
