"""How hosts are connected to Keeplore on this machine: what is written into their files, and how it
is taken back.
"""
