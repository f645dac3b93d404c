{#-
    Pattern of the name under which PostgreSQL's END counts logical messages: a class name and an object hash,
    not a table (Debezium 3.6.3).

    >>> message_collection()
    *.LogicalDecodingMessageMonitor$LogicalDecodingMessageId@*
-#}
{%- macro message_collection() -%}
    *.LogicalDecodingMessageMonitor$LogicalDecodingMessageId@*
{%- endmacro -%}
