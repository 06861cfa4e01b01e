"""The worker, the daemon of this machine: takes the spool into the workspaces in the background and
answers the host while it is warm.
"""
