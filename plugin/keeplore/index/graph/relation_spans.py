"""From when to when relations hold: one ends when the last memory that states it is replaced."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from keeplore.index.memory_queries import superseded
from keeplore.index.sql import rows_in

_SUCCESSORS = (
    "SELECT l.target, min(n.created_at) FROM links l JOIN memories n ON n.key = l.memory"
    " WHERE l.relationship = 'supersedes' AND l.target IN ({placeholders}) GROUP BY 1"
)


@dataclass(frozen=True, slots=True)
class RelatedEntity:
    """A relation with what it means here; ``confidence`` is the mean of all memories that
    state it.
    """

    source: str  # as written
    relationship: str
    target: str  # as written
    confidence: float  # 0..1
    mentions: int
    other: str  # canonical name of the end that was not asked for
    other_place: str
    since: str = ""  # RFC 3339, UTC; "" where no memory states it, but a manifest
    until: str = ""  # "" while it holds

    @property
    def order(self) -> tuple[int, float, str, str, str]:
        """The most often stated first, then the surest."""
        names = (self.source, self.relationship, self.target)
        return -self.mentions, -self.confidence, *names


@dataclass(frozen=True, slots=True)
class StatedRelation:
    """A relation as one memory (id, "" for another file) states it."""

    relation: RelatedEntity
    memory: str = ""

    @property
    def since(self) -> str:
        return self.relation.since

    @property
    def until(self) -> str:
        return self.relation.until


def end_times(
    connection: sqlite3.Connection, memories: Iterable[str]
) -> dict[str, str]:
    """When the next version took the place of each that has one."""
    old = superseded(connection, memories)
    return dict(rows_in(connection, _SUCCESSORS, sorted(old)))


def relations_at(
    relations: Iterable[StatedRelation], at: str, ended: Callable[[str], str]
) -> list[RelatedEntity]:
    """What holds at a moment (RFC 3339, UTC), "" for now, with the whole span in which it does.

    ``ended`` tells of a memory when something took the place of what it states, "" for never.
    """
    found: dict[tuple[str, ...], list[StatedRelation]] = {}
    for one in (_with_end(span, ended) for span in relations):
        known = one.relation
        ends = (known.source, known.relationship, known.target)
        found.setdefault((*ends, known.other, known.other_place), []).append(one)
    spans = (_span(all_of_it, at) for all_of_it in found.values())
    return sorted(filter(None, spans), key=lambda relation: relation.order)


def join_relations(one: RelatedEntity, other: RelatedEntity) -> RelatedEntity:
    """What two graphs state of the same relation, with all its mentions and the whole span."""
    mentions = one.mentions + other.mentions
    sums = (each.confidence * each.mentions for each in (one, other))
    return replace(
        one,
        confidence=sum(sums) / mentions,
        mentions=mentions,
        since=min(one.since, other.since),
        until=max(one.until, other.until) if one.until and other.until else "",
    )


def _with_end(stated: StatedRelation, ended: Callable[[str], str]) -> StatedRelation:
    if stated.until or not stated.memory:
        return stated
    return replace(
        stated, relation=replace(stated.relation, until=ended(stated.memory))
    )


def _span(relations: Sequence[StatedRelation], at: str) -> RelatedEntity | None:
    """The relation as it holds at a time, since when and until when; None where it does not. Spans
    that overlap or touch are one.
    """
    holding = [span for span in relations if _holds_at(span, at)]
    if not holding:
        return None
    since = min(span.since for span in holding)
    until = "" if _is_open(holding) else max(span.until for span in holding)
    for span in sorted(relations, key=lambda span: span.since, reverse=True):
        if span.since < since <= span.until:
            since = span.since
    for one in sorted(relations, key=lambda one: one.since):
        if until and one.since <= until and (not one.until or one.until > until):
            until = one.until
    return replace(
        holding[0].relation,
        confidence=sum(span.relation.confidence for span in holding) / len(holding),
        mentions=len(holding),
        since=since,
        until=until,
    )


def _holds_at(stated: StatedRelation, at: str) -> bool:
    return not stated.until if not at else stated.since <= at < (stated.until or "~")


def _is_open(relations: Iterable[StatedRelation]) -> bool:
    return not all(span.until for span in relations)
