"""Reads one message: what it is, what it belongs to, and the row that it says. No Spark."""
