"""The graph of a workspace and that of the notes which a project's code keeps, asked as one.

What a name means is the workspace's to say first: its definitions hold for the notes too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from keeplore.index import Index, MemoryRow, ScopeFilter
from keeplore.index.graph.entity_queries import AspectRow, Entity
from keeplore.index.graph.relation_spans import RelatedEntity, join_relations


class JoinedIndex:
    """What a picture asks of an index; ``code`` is that of the notes about ``project``."""

    def __init__(self, own: Index, code: Index, project: str) -> None:
        self._own, self._code = own, code
        self.graph = JoinedGraph(own, code, project)

    def memories(self, ids: Sequence[str]) -> dict[str, MemoryRow]:
        return self._code.memories(ids) | self._own.memories(ids)

    def scopes(self) -> tuple[tuple[str, str], ...]:
        return tuple(dict.fromkeys((*self._own.scopes(), *self._code.scopes())))


class JoinedGraph:
    """The methods of ``EntityGraph`` that a picture is made from."""

    def __init__(self, own: Index, code: Index, project: str) -> None:
        self._own, self._code, self._project = own.graph, code.graph, project
        self._indexes = (own, code)

    def link(self, steps: int | None = None) -> int:
        return self._own.link(steps) + self._code.link(steps)

    def entity(self, name: str, project: str = "") -> Entity | None:
        meant = self._entity_of(name, project)
        return self._with_all_mentions(meant) if meant else None

    def entities(self, *, limit: int) -> list[Entity]:
        both = (*self._own.entities(limit=limit), *self._code.entities(limit=limit))
        return self._distinct(both)[:limit]

    def named(self, name: str) -> list[Entity]:
        return self._distinct((*self._own.named(name), *self._code.named(name)))

    def similar_names(self, name: str, limit: int) -> list[str]:
        both = (
            *self._own.similar_names(name, limit),
            *self._code.similar_names(name, limit),
        )
        return list(dict.fromkeys(both))[:limit]

    def relations(
        self,
        entity: Entity,
        allowed: ScopeFilter,
        *,
        at: str = "",
        ended: Callable[[str], str] = lambda _: "",
    ) -> list[RelatedEntity]:
        """The relations of an entity in the workspace and in the code's memory, those that both
        have joined.
        """
        found: dict[tuple[str, str, str, bool], RelatedEntity] = {}
        own = self._own.relations(entity, allowed, at=at, ended=ended)
        code = [
            relation
            for there in self._in_code(entity)
            for relation in self._code.relations(there, allowed, at=at, ended=ended)
        ]
        for one in (
            *own,
            *(self._with_own_names(entity, relation) for relation in code),
        ):
            is_from = one.source == entity.spelling
            key = (one.relationship, one.other, one.other_place, is_from)
            found[key] = join_relations(found[key], one) if key in found else one
        return sorted(found.values(), key=lambda one: one.order)

    def mentioning(
        self, entity: Entity, allowed: ScopeFilter, limit: int
    ) -> list[tuple[str, str]]:
        found = dict(self._own.mentioning(entity, allowed, limit))
        for there in self._in_code(entity):
            found = {**dict(self._code.mentioning(there, allowed, limit)), **found}
        changed = {
            row.id: row.updated_at
            for index in self._indexes
            for row in index.memories(list(found)).values()
        }
        newest = sorted(
            found, key=lambda id_: (changed.get(id_, ""), id_), reverse=True
        )
        return [(id_, found[id_]) for id_ in newest[:limit]]

    def aspects(self, entity: Entity) -> list[AspectRow]:
        found: dict[tuple[str, str], tuple[str, ...]] = {}
        rows = self._own.aspects(entity)
        rows += [
            row for other in self._in_code(entity) for row in self._code.aspects(other)
        ]
        for row in rows:
            key = (row.aspect, row.kind)
            found[key] = tuple({*found.get(key, ()), *row.memories})
        made = [AspectRow(*key, memories) for key, memories in found.items()]
        return sorted(made, key=lambda row: row.order)

    def co_mentioned(
        self, memories: Sequence[str], limit: int, at_least: int
    ) -> list[tuple[str, int]]:
        own = self._own.co_mentioned(memories, limit, at_least)
        return _added_counts(
            (*own, *self._code.co_mentioned(memories, limit, at_least))
        )[:limit]

    def mentioned(self, allowed: ScopeFilter, limit: int) -> list[tuple[str, int]]:
        own = self._own.mentioned(allowed, limit)
        return _added_counts((*own, *self._code.mentioned(allowed, limit)))[:limit]

    def _entity_of(self, name: str, project: str) -> Entity | None:
        return self._own.entity(name, project) or self._code.entity(name, project)

    def _in_code(self, entity: Entity) -> Iterable[Entity]:
        """What the notes have of an entity, under each of its names that means it there."""
        found: dict[tuple[str, str], Entity] = {}
        for name in (entity.name, *entity.aliases):
            meant = self._entity_of(name, self._project)
            there = self._code.entity(name, self._project)
            if there and meant and _key(meant) == _key(entity):
                found[_key(there)] = there  # several names may be one thing there, too
        return found.values()

    def _with_all_mentions(self, entity: Entity) -> Entity:
        """The entity with its mentions in both graphs."""
        own = self._own.entity(entity.name, entity.place)
        number = own.mentions if own and _key(own) == _key(entity) else 0
        number += sum(other.mentions for other in self._in_code(entity))
        return replace(entity, mentions=number)

    def _distinct(self, entities: Iterable[Entity]) -> list[Entity]:
        found: dict[tuple[str, str], Entity] = {}
        for one in entities:
            if (meant := self._entity_of(one.name, one.place)) and _key(
                meant
            ) not in found:
                found[_key(meant)] = self._with_all_mentions(meant)
        return sorted(found.values(), key=lambda one: one.order)

    def _with_own_names(self, entity: Entity, one: RelatedEntity) -> RelatedEntity:
        """A relation that a note states, with its ends called as here."""
        other = self._entity_of(one.other, one.other_place)
        place = other.place if other else one.other_place
        name, spelling = (other.name, other.spelling) if other else (one.other,) * 2
        code = self._code.entity(one.other, one.other_place)
        is_to = code is not None and one.target == code.spelling
        ends = (entity.spelling, spelling) if is_to else (spelling, entity.spelling)
        return replace(
            one, source=ends[0], target=ends[1], other=name, other_place=place
        )


def _key(entity: Entity) -> tuple[str, str]:
    return entity.name, entity.place


def _added_counts(counts: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    found: Counter[str] = Counter()
    for name, number in counts:
        found[name] += number
    return found.most_common()
