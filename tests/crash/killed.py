"""``python killed.py ROOT DEED POINT``: commit or synchronise a workspace, and die before the
POINTth changing step.

A step is a call of a function that changes files or starts a program, or of libgit2.
"""

import sys
from pathlib import Path

from strike import strike_at

from keeplore.store import Store
from keeplore.sync import synchronise

DEEDS = {"commit": lambda store: store.commit(), "synchronise": synchronise}


if __name__ == "__main__":
    store = Store(Path(sys.argv[1]), branch="main")
    strike_at(int(sys.argv[3]))
    DEEDS[sys.argv[2]](store)
