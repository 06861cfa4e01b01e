"""What of a conversation a model is shown: the words since it was last asked, in parts of bounded
size.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from keeplore.memory import AgentQuestion, Exchange
from keeplore.text.fences import strip_fenced
from keeplore.text.similarity import text_hash

MAX_INPUT = 12_000  # characters of one call: small local models lose the middle of more
LEAST = 80  # characters that anybody said: less is a yes or a greeting
# of a block of code that is shown; a longer one is in the repository, and its text in the
# conversation
CODE_LINES = 6
# characters of an assistant's message in a conversation that is longer than one call
HEAD, TAIL = 1_000, 500
_CODE = re.compile(
    r"^(?P<fence>`{3,}|~{3,})[^\n]*\n(?P<code>.*?)(?:^(?P=fence)[ \t]*$|\Z)",
    re.MULTILINE | re.DOTALL,
)
_GAPS = re.compile(r"\n[ \t]*(?:\n[ \t]*)+\n")


@dataclass(frozen=True, slots=True)
class Segment:
    """What one of the two said at once. ``shown`` is what a model sees of it, ``text`` all
    of it.
    """

    turn: str
    number: int  # of the exchange, from 1
    speaker: str  # user | assistant
    # user | assistant | document: a page that the user pasted is not the user's own word
    trust: str
    text: str
    shown: str

    @property
    def line(self) -> str:
        return f"[{self.number} {self.speaker}] {self.shown}"


@dataclass(frozen=True, slots=True)
class Window:
    """Segments for one call, in the order in which they were spoken."""

    segments: tuple[Segment, ...]

    @property
    def text(self) -> str:
        return "\n".join(segment.line for segment in self.segments)


def exchange_key(exchange: Exchange) -> str:
    """A short hash of the words of an exchange: with it the audit says which were refined."""
    words = "\0".join((exchange.user, *(str(reply) for reply in exchange.replies)))
    return text_hash(words)[:16]


def unasked_exchanges(
    exchanges: Sequence[Exchange], known: Collection[str], *, is_open: bool
) -> tuple[Exchange, ...]:
    """The exchanges that no model was asked about; the last one of an open conversation may still
    grow unless it has ended.
    """
    complete = (
        exchanges
        if not is_open or (exchanges and exchanges[-1].ended_at)
        else exchanges[:-1]
    )
    return tuple(
        exchange for exchange in complete if exchange_key(exchange) not in known
    )


def segments_of(
    exchanges: Sequence[Exchange],
    wanted: Iterable[Exchange],
    is_document: Callable[[str], bool],
) -> tuple[Segment, ...]:
    """What was said in the wanted exchanges, without recalled context, numbered as in the whole
    conversation.
    """
    numbers = {exchange.id: number for number, exchange in enumerate(exchanges, 1)}
    found = []
    for exchange in wanted:
        for speaker, text in _speaker_texts(exchange):
            own = strip_fenced(text).strip()
            if own:
                trust = (
                    "document" if speaker == "user" and is_document(own) else speaker
                )
                found.append(
                    Segment(
                        exchange.id,
                        numbers[exchange.id],
                        speaker,
                        trust,
                        own,
                        _shown_text(own),
                    )
                )
    return tuple(found)


def windows(segments: Sequence[Segment]) -> tuple[Window, ...]:
    """The segments in parts of at most MAX_INPUT characters, cut between turns; only a turn that is
    longer is cut inside.

    Where one part cannot hold all, the long texts of the assistant lose their middles, which mostly
    are plans and lists: what was settled stands in the user's words, and where an answer begins and
    ends.
    """
    if _length(segments) > MAX_INPUT:
        segments = [_shortened_segment(segment) for segment in segments]
    parts: list[list[Segment]] = []
    room = 0  # characters left in the last part
    for turn in _turns(segments):
        needed = min(_length(turn), MAX_INPUT)  # a turn begins where it fits as a whole
        for piece in turn:
            length = _length([piece])
            if max(needed, length) > room:
                parts.append([])
                room = MAX_INPUT
            parts[-1].append(piece)
            room -= length
            needed = 0
    return tuple(Window(tuple(part)) for part in parts)


def _length(segments: Iterable[Segment]) -> int:
    """Characters of their lines, line ends included."""
    return sum(len(segment.line) + 1 for segment in segments)


def size_of(segments: Iterable[Segment]) -> int:
    """Characters that a model would be shown."""
    return sum(len(segment.shown) for segment in segments)


def _shortened_segment(segment: Segment) -> Segment:
    text = segment.shown
    if segment.speaker == "user" or len(text) <= HEAD + TAIL:
        return segment
    return replace(
        segment,
        shown=f"{text[:HEAD].rsplit(' ', 1)[0]} […] {text[-TAIL:].split(' ', 1)[-1]}",
    )


def _turns(segments: Sequence[Segment]) -> Iterator[list[Segment]]:
    """The segments of each turn, those that no part could hold cut at their lines."""
    current: list[Segment] = []
    for segment in segments:
        if current and current[-1].turn != segment.turn:
            yield current
            current = []
        current += _split_segment(segment)
    if current:
        yield current


def _split_segment(segment: Segment) -> list[Segment]:
    room = MAX_INPUT - len(segment.line) + len(segment.shown) - 1
    rest, found = segment.shown, []
    while len(rest) > room:
        at = _cut_position(rest, room)
        found.append(rest[:at])
        rest = rest[at:].lstrip("\n")
    return [replace(segment, shown=text) for text in (*found, rest)]


def _cut_position(text: str, room: int) -> int:
    """Where to cut off at most ``room`` characters: at a line's end, else between words."""
    head = text[:room]
    at = head.rfind("\n")
    if at < room // 2:
        at = max(at, head.rfind(" "))
    return at if at > 0 else room


def _speaker_texts(exchange: Exchange) -> Iterator[tuple[str, str]]:
    """Speaker and text of each message; of a question the options belong to it."""
    yield "user", exchange.user
    for reply in exchange.replies:
        if isinstance(reply, AgentQuestion):
            yield "assistant", "\n- ".join((reply.question, *reply.options))
            yield "user", reply.answer
        else:
            yield "assistant", reply


def _shown_text(text: str) -> str:
    """The text without long blocks of code and needless gaps."""

    def short(block: re.Match[str]) -> str:
        lines = block["code"].count("\n")
        return block[0] if lines <= CODE_LINES else f"[code, {lines} lines]"

    return _GAPS.sub("\n\n", _CODE.sub(short, text)).strip()
