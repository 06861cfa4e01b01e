"""``python killed.py ROOT DEED POINT``: commit or synchronise a workspace, and die before the POINTth changing step.

A step is a call of a function that changes files or starts a program, or of libgit2.
"""

import io
import os
import signal
import sys
from pathlib import Path

from keeplore.store import Store
from keeplore.sync import synchronise

CHANGING = {
    *("open", "write", "pwrite", "fsync", "ftruncate", "replace", "rename", "link", "unlink", "mkdir", "copyfile"),
    *("fork_exec", "create_blob", "create_blob_fromworkdir", "create_commit", "create_reference_direct", "set_target"),
    *("insert", "write_tree"),
}
DEEDS = {"commit": lambda store: store.commit(), "synchronise": synchronise}


def strike_at(point: int) -> None:
    count = 0

    def watch(frame: object, event: str, argument: object) -> None:
        nonlocal count
        is_of_text = isinstance(getattr(argument, "__self__", None), (str, bytes, list, io.StringIO))
        if event == "c_call" and getattr(argument, "__name__", "") in CHANGING and not is_of_text:
            count += 1
            if count == point:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.setprofile(watch)


if __name__ == "__main__":
    store = Store(Path(sys.argv[1]), branch="main")
    strike_at(int(sys.argv[3]))
    DEEDS[sys.argv[2]](store)
