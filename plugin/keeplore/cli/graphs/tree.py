"""The picture as lines for a terminal: what is known of one entity, and what it is tied to, hop by hop."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from keeplore.cli.graphs.picture import Node, Picture, Relation, Together
from keeplore.cli.references import short

Edge = Relation | Together


@dataclass(frozen=True, slots=True)
class _Branch:
    text: str
    below: Sequence[_Branch] = field(default_factory=tuple)


def as_tree(picture: Picture) -> Iterator[str]:
    """Lines without their ends, the middle first; every other entity is followed once, where it is nearest to that."""
    middle = picture.nodes[0]
    ties = _farther(picture)
    followed: set[int] = set()
    parts = {
        "relations": [
            _branch(picture, ties, other, edge, followed) for other, edge in ties[0] if isinstance(edge, Relation)
        ],
        "in the same memories": [
            _branch(picture, ties, other, edge, followed) for other, edge in ties[0] if isinstance(edge, Together)
        ],
        "aspects": [_Branch(f"{a.aspect} · {a.kind} · {counted(a.memories, 'memory')}") for a in middle.aspects],
        "memories": [_Branch(f"{told.date}  {told.title}  {short(told.id)}") for told in middle.memories],
    }
    yield middle.spelling
    yield facts(middle)
    yield from _lines([_Branch(heading, below) for heading, below in parts.items() if below])


def facts(node: Node) -> str:
    """What is known of an entity on its own, in one line."""
    told = [node.type, counted(node.mentions, "mention")]
    told += [f"only in {node.place}"] if node.place else []
    told += [f"also {', '.join(node.aliases)}"] if node.aliases else []
    return " · ".join(told)


def counted(number: int, noun: str) -> str:
    """A number with its noun."""
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number:,} {noun if number == 1 else plural}"


def _farther(picture: Picture) -> dict[int, list[tuple[int, Edge]]]:
    """Node → what it is tied to one hop farther from the middle; each of those hangs on the first that reaches it."""
    found: dict[int, list[tuple[int, Edge]]] = defaultdict(list)
    holder: dict[int, int] = {}
    edges: list[Edge] = [*picture.relations, *picture.together]
    for edge in edges:
        ends = edge.ends
        for near, far in (ends, ends[::-1]):
            is_farther = picture.nodes[far].distance == picture.nodes[near].distance + 1
            if is_farther and holder.setdefault(far, near) == near:
                found[near].append((far, edge))
    return found


def _branch(
    picture: Picture, ties: dict[int, list[tuple[int, Edge]]], at: int, edge: Edge, followed: set[int]
) -> _Branch:
    node = picture.nodes[at]
    if isinstance(edge, Together):
        said = f"{node.spelling} · {counted(edge.memories, 'memory')}"
    else:
        is_out = edge.target == at
        said = f"{edge.relationship} {'→' if is_out else '←'} {node.spelling}"
        said += f" · {edge.confidence:.0%}, {counted(edge.mentions, 'time')}"
    if at in followed:
        return _Branch(said)
    followed.add(at)
    return _Branch(said, [_branch(picture, ties, other, tie, followed) for other, tie in ties[at]])


def _lines(branches: Sequence[_Branch], indent: str = "") -> Iterator[str]:
    for branch in branches:
        is_last = branch is branches[-1]
        yield f"{indent}{'└── ' if is_last else '├── '}{branch.text}"
        yield from _lines(branch.below, indent + ("    " if is_last else "│   "))
