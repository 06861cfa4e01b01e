"""The picture in DOT, the language of Graphviz."""

from __future__ import annotations

from collections.abc import Iterator

from keeplore.text.counts import counted
from keeplore.text.folding import shortened
from keeplore.viewer.picture import (
    GENERATOR,
    GraphNode,
    GraphPicture,
    GraphRelation,
    SharedMemories,
)

# a name would take a whole line of the drawing otherwise
LONGEST = 60  # characters
FILLS = {  # pale enough for black text
    "project": "#cfe0ff",
    "tool": "#cdeed5",
    "system": "#c9eef0",
    "concept": "#e3d7fb",
    "person": "#fde0c2",
    "skill": "#fbd3e7",
    "task": "#f6d5cc",
    "unknown": "#e6e8ea",
}


def as_dot(picture: GraphPicture) -> Iterator[str]:
    """Pieces of a ``digraph``; what only stands in the same memories is joined by a dashed line
    without an arrow.
    """
    yield f"// {GENERATOR}\n"
    yield f"digraph {_dot_string(picture.title)} {{\n"
    yield "  graph [layout=sfdp, overlap=prism, splines=true, outputorder=edgesfirst];\n"
    yield '  node [shape=box, style="rounded,filled", color="#00000000", '
    yield 'fontname="Helvetica", fontsize=11];\n'
    yield '  edge [color="#8d949c", fontname="Helvetica", fontsize=9, arrowsize=0.6];\n'
    labelled = zip(picture.nodes, picture.labels, strict=True)
    for number, (node, label) in enumerate(labelled):
        is_middle = picture.has_middle and not number
        yield from _node_lines(number, node, label, is_middle=is_middle)
    for relation in picture.relations:
        yield from _edge_lines(relation)
    for pair in picture.together:
        yield from _dashed_line(pair)
    yield "}\n"


def _node_lines(
    number: int, node: GraphNode, label: str, *, is_middle: bool
) -> Iterator[str]:
    place = f", {node.place}" if node.place else ""
    tooltip = f"{node.type}, {counted(node.mentions, 'mention')}{place}"
    fill = FILLS.get(node.type, FILLS["unknown"])
    bold = ", penwidth=2, color=black" if is_middle else ""
    yield f"  n{number} [label={_dot_string(label)}, tooltip={_dot_string(tooltip)}, "
    yield f'fillcolor="{fill}"{bold}];\n'


def _edge_lines(relation: GraphRelation) -> Iterator[str]:
    tooltip = f"{relation.confidence:.2f}, {relation.mentions}×"
    label = _dot_string(relation.relationship)
    yield f"  n{relation.source} -> n{relation.target} [label={label}, "
    yield f"tooltip={_dot_string(tooltip)}];\n"


def _dashed_line(pair: SharedMemories) -> Iterator[str]:
    yield f'  n{pair.first} -> n{pair.second} [dir=none, style=dashed, color="#c9ccd0", '
    yield f"tooltip={_dot_string(f'together in {pair.memories} memories')}];\n"


def _dot_string(text: str) -> str:
    """A string in which Graphviz finds no escape, no entity of HTML and no end before its end."""
    cut = shortened(text, LONGEST)
    return (
        '"' + cut.replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"') + '"'
    )
