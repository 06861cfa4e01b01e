"""Two changed versions of one file as one: pure functions, the same on every machine."""
