"""Keeplore: memory for coding agents that lives in a git repository."""

__version__ = "0.1.0"
