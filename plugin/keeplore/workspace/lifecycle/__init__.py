"""A workspace and its machine over time: set up, registered, linted, synchronised, removed."""
