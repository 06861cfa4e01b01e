"""Memories as lines of what is told unasked, with date, place, source and a reference."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from keeplore.index import MemoryRow
from keeplore.memory import Conversation, Memory, Quote
from keeplore.memory.model import BELIEVED, Category, Trust
from keeplore.memory.note import gist_of
from keeplore.recall.excerpt import sentences_of
from keeplore.recall.render import (
    PATH_CHARS,
    TITLE_CHARS,
    BlockLine,
    label,
    later_line,
    one_line,
    place,
    quoted,
    reference,
    source_label,
)
from keeplore.recall.request import LaterStatement
from keeplore.recall.since.later_statements import ReplacementLookup
from keeplore.recall.since.named_files import named_files
from keeplore.recall.unasked.prompt_injection import may_be_injected
from keeplore.text.dates import shown_day
from keeplore.text.pasted import is_pasted_into, own_words
from keeplore.text.sentences import sentences
from keeplore.text.similarity import SIMILAR, normalised, similarity

SAME_CHARS = 20  # by which a title is known that was cut from the statement
QUOTE_CHARS = 260
LAST_WORDS_CHARS = 130
CLOSING_SENTENCES = (
    3  # at the end of a reply, of which the last that tells something is given
)
TOPIC_FILES, STOP_FILES = 12, 2

# a last sentence that says something: no order to the host (::), item of a list, heading or cheer
_ENDING = re.compile(r"(?!::|[-*+] |\d+[.)] )(?:\S+\s+){3}.*[^:\s]\Z", re.DOTALL)
# one with which an agent only hands the turn over
_CLOSING = re.compile(
    r"\W*(?:(?:just|please|so|and)\s+)*(?:let me know|tell me (?:if|which|when|what)|feel free|"
    r"if (?:you|there|anything)\b.{0,120}\b(?:let me know|i can|i['’]ll|just (?:ask|say)|"
    r"happy to|glad to)|(?:i(?:['’]m| am) |i['’]d be )?(?:happy|glad) to|"
    r"(?:would you like|do you want|want|shall i|should i|anything else|is there anything)\b.*\?)",
    re.IGNORECASE | re.DOTALL,
)
_PASSING = re.compile(r"(?:/private|/var)?/tmp/")  # no session finds such a file again


@dataclass(frozen=True, slots=True)
class LoadedMemory:
    """A row of the index with its file as it is now; of a conversation what was said until
    ``since`` is known.

    The row's trust is what the memory is believed here, not what its file states. ``is_own``: this
    person's machines wrote it; ``is_here``: it is of the project for which lines are made.
    """

    row: MemoryRow
    memory: Memory
    is_own: bool = True
    talk: Conversation | None = None
    since: str = ""
    replacements: ReplacementLookup | None = None
    is_here: bool = False

    def later(self, said: str, turn: str = "") -> str:
        """What a line ends with in whose place something was said later, "" for nothing."""
        found = self.replacements and self.replacements.of(
            self.row, self.talk, said, turn
        )
        return later_end(found or None)

    def is_new(self, turn: str) -> bool:
        """Is what was said in this turn new to the session?"""
        exchanges = self.talk.exchanges if self.talk else ()
        at = next((e.ended_at or e.at for e in exchanges if e.id == turn), "")
        return not at or at > self.since


def later_end(later: LaterStatement | None) -> str:
    """What a line ends with in whose place something was said later; where this may not be told
    unasked, only where it stands.
    """
    if later is None:
        return ""
    if may_be_injected(Trust.ASSISTANT, later.text):
        return f" — {later_line(later)}"
    return f" — later: see {reference(later.memory_id, later.turn)}"


def may_be_quoted(read: LoadedMemory, quote: Quote) -> bool:
    return read.is_new(quote.turn) and may_be_injected(
        _trust_of(read, quote), quote.text
    )


def _trust_of(read: LoadedMemory, quote: Quote) -> str:
    """The trust of what a conversation quotes: the person's own words are theirs, what they pasted
    is not.
    """
    is_believed = read.row.trust in BELIEVED
    if not is_believed or quote.speaker != Trust.USER or read.talk is None:
        return read.row.trust
    said = next((e.user for e in read.talk.exchanges if e.id == quote.turn), None)
    if said is None:  # a head may state what nobody said
        return read.row.trust
    return Trust.DOCUMENT if is_pasted_into(said, quote.text) else Trust.USER


def speaker_of(read: LoadedMemory, quote: Quote) -> str:
    """Who said what is quoted, as a line tells it."""
    return _trusted_name(read, label(quote.speaker))


def writer_of(read: LoadedMemory) -> str:
    """Who wrote a note, as a line tells it."""
    return _trusted_name(read, read.row.trust)


def _trusted_name(read: LoadedMemory, who: str) -> str:
    """The name, where the memory's trust bears it out; else that trust, in words."""
    return who if read.row.trust in BELIEVED else source_label(read.row.trust)


def kind_of(read: LoadedMemory) -> str:
    """What a line says of a note's category, "" for a decision, which its words show to be one."""
    category = label(read.row.category or read.row.kind)
    return "" if category == Category.DECISIONS else f" · {category}"


def quote_item(read: LoadedMemory, quote: Quote, *, has_turn: bool = True) -> BlockLine:
    said = quoted(quote.text, QUOTE_CHARS)
    turn = quote.turn if has_turn else ""
    said_by = f"{speaker_of(read, quote)}; {reference(read.row.id, turn)}"
    end = read.later(quote.text, quote.turn)
    return _line(read, f"{date_and_place(read)} · {said} ({said_by}){end}")


def decided_in(read: LoadedMemory) -> tuple[Quote, ...]:
    return read.talk.decided if read.talk else ()


def note_item(read: LoadedMemory) -> BlockLine:
    text = quoted(stated_in(read.memory), QUOTE_CHARS)
    said_by = f"{writer_of(read)}; {reference(read.row.id)}"
    end = read.later(stated_in(read.memory))
    return _line(
        read, f"{date_and_place(read)}{kind_of(read)} · {text} ({said_by}){end}"
    )


def _line(read: LoadedMemory, text: str, *, is_pointer: bool = False) -> BlockLine:
    """A line of a memory; a pointer does not count as having shown it."""
    named = named_files(read.memory, text, read.talk)
    shown = "" if is_pointer else read.row.id
    return BlockLine(text, shown, named if named.files else None)


def stated_in(memory: Memory) -> str:
    """What the note states, after its title where that says something else."""
    said = " ".join(gist_of(memory).split())
    title = normalised(memory.title)
    beginning = title[:SAME_CHARS] if "…" in title else title
    if normalised(said).startswith(beginning):
        return said
    stop = "" if memory.title.endswith((".", "!", "?", "…")) else "."
    return f"{memory.title}{stop} {said}"


def topic_line(read: LoadedMemory, most_files: int = TOPIC_FILES) -> BlockLine | None:
    touched_files = read.talk.work.files if read.talk else ()
    lasting = [file for file in touched_files if not _PASSING.match(file)]
    files = one_line(", ".join(lasting[:most_files]), PATH_CHARS)
    if not may_be_injected(read.row.trust, read.row.title, files):
        return None
    touched = f"; files: {files}" if files else ""
    return _line(
        read,
        (
            f"{date_and_place(read)} · {quoted(read.row.title, TITLE_CHARS)} "
            f"({reference(read.row.id)}{touched})"
        ),
        is_pointer=True,
    )


def stop_line(read: LoadedMemory, others: Sequence[BlockLine]) -> BlockLine | None:
    """The subject, and how it ended: the agent's last sentence, else what the person said last,
    without what says the subject again or stands in one of the other lines.
    """
    topic = topic_line(read, STOP_FILES)
    if topic is None or not read.talk or not read.talk.exchanges:
        return topic
    last = read.talk.exchanges[-1]
    ending = _last_telling(sentences_of(last.assistant.strip()))
    is_sound = any(map(_ENDING.match, ending)) and may_be_injected(
        read.row.trust, *ending
    )
    last_words = {
        "ended": ending if is_sound else [],
        "user": [said.text for said in sentences(own_words(last.user))],
    }
    text = topic.text
    for how, said in last_words.items():
        if new := _untold(said, read.row.title, others):
            text += f"; {how}: {quoted(new, LAST_WORDS_CHARS)}"
            break
    return _line(read, text, is_pointer=True)


def _last_telling(reply: Sequence[str]) -> list[str]:
    """The last sentence of a reply but for those with which it only hands the turn over."""
    closing = (text.strip() for text in reply[-CLOSING_SENTENCES:])
    telling = [text for text in closing if not _CLOSING.match(text)]
    return telling[-1:]


def _untold(said: Sequence[str], title: str, lines: Sequence[BlockLine]) -> str:
    """The sentences that no line quotes; "" where the title says the same."""
    if similarity(" ".join(said), title) >= SIMILAR:
        return ""
    shown = " ".join(line.text for line in lines)
    return " ".join(one for one in said if quoted(one, QUOTE_CHARS) not in shown)


def date_and_place(read: LoadedMemory) -> str:
    """Date, and place if it is another one."""
    day = label(shown_day(read.row.updated_at or read.row.created_at))
    here = "" if read.is_here else f" · {place(read.row.scope, read.row.project)}"
    return f"{day}{here}"


def provenance(read: LoadedMemory) -> str:
    return f"{source_label(read.row.trust, read.row.kind)}; {reference(read.row.id)}"
