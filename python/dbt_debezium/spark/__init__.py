"""The session of Spark: which settings, catalog, jars and Java it starts with, and what it says."""
