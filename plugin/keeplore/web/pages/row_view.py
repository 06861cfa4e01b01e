"""Rows of memories as lists show them: with one sentence of each, and how far it is believed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from keeplore.index import MemoryRow
from keeplore.memory.names import short_id
from keeplore.text.agent_scope import short_place
from keeplore.text.dates import day_of
from keeplore.workspace.workspace import Workspace

_QUOTATIONS = re.compile(r"^>.*\Z", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class RowView:
    """``gist`` is "" where it says no more than the title; ``is_foreign``: another person's machine
    wrote it, which was not accepted.
    """

    row: MemoryRow
    gist: str
    is_foreign: bool

    @property
    def place(self) -> str:
        return short_place(self.row.scope, self.row.project)

    @property
    def what(self) -> str:
        """The category of a note, else the kind."""
        is_note = self.row.kind == "note" and self.row.category
        return self.row.category if is_note else self.row.kind

    @property
    def digits(self) -> str:
        return short_id(self.row.id)


def views(workspace: Workspace, rows: Sequence[MemoryRow]) -> list[RowView]:
    """The rows of a list, each with a sentence for it and whether its writer is doubted. Raises
    IndexUnavailable.
    """
    gists = workspace.index.timeline.gists([row.id for row in rows])
    source_of = workspace.machine_trust.sources()
    return [
        RowView(row, _gist(row, gists.get(row.id, "")), not source_of(row).is_believed)
        for row in rows
    ]


def by_day(rows: Iterable[RowView]) -> Iterator[tuple[str, list[RowView]]]:
    """The time of the newest of a day's memories, and these, in the order in which they come."""
    for _, group in groupby(rows, lambda view: day_of(view.row.updated_at)):
        views = list(group)
        yield views[0].row.updated_at, views


def _gist(row: MemoryRow, text: str) -> str:
    """The gist, for a note without the quotations below it."""
    own = _QUOTATIONS.sub("", text) if row.kind == "note" else text
    said = " ".join(own.split())
    return "" if said.rstrip(".").startswith(row.title.rstrip(".…")) else said
