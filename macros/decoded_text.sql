{#-
    A text, unless it holds a lone surrogate, which image_of has marked and Spark cannot hold.

    >>> decoded_text('note')
    case
        when not contains(note, '\ufdd0\ufdd0\ufdd0') then note
        when not contains(note, '\ufdd0\ufdd0\ufdd0u')
            then regexp_replace(note, '"?\ufdd0{3}([-+.0-9eE]+)"?', '$1')
    end
-#}
{%- macro decoded_text(text) -%}
    case
        when not contains({{ text }}, '\ufdd0\ufdd0\ufdd0') then {{ text }}
        when not contains({{ text }}, '\ufdd0\ufdd0\ufdd0u')
            then regexp_replace({{ text }}, '"?\ufdd0{3}([-+.0-9eE]+)"?', '$1')
    end
{%- endmacro -%}
