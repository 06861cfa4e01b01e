"""The body of a conversation: its parts ↔ markdown.

The parts above ``## Exchanges`` are made from the exchanges; the exchanges are the words
themselves. HTML comments mark where an exchange, a reply or a question begins, so that text which
looks like our headings cannot be mistaken for them.
"""

from __future__ import annotations

import json
import re
import urllib.parse
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter

from keeplore.errors import NotFound
from keeplore.memory.model import Memory
from keeplore.text.turn_ids import matches_turn, short_turn, shown_turn
from keeplore_hooks.events import Work

EXCHANGES = "## Exchanges"
MAX_DIGITS = 10  # of an exchange's number
PARTS = {
    "context": "Context",
    "options": "Options discussed",
    "decision": "Decision",
    "reasoning": "Key reasoning",
    "also_decided": "Also decided",
    "outcome": "Outcome",
    "open_questions": "Open questions",
}
WORK_LABELS = {
    "files": "file",
    "commands": "command",
    "commits": "commit",
    "links": "pull request",
    "agents": "subagent",
}
_MARK = re.compile(
    r"^<!-- keeplore:(turn|assistant|steps|question)(?: (.*?))? -->$", re.MULTILINE
)
_LOOKS_LIKE_MARK = re.compile(r"^(\\*<!-- keeplore:)", re.MULTILINE)
_ESCAPED_MARK = re.compile(r"^\\(\\*<!-- keeplore:)", re.MULTILINE)
_HEADING = re.compile(r"\A\n### .*")
_QUOTE = re.compile(r"^- (.*) — (user|assistant), turn (\S+)$")
_FIELD = re.compile(
    r"^\*\*(Session context|Projects involved)\*\*: (.*)$", re.MULTILINE
)
# a part's heading without anything below it
_EMPTY_PART = re.compile(r"^## .*\n\s*(?=^## |\Z)", re.MULTILINE)
_RELATED = re.compile(r"^- (.*) \((mem_[0-9a-f-]{36}), ([a-z-]+)\)$", re.MULTILINE)


# a step is one line between two others; longer ones, and those that markdown would take for more
# than words, stand as replies of their own
MAX_STEP = 300  # characters
_STEP = re.compile(r"(?![#|><+=~-]|```|\d+[.)]\s)\S(?:[^\n\r]*\S)?")
ASSISTANT = "### Assistant"

NO_WORK = Work()


@dataclass(frozen=True, slots=True)
class AgentQuestion:
    """A question that the agent put to the person in form, with the answer: ``""`` where it was
    declined.
    """

    question: str
    answer: str = ""
    options: tuple[str, ...] = ()

    @property
    def is_answered(self) -> bool:
        return bool(self.answer.strip())

    @property
    def is_complete(self) -> bool:
        """Whether both question and answer have words."""
        return self.is_answered and bool(self.question.strip())


Reply = str | AgentQuestion


@dataclass(frozen=True, slots=True)
class Exchange:
    id: str
    at: str  # RFC 3339, UTC
    user: str
    replies: tuple[Reply, ...] = ()
    ended_at: str = ""

    @property
    def assistant(self) -> str:
        """The assistant's words, without the questions it put."""
        return "\n\n".join(reply for reply in self.replies if isinstance(reply, str))


@dataclass(frozen=True, slots=True)
class Quote:
    """A sentence taken word for word from an exchange; it may stand behind the question that it
    answers, or the heading that says of what it tells.
    """

    text: str
    speaker: str  # user | assistant
    turn: str  # id of the exchange


@dataclass(frozen=True, slots=True)
class ConversationLink:
    title: str
    id: str
    relationship: str


@dataclass(frozen=True, slots=True)
class Conversation:
    title: str
    exchanges: tuple[Exchange, ...]
    session_context: str = ""
    projects: tuple[str, ...] = ()
    context: tuple[Quote, ...] = ()
    options: tuple[Quote, ...] = ()
    decision: tuple[Quote, ...] = ()
    reasoning: tuple[Quote, ...] = ()
    also_decided: tuple[Quote, ...] = ()
    outcome: tuple[Quote, ...] = ()
    open_questions: tuple[Quote, ...] = ()
    work: Work = NO_WORK
    related: tuple[ConversationLink, ...] = ()

    @property
    def decided(self) -> tuple[Quote, ...]:
        """All decisions, those of the conversation's own matter first."""
        return (*self.decision, *self.also_decided)

    @property
    def quotes(self) -> tuple[Quote, ...]:
        """The quotations of all parts, in the order of the parts."""
        return tuple(quote for name in PARTS for quote in getattr(self, name))

    @property
    def head(self) -> str:
        """Everything above the exchanges, as markdown."""
        return "\n".join(_head_lines(self))

    def to_markdown(self) -> str:
        """The body of the file; ``from_markdown`` gives back an equal conversation."""
        blocks = [self.head, "", EXCHANGES, ""]
        for exchange in self.exchanges:
            blocks += exchange_lines(exchange)
        return "\n".join(blocks).rstrip("\n") + "\n"

    @classmethod
    def from_markdown(cls, body: str) -> Conversation:
        """Read a body leniently: what a person wrote between the parts is passed over, never an
        error.
        """
        body = body.replace("\r\n", "\n")  # an editor on Windows may have saved it
        head, _, tail = body.partition(f"\n{EXCHANGES}\n")
        title = re.search(r"^# (.*)$", head, re.MULTILINE)
        fields = dict(_FIELD.findall(head))
        sections = _sections(head)
        exchanges = tuple(_exchanges(tail))
        turns = {short: turn for turn, short in short_turns(exchanges).items()}
        quotes = {
            name: _quotes(sections.get(text, ""), turns) for name, text in PARTS.items()
        }
        related = _RELATED.findall(sections.get("Related", ""))
        return cls(
            title=title[1] if title else "",
            exchanges=exchanges,
            session_context=fields.get("Session context", ""),
            projects=tuple(
                filter(None, fields.get("Projects involved", "").split(", "))
            ),
            **quotes,
            work=_parse_work(sections.get("Code references", "")),
            related=tuple(ConversationLink(*found) for found in related),
        )


def turns_of(memory: Memory) -> list[str]:
    """Ids of the turns whose words a conversation holds; a note is only made from turns and holds
    none.
    """
    if memory.kind != "conversation":
        return []
    exchanges = Conversation.from_markdown(memory.body).exchanges
    return sorted({*memory.turns, *(exchange.id for exchange in exchanges)} - {""})


def chosen_exchange(exchanges: Sequence[Exchange], wanted: str) -> Exchange:
    """The exchange with this number, from 1, or with the turn whose id begins so. Raises
    NotFound.
    """
    if (
        wanted.isascii()
        and wanted.isdigit()
        and len(wanted) < MAX_DIGITS
        and 0 < int(wanted) <= len(exchanges)
    ):
        return exchanges[int(wanted) - 1]
    # some ids go on where another ends
    found = [exchange for exchange in exchanges if exchange.id == wanted]
    found = found or [
        exchange for exchange in exchanges if matches_turn(exchange.id, wanted)
    ]
    if len(found) == 1:
        return found[0]
    if not exchanges:
        raise NotFound("this memory has no exchanges", "Look at it as a whole")
    raise NotFound(
        f"{wanted!r} is none of its {len(exchanges)} exchanges",
        f"Give a number from 1 to {len(exchanges)}, or a turn's id or how that begins",
    )


def without_empty_parts(head: str) -> str:
    """A head of which lines were left out, without the headings that have none any more."""
    return _EMPTY_PART.sub("", head)


def _head_lines(c: Conversation) -> Iterator[str]:
    yield f"# {_line(c.title)}"
    yield ""
    if c.exchanges:
        yield f"**Date**: {_period(c.exchanges)} UTC"
    if c.session_context:
        yield f"**Session context**: {_line(c.session_context)}"
    if c.projects:
        yield f"**Projects involved**: {', '.join(c.projects)}"
    short = short_turns(c.exchanges)
    for name, heading in PARTS.items():
        lines = (_quote_line(quote, short) for quote in getattr(c, name))
        yield from _section(heading, lines)
    yield from _section("Code references", _work_lines(c.work))
    related = (f"- {_line(r.title)} ({r.id}, {r.relationship})" for r in c.related)
    yield from _section("Related", related)


def _section(heading: str, lines: Iterable[str]) -> Iterator[str]:
    """A part of the head; nothing where it has no lines."""
    items = list(lines)
    if items:
        yield from ("", f"## {heading}", "", *items)


def _period(exchanges: Sequence[Exchange]) -> str:
    """Day and time of the first exchange, and when the last one ended."""
    first, last = exchanges[0].at, exchanges[-1].ended_at or exchanges[-1].at
    day = "" if last[:10] == first[:10] else f"{last[:10]} "
    return f"{first[:10]} {first[11:16]}–{day}{last[11:16]}"


def _quote_line(quote: Quote, short: Mapping[str, str]) -> str:
    turn = short.get(quote.turn) or _field(quote.turn)
    return f"- {_line(quote.text)} — {quote.speaker}, turn {turn}"


def _work_lines(work: Work) -> Iterator[str]:
    """An item of a list for each file, command and so on."""
    for field, label in WORK_LABELS.items():
        for item in getattr(work, field):
            yield f"- {label}: {_code(item)}"


def exchange_lines(exchange: Exchange, *, folds: bool = True) -> Iterator[str]:
    """The block of an exchange; where it ``folds``, steps are items of lists."""
    times = (exchange.id, exchange.at, exchange.ended_at)
    yield f"<!-- keeplore:turn {' '.join(map(_field, times)).rstrip()} -->"
    yield from (f"### User · {exchange.at[11:16]}", "", _escape(exchange.user), "")
    is_below = False  # below a heading of the assistant's
    marked = _replies_and_steps(exchange.replies, folds=folds)
    for is_step, replies in groupby(marked, key=itemgetter(0)):
        messages = [reply for _, reply in replies]
        if is_step:
            yield from _mark_lines("steps", is_below=is_below)
            yield from (*(f"- {reply}" for reply in messages), "")
            is_below = True
            continue
        for reply in messages:
            if isinstance(reply, str):
                yield from _mark_lines("assistant", is_below=is_below)
                yield from (_escape(reply), "")
            else:
                yield from _question_lines(reply)
            is_below = isinstance(reply, str)


def _replies_and_steps(
    replies: Sequence[Reply], *, folds: bool
) -> Iterator[tuple[bool, Reply]]:
    """Each reply, and whether it is a step: none is where nothing ``folds``."""
    last = len(replies) - 1
    for place, reply in enumerate(replies):
        may_fold = folds and place < last
        is_line = may_fold and isinstance(reply, str) and len(reply) <= MAX_STEP
        yield is_line and bool(_STEP.fullmatch(str(reply))), reply


def _mark_lines(kind: str, *, is_below: bool) -> Iterator[str]:
    """A mark, and a heading where the assistant's words begin."""
    yield f"<!-- keeplore:{kind} -->"
    if not is_below:
        yield ASSISTANT
    yield ""


def encode_question(asked: AgentQuestion) -> str:
    """A question as its mark holds it; ``decode_question`` gives it back."""
    data = {"q": asked.question, "a": asked.answer, "o": list(asked.options)}
    # a comment must not hold "--" or ">"
    return (
        json.dumps(data, ensure_ascii=False)
        .replace("-", "\\u002d")
        .replace(">", "\\u003e")
    )


def _question_lines(asked: AgentQuestion) -> Iterator[str]:
    yield f"<!-- keeplore:question {encode_question(asked)} -->"
    yield f"> **Asked:** {_line(asked.question)}"
    yield from (f"> - {_line(option)}" for option in asked.options)
    yield from (">", f"> **Answer:** {_line(asked.answer) or '(declined)'}", "")


def _exchanges(tail: str) -> Iterator[Exchange]:
    # the text before the first mark, then kind, field and text of each
    parts = _MARK.split(tail)[1:]
    current: Exchange | None = None
    for kind, field, text in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        if kind == "turn":
            if current:
                yield current
            id_, at, ended_at, *_ = (
                *map(urllib.parse.unquote, (field or "").split(" ")),
                "",
                "",
            )
            current = Exchange(id_, at, _unescape(text), (), ended_at)
        elif current:
            more = _replies(kind, field or "", text)
            current = replace(current, replies=(*current.replies, *more))
    if current:
        yield current


def _replies(kind: str, field: str, text: str) -> tuple[Reply, ...]:
    """What a mark of this kind stands for, with the text below it."""
    if kind == "question":
        return (decode_question(field),)
    words = _unescape(text)
    return tuple(_list_items(words)) if kind == "steps" else (words,)


def _list_items(words: str) -> list[str]:
    """The items of a list; a line that a person put between them belongs to the one above."""
    items: list[str] = []
    for line in words.split("\n"):
        if line.startswith("- ") or not items:
            items.append(line.removeprefix("- "))
        else:
            items[-1] += f"\n{line}"
    return [step.strip("\n") for step in items if step.strip()]


def decode_question(encoded: str) -> AgentQuestion:
    """The question of a mark; a mark that is broken is one without an answer."""
    try:
        data = json.loads(encoded)
        return AgentQuestion(
            str(data["q"]), str(data["a"]), tuple(str(option) for option in data["o"])
        )
    except (ValueError, KeyError, TypeError, RecursionError):
        return AgentQuestion(encoded)


def _escape(text: str) -> str:
    """Words in which no line looks like a mark of ours."""
    return _LOOKS_LIKE_MARK.sub(r"\\\1", text.strip("\n"))


def _unescape(text: str) -> str:
    """The words below a mark and its heading, as they were written."""
    # a heading follows its mark at once; above words that have none stands an empty line
    return _ESCAPED_MARK.sub(r"\1", _HEADING.sub("", text, count=1).strip("\n"))


def _sections(head: str) -> dict[str, str]:
    """Heading → text of each part."""
    parts = re.split(r"^## (.*)$", head, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def _quotes(section: str, turns: Mapping[str, str]) -> tuple[Quote, ...]:
    return tuple(
        Quote(match[1], match[2], turns.get(match[3]) or urllib.parse.unquote(match[3]))
        for match in filter(None, map(_QUOTE.match, section.splitlines()))
    )


def short_turns(exchanges: Iterable[Exchange]) -> dict[str, str]:
    """The short form of each turn's id, unique among these, that quotations show."""
    return _told_apart(exchanges, short_turn)


def shown_turns(exchanges: Iterable[Exchange]) -> dict[str, str]:
    """The short form of each turn's id, unique among these, that a person reads and types."""
    return _told_apart(exchanges, shown_turn)


def _told_apart(
    exchanges: Iterable[Exchange], shorten: Callable[[str], str]
) -> dict[str, str]:
    ids = {exchange.id: _field(exchange.id) for exchange in exchanges}
    short = {turn: shorten(shown) for turn, shown in ids.items()}
    return short if len(set(short.values())) == len(short) else ids


def _field(value: str) -> str:
    """A host's id or time as one word that cannot end the comment it stands in."""
    return urllib.parse.quote(value, safe=":._~/+@=,")


def _parse_work(section: str) -> Work:
    found: dict[str, list[str]] = {field: [] for field in WORK_LABELS}
    fields = {label: field for field, label in WORK_LABELS.items()}
    for line in section.splitlines():
        label, separator, item = line.removeprefix("- ").partition(": ")
        if separator and label in fields:
            found[fields[label]].append(_without_code_marks(item))
    return Work(**{field: tuple(items) for field, items in found.items()})


def _line(text: str) -> str:
    """The text on one line."""
    return " ".join(text.split())


def _code(text: str) -> str:
    """The text as inline code, also where it holds a backtick."""
    ticks = "``" if "`" in text else "`"
    pad = " " if ticks == "``" else ""
    return f"{ticks}{pad}{_line(text)}{pad}{ticks}"


def _without_code_marks(text: str) -> str:
    """What `_code` was given."""
    return (
        text[3:-3]
        if text.startswith("`` ") and text.endswith(" ``")
        else text.strip("`")
    )
