"""What sessions were given, and whether they made use of it."""
