"""The graph of an index: kept in line with the texts, and asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from keeplore.config.feedback_settings import FeedbackSettings
from keeplore.errors import IndexUnavailable
from keeplore.index.database import IndexDatabase
from keeplore.index.graph import (
    boost,
    co_mentions,
    feedback_weights,
    graph_rows,
    neighbours,
)
from keeplore.index.graph.entity_queries import AspectRow, Entity, GraphReader
from keeplore.index.graph.relation_spans import RelatedEntity, relations_at
from keeplore.index.rows import EVERYWHERE
from keeplore.memory.feedback_counters import UsageCounters
from keeplore_hooks.contracts import ScopeFilter

MOST_RELATIONS = 50  # of one entity that are told


class EntityGraph:
    """Safe to use from several threads and processes, as its index is.

    Every method but ``boosted`` raises IndexUnavailable.
    """

    def __init__(self, database: IndexDatabase) -> None:
        self._database = database

    def link(
        self, steps: int | None = None, progress: Callable[[int], object] | None = None
    ) -> int:
        """Find where names stand that the texts have not been looked through for; returns how much
        is left.

        In short transactions, at most so many ``steps``; ``progress`` is called with what is left
        after each.
        """
        done = 0
        while (left := self._database.read(graph_rows.waiting)) and (
            steps is None or done < steps
        ):
            self._database.write(graph_rows.link_some)
            done += 1
            if progress:
                progress(left)
        return left

    def entities(
        self, allowed: ScopeFilter = EVERYWHERE, like: str = "", limit: int = 100
    ) -> list[Entity]:
        """Who and what memories of these scopes are about, the most mentioned first; ``like`` is a
        part of names.
        """
        return self._database.read(
            lambda c: GraphReader(c).entities(allowed, like, limit)
        )

    def named(self, name: str) -> list[Entity]:
        """Everything that a name means in some project or in all of them, the most mentioned
        first.
        """
        return self._database.read(lambda c: GraphReader(c).named(name))

    def entity(self, name: str, project: str = "") -> Entity | None:
        """What a name means in a project; without one what it means to all, or the only thing that
        it means.
        """
        return self._database.read(lambda c: GraphReader(c).entity(name, project))

    def relations(
        self,
        entity: Entity,
        allowed: ScopeFilter = EVERYWHERE,
        *,
        at: str = "",
        ended: Callable[[str], str] = lambda _: "",
    ) -> list[RelatedEntity]:
        """The relations that an entity is in, as source or target, stated in these scopes and
        holding at a moment, "" for now: the most often stated first, then the surest.

        ``ended`` tells of a memory (id) when what it states was replaced elsewhere than in its next
        version, "" for never.
        """
        stated = self._database.read(
            lambda c: GraphReader(c).relations(entity, allowed)
        )
        return relations_at(stated, at, ended)[:MOST_RELATIONS]

    def mentioning(
        self, entity: Entity, allowed: ScopeFilter = EVERYWHERE, limit: int = 100
    ) -> list[tuple[str, str]]:
        """Ids of the memories that mention it with how they write it, the one changed last
        first.
        """
        return self._database.read(
            lambda c: GraphReader(c).mentioning(entity, allowed, limit)
        )

    def feedback(
        self, ids: Sequence[str], now: datetime, rates: FeedbackSettings
    ) -> dict[str, float]:
        """What use has shown each of these memories to be worth; those that are left out are worth
        1.
        """
        return self._database.read(feedback_weights.weights, ids, now, rates)

    def use_of(self, memory_id: str) -> UsageCounters:
        """What the weight of a memory comes from."""
        return self._database.read(feedback_weights.counters, memory_id)

    def count_uses(self) -> tuple[int, int]:
        """How often memories were of use, and how many memories that were."""
        return self._database.read(feedback_weights.count_uses)

    def aspects(self, entity: Entity) -> list[AspectRow]:
        """Under which aspects notes speak of the entity, the most frequent first."""
        return self._database.read(lambda c: GraphReader(c).aspects(entity))

    def boosted(self, text: str, allowed: ScopeFilter, until: float) -> boost.Boost:
        """Memories about what a text names, or what is related to that; ``until`` as of
        ``time.monotonic``.

        What was found until then; nothing on any error.
        """
        try:
            return self._database.read(boost.boosted, text, allowed, until)
        except IndexUnavailable:
            return {}

    def neighbours(self, memory_id: str, hops: int) -> list[neighbours.Neighbour]:
        """What refines, contradicts or relates to a memory within so many steps, the nearest
        first.
        """
        return self._database.read(neighbours.neighbours, memory_id, hops)

    def co_mentioned(
        self, memories: Sequence[str], limit: int, at_least: int
    ) -> list[tuple[str, int]]:
        """Names in at least so many of these memories, with in how many, the closest first."""
        return self._database.read(co_mentions.co_mentioned, memories, limit, at_least)

    def mentioned(self, allowed: ScopeFilter, limit: int) -> list[tuple[str, int]]:
        """The names in the memories of these scopes, each with the number of memories, the most
        mentioned first.
        """
        return self._database.read(co_mentions.mention_counts, allowed, limit)

    def similar_names(self, name: str, limit: int) -> list[str]:
        """Names of what is known that somebody may have meant."""
        return self._database.read(co_mentions.similar_names, name, limit)
