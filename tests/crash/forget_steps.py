"""``python forget_steps.py WORKSPACE TIMES``: kill a forgetting, a restoring and a purge before
changing steps.

As store_steps.py does: for every few steps of each deed a forked child does the deed on a copy of
the workspace and ends itself right before that step. Writes a line for every copy: its directory,
the deed, the step, the child's end. TIMES says how many times as far apart the kills are as below.
"""

import os
import shutil
import sys
from pathlib import Path

from strike import strike_at

from keeplore.memory import new_id
from keeplore.store import Store

AT = "2026-03-01T10:00:00Z"


def forget(store: Store) -> None:
    store.forget(new_id("Leaked"), "studio", AT)
    store.commit()


def restore(store: Store) -> None:
    store.restore(new_id("Dropped"))
    store.commit()


def purge(store: Store) -> None:
    store.purge([new_id("Leaked")], "studio", AT)


DEEDS = {
    "forget": (forget, 2),
    "restore": (restore, 2),
    "purge": (purge, 7),
}  # and how many steps lie between two kills


def main(workspace: str, times: str) -> None:
    base = Path(workspace)
    for name, (deed, usual) in DEEDS.items():
        stride = usual * int(times)
        point = 1 - stride
        while True:
            point += stride
            copy = base.with_name(f"{name}-{point}")
            shutil.copytree(base, copy, symlinks=True)
            child = os.fork()
            if child == 0:
                strike_at(point)
                deed(Store(copy, branch="main"))
                os._exit(0)
            _, status = os.waitpid(child, 0)
            sys.stdout.write(f"{copy} {name} {point} {status}\n")
            sys.stdout.flush()
            if status == 0:
                break


if __name__ == "__main__":
    main(*sys.argv[1:])
