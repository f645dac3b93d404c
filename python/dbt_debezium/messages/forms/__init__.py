"""Forms that change events arrive in when another converter, transform or product made them.

One module for each: it reads the form, or says by name what it is. Nothing here is asked before a
message could not be read in Debezium's own form, so ordinary messages cost nothing.
"""
