"""SpecStory's histories, a source to import from."""
