{#-
    Bytes from their text, in one of the forms that binary.handling.mode gives them.

    >>> decoded_bytes('photo', 'base64')
    try_to_binary(photo, 'base64')

    >>> decoded_bytes('photo', 'base64-url-safe')
    try_to_binary(translate(photo, '-_', '+/'), 'base64')
-#}
{%- macro decoded_bytes(text, encoding) -%}
    {%- if encoding == 'base64-url-safe' -%}
        try_to_binary(translate({{ text }}, '-_', '+/'), 'base64')
    {%- else -%}
        try_to_binary({{ text }}, '{{ encoding }}')
    {%- endif -%}
{%- endmacro -%}
