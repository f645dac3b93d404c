"""Messages that cannot be read: what is said of them, which they are, and how they land again."""
