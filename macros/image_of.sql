{#-
    An image as a struct of texts, one for each column. JSON holds what Spark's reader would change without a word: a
    lone surrogate, which becomes a question mark, and a number of more digits than the 15 that every double keeps. In
    the few images that may hold one, these are set apart by a mark, which raw_text takes away and decoded looks for.
    Escaped backslashes and quotes go first: then a backslash opens an escape, and a quote ends a string.

    >>> image_of('after', {'id': 'bigint'}).split('\n')[-2].strip()
    '`id` string'
-#}
{%- macro image_of(text, columns) -%}
    from_json(
        case
            when
                contains({{ text }}, '\\u') and {{ text }} rlike '\\\\u([dD][89a-fA-F]|[fF][dD][dD]0)'
                or contains({{ text }}, '\ufdd0')
                or {{ text }} rlike '[:,\\[]\\s*-?((?=[0-9.]{16})[0-9]+[.eE]|[0-9][0-9.]*[eE][-+]?[0-9]{3})'
                then replace(replace(replace(regexp_replace(regexp_replace(
                    replace(replace({{ text }}, '\\\\', '\\u005c'), '\\"', '\\u0022'),
                    '\\\\u([dD][89abAB]..)(?!\\\\u[dD][c-fC-F])|(?<!\\\\u[dD][89abAB]..)\\\\u([dD][c-fC-F]..)|\\\\u([fF][dD][dD]0)|\ufdd0',
                    '\ufdd0\ufdd0\ufdd0u$1$2$3'
                ), '("[^"]*")|(-?[0-9]+(?:[.][0-9]+(?:[eE][-+]?[0-9]+)?|[eE][-+]?[0-9]+))', '$1\u0001$2\u0002'),
                '\u0001\u0002', ''), '\u0001', '"\ufdd0\ufdd0\ufdd0'), '\u0002', '"')
            else {{ text }}
        end,
        {{ image_schema(columns) }}
    )
{%- endmacro -%}
