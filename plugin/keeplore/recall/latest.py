"""Questions that name nothing, as "what did we decide?", "where did we leave off?", "what are our
rules?" and "what do you know about this project?": what was decided, done, left open or noted last
is the answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import islice

from keeplore.index import MemoryFilter, MemoryRow, ScopeFilter
from keeplore.memory import Conversation, Memory, Quote
from keeplore.memory.model import Category
from keeplore.memory.note import gist_of
from keeplore.recall.prepare import OpenedMemory, RecallContext
from keeplore.recall.question import ParsedQuestion, parse_question, stems_of
from keeplore.recall.request import USUAL_LIMIT, RecallHit, Said
from keeplore.recall.statements.last_quotes import last_lines, quotes_of_work
from keeplore.recall.statements.memory_hit import hit_of_lines
from keeplore.recall.time_questions import is_of_one_thing
from keeplore.recall.unasked.memory_lines import LoadedMemory
from keeplore.recall.unasked.open_questions import waiting_questions
from keeplore.recall.weights import EXCERPT_CHARS
from keeplore.text.sentences import clip

LOOKED_AT = 40  # memories, the newest
ASKED_AT = 12  # of them, whose open questions are compared with later decisions
SHOWN = 3  # conversations, where not more are asked for
# of which a question consists that names nothing
_SAYING_NOTHING = stems_of(
    """
    agree agreed allowed anything apply ask asked avoid away before block blocked bring bug came
    careful catch caveat change changed choose chose chosen conclude conclusion convention current
    decide decided decision deferred discuss discussed do did done far finish finished follow gone
    gotcha guideline happen happened issue know known last latest learn learned learnt leave left
    lesson list made make middle missing mistake must need never new note noted off open out
    outstanding overview pending pick pitfall plate postponed preference previous previously problem
    progress project put question recap recent recently remain remaining remember remind repo
    repository rule said say session settle settled show since speed start state status step still
    stop stopped summarise summarize summary talk task tell time todo told trap unanswered undecided
    unfinished unresolved wait waiting watch while work worked yet
    geblieben sind steht waren wo
    aufgaben besprochen beschlossen entschieden entscheidungen erledigt fehler fragen gearbeitet
    gelten gemacht haben habe hier ich ist muss noch offen punkte regeln stand stehen tun welche wir
    woran zu zuletzt
    avons ce est no nos nous que queda qué quê qu qui restou o ficou
    abierto decidido decidimos hacer hecho hicimos pendiente por
    décidé décidés décisions dernier faire fait ouvert prises quelles reste à
    aberto falta fazer feito fizemos pendente último última
    """
)


class Aspect(StrEnum):
    """What is asked for."""

    OPEN = "left open"
    PITFALLS = "noted as a trap"
    RULES = "noted as a rule"
    DECISIONS = "decided"
    WORK = "done"
    NOTED = "noted"


# those that notes answer; where none does, words may find something
OF_NOTES = frozenset({Aspect.PITFALLS, Aspect.RULES, Aspect.NOTED})
_CATEGORIES = {
    Aspect.PITFALLS: {Category.GOTCHAS, Category.CORRECTIONS},
    Aspect.RULES: {
        Category.CONVENTIONS,
        Category.PREFERENCES,
        Category.CORRECTIONS,
        Category.PATTERNS,
    },
}
_ASPECTS = {
    Aspect.OPEN: r"open|outstanding|pending|remain\w*|todos?|unfinished|unresolved|left(?! off)|"
    r"next|waiting for|blocked|undecided|unanswered|postponed|put off|deferred|on my plate|"
    r"(?:have|needs?|ought) to (?:be )?(?:done?|decided?)|must (?:be done|(?:I|we) do)|missing|"
    r"steht an|offen|zu tun|"
    r"abiert[oa]s?|pendientes?|queda|ouverte?s?|reste|abert[oa]s?|pendentes?|falta",
    Aspect.PITFALLS: r"gotchas?|pitfalls?|traps?|caveats?|careful|watch out|avoid|mistakes?|"
    r"known (?:bugs?|issues?|problems?)",
    Aspect.RULES: r"conventions?|guidelines?|preferences?|rules?|allowed|never (?:to )?do|regeln",
    Aspect.DECISIONS: r"agreed?|cho(?:ose|se|sen)|conclu\w+|deci[ds]\w*|settled?|entsch[ie]\w+|"
    r"beschlossen|déci[ds]\w*",
    Aspect.WORK: r"(?<!never )chang\w+|did (?:\w+ )?do|(?:was|were|have|been) done|finish\w*|"
    r"happen\w*|leave|left|made|progress|recap|status|stop\w*|summar\w+|talk\w*|discuss\w*|"
    r"said|work\w*|last|latest|recent\w*|going on|been (?:doing|up to)|(?:was|were) (?:I|we) doing|"
    r"how far|catch|(?:where|wo) (?:are|were|sind|waren) (?:we|wir)|"
    r"where (?:I|we) (?:am|are|was|were)|came out|in the middle|new|overview|speed|state|gemacht|"
    r"gearbeitet|zuletzt|stand|besprochen|hicimos|hecho|fait|dernier|fizemos|feito",
    Aspect.NOTED: r"know|learn\w*|remember|noted?|notes|project about|repo\w* about|"
    r"about (?:this|the|our) (?:project|repo\w*)|"
    r"(?:is|does) (?:this|the|our) (?:project|repo\w*)",
}
# names something after all: "what did we use for the status"
_NAMES = re.compile(
    r"\b(?:for|about|with|on|in|from)\s+"
    r"(?!(?:me|next|us|my plate|the middle of|(?:this|the|our) (?:project|repo\w*)|"
    r"(?:my|our|the) (?:to.?do )?list)\W*\Z)"
    r"\w",
    re.IGNORECASE,
)
# asks in what way, or for a yes
_HOW = re.compile(
    r"\W*(?:how(?! far)|(?:is|are)(?! there)|can|could|should|do(?! (?:I|we|you) have)|does|wie)\b",
    re.IGNORECASE,
)
# says that the newest is meant, where nothing is asked
_NEWEST = re.compile(
    r"\A\W*(?:list|show)\b|\b(?:last|latest|recent(?:ly)?|open|outstanding|pending|"
    r"unresolved|unfinished|remaining|next|rules|conventions|catch me up|up to speed|"
    r"where (?:I|we) (?:am|are|was|were|left off|stopped)|"
    r"about (?:this|the|our) (?:project|repo\w*)|known bugs|lessons|summary|overview|recap)\b",
    re.IGNORECASE,
)
# a time that says nothing of which is meant, and nouns that are written like names
_FOR_NOW = re.compile(r"\s+for (?:today|now)(?=\W*\Z)", re.IGNORECASE)
_NOUN = re.compile(r"\b(?:Aufgaben|Entscheidungen|Fehler|Fragen|Punkte|Regeln|Stand)\b")


def asked_of_latest(question: ParsedQuestion) -> Aspect | None:
    """What is asked for by a question that names nothing else; None for any other."""
    question = parse_question(_NOUN.sub(_lower, _FOR_NOW.sub("", question.text)))
    text = question.text
    is_named = len(text.split()) > 1 and bool(_NEWEST.search(text))
    if not (question.asks or is_named) or _names_something(question):
        return None
    named = (
        aspect
        for aspect, words in _ASPECTS.items()
        if re.search(rf"\b(?:{words})\b", text, re.IGNORECASE)
    )
    return next(named, None)


def _names_something(question: ParsedQuestion) -> bool:
    """Does a question name what it is about, or ask in what way?"""
    text = question.text
    if _HOW.match(text) or _NAMES.search(text) or is_of_one_thing(text):
        return True
    return not question.written_stems <= _SAYING_NOTHING


def _lower(found: re.Match[str]) -> str:
    return found[0].lower()


def latest_hits(
    context: RecallContext, aspect: Aspect, *, is_wide: bool
) -> tuple[list[RecallHit], list[str]]:
    """The hits, newest first, permanent notes before others; and a note on them for the person."""
    told = _told_lines(aspect, _opened_memories(context, aspect, is_wide=is_wide))
    limit = context.request.limit
    if limit <= USUAL_LIMIT and aspect not in OF_NOTES:
        limit = SHOWN
    hits = [
        hit_of_lines(context, one.row, one.opened, one.lines)
        for one in islice(told, limit)
    ]
    if not hits:
        return [], [f"the newest memories tell of nothing that was {aspect}"]
    return hits, [
        f"the question names nothing: what was {aspect} last; `keeplore list` lists all"
    ]


_Opened = tuple[MemoryRow, OpenedMemory]


@dataclass(frozen=True, slots=True)
class _Told:
    row: MemoryRow
    opened: OpenedMemory
    lines: Sequence[Said]


def _opened_memories(
    context: RecallContext, aspect: Aspect, *, is_wide: bool
) -> Iterator[_Opened]:
    """The newest memories that can be read, each read when it is asked for."""
    allowed = context.allowed(is_wide=is_wide)
    notes = aspect in OF_NOTES
    rows = (
        _notes(context, aspect, allowed) if notes else _newest(context, aspect, allowed)
    )
    for row in rows:
        opened = None if context.request.filter.skip(row) else context.opened(row.path)
        if opened:
            yield row, opened


def _notes(
    context: RecallContext, aspect: Aspect, allowed: ScopeFilter
) -> Sequence[MemoryRow]:
    """The newest notes that are asked for, permanent ones first."""
    notes = MemoryFilter(allowed, kind="note", limit=LOOKED_AT)
    every = (replace(notes, permanent=True), replace(notes, permanent=False))

    def is_asked_for(row: MemoryRow) -> bool:
        return aspect is Aspect.NOTED or row.category in _CATEGORIES[aspect]

    return [
        row for one in every for row in context.deps.index.listed(one, is_asked_for)
    ]


def _newest(
    context: RecallContext, aspect: Aspect, allowed: ScopeFilter
) -> Sequence[MemoryRow]:
    """The newest memories; of the latest work last what the session that asks did, which it
    knows.
    """
    rows = context.deps.index.listed(MemoryFilter(allowed, limit=LOOKED_AT))
    session = context.request.session
    if aspect is Aspect.WORK and session:
        return sorted(rows, key=lambda row: row.session == session)
    return rows


def _told_lines(aspect: Aspect, memories: Iterator[_Opened]) -> Iterator[_Told]:
    """The memories that tell of what is asked for, each with its lines."""
    newest: Iterable[_Opened] = memories
    waiting: Mapping[str, Sequence[Quote]] = {}
    if aspect is Aspect.OPEN:
        newest = [*islice(memories, ASKED_AT)]
        waiting = _waiting(newest)
    for row, opened in newest:
        if row.kind == "note":
            lines = _note_lines(row, opened.memory, aspect)
        else:
            talk = opened.conversation if row.kind == "conversation" else None
            is_open = aspect is Aspect.OPEN
            quotes = waiting.get(row.id, ()) if is_open else _quotes_of(talk, aspect)
            lines = last_lines(quotes)
        if lines:
            yield _Told(row, opened, lines)


def _note_lines(row: MemoryRow, note: Memory, aspect: Aspect) -> list[Said]:
    """What a note states, where it is one of those that are asked for."""
    is_decision = aspect is Aspect.DECISIONS and row.category == Category.DECISIONS
    if not (is_decision or aspect in OF_NOTES):
        return []
    return [(clip(gist_of(note), EXCERPT_CHARS), "")]


def _waiting(memories: Iterable[_Opened]) -> Mapping[str, Sequence[Quote]]:
    """The open questions of each conversation that no newer one answered."""
    talks = (
        LoadedMemory(row, opened.memory, talk=opened.conversation)
        for row, opened in memories
        if row.kind == "conversation"
    )
    found: dict[str, list[Quote]] = {}
    for read, asked in waiting_questions(talks):
        found.setdefault(read.row.id, []).append(asked)
    return found


def _quotes_of(talk: Conversation | None, aspect: Aspect) -> Sequence[Quote]:
    if talk is None:
        return ()
    if aspect is Aspect.DECISIONS:
        return talk.decided
    return quotes_of_work(talk)
