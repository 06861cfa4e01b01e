"""``python refine_steps.py WORKSPACE STRIDE``: kill a change of several files at every STRIDEth step
that changes something.

As store_steps.py does: a forked child makes the change on a copy of the workspace, and ends itself
right before that step; what a kill does to a commit is not looked at here. Writes a line for every
copy, as ``strike_each`` does.
"""

import itertools
import sys
from pathlib import Path

from sample_note import note
from strike import strike_each

from keeplore.memory import new_id
from keeplore.store import Store
from keeplore.store.transaction import TransactionChanges

MACHINE = "studio-1a2b"
OLD = "memory/gotchas/2026-02-09-old-{}.md"


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


def main(workspace: str, stride: str) -> None:
    strike_each(
        Path(workspace),
        "copy",
        itertools.count(1, int(stride)),
        # the store is opened by the change: its steps count
        Path,
        lambda copy: change(Store(copy, branch="main")),
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
