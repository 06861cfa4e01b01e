"""The MCP server: a few tools that compose, resources and prompts, one server for all sessions of a
machine.
"""
