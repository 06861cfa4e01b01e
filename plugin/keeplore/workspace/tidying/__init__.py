"""Keeping a workspace in order: first a plan, then its steps, each of which can be taken back."""
