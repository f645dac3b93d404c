"""A lake in Python: `dbt_debezium.open` and what it gives. It needs neither Java nor Spark."""
