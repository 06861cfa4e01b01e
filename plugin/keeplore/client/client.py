"""``python3 -I -S client.py HOST EVENT < payload``: hands one host event to Keeplore and prints
what to tell the host, as ``contact`` says.

Python keeps the compiled form of modules and not that of programs, and compiling took a third of
the time.
"""
# pathlib takes longer to import than all of this takes to run:
# ruff: noqa: PTH100, PTH112, PTH118, PTH120

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
# a host may compare the folder of a plugin with its source; the copy beside the spool is ours
sys.dont_write_bytecode = not os.path.isdir(
    os.path.join(os.path.dirname(HERE), "spool")
)
sys.path.insert(0, HERE)
try:
    __import__("contact").run()
finally:
    os._exit(0)  # a host must never suffer from its memory
