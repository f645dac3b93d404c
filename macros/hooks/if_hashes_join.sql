{#-
    A value, where the run hashes as the published tables were hashed, or starts from nothing; else the statement fails.
    Rows that were hashed otherwise would not join, and rows of a new hashed column would stay in clear.
-#}
{%- macro if_hashes_join(value) -%}
    {%- set columns = tojson(var('hashed'), sort_keys=True) -%}
    case
        when is_continued and published_hashed_columns != {{ string_literal(columns) }}
            then raise_error(concat(
                'hashed: names ', {{ string_literal(columns) }}, ', and the published tables were built with ',
                published_hashed_columns, '; set that again, or run once with --full-refresh'
            ))
        when is_continued and published_hash_key != '{{ hash_key_fingerprint() }}'
            then raise_error(
                'hashed: the key is not the one that the published tables were built with, so that values would not '
                || 'join; set that key again, or run once with --full-refresh'
            )
        else {{ value }}
    end
{%- endmacro -%}
