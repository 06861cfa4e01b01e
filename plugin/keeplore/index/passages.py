"""A memory → the passages (chunks) by which it is found. Pure: the same memory gives the same
passages on every machine.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from keeplore.memory import AgentQuestion, Conversation, Exchange, Memory
from keeplore.memory.conversation_body import EXCHANGES, without_empty_parts
from keeplore.memory.digest import KIND as DIGEST
from keeplore.text.code_fences import fenced_lines
from keeplore.text.fences import without_surrogates
from keeplore.text.query_terms import extra_tokens, spoken_day, token_count

# All in tokens, so that a passage with its title and context stays within the 256 that the packaged
# model reads.
BODY = 190
TITLE = 24
BEFORE = 24
AFTER = 14
DECISION = "decision"
STATEMENTS = frozenset({DECISION, "statement"})  # kinds that are one sentence
HASH = (
    16  # bytes: two texts of one hash are not to be expected, and every passage has two
)
# Up to here a passage is filled for the full text with what was said before and after it. Measured:
# a short one is found by the conversation around it, a long one says enough itself.
WITH_BEFORE = 120
WITH_AFTER = 90
NEIGHBOURS = 3  # exchanges on either side, where they are short
# characters; longer runs without a space are cut, so that one always fits into a piece
MAX_WORD = 100
_RECEIPT = re.compile(r" — (?:user|assistant), turn \S+$", re.MULTILINE)
# lines that say when and where: they answer no question, and commands match words that nobody meant
_FORM = re.compile(
    r"^(?:\*\*(?:Date|Session context|Projects involved)\*\*: |- command: ).*\n?",
    re.MULTILINE,
)
_HEADING = re.compile(r"^#{1,6} +(.*?)[ #]*$")


@dataclass(frozen=True, slots=True)
class Passage:
    """``body`` is what is shown; title and context help to find it."""

    kind: str  # head | decision | statement | exchange | section
    title: str
    body: str
    # what stands around it, on four lines: question or heading, before, after, place and date
    context: str
    turn: str = ""
    at: str = ""

    @property
    def embedded(self) -> str:
        """The text whose vector stands for the passage: what matters least comes last, where a
        model cuts.
        """
        return embedded_text(self.title, self.body, self.context)

    @property
    def extra(self) -> str:
        return "\n".join(
            filter(
                None, (extra_tokens(f"{self.title}\n{self.body}"), spoken_day(self.at))
            )
        )

    @property
    def hash(self) -> bytes:
        return hashlib.sha256(self.embedded.encode("utf-8", "replace")).digest()[:HASH]


def embedded_text(title: str, body: str, context: str) -> str:
    """The text whose vector stands for a passage with this title and context."""
    parts = [_head_of(title, TITLE), body]
    if context:
        asked, before, after, place = context.split("\n")
        parts += [
            _head_of(asked, BEFORE),
            _tail_of(before, BEFORE),
            _head_of(after, AFTER),
            place,
        ]
    return "\n".join(filter(None, parts))


def _context_text(
    *, asked: str = "", before: str = "", after: str = "", place: str
) -> str:
    return "\n".join(" ".join(part.split()) for part in (asked, before, after, place))


def still_says(memory: Memory, talk: Conversation | None, turn: str, text: str) -> bool:
    """Whether a memory has what a passage of it said; to cut a long one into all its passages again
    takes too long.

    ``talk`` is what its body was read as, where somebody has done that.
    """
    if memory.kind == "document":
        return all(line in memory.body for line in text.splitlines())
    if turn:
        talk = talk or Conversation.from_markdown(memory.body)
        if any(quote.text == text for quote in talk.quotes):
            return True
        return any(
            text in _exchange_text(exchange)
            for exchange in talk.exchanges
            if exchange.id == turn
        )
    return any(passage.body == text for passage in _passages(memory))


def passages_of(memory: Memory) -> list[Passage]:
    """All passages of a memory, the head first; a memory without text still has a head, made of its
    title. A conversation has one where more stands above its exchanges than quotations.
    """
    return list(_passages(memory))


def _passages(memory: Memory) -> Iterator[Passage]:
    """The passages of a memory by its kind: of a conversation what came of it, its statements and
    its exchanges, of others the sections.
    """
    body = memory.body.replace("\r\n", "\n")  # an editor on Windows may have saved it
    place = " · ".join(
        filter(None, (memory.project, memory.category, memory.created_at[:10]))
    )
    if memory.kind == DIGEST:  # it is found by its sources, which hold the same words
        yield Passage("head", memory.title, "", _context_text(place=place))
        return
    # a note of the last exchanges holds them as a conversation does
    if memory.kind != "document":
        conversation = Conversation.from_markdown(body)
        if conversation.exchanges:
            title = memory.title or conversation.title
            head = _FORM.sub("", body.partition(f"\n{EXCHANGES}\n")[0])
            if memory.kind == "conversation":
                rest = _sections(title, _without_quotations(head), place)
                yield from (passage for passage in rest if passage.body)
                yield from _statements(title, conversation)
            else:
                yield from _sections(title, _RECEIPT.sub("", head), place)
            yield from _exchanges(title, conversation.exchanges)
            return
    yield from _sections(memory.title, body, place)


def _without_quotations(head: str) -> str:
    """A head without its quotations, which are passages of their own, and without its links to
    other memories.
    """
    lines, is_left_out = list[str](), False
    for line in head.splitlines():
        if line.startswith("## "):
            is_left_out = line == "## Related"
        if not is_left_out and not _RECEIPT.search(line):
            lines.append(line)
    return without_empty_parts("\n".join([*lines, ""]))


def _statements(title: str, conversation: Conversation) -> Iterator[Passage]:
    """Each quotation of the head but the options, with what the person said before it."""
    exchanges = {exchange.id: exchange for exchange in conversation.exchanges}
    # an option says what might have been; what was said of it stands in its exchange
    stated = [q for q in conversation.quotes if q not in conversation.options]
    decided = {*conversation.decided}
    for quote in stated:
        exchange = exchanges.get(quote.turn)
        asked = exchange.user if exchange else ""
        at = exchange.at if exchange else ""
        context = _context_text(asked=_head_of(asked, BEFORE), place=at[:10])
        kind = DECISION if quote in decided else "statement"
        yield Passage(kind, title, quote.text, context, quote.turn, at)


def _sections(title: str, markdown: str, place: str) -> Iterator[Passage]:
    """Pieces of a document: as many of its paragraphs as fit, a new piece at a heading once one is
    half full.
    """
    blocks = list(_blocks(markdown, title))
    pieces: list[tuple[str, str]] = []  # heading, text
    for heading, text in blocks or [("", "")]:
        last_heading, last = pieces[-1] if pieces else ("", "")
        joined = f"{last}\n\n{text}" if last else text
        room = BODY if heading == last_heading else BODY // 2
        if pieces and token_count(joined) <= room:
            pieces[-1] = (last_heading, joined)
        else:
            pieces += [(heading, piece) for piece in split(text)]
    for number, (heading, text) in enumerate(pieces or [("", "")]):
        context = _context_text(
            asked="" if text.startswith(heading) else heading, place=place
        )
        yield Passage("head" if number == 0 else "section", title, text, context)


def _blocks(markdown: str, title: str) -> Iterator[tuple[str, str]]:
    """Paragraphs with the heading they stand under; a heading begins the paragraph that
    follows it.
    """
    heading = ""
    lines: list[str] = []
    for line, is_code in fenced_lines([*markdown.splitlines(), ""]):
        found = None if is_code else _HEADING.match(line)
        if (
            (found or (not line.strip() and not is_code))
            and lines
            and lines != [heading]
        ):
            yield heading, "\n".join(lines)
            lines = []
        if found:
            heading = "" if found[1] == title else found[1]
            lines = [heading] if heading else []
        elif line.strip() or is_code:
            lines.append(line)
    if any(line.strip() for line in lines):
        yield heading, "\n".join(lines)


def _exchanges(title: str, exchanges: Sequence[Exchange]) -> Iterator[Passage]:
    """The passages of each exchange, with what was said before and after it as context."""
    texts = [_exchange_text(exchange) for exchange in exchanges]
    for number, exchange in enumerate(exchanges):
        before = "\n".join(texts[max(0, number - NEIGHBOURS) : number])
        after = "\n".join(texts[number + 1 : number + 1 + NEIGHBOURS])
        pieces = split(texts[number])
        for part, piece in enumerate(pieces):
            # later pieces are answers: the question says what they answer, the neighbours say
            # little
            size = int(token_count(piece))
            context = _context_text(
                asked=_head_of(exchange.user, BEFORE) if part else "",
                before=""
                if part
                else _tail_of(before, max(BEFORE, WITH_BEFORE - size)),
                after=_head_of(after, max(AFTER, WITH_AFTER - size))
                if part + 1 == len(pieces)
                else "",
                place=exchange.at[:10],
            )
            yield Passage("exchange", title, piece, context, exchange.id, exchange.at)


def _exchange_text(exchange: Exchange) -> str:
    replies = [
        _question_text(reply) if isinstance(reply, AgentQuestion) else reply
        for reply in exchange.replies
    ]
    lines = [f"User: {exchange.user}" if exchange.user else ""]
    lines += [f"Assistant: {reply}" for reply in replies if reply]
    return "\n\n".join(filter(None, lines))


def _question_text(reply: AgentQuestion) -> str:
    options = f" ({', '.join(reply.options)})" if reply.options else ""
    return f"{reply.question}{options}\nUser: {reply.answer or '(declined)'}"


def split(text: str, room: int = BODY) -> list[str]:
    """Cut a text into pieces of at most ``room`` tokens: between paragraphs, else sentences, else
    words.
    """
    if token_count(text) <= room:
        return [text]
    return [
        piece.strip("\n")
        for piece in _packed_units(_units(text, room), room)
        if piece.strip()
    ]


def _packed_units(units: Iterable[str], room: int) -> Iterator[str]:
    """The units joined to pieces of at most ``room`` tokens, each with one unit at least."""
    piece, size = "", 0.0
    for unit in units:
        count = token_count(unit)
        if size + count > room and piece.strip():
            yield piece
            piece, size = "", 0.0
        piece += unit
        size += count
    if piece:
        yield piece


def _units(text: str, room: int) -> Iterator[str]:
    """Pieces that are kept whole, each with the white space after it: joined they are the text."""
    for paragraph in re.split(r"(?<=\n)(?=\S)", text):
        if token_count(paragraph) <= room:
            yield paragraph
            continue
        for sentence in _sentences(paragraph):
            yield from (
                [sentence]
                if token_count(sentence) <= room
                else _word_pieces(sentence, room)
            )


def _sentences(text: str) -> list[str]:
    from sentencex import segment  # here, because only long paragraphs need it

    sentences: list[str] = list(segment("en", without_surrogates(text)))
    return sentences


def _word_pieces(text: str, room: int) -> Iterator[str]:
    """A line without sentences (minified code, base64, a table) in pieces of at most ``room``
    tokens; long words are cut.
    """
    return _packed_units(re.findall(rf"\S{{1,{MAX_WORD}}}\s*", text), room)


def _head_of(text: str, room: int) -> str:
    """The first words of a text, within ``room`` tokens, on one line."""
    return " ".join(_words_within(text[: room * 12].split(), room))


def _tail_of(text: str, room: int) -> str:
    """The last words of a text, likewise."""
    return " ".join(reversed(_words_within(reversed(text[-room * 12 :].split()), room)))


def _words_within(words: Iterable[str], room: int) -> list[str]:
    found: list[str] = []
    size = 0.0
    for word in words:
        size += token_count(word)
        if size > room:
            break
        found.append(word)
    return found
