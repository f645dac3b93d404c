"""Random histories of a small bank: what Debezium sends of them, what of it lands when, and which
state may be published after each landing, by two oracles that share no code.

`workload` commits transactions, `connector` streams them, `kafka` lands them, `messages` writes
them, in PostgreSQL's form or, by `log_sequence` and `db2_log`, in that of SQL Server or Db2, by
`mysql_log` in MySQL's and by `cdl_form` in that of Huawei CDL; `replay` and `statements` say what
the tables held, `law`, with `mysql_law` and `cdl_law`, how far the tables may be shown.
"""
