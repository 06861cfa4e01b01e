"""Threads: conversations that go on with one another, over sessions and machines."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from keeplore.index import Index, MemoryRow

_LINKS = ("relates-to", "refines")


@dataclass(frozen=True, slots=True)
class ConversationThread:
    """``rows`` are its conversations, the first one first: two at least."""

    rows: tuple[MemoryRow, ...]

    @property
    def id(self) -> str:
        return self.rows[0].id

    @property
    def title(self) -> str:
        """What it is about now."""
        return self.rows[-1].title

    @property
    def sessions(self) -> int:
        return len({row.session or row.id for row in self.rows})


def threads(index: Index) -> list[ConversationThread]:
    """The threads of a workspace, the one that went on last first. Raises IndexUnavailable."""
    links = [link for kind in _LINKS for link in index.linked(kind)]
    rows = index.memories(sorted({id_ for link in links for id_ in link}))
    talks = {id_: row for id_, row in rows.items() if _is_shown(row)}
    together = _linked_groups(
        (one, other) for one, other in links if one in talks and other in talks
    )
    found = [
        ConversationThread(
            tuple(sorted((talks[id_] for id_ in ids), key=_creation_order))
        )
        for ids in together
    ]
    return sorted(found, key=lambda one: _creation_order(one.rows[-1]), reverse=True)


def _is_shown(row: MemoryRow) -> bool:
    return row.kind == "conversation" and not row.superseded_by


def _creation_order(row: MemoryRow) -> tuple[str, str]:
    return row.created_at, row.id


def _linked_groups(links: Iterable[tuple[str, str]]) -> list[list[str]]:
    """The ids that links tie together, whatever their direction."""
    groups: dict[str, list[str]] = {}
    for one, other in links:
        mine, theirs = groups.get(one, [one]), groups.get(other, [other])
        if mine is theirs:
            continue
        small, large = sorted((mine, theirs), key=len)
        large += [id_ for id_ in small if id_ not in large]
        groups.update(dict.fromkeys(large, large))
    return list({id(group): group for group in groups.values()}.values())
