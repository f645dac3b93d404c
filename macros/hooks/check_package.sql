{#-
    Refuses this repository as a package of another project, which dbt would read in silence: with the example's models,
    and without the functions of Python that the models call. The copy that a project takes has no history of its own.
-#}
{%- macro check_package() -%}
    {%- if model.package_name == 'dbt_debezium' and project_name != 'dbt_debezium' -%}
        {%- do exceptions.raise_compiler_error(
            "project: packages.yml names the repository of dbt-debezium, which brings the example and not the functions in "
            ~ "Python; install dbt-debezium with pip, and write `- local: dbt_debezium_package` in place of that entry "
            ~ '(docs/own-project.md)'
        ) -%}
    {%- endif -%}
{%- endmacro -%}
