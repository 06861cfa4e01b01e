"""What has become since of what a memory says: of its files, and of what it states."""
