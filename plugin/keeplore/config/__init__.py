"""Where things are on this machine, which workspaces it knows, and what a workspace is set to.

Import from the modules: pydantic, which ``settings`` needs, costs 80 ms that a warm recall must not
pay.
"""
