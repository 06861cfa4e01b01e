"""Choices that the agent put to the person, and what the person picks of them."""
