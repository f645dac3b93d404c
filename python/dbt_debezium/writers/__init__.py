"""How text of the data is written into other languages: a module for each.

Names, comments and values come from messages, so none of them may be code where it ends. Nothing
outside of these modules escapes anything; in SQL that dbt renders, the macros `string_literal` and
`quoted` do what `sql` does here.
"""
