"""Runs the worker and kills it with SIGKILL at the n-th call of one function.

Usage: python killer.py MODULE QUALIFIED_NAME N before|after
"""

import functools
import importlib
import os
import signal
import sys

from keeplore.worker.__main__ import main


def arm(module_name: str, qualified_name: str, calls: int, when: str) -> None:
    owner = importlib.import_module(module_name)
    *path, name = qualified_name.split(".")
    for part in path:
        owner = getattr(owner, part)
    original = getattr(owner, name)
    left = calls

    @functools.wraps(original)
    def deadly(*args, **kwargs):
        nonlocal left
        left -= 1
        is_the_one = left == 0  # another thread may call too before this call returns
        if is_the_one and when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        try:
            return original(*args, **kwargs)
        finally:
            if is_the_one:
                os.kill(os.getpid(), signal.SIGKILL)

    setattr(owner, name, deadly)


if __name__ == "__main__":
    arm(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4])
    sys.exit(main())
