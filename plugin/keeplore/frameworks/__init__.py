"""Adapters for Python agent frameworks, one module each: docs/frameworks.md.

A module imports its framework, so import the one that you use; its extra of Keeplore has the same
name.
"""
