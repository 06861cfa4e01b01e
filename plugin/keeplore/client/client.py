"""``python3 -I -S client.py HOST EVENT < payload``: hands one host event to Keeplore and prints
what to tell the host, as ``contact`` says.

Python keeps the compiled form of modules and not that of programs, and compiling takes as long as
all the rest.
"""
# pathlib takes longer to import than all of this takes to run:
# ruff: noqa: PTH100, PTH112, PTH118, PTH120

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
try:
    if not os.path.isdir(os.path.join(os.path.dirname(HERE), "spool")):
        sys.dont_write_bytecode = True  # the folder of a plugin is the host's
        __import__("state_folder").keep_compiled()
    __import__("contact").run()
finally:
    os._exit(0)  # a host must never suffer from its memory
