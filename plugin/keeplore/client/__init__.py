"""What a host runs; hosts get this folder alone, so nothing in it imports the rest of Keeplore."""
