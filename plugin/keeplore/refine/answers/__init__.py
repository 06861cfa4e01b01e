"""What models answer: the shapes, and what of a wrong one is put right."""
