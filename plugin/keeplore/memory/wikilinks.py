"""Links beside ids, in the form that Obsidian and others follow: the names of the files that hold
the memories which a memory names.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePosixPath

from keeplore.memory.model import Memory

KEY = "wikilinks"
MAX_LINKS = 200
# they would end the link, or mean a heading, a passage or another text for it
_MARKS = frozenset("[]|#^")


def with_wikilinks(memory: Memory, path_of: Callable[[str], str | None]) -> Memory:
    """The memory with a link for each id that it names and whose file is known; the same where it
    names none.
    """
    paths = map(path_of, [*dict.fromkeys(id_ for _, id_ in memory.links)][:MAX_LINKS])
    names = [PurePosixPath(path).stem for path in paths if path]
    links = [f"[[{name}]]" for name in names if not _MARKS.intersection(name)]
    if links or KEY in memory.meta:
        return memory.with_meta(**{KEY: links or None})
    return memory
