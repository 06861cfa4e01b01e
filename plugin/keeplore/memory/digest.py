"""A digest: what several conversations of one matter decided, each line with its receipt ↔
markdown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from keeplore.memory.conversation_body import Quote
from keeplore.memory.model import Memory

KIND = "digest"
DECIDED, CHANGED, OUTCOME, OPEN = "Decided", "Changed", "Outcome", "Open questions"
HEADINGS = (DECIDED, CHANGED, OUTCOME, OPEN)
BEFORE, FROM = "instead of: ", "from: "
_LINE = re.compile(
    rf"^(?:- |  - {BEFORE}|  - {FROM})(\d{{4}}-\d\d-\d\d) · “(.*)” — (user|assistant), "
    r"(mem_[0-9a-f-]{36})(?: turn (\S+))?$"
)
# in a model's words: never with the mark with which a quotation begins
_STATEMENT = re.compile(r"^- \d{4}-\d\d-\d\d · ([^“].*)$")


@dataclass(frozen=True, slots=True)
class DigestLine:
    """Words of a memory; ``before`` are those in whose place they were said, None for none.

    ``statement`` is what a model says of them in one line that does not begin with “, "" for
    nothing.
    """

    day: str  # YYYY-MM-DD
    quote: Quote
    memory_id: str
    before: DigestLine | None = None
    statement: str = ""

    @property
    def told(self) -> str:
        """The statement, else the words, with their day, and what they replaced."""
        said = f"{self.day}: {self.statement or self.quote.text}"
        return f"{said} ({BEFORE}{self.before.quote.text})" if self.before else said

    @property
    def markdown(self) -> str:
        lines = [f"- {self.receipt}"]
        if self.statement:
            lines = [f"- {self.day} · {self.statement}", f"  - {FROM}{self.receipt}"]
        if self.before:
            lines.append(f"  - {BEFORE}{self.before.receipt}")
        return "\n".join(lines)

    @property
    def receipt(self) -> str:
        """The words with day, speaker, memory and turn."""
        words = " ".join(self.quote.text.split())
        turn = f" turn {self.quote.turn}" if self.quote.turn else ""
        said_by = f"{self.quote.speaker}, {self.memory_id}{turn}"
        return f"{self.day} · “{words}” — {said_by}"


Section = tuple[str, tuple[DigestLine, ...]]  # heading and lines, oldest first


@dataclass(frozen=True, slots=True)
class Digest:
    """``sections`` are in the order of ``HEADINGS``, without those that have no line."""

    title: str
    sections: tuple[Section, ...]

    def to_markdown(self) -> str:
        """The body of the file; ``from_markdown`` gives back an equal digest."""
        parts = [f"# {self.title}"]
        for heading, lines in self.sections:
            parts += [f"## {heading}", "\n".join(line.markdown for line in lines)]
        return "\n\n".join(parts) + "\n"

    @classmethod
    def from_markdown(cls, body: str) -> Digest:
        """Read a body leniently: what a person wrote between the lines is passed over."""
        title, found, heading, statement = "", dict[str, list[DigestLine]](), "", ""
        for text in body.replace("\r\n", "\n").split("\n"):
            if text.startswith("# ") and not title:
                title = text[2:]
            elif text.startswith("## "):
                heading = text[3:]
            elif line := _parse_line(text):
                lines = found.setdefault(heading, [])
                if text.startswith(f"  - {BEFORE}") and lines:
                    line = replace(lines.pop(), before=line)
                elif text.startswith(f"  - {FROM}"):
                    line = replace(line, statement=statement)
                lines.append(line)
            stated = _STATEMENT.match(text)
            statement = stated[1] if stated else ""
        parts = ((name, tuple(found[name])) for name in HEADINGS if name in found)
        return cls(title, tuple(parts))


def lines_of(memory: Memory) -> Iterator[DigestLine]:
    """The lines of a digest in their order."""
    for _, lines in Digest.from_markdown(memory.body).sections:
        yield from lines


def sources_of(memory: Memory) -> frozenset[str]:
    """Ids of the memories whose words a digest holds; none for another memory."""
    if memory.kind != KIND:
        return frozenset()
    return frozenset(id_ for _, id_ in memory.links)


def _parse_line(text: str) -> DigestLine | None:
    found = _LINE.match(text)
    if found is None:
        return None
    day, words, speaker, memory_id, turn = found.groups()
    return DigestLine(day, Quote(words, speaker, turn or ""), memory_id)
