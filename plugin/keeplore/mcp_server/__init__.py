"""The MCP server: a few tools that compose, resources and prompts, over standard input and
output.
"""
