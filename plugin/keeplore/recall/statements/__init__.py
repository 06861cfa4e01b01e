"""Which statements of a conversation a hit shows."""
