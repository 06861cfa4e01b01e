"""``python refine_steps.py WORKSPACE``: kill a change of several files at every step that changes
something.

As store_steps.py does: a forked child makes the change on a copy of the workspace, and ends itself
right before that step; what a kill does to a commit is not looked at here. Writes a line for every
copy: its directory and its end.
"""

import os
import shutil
import signal
import sys
from pathlib import Path

from keeplore.memory import Memory, new_id, new_meta
from keeplore.store import Store
from keeplore.store.transaction import TransactionChanges

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
        "create_blob_fromworkdir",
        "create_commit",
        "create_reference_direct",
        "set_target",
        "insert",
    ),
}
MACHINE = "studio-1a2b"
OLD = "memory/gotchas/2026-02-09-old-{}.md"


def note(title: str) -> Memory:
    meta = {
        "id": new_id(title),
        "kind": "note",
        "title": title,
        "scope": "workspace",
        "category": "gotchas",
    }
    return Memory(new_meta(**meta, created_at="2026-02-09T14:03:11Z"), f"# {title}\n")


def change(store: Store) -> None:
    old = OLD.format(new_id("Old")[4:12])
    entries = [
        {"at": "2026-02-09T14:03:11Z", "event": "refine", "id": new_id(title)}
        for title in ("One", "Other")
    ]
    move = (old, old.replace("memory/", "memory/archive/"))
    store.write_together(
        MACHINE, TransactionChanges([note("One"), note("Other")], [move], entries)
    )


def strike_at(point: int) -> None:
    """End this process right before the POINTth changing call."""
    count = 0

    def watch(frame: object, event: str, argument: object) -> None:
        nonlocal count
        if event == "c_call" and getattr(argument, "__name__", "") in CHANGING:
            count += 1
            if count == point:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.setprofile(watch)


def main(workspace: str) -> None:
    base = Path(workspace)
    point, status = 0, 1
    while status:
        point += 1
        copy = base.with_name(f"copy-{point}")
        shutil.copytree(base, copy, symlinks=True)
        child = os.fork()
        if child == 0:
            strike_at(point)
            change(Store(copy, branch="main"))
            os._exit(0)
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{copy} {status}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
