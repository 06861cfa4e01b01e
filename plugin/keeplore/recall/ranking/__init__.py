"""What the searches found → memories in the order in which they are shown; pure."""
