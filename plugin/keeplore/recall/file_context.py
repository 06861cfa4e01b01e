"""What a host is given before an agent edits a file: what was decided and learned that names this
file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from keeplore.index import MemoryRow, ScopeFilter
from keeplore.memory import Conversation
from keeplore.memory.note import statement_of
from keeplore.recall.render import (
    BlockLine,
    BlockSection,
    ContextBlock,
    TextBudget,
    block,
    quoted,
)
from keeplore.recall.unasked.dedup import is_repeated
from keeplore.recall.unasked.memory_lines import (
    LoadedMemory,
    decided_in,
    may_be_quoted,
    note_item,
    quote_item,
)
from keeplore.recall.unasked.prompt_injection import may_be_injected
from keeplore.recall.unasked.workspace_view import (
    NOTHING,
    InjectionHistory,
    WorkspaceView,
    loaded_memories,
    unasked_rows,
)

# in this order
CATEGORIES = (
    "gotchas",
    "corrections",
    "project-conventions",
    "architectural-decisions",
)
MAX_FILES = 20  # of one edit
MAX_ITEMS = 5
CANDIDATES = 60  # passages that are looked at for a file
NAME_CHARS = 80


def edit_context(
    views: Sequence[WorkspaceView],
    paths: Sequence[str],
    cwd: str,
    *,
    room: TextBudget,
    history: InjectionHistory = NOTHING,
) -> ContextBlock:
    """A fenced block and the ids it shows; ("", ()) where no memory names one of the files.

    ``paths`` are absolute or relative to ``cwd``. A memory names a file by its base name alone, or
    by a path that ends like the file's: `docs/index.md` is not meant by `api/index.md`.
    """
    sections = []
    known: set[str] = set()
    for path in paths[:MAX_FILES]:
        items = []
        for read in _naming(views, path, cwd):
            if read.row.id not in history.answers and read.row.id not in known:
                found = [
                    item
                    for item in _items(read, path, cwd)
                    if not is_repeated(item.text, history.words)
                ]
                known |= {read.row.id} if found else set()
                items += found
        sections.append(
            BlockSection(
                f"About {_shown_name(path)}, which is about to be edited:",
                items[:MAX_ITEMS],
            )
        )
    return block(sections, room)


def _shown_name(path: str) -> str:
    """The file's name as an agent may be shown it."""
    return quoted(_base_name(path), NAME_CHARS)


def _base_name(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]


def names_file(text: str, path: str, cwd: str) -> bool:
    """Does a text name this file?"""
    whole = _parts(path if _is_absolute(path) else f"{cwd}/{path}")
    inside = _parts(path.replace("\\", "/").removeprefix(cwd.replace("\\", "/")))
    for found in _mentions(whole[-1]).finditer(text) if whole else ():
        mention = _parts(found[0])
        if whole[-len(mention) :] == mention:
            return True
        # another machine has the project elsewhere
        is_elsewhere = _is_absolute(found[0]) and len(inside) > 1
        if is_elsewhere and mention[-len(inside) :] == inside:
            return True
    return False


def _naming(
    views: Sequence[WorkspaceView], path: str, cwd: str
) -> Iterator[LoadedMemory]:
    """Notes of the categories that matter, then conversations with a decision, the newest first in
    each.
    """
    for view in views:
        wanted = [
            row
            for row in _memories_naming(view, _base_name(path))
            if _rank(row) < len(CATEGORIES) + 1 and not row.is_archived
        ]
        wanted = unasked_rows(view, wanted)
        wanted.sort(key=lambda row: row.updated_at, reverse=True)
        for read in loaded_memories(view, sorted(wanted, key=_rank)):
            if names_file(read.memory.body, path, cwd):
                yield read


def _memories_naming(view: WorkspaceView, name: str) -> Iterable[MemoryRow]:
    """The memories of passages in which a name stands."""
    index = view.index
    matches = index.text_search(name, ScopeFilter(view.scopes), CANDIDATES)
    passages = index.passages([match.passage for match in matches])
    return index.memories(sorted({row.memory_id for row in passages})).values()


def _rank(row: MemoryRow) -> int:
    # what somebody else wrote waits until it is asked for
    if row.kind in ("document", "digest"):
        return len(CATEGORIES) + 1
    if row.kind == "conversation":
        return len(CATEGORIES)
    return (
        CATEGORIES.index(row.category)
        if row.category in CATEGORIES
        else len(CATEGORIES) + 1
    )


def _items(read: LoadedMemory, path: str, cwd: str) -> Iterator[BlockLine]:
    if read.row.kind != "conversation":
        if may_be_injected(read.row.trust, read.row.title, statement_of(read.memory)):
            yield note_item(read)
        return
    talk = replace(read, talk=Conversation.from_markdown(read.memory.body))
    for quote in decided_in(talk):
        if names_file(quote.text, path, cwd) and may_be_quoted(talk, quote):
            yield quote_item(talk, quote)


def _mentions(base: str) -> re.Pattern[str]:
    return re.compile(
        rf"(?<![\w.@-])[\w.@~:/\\-]{{0,200}}(?<![\w.-]){re.escape(base)}(?![\w-]|\.\w)"
    )


def _parts(path: str) -> list[str]:
    """The names along a path, of any system."""
    return [
        part for part in path.replace("\\", "/").split("/") if part not in ("", ".")
    ]


def _is_absolute(path: str) -> bool:
    return path.startswith(("/", "~", "\\")) or path[1:3] in (":/", ":\\")
