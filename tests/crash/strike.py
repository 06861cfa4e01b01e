"""The one way in which tests kill a process at its n-th step; scripts beside this file
import it.
"""

import io
import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

Opened = TypeVar("Opened")

# a step is a call of a function that changes files or starts a program, or of libgit2
CHANGING = {
    *(
        "open",
        "write",
        "pwrite",
        "fsync",
        "ftruncate",
        "replace",
        "rename",
        "link",
        "unlink",
        "mkdir",
        "copyfile",
    ),
    *(
        "fork_exec",
        "create_blob",
        "create_blob_fromworkdir",
        "create_commit",
        "create_reference_direct",
        "set_target",
    ),
    *("insert", "write_tree"),
}


def strike_at(point: int, *events: str) -> None:
    """End this process right before its POINTth step; with the events ``c_call`` and ``c_return``
    also right after.
    """
    count = 0
    events = events or ("c_call",)

    def watch(frame: object, event: str, argument: object) -> None:
        nonlocal count
        is_of_text = isinstance(
            getattr(argument, "__self__", None), (str, bytes, list, io.StringIO)
        )
        if (
            event in events
            and getattr(argument, "__name__", "") in CHANGING
            and not is_of_text
        ):
            count += 1
            if count == point:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.setprofile(watch)


def strike_each(
    base: Path,
    name: str,
    points: Iterable[int],
    opened: Callable[[Path], Opened],
    deed: Callable[[Opened], None],
    *events: str,
) -> None:
    """Up to the first point that the deed does not reach: a forked child opens a copy of ``base``,
    does the deed on it, and ends itself at that step of the deed. Writes a line for every copy: its
    directory, the name of the deed, the step, the child's end.
    """
    for point in points:
        copy = base.with_name(f"{name}-{point}")
        shutil.copytree(base, copy, symlinks=True)
        child = os.fork()
        if child == 0:
            on = opened(copy)
            strike_at(point, *events)
            deed(on)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{copy} {name} {point} {status}\n")
        sys.stdout.flush()
        if status == 0:
            return
