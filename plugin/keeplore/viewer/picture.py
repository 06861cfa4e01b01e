"""What is drawn, whatever the format: plain values in their final order, so that the same graph
gives the same bytes.

Every text in a picture is one line without control characters: whoever makes one has cleaned it.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import Any

GENERATOR = "keeplore graph"  # by this a file is known to be ours


@dataclass(frozen=True, slots=True)
class MentionedIn:
    """A memory that mentions an entity."""

    id: str
    title: str
    at: str  # of its last change: RFC 3339, UTC


@dataclass(frozen=True, slots=True)
class NodeAspect:
    """What the notes say of an entity; ``kind`` is attribute or constraint."""

    aspect: str
    kind: str
    memories: int


@dataclass(frozen=True, slots=True)
class GraphNode:
    """An entity; ``place`` is its project, "" where all share it, and ``distance`` counts hops from
    the middle.
    """

    name: str
    spelling: str
    type: str
    place: str
    mentions: int
    distance: int = 0
    aliases: tuple[str, ...] = ()
    aspects: tuple[NodeAspect, ...] = ()
    memories: tuple[MentionedIn, ...] = ()  # the newest


@dataclass(frozen=True, slots=True)
class GraphRelation:
    """``source`` and ``target`` are positions in the picture's nodes."""

    source: int
    target: int
    relationship: str
    confidence: float
    mentions: int
    since: str = ""  # RFC 3339, UTC; "" where nothing tells
    until: str = ""

    @property
    def ends(self) -> tuple[int, int]:
        return self.source, self.target


@dataclass(frozen=True, slots=True)
class SharedMemories:
    """Two entities, ``first`` before ``second`` in the picture's nodes, that stand in the same
    memories.
    """

    first: int
    second: int
    memories: int

    @property
    def ends(self) -> tuple[int, int]:
        return self.first, self.second


@dataclass(frozen=True, slots=True)
class GraphPicture:
    """``nodes``: the middle, if there is one, then by hops, mentions and name. ``has_more``: some
    are left out.
    """

    workspace: str
    nodes: tuple[GraphNode, ...]
    relations: tuple[GraphRelation, ...] = ()
    together: tuple[SharedMemories, ...] = ()
    has_more: bool = False
    has_middle: bool = False

    @property
    def labels(self) -> list[str]:
        """What each node is called: its name as written, with its project where another has the
        same.
        """
        times = Counter(node.spelling.casefold() for node in self.nodes)
        return [
            f"{node.spelling} ({node.place})"
            if node.place and times[node.spelling.casefold()] > 1
            else node.spelling
            for node in self.nodes
        ]

    @property
    def title(self) -> str:
        """What a page or a window is called."""
        about = self.nodes[0].spelling if self.has_middle else "What memory is about"
        return f"{about} · {self.workspace}"


def as_data(picture: GraphPicture) -> dict[str, Any]:
    """What ``--format json`` prints, and what the page holds: memories once, entities by their
    position.
    """
    return {
        "generator": GENERATOR,
        "workspace": picture.workspace,
        "title": picture.title,
        "about": picture.nodes[0].name if picture.has_middle else None,
        "has_more": picture.has_more,
        "entities": [
            _entity(node, label)
            for node, label in zip(picture.nodes, picture.labels, strict=True)
        ],
        "relations": [_relation(relation) for relation in picture.relations],
        "together": [
            {"entities": [pair.first, pair.second], "memories": pair.memories}
            for pair in picture.together
        ],
        "memories": _memories(picture),
    }


def as_json(picture: GraphPicture) -> str:
    """The picture as JSON for programs, with letters as they are."""
    return json.dumps(as_data(picture), ensure_ascii=False, indent=2) + "\n"


def _entity(node: GraphNode, label: str) -> dict[str, Any]:
    return {
        "name": node.name,
        "spelling": node.spelling,
        "label": label,
        "type": node.type,
        "project": node.place or None,
        "mentions": node.mentions,
        "hops": node.distance,
        "aliases": list(node.aliases),
        "aspects": [
            {"aspect": a.aspect, "kind": a.kind, "memories": a.memories}
            for a in node.aspects
        ],
        "memories": [mention.id for mention in node.memories],
    }


def _relation(relation: GraphRelation) -> dict[str, Any]:
    return {
        "source": relation.source,
        "relationship": relation.relationship,
        "target": relation.target,
        "confidence": round(relation.confidence, 3),
        "mentions": relation.mentions,
        "since": relation.since or None,
        "until": relation.until or None,
    }


def _memories(picture: GraphPicture) -> dict[str, dict[str, str]]:
    """Each memory of any node, once, by its id."""
    return {
        mention.id: {"title": mention.title, "at": mention.at}
        for node in picture.nodes
        for mention in node.memories
    }
