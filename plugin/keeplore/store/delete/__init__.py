"""Taking memories away for good: tombstones, and history without their text."""
