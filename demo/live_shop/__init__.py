"""A shop on PostgreSQL that trades, and its tables in the lake, compared with each other.

`python -m live_shop` is `make demo-live`; the live tests use the same shop.
"""
