"""The files that memories name, and what became of them since."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from keeplore.memory import Conversation, Memory

MAX_FILES = 200
# a path or a file's name, as it stands in a sentence
_FILE = re.compile(r"(?<![\w/.-])[\w.-]*[\w-](?:/[\w.-]+)*\.\w{1,10}\b")


@dataclass(frozen=True, slots=True)
class NamedFiles:
    """``files`` are paths in the memory's project."""

    memory: Memory
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Freshness:
    """``changed`` and ``gone`` are among ``files``, the files of the project that are named;
    ``directory`` is where they are on this machine.
    """

    files: tuple[str, ...]
    changed: tuple[str, ...]
    gone: tuple[str, ...]
    directory: Path = field(default=Path(), compare=False)


# for each what became of its files, None where nothing is known
FilesSince = Callable[[Sequence[NamedFiles]], Sequence[Freshness | None]]


def nothing_known(asked: Sequence[NamedFiles]) -> Sequence[None]:
    return [None] * len(asked)


def named_files(
    memory: Memory, said: str, conversation: Conversation | None = None
) -> NamedFiles:
    """The files that a part of a memory names: of a conversation, those of its files that are
    meant; of a document none.

    ``conversation`` is what its body was read as, where somebody has done that.
    """
    names = (
        [] if memory.kind == "document" else list(dict.fromkeys(_FILE.findall(said)))
    )
    if names and memory.kind == "conversation":
        talk = conversation or Conversation.from_markdown(memory.body)
        ends = tuple(f"/{name}" for name in names)
        files = talk.work.files
        names = [file for file in files if file in names or file.endswith(ends)]
    return NamedFiles(memory, tuple(names[:MAX_FILES]))
