"""What one side made its own of the other's words."""
