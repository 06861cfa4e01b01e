"""The picture as lines for a terminal: what is known of one entity, and what it is tied to, hop by
hop.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from types import UnionType

from keeplore.memory.names import short_id
from keeplore.text.counts import counted
from keeplore.text.dates import day_of
from keeplore.viewer.picture import (
    GraphNode,
    GraphPicture,
    GraphRelation,
    NodeAspect,
    SharedMemories,
)

Edge = GraphRelation | SharedMemories


@dataclass(frozen=True, slots=True)
class _Branch:
    text: str
    below: Sequence[_Branch] = field(default_factory=tuple)


def as_tree(picture: GraphPicture) -> Iterator[str]:
    """Lines without their ends, the middle first; every other entity is followed once, where it is
    nearest to that.
    """
    middle, tree = picture.nodes[0], _Tree(picture)
    parts = {
        "relations": tree.below(0, GraphRelation),
        "in the same memories": tree.below(0, SharedMemories),
        "aspects": [_aspect(aspect) for aspect in middle.aspects],
        "memories": [
            _Branch(f"{day_of(mention.at)}  {mention.title}  {short_id(mention.id)}")
            for mention in middle.memories
        ],
    }
    yield middle.spelling
    yield facts(middle)
    yield from _lines(
        [_Branch(heading, below) for heading, below in parts.items() if below]
    )


def _aspect(node_aspect: NodeAspect) -> _Branch:
    memories = counted(node_aspect.memories, "memory", "memories")
    return _Branch(f"{node_aspect.aspect} · {node_aspect.kind} · {memories}")


def facts(node: GraphNode) -> str:
    """What is known of an entity on its own, in one line."""
    parts = [node.type, counted(node.mentions, "mention")]
    parts += [f"only in {node.place}"] if node.place else []
    parts += [f"also {', '.join(node.aliases)}"] if node.aliases else []
    return " · ".join(parts)


class _Tree:
    """What hangs on what: each node on the first that reaches it, one hop nearer to the middle."""

    def __init__(self, picture: GraphPicture) -> None:
        self._labels = picture.labels
        self._farther: dict[int, list[tuple[int, Edge]]] = defaultdict(list)
        self._followed: set[int] = set()
        holder: dict[int, int] = {}
        edges: list[Edge] = [*picture.relations, *picture.together]
        for edge in edges:
            for near, far in (edge.ends, edge.ends[::-1]):
                is_farther = (
                    picture.nodes[far].distance == picture.nodes[near].distance + 1
                )
                if is_farther and holder.setdefault(far, near) == near:
                    self._farther[near].append((far, edge))

    def below(self, at: int, kind: type[Edge] | UnionType = Edge) -> list[_Branch]:
        """What a node is tied to, by edges of this kind."""
        return [
            self._branch(other, edge)
            for other, edge in self._farther[at]
            if isinstance(edge, kind)
        ]

    def _branch(self, at: int, edge: Edge) -> _Branch:
        if isinstance(edge, SharedMemories):
            said = (
                f"{self._labels[at]} · {counted(edge.memories, 'memory', 'memories')}"
            )
        else:
            said = f"{edge.relationship} {'→' if edge.target == at else '←'} {self._labels[at]}"
            said += f" · {edge.confidence:.0%}, {counted(edge.mentions, 'time')}"
            said += f" · {_span(edge)}" if edge.since else ""
        if at in self._followed:
            return _Branch(said)
        self._followed.add(at)
        return _Branch(said, self.below(at))


def _span(edge: GraphRelation) -> str:
    since = day_of(edge.since)
    return f"{since} to {day_of(edge.until)}" if edge.until else f"since {since}"


def _lines(branches: Sequence[_Branch], indent: str = "") -> Iterator[str]:
    for branch in branches:
        is_last = branch is branches[-1]
        yield f"{indent}{'└── ' if is_last else '├── '}{branch.text}"
        yield from _lines(branch.below, indent + ("    " if is_last else "│   "))
