"""A workspace as it is seen from a directory, what of it may be told unasked, and what a session
has been told before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from keeplore.index import MemoryFilter, MemoryRow, ScopeFilter, load_or_none
from keeplore.memory import Memory
from keeplore.recall.since.later_statements import ReplacementLookup
from keeplore.recall.since.named_files import FilesSince, nothing_known
from keeplore.recall.unasked.memory_lines import LoadedMemory
from keeplore.recall.unasked.origin import MemorySource, SourceOf, only_own
from keeplore.recall.unasked.prompt_injection import stated_trust
from keeplore.recall.unasked.unasked_filter import unasked_filter
from keeplore.text.agent_scope import is_of_project

if TYPE_CHECKING:
    from keeplore.index import Index
    from keeplore.store import Store


@dataclass(frozen=True, slots=True)
class WorkspaceView:
    """A workspace as it is seen from a directory: the scopes that apply, the own project first
    where there is one.

    ``trust`` tells how far a memory is believed here, ``sources`` whose machines rows are from;
    over so many links a brief tells what is ``related``. ``freshness`` says what became of the
    files that lines name.
    """

    index: Index
    store: Store
    scopes: tuple[tuple[str, str], ...]
    trust: Callable[[Memory], str] = stated_trust
    sources: Callable[[], SourceOf] = only_own
    related: int = 0
    freshness: FilesSince = nothing_known
    instructions: Callable[[], Sequence[str]] = tuple

    def unasked_filter(self) -> Callable[[MemoryRow], bool]:
        """A function that says whether a memory may be told unasked."""
        return unasked_filter(self.index, self.sources())

    @property
    def own(self) -> tuple[tuple[str, str], ...]:
        """The scopes of the directory's project, under its name of today."""
        here = [one for one in self.scopes if is_of_project(one[0])]
        return tuple(one for one in here if one[1] == here[0][1])


@dataclass(frozen=True, slots=True)
class InjectionHistory:
    """What a session knows already: when it was briefed last (RFC 3339, UTC), and when which memory
    was shown.

    ``since`` is "" for a session that knows nothing: everything is new to it. ``words`` are the
    keys of all that it was shown, ``answers`` the memories that came beside a prompt, before an
    edit or as an answer.
    """

    since: str = ""
    shown: Mapping[str, str] = field(default_factory=dict)
    words: frozenset[str] = frozenset()
    answers: frozenset[str] = frozenset()


NOTHING = InjectionHistory()


def unasked_rows(view: WorkspaceView, rows: Iterable[MemoryRow]) -> list[MemoryRow]:
    """The rows that may be told unasked."""
    return [*filter(view.unasked_filter(), rows)]


def loaded_memories(
    view: WorkspaceView, rows: Iterable[MemoryRow]
) -> Iterator[LoadedMemory]:
    """The memories of rows with how far they are believed here and what replaces them."""
    source_of = view.sources()
    replacements = ReplacementLookup(
        view.index,
        partial(load_or_none, view.store),
        view.trust,
        lambda later: source_of(later).is_believed,
    )
    for row in rows:
        # one may be gone since it was indexed; doctor lists what cannot be read
        memory = load_or_none(view.store, row.path)
        if memory and memory.id == row.id:
            judged = replace(row, trust=view.trust(memory))
            is_own = source_of(row) is MemorySource.OWN
            is_here = (row.scope, row.project) in view.own
            yield LoadedMemory(
                judged,
                memory,
                is_own=is_own,
                replacements=replacements,
                is_here=is_here,
            )


def waiting_in(view: WorkspaceView) -> int:
    """How many memories of the view wait for another person's machine to be accepted."""
    source_of = view.sources()
    wanted = MemoryFilter(ScopeFilter(view.scopes), archived="with")
    rows = view.index.listed(wanted, lambda row: source_of(row) is MemorySource.WAITING)
    return len(rows)
