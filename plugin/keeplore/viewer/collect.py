"""From the index to a picture: which entities it holds, what ties them, and what is told of
each.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, combinations

from keeplore.index import Index, ScopeFilter
from keeplore.index.graph.entity_queries import Entity
from keeplore.index.graph.relation_spans import RelatedEntity
from keeplore.text.fences import one_plain_line as plain
from keeplore.viewer.joined_graph import JoinedIndex
from keeplore.viewer.picture import (
    GraphNode,
    GraphPicture,
    GraphRelation,
    MentionedIn,
    NodeAspect,
    SharedMemories,
)

# the newest memories of an entity by which it is known what it stands beside
SEEN = 300
EVERY = 1_000_000  # memories: none is left out
TOLD = 8  # memories that are named with an entity
BESIDE = 10  # of what stands in the same memories, at one hop
CROWD = 60  # of the entities in one memory, the most mentioned
LINES = 3  # to others in the same memories, from one entity: the closest
AT_LEAST = 2  # memories that two share, for a line between them
Key = tuple[str, str]  # canonical name and place


@dataclass(frozen=True, slots=True)
class GraphView:
    """What of a workspace's graph is looked at, with what the code here adds: the memories that
    count, and the project that it is seen from.
    """

    index: Index | JoinedIndex
    workspace: str
    allowed: ScopeFilter
    project: str = ""
    at: str = ""  # RFC 3339, UTC: the moment at which relations are to hold, "" for now
    # of a memory (id): when what it states was replaced by another
    ended: Callable[[str], str] = field(default=lambda _: "", compare=False)

    def relations(self, entity: Entity) -> list[RelatedEntity]:
        return self.index.graph.relations(
            entity, self.allowed, at=self.at, ended=self.ended
        )


def overview(view: GraphView, limit: int, *, is_tied: bool = True) -> GraphPicture:
    """The entities that are mentioned most; with the lines between them where ``is_tied``."""
    found = _all_of(view, limit + 1)
    has_more, shown = len(found) > limit, found[:limit]
    if not is_tied:
        nodes = tuple(_node(view, entity, 0, ()) for entity in shown)
        return GraphPicture(plain(view.workspace), nodes, has_more=has_more)
    entities = [(entity, 0) for entity in _with_projects(view, shown, limit)]
    return _picture(view, entities, has_more=has_more, has_middle=False)


def neighbourhood(
    view: GraphView, middle: Entity, hops: int, limit: int
) -> GraphPicture:
    """What is related to an entity or stands in the same memories, so many hops away, and what ties
    those.
    """
    found: dict[Key, tuple[Entity, int]] = {_key(middle): (middle, 0)}
    frontier = [middle]
    has_more = False
    for hop in range(1, hops + 1):
        reached: dict[Key, Entity] = {}
        for entity in frontier:
            for other in _neighbours(view, entity, hop):
                reached.setdefault(_key(other), other)
        new = [other for key, other in reached.items() if key not in found]
        frontier = new[: limit - len(found)]
        has_more |= len(frontier) < len(new)
        found |= {_key(entity): (entity, hop) for entity in frontier}
    counted = [
        (_with_own_mentions(view, entity), hop) for entity, hop in found.values()
    ]
    return _picture(view, counted, has_more=has_more, has_middle=True)


def _all_of(view: GraphView, limit: int) -> list[Entity]:
    """The entities of a place: of a project those that its own memories mention, counted there; of
    a workspace all.
    """
    graph = view.index.graph
    if not view.allowed.scopes:
        return graph.entities(limit=limit)
    found: dict[Key, Entity] = {}
    for name, number in graph.mentioned(view.allowed, limit):
        if entity := graph.entity(name, view.project):
            found.setdefault(_key(entity), replace(entity, mentions=number))
    return list(found.values())


def _with_projects(view: GraphView, most: Sequence[Entity], limit: int) -> list[Entity]:
    """The most mentioned entities with every project of the workspace added, however seldom
    memories say its name: most relations are theirs. At most ``limit``.
    """
    names = [
        project for _, project in view.allowed.scopes or view.index.scopes() if project
    ]
    projects = [
        entity for name in names if (entity := view.index.graph.entity(name, name))
    ]
    kept = {
        _key(entity): _with_own_mentions(view, entity) for entity in projects[:limit]
    }
    kept |= {_key(entity): entity for entity in most}
    # the projects stand first and stay, what is mentioned least makes room
    return sorted(list(kept.values())[:limit], key=lambda one: one.order)


def _with_own_mentions(view: GraphView, entity: Entity) -> Entity:
    """Seen from a project, what its own memories mention counts."""
    if not view.allowed.scopes:
        return entity
    return replace(
        entity, mentions=len(view.index.graph.mentioning(entity, view.allowed, EVERY))
    )


def _key(entity: Entity) -> Key:
    return entity.name, entity.place


def _neighbours(view: GraphView, entity: Entity, hop: int) -> Iterator[Entity]:
    """The surest relations first, then what stands closest; fewer of those with every hop."""
    graph = view.index.graph
    related = (
        graph.entity(relation.other, relation.other_place)
        for relation in view.relations(entity)
    )
    for other in chain(related, _co_mentioned(view, entity, 1 + BESIDE // hop)):
        is_elsewhere = (
            view.allowed.scopes
            and other is not None
            and other.place not in ("", view.project)
        )
        if other is not None and _key(other) != _key(entity) and not is_elsewhere:
            yield other


def _co_mentioned(
    view: GraphView, entity: Entity, limit: int
) -> Iterator[Entity | None]:
    """The entities that its memories mention as well; of several with one name, the one that most
    of these memories mean.
    """
    graph, memories = view.index.graph, _memories(view, entity)
    place = entity.place or (view.project if view.allowed.scopes else "")
    for name, _ in graph.co_mentioned(memories, limit, AT_LEAST):
        meant = [graph.entity(name, place)] if place else graph.named(name)
        if len(meant) > 1:
            here = set(memories)
            meant.sort(
                key=lambda one: (
                    -len(here.intersection(_memories(view, one))) if one else 0
                )
            )
        yield from meant[:1]


def _memories(view: GraphView, entity: Entity) -> list[str]:
    """The ids of the memories that mention it, the newest first."""
    return [
        memory for memory, _ in view.index.graph.mentioning(entity, view.allowed, SEEN)
    ]


def _picture(
    view: GraphView,
    entities_with_hops: Sequence[tuple[Entity, int]],
    *,
    has_more: bool,
    has_middle: bool,
) -> GraphPicture:
    """Entities with their hops from the middle, and what ties them, in their final order."""
    order = sorted(
        entities_with_hops,
        key=lambda item: (item[1], -item[0].mentions, *_key(item[0])),
    )
    entities = [entity for entity, _ in order]
    at = {_key(entity): number for number, entity in enumerate(entities)}
    memories = [_memories(view, entity) for entity in entities]
    return GraphPicture(
        plain(view.workspace),
        tuple(_nodes(view, order, memories)),
        _relations(view, entities, at),
        _closest_pairs(memories, [distance for _, distance in order]),
        has_more=has_more,
        has_middle=has_middle,
    )


def _nodes(
    view: GraphView,
    order: Sequence[tuple[Entity, int]],
    memories: Sequence[Sequence[str]],
) -> Iterator[GraphNode]:
    """Each entity with the newest of its memories, which are given in the same order."""
    mentions = _mentions(view, {id_ for ids in memories for id_ in ids[:TOLD]})
    for (entity, distance), ids in zip(order, memories, strict=True):
        mentioned_in = [mentions[id_] for id_ in ids[:TOLD] if id_ in mentions]
        yield _node(view, entity, distance, mentioned_in)


def _mentions(view: GraphView, memories: Iterable[str]) -> dict[str, MentionedIn]:
    found = {}
    for id_, row in view.index.memories(sorted(memories)).items():
        title = plain(row.title) or "Without a title"
        found[id_] = MentionedIn(id_, title, plain(row.updated_at))
    return found


def _node(
    view: GraphView, entity: Entity, distance: int, mentions: Sequence[MentionedIn]
) -> GraphNode:
    return GraphNode(
        plain(entity.name),
        plain(entity.spelling),
        plain(entity.type),
        plain(entity.place),
        entity.mentions,
        distance,
        tuple(plain(alias) for alias in entity.aliases),
        tuple(
            NodeAspect(plain(row.aspect), plain(row.kind), len(row.memories))
            for row in view.index.graph.aspects(entity)
        ),
        tuple(mentions),
    )


def _relations(
    view: GraphView, entities: Sequence[Entity], at: Mapping[Key, int]
) -> tuple[GraphRelation, ...]:
    """Every relation between two that are drawn, once, the most often stated first."""
    found: dict[tuple[int, int, str], GraphRelation] = {}
    for number, entity in enumerate(entities):
        for related in view.relations(entity):
            other = at.get((related.other, related.other_place))
            if other is None:
                continue
            ends = (
                (number, other)
                if related.source == entity.spelling
                else (other, number)
            )
            word = plain(related.relationship)
            found.setdefault(
                (*ends, word),
                GraphRelation(
                    *ends,
                    word,
                    related.confidence,
                    related.mentions,
                    plain(related.since),
                    plain(related.until),
                ),
            )
    return tuple(sorted(found.values(), key=_most_stated_first))


def _most_stated_first(relation: GraphRelation) -> tuple[float | str, ...]:
    sure = (-relation.mentions, -relation.confidence)
    return (*sure, relation.source, relation.target, relation.relationship)


def _closest_pairs(
    memories: Sequence[Sequence[str]], distances: Sequence[int]
) -> tuple[SharedMemories, ...]:
    """Lines between the closest entities, and to the one that is a hop nearer; lines between all of
    them would be a grey cloud.
    """
    shared = _shared_counts(memories)
    kept: set[tuple[int, int]] = set()
    for number, order in _closest_first(shared, [len(ids) for ids in memories]).items():
        nearer = [other for other in order if distances[other] == distances[number] - 1]
        for other in (*order[:LINES], *nearer[:1]):
            kept.add((min(number, other), max(number, other)))
    pairs = sorted(kept, key=lambda pair: (-shared[pair], *pair))
    return tuple(SharedMemories(*pair, shared[pair]) for pair in pairs)


def _shared_counts(memories: Sequence[Sequence[str]]) -> Counter[tuple[int, int]]:
    """How many memories two have in common, by their positions."""
    # memory → positions, the most mentioned first
    within: dict[str, list[int]] = defaultdict(list)
    for number, ids in enumerate(memories):
        for memory in ids:
            within[memory].append(number)
    crowds = [combinations(numbers[:CROWD], 2) for numbers in within.values()]
    return Counter(chain.from_iterable(crowds))


def _closest_first(
    shared: Mapping[tuple[int, int], int], sizes: Sequence[int]
) -> dict[int, list[int]]:
    """What each is tied to: by how many memories two share, for how many they stand in."""
    ties: dict[int, list[tuple[float, int]]] = defaultdict(list)
    for (first, second), number in shared.items():
        if number >= AT_LEAST:
            closeness = number / math.sqrt(sizes[first] * sizes[second])
            ties[first].append((-closeness, second))
            ties[second].append((-closeness, first))
    return {
        number: [other for _, other in sorted(others)]
        for number, others in ties.items()
    }
