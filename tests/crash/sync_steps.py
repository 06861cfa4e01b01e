"""``python sync_steps.py BASE``: kill, or fill the disk under, a synchronising at each of its
changing steps.

BASE holds ``remote.git`` and ``machine``. For each step a child does it all on a copy of BASE: a
conversation is saved, an unfinished merge of the person's is concluded, committed, fetched, merged
with versions beside and moves, pushed. It ends itself right before that step, or has every step
from there on fail as on a full disk. Writes a line for every copy: its directory, the fault, the
step, the child's end, and what it said.
"""

import errno
import os
import shutil
import sys
from pathlib import Path

from strike import strike_at

from keeplore.errors import KeeploreError
from keeplore.memory import Conversation, Exchange, Memory, new_id, new_meta
from keeplore.store import Store
from keeplore.sync import synchronise

WRITING = ("open", "write", "pwrite", "fsync", "rename", "replace", "link", "mkdir")


def conversation(number: int) -> Memory:
    said = tuple(
        Exchange(
            f"turn-{n}", f"2026-03-01T10:{n:02d}:00Z", f"question {n}", (f"answer {n}",)
        )
        for n in range(number)
    )
    meta = new_meta(
        id=new_id("talk"),
        kind="conversation",
        status="open",
        title=f"Talk {number}",
        scope="workspace",
        trust="assistant",
        created_at="2026-03-01T10:00:00Z",
        updated_at=f"2026-03-01T10:{number:02d}:00Z",
    )
    return Memory(meta, Conversation(f"Talk {number}", said).to_markdown())


def deed(root: Path) -> None:
    store = Store(root, branch="main")
    store.save(conversation(3))
    store.conclude()
    store.repair_merges([file.path for file in store.scan()])
    synchronise(store)


def fill_at(point: int) -> None:
    """Every call from there on that needs room fails; a git of the person's meets the same
    limit.
    """
    count = 0

    def guarded(call):
        def guard(*arguments, **options):
            nonlocal count
            is_reading = call is opened and not arguments[1] & (
                os.O_CREAT | os.O_WRONLY | os.O_RDWR
            )
            count += not is_reading
            if count >= point and not is_reading:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return call(*arguments, **options)

        return guard

    opened = os.open
    for name in WRITING:
        setattr(os, name, guarded(getattr(os, name)))


def tried(root: Path) -> str:
    try:
        deed(root)
    except (KeeploreError, OSError) as e:
        return f"{type(e).__name__}: {e}"
    return "done"


def main(base: str, stride: str) -> None:
    for fault, arm in (("kill", strike_at), ("full", fill_at)):
        point = 1
        while True:
            copy = Path(base).with_name(f"{fault}-{point}")
            shutil.copytree(base, copy, symlinks=True)
            said = copy / "said"
            child = os.fork()
            if child == 0:
                answer, write = os.open(said, os.O_WRONLY | os.O_CREAT, 0o600), os.write
                arm(point)
                text = tried(copy / "machine")
                write(answer, text.encode())
                os._exit(text != "done")
            _, status = os.waitpid(child, 0)
            text = said.read_text() if said.exists() else ""
            sys.stdout.write(
                f"{copy}\t{fault}\t{point}\t{status}\t{' '.join(text.split())}\n"
            )
            sys.stdout.flush()
            if status == 0:
                break
            point += int(stride)


if __name__ == "__main__":
    main(*sys.argv[1:])
