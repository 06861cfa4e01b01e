"""What lines that name files end with, where these have changed since."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from keeplore.recall.render import BlockLine, BlockSection, TellFreshness
from keeplore.recall.since.named_files import FilesSince, NamedFiles


def with_freshness(
    sections: Iterable[BlockSection], freshness: FilesSince, tell: TellFreshness
) -> list[BlockSection]:
    """The lines, each with what became of the files that it names."""
    found = list(sections)
    named: dict[str, NamedFiles] = {}
    for section in found:
        named |= {line.text: line.named for line in section.items if line.named}
    states = freshness([*named.values()]) if named else ()
    ends: dict[str, str] = {}
    for text, state in zip(named, states, strict=True):
        if state:
            ends[text] = tell(state)
    return [
        replace(section, items=_with_ends(section.items, ends)) for section in found
    ]


def _with_ends(lines: Iterable[BlockLine], ends: Mapping[str, str]) -> list[BlockLine]:
    return [replace(line, text=line.text + ends.get(line.text, "")) for line in lines]
