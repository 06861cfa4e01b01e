"""Times and sessions as questions name them."""
