"""Which tables have landed, and the models that show them."""
