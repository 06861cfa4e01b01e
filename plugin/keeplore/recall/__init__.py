"""A query → ranked memories → a context block for the host.

Nothing is imported here: a program that only asks the worker reads ``request`` alone.
"""
