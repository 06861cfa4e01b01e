"""``python store_steps.py WORKSPACE OTHER STRIDE``: kill what the store does at every STRIDEth
step.

A step is a call of a function that changes files, or of libgit2. For each one of each deed (a save
with a commit, a save under a better title, a merge of OTHER's commit) a forked child does the deed
on a copy and ends itself right before or right after that step. Writes a line for every copy: its
directory, the deed, the step.
"""

import itertools
import sys
from pathlib import Path

from sample_note import note
from strike import strike_each

from keeplore.store import Store


def save(store: Store, other: str) -> None:
    store.save(note("New", "New words.\n"))
    (store.root / "memory" / "removed.md").unlink()
    store.commit()


def rename(store: Store, other: str) -> None:
    store.save(note("Draft", "More of it.\n").with_meta(title="A better title"))
    store.commit()


def merge(store: Store, other: str) -> None:
    store.commit()
    store.merge(other)


DEEDS = {"save": save, "rename": rename, "merge": merge}


def main(workspace: str, other: str, stride: str) -> None:
    for name, deed in DEEDS.items():
        strike_each(
            Path(workspace),
            name,
            itertools.count(1, int(stride)),
            Path,
            # the store is opened by the deed: its steps count
            lambda at, do=deed: do(Store(at, branch="main"), other),
            "c_call",
            "c_return",
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
