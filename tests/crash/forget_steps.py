"""``python forget_steps.py WORKSPACE TIMES``: kill a forgetting, a restoring and a purge before
changing steps.

As store_steps.py does: for every few steps of each deed a forked child does the deed on a copy of
the workspace and ends itself right before that step. Writes a line for every copy: its directory,
the deed, the step, the child's end. TIMES says how many times as far apart the kills are as below.
"""

import itertools
import sys
from pathlib import Path

from strike import strike_each

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
    for name, (deed, usual) in DEEDS.items():
        points = itertools.count(1, usual * int(times))
        # the store is opened by the deed: its steps count
        strike_each(
            Path(workspace),
            name,
            points,
            Path,
            lambda at, do=deed: do(Store(at, branch="main")),
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
