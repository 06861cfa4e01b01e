"""Refine: conversations → notes, by a language model where one is configured; never instead of what
was said.
"""
