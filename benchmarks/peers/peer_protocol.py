"""What every program is asked to do, and how: lines of JSON between the benchmark and a process of
the program's own environment. Standard library alone, for it runs in all of them.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

MODEL = "packaged"  # what every program is told that the served model is called
KEY = "none"  # the server on loopback wants no key; the programs want to send one
DIM = 384
Hits = list[tuple[str, str]]  # name of the note and the text that is shown, best first


class Peer(Protocol):
    """A program that holds notes: one text file each, named for the note."""

    def put(self, folder: Path, changed: list[str]) -> None:
        """Take in ``folder``, in which the notes ``changed`` are new or other than before."""

    def ask(self, question: str, limit: int) -> Hits: ...


def serve(make: Callable[[Path, str], Peer]) -> None:
    """Answer on standard output what is asked on standard input, with the processor's time in
    seconds; arguments are a directory of the program's own and the address of the model.

    What the program prints goes to standard error.
    """
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    home, url = Path(sys.argv[1]), sys.argv[2]
    os.environ["HOME"] = str(home)
    peer = make(home, url)
    for line in sys.stdin:
        asked = json.loads(line)
        result = _carry_out(peer, asked)
        print(json.dumps([result, spent_s()]), file=answers, flush=True)


def _carry_out(peer: Peer, asked: dict[str, Any]) -> Hits | None:
    if "question" in asked:
        return peer.ask(asked["question"], asked["limit"])
    peer.put(Path(asked["folder"]), asked["changed"])
    return None


def spent_s() -> float:
    """Seconds of processor of this process and of those that it has ended."""
    return time.process_time() + sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])


def text_of(folder: Path, name: str) -> str:
    return (folder / f"{name}.md").read_text(encoding="utf-8")
