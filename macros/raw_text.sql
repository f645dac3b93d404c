{#-
    A value of an image as it was sent, without the marks that image_of sets. Numbers lose the quotes that came with
    the mark.

    >>> raw_text('image.note').split('\n')[1].strip()
    when contains(image.note, '\ufdd0\ufdd0\ufdd0')
-#}
{%- macro raw_text(text) -%}
    case
        when contains({{ text }}, '\ufdd0\ufdd0\ufdd0')
            then regexp_replace(
                replace({{ text }}, '\ufdd0\ufdd0\ufdd0u', '\\u'), '"?\ufdd0{3}([-+.0-9eE]+)"?', '$1'
            )
        else {{ text }}
    end
{%- endmacro -%}
