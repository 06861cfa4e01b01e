"""Commands of the first minute."""
