"""Our table functions, as Spark SQL calls them. What they decide is in `evidence` and `judge`."""
