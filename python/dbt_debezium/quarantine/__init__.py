"""Messages that cannot be read: which they are, and how they land again."""
