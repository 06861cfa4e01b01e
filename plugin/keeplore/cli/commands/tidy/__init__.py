"""Commands that keep memory in order."""
