"""The picture as a Mermaid flow chart, which forges draw where it stands in markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from keeplore.text.folding import shortened
from keeplore.viewer.dot import FILLS
from keeplore.viewer.picture import GENERATOR, GraphPicture

LONGEST = 40  # characters of a name
# what Mermaid draws unless its settings say otherwise
MOST_EDGES = 500
MOST_CHARACTERS = 50_000
_SIGN = re.compile(r"(?<=[0-9A-Za-z])[-._/](?=[0-9A-Za-z])|([^0-9A-Za-z])")


def as_mermaid(picture: GraphPicture) -> Iterator[str]:
    """Lines of a ``flowchart``; names and edges beyond what Mermaid draws are left out, the last
    ones first.
    """
    head = [f"%% {GENERATOR}\n", "flowchart LR\n"]
    head += [
        f"  classDef {type_} fill:{fill},stroke:#8d949c,color:#1d2126\n"
        for type_, fill in FILLS.items()
    ]
    names = list(_lines_within(_node_lines(picture), MOST_CHARACTERS * 2 // 3))
    edges = (
        line
        for first, second, line in _edges(picture)
        if max(first, second) < len(names)
    )
    used = sum(map(len, (*head, *names)))
    yield from head
    yield from names
    yield from islice(_lines_within(edges, MOST_CHARACTERS - used), MOST_EDGES)


def _lines_within(lines: Iterator[str], room: int) -> Iterator[str]:
    for line in lines:
        room -= len(line)
        if room < 0:
            return
        yield line


def _node_lines(picture: GraphPicture) -> Iterator[str]:
    labelled = zip(picture.nodes, picture.labels, strict=True)
    for number, (node, label) in enumerate(labelled):
        type_ = node.type if node.type in FILLS else "unknown"
        yield f'  n{number}["{_encoded_label(label)}"]:::{type_}\n'


def _edges(picture: GraphPicture) -> Iterator[tuple[int, int, str]]:
    """Each edge: the numbers of its two nodes, and its line."""
    for relation in picture.relations:
        label = _encoded_label(relation.relationship)
        line = f'  n{relation.source} -->|"{label}"| n{relation.target}\n'
        yield relation.source, relation.target, line
    for pair in picture.together:
        yield pair.first, pair.second, f"  n{pair.first} -.- n{pair.second}\n"


def _encoded_label(text: str) -> str:
    """Letters and digits of ASCII and single signs between them; all else by its number, spaces
    too.

    So no sign of Mermaid, markdown or HTML is left, nor two words like ``direction TB``, which it
    obeys in strings.
    """
    cut = shortened(text, LONGEST)
    return _SIGN.sub(lambda sign: f"#{ord(sign[1])};" if sign[1] else sign[0], cut)
