"""How Debezium names the topics of tables."""


def table_suffix(table: str) -> str:
    """How the default topic of a table ends: with the last two parts of its name.

    >>> table_suffix("public.orders"), table_suffix("ORCL.APP.ORDERS"), table_suffix("orders")
    ('.public.orders', '.APP.ORDERS', '.orders')
    """
    return f".{'.'.join(table.split('.')[-2:])}"
