"""Commands about this machine and what Keeplore keeps on it."""
