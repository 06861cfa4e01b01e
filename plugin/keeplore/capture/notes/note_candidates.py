"""Which sentences of a conversation are notes: what was settled or stated for good, by whom, and
how surely.

The form of a sentence says what it does (``note_cues``); what speaks against a note, a doubt, a
moment, a word that points elsewhere, takes from its confidence. What was taken back later in the
same talk is no candidate.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from keeplore.capture.cues import cue_patterns, note_cues, note_doubts, talk_cues
from keeplore.capture.distill.decisions import Decision, agreed, answered, is_step, standing
from keeplore.capture.distill.title_wording import is_pasted
from keeplore.memory import AnsweredQuestion, Exchange, Quote
from keeplore.memory.note import TITLE_CHARS
from keeplore.text.sentences import Sentence, clip, sentences
from keeplore.text.similarity import content_hash
from keeplore.text.terms import terms, words

AUTOMATIC = 0.8  # candidates from here on are written as notes; the curve is in docs/benchmarks.md
LEAST = 0.3  # candidates below it are not worth mentioning
ORDERED, ANSWERED, PICKED, CONFIRMED = 0.98, 0.9, 0.84, 0.82
BARE_YES = 12  # words of a message that agrees and says nothing else
LONG_MESSAGE = 40  # sentences from which a message counts as a document
# candidates of one message that are written unasked: more is a specification, and its file the
# place
A_MESSAGE = 4
HEDGE = 0.06  # what "I think" takes: people say so of what they have decided, too
FALLBACK = "user-facts"
SUBJECT_CHARS = 1000  # of a text that say what it is about
MIN_TERMS = 3  # content words of a sentence that says something by itself
_OPENER = re.compile(rf"\A{cue_patterns.OPENER}", re.IGNORECASE)
_LOOSE = re.compile(
    r"\A(?:/[\w:-]+\s+)?(?:\W*(?:k|stop for a second|wait|hold on|right|yup|yeah|yep|"
    r"uh+|um+|hm+|ok(?:ay)?|so|well|"
    r"no+(?=[,.…!:;-])|yes|and|but|anyway|"
    r"also)\b[\s,.…!:;-]+)*",
    re.IGNORECASE,
)
_LOWER_WORD = re.compile(r"[a-z]+(?:['’][a-z]+)?[,;:]?(?:\s|\Z)")
_WANTED = re.compile(r"\bi (?:never |don'?t ever |do not ever )?want you to\b", re.IGNORECASE)
_NEGATION = re.compile(r"\b(?:no|nah|nope)\s+\Z", re.IGNORECASE)
_FIGURE = re.compile(r"\b\d+\b")
_RECOMMENDED = re.compile(r"\s*\((?:recommended|default|my pick)\)\s*\Z", re.IGNORECASE)
_ADVICE = re.compile(
    r"\A\W*(?:my (?:recommendation|suggestion|proposal|pick)(?: in one line)?(?: is)?|i(?:'d| "
    r"would)? (?:recommend|"
    r"suggest|"
    r"propose)|recommendation)\b[\s:,*–—-]*",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """``text`` is the statement as it can be read alone; ``quote`` holds the words that it was
    taken from.
    """

    text: str
    category: str
    confidence: float  # 0..1
    quote: Quote
    # remember | note | rule: how the person ordered it to be kept, "" for what was merely said
    order: str = ""
    title: str = ""

    @property
    def speaker(self) -> str:
        return self.quote.speaker

    @property
    def turn(self) -> str:
        return self.quote.turn

    @property
    def is_explicit(self) -> bool:
        return bool(self.order)


def candidates(exchanges: Sequence[Exchange]) -> tuple[Candidate, ...]:
    """What a talk holds of notes and did not take back, oldest first; each statement once."""
    made: dict[Quote, Candidate] = {}

    def noted(found: Sequence[Candidate], at: int) -> list[Decision]:
        made.update((candidate.quote, candidate) for candidate in found)
        return [
            Decision(c.quote, 1 + 2 * c.confidence, at, frozenset(terms(c.text)))
            for c in found
            if not c.order
        ]

    def settled(at: int) -> tuple[list[Decision], list[Decision]]:
        before = exchanges[at - 1] if at else None
        return noted([*_of_person(exchanges[at])], at), noted(
            [*_of_agent(exchanges[at], before)], at
        )

    stands = {decision.quote for decision in standing(exchanges, settled)}
    kept = (c for quote, c in made.items() if c.order or quote in stands)
    return tuple(
        {content_hash(c.text): c for c in sorted(kept, key=lambda c: c.confidence)}.values()
    )


def orders(exchange: Exchange) -> tuple[Candidate, ...]:
    """What the person ordered to be kept, in one message."""
    return tuple(candidate for candidate in _of_words(exchange) if candidate.order)


def category_of(text: str, default: str = FALLBACK) -> str:
    """The category that a statement is most likely of."""
    beginning = text[:SUBJECT_CHARS]
    return next(
        (rule.category for rule in note_cues.SUBJECTS if rule.pattern.search(beginning)), default
    )


def _of_person(exchange: Exchange) -> Iterator[Candidate]:
    yield from _of_words(exchange)
    for reply in exchange.replies:
        if isinstance(reply, AnsweredQuestion) and reply.question.strip() and reply.answer.strip():
            yield from _of_answer(reply, exchange.id)


def _of_words(exchange: Exchange) -> Iterator[Candidate]:
    said = sentences(exchange.user)
    if is_pasted(exchange.user) or len(said) > LONG_MESSAGE:
        return
    ordered = [*_ordered(said, exchange.id)]
    taken = {candidate.quote.text for candidate in ordered}
    yield from ordered
    stated = [c for s in said if clip(s.text) not in taken and (c := _stated(s, exchange.id))]
    strongest = sorted(stated, key=lambda c: -c.confidence)[:A_MESSAGE]
    yield from (
        c if c in strongest else replace(c, confidence=min(c.confidence, AUTOMATIC - 0.1))
        for c in stated
    )


def _ordered(said: Sequence[Sentence], turn: str) -> Iterator[Candidate]:
    """Orders to remember, and rules that shall hold from now on."""
    leads = {sentence.text for sentence in said if note_cues.REMEMBER_LIST.search(sentence.text)}
    for n, sentence in enumerate(said):
        text = sentence.text
        is_led = sentence.lead in leads or (n and said[n - 1].text in leads and not sentence.label)
        if is_led and terms(text):
            yield _order(text, "remember", text, turn)
        elif note_doubts.QUOTED.match(text) or text in leads:
            continue
        elif found := note_cues.REMEMBER.search(text):
            what = next(filter(None, found.groupdict().values()), "")
            if len(terms(what)) > 1 or not what.isascii():
                yield _order(what, "remember", text, turn)
        elif (found := note_cues.NOTE.search(text)) and _is_sound(sentence, found["what"]):
            yield _order(found["what"], "note", text, turn)
        elif note_cues.STANDING_ORDER.search(text) and _is_sound(sentence, text):
            yield _order(_plain(text), "rule", text, turn)


def _is_sound(sentence: Sentence, what: str) -> bool:
    """True where what shall be kept can be read alone, and is neither asked nor doubted."""
    is_said = (
        not sentence.is_question
        and len(terms(what)) > 1
        and not talk_cues.UNDECIDED.search(_WANTED.sub("", what))
    )
    return is_said and not _points_elsewhere(what) and not note_doubts.MOMENT.search(what)


def _order(text: str, order: str, quote: str, turn: str) -> Candidate:
    text = _capitalised(text)
    category = category_of(text, note_cues.CONVENTIONS if order == "rule" else FALLBACK)
    return Candidate(text, category, ORDERED, Quote(clip(quote), "user", turn), order)


def _stated(sentence: Sentence, turn: str) -> Candidate | None:
    """What a sentence of the person states for good; None for a question, a doubt and a task."""
    text = sentence.text
    if (
        sentence.is_question
        or sentence.is_heading
        or note_doubts.QUOTED.match(text)
        or text.endswith(":")
    ):
        return None
    led = note_doubts.OPINION.sub("", _LOOSE.sub("", text))
    if not terms(text) or any(
        cue.search(led) for cue in (talk_cues.UNDECIDED, talk_cues.WORKFLOW, note_doubts.DOUBTED)
    ):
        return None
    matching = (r for r in note_cues.RULES if r.pattern.search(led) or r.pattern.search(text))
    rule = max(matching, key=lambda r: r.confidence, default=None)
    if rule is None:
        return None
    confidence = (
        rule.confidence + _adjusted(led, rule) - HEDGE * bool(note_doubts.HEDGED.search(text))
    )
    if confidence < LEAST:
        return None
    category = rule.category or _kind_of_decision(text)
    plain = _plain(text)
    return Candidate(
        plain, category, round(min(confidence, 0.95), 2), Quote(clip(text), "user", turn)
    )


def _adjusted(text: str, rule: note_cues.Rule) -> float:
    """What speaks for a note and against it, as a difference of confidence."""
    content = len(set(terms(text))) + len(_FIGURE.findall(text))
    against = (
        (0.2, note_doubts.MOMENT.search(text)),
        (0.2, rule.category not in note_doubts.TROUBLE_EXEMPT and note_doubts.TROUBLE.search(text)),
        (0.3, _points_elsewhere(text)),
        (0.2, note_doubts.TALK.search(text)),
        (0.2, note_doubts.TASK.search(text)),
        (0.05 if content > 1 else 0.1, content < MIN_TERMS and rule.category != note_cues.FACTS),
        (0.15, len(words(text)) > 60),
        (0.2, note_doubts.VAGUE.search(text)),
        (0.05, text.endswith((",", "!?", "?!"))),
    )
    return 0.06 * bool(note_doubts.FIRM.search(text)) - sum(
        weight for weight, holds in against if holds
    )


def _points_elsewhere(text: str) -> bool:
    """True where a word stands for what was said before, so that the sentence cannot be read
    alone.
    """
    text = note_doubts.LED_IN.sub("", text)
    if (
        note_doubts.POINTER.search(text)
        or note_doubts.DEMONSTRATIVE.search(text)
        or note_doubts.SUBJECTLESS.search(text)
    ):
        return True
    pronoun = note_doubts.PRONOUN.search(text)
    return pronoun is not None and len(set(terms(text[: pronoun.start()]))) < 2


def _of_answer(asked: AnsweredQuestion, turn: str) -> Iterator[Candidate]:
    """A choice with its question; of an answer to "may I?", the words that state something."""
    answer = " ".join(asked.answer.split())
    if is_step(asked) or note_doubts.MOMENTARY_QUESTION.search(asked.question):
        if asked.answer not in asked.options:
            yield from (c for s in sentences(asked.answer)[:6] if (c := _stated(s, turn)))
        return
    if note_doubts.UNSETTLED_ANSWER.search(answer):
        return
    quote = Quote(answered(asked), "user", turn)
    question = " ".join(asked.question.split())
    answer = _RECOMMENDED.sub("", answer)
    category = _kind_of_decision(f"{question} {answer}")
    yield Candidate(
        f"{question} → {answer}", category, ANSWERED, quote, title=_titled(question, answer)
    )


def _titled(question: str, answer: str) -> str:
    answer = clip(answer, TITLE_CHARS // 2)
    beginning = clip(question, TITLE_CHARS - 4 - len(answer))
    return f"{beginning}{'' if beginning == question else '…'} → {answer}"


def _of_agent(exchange: Exchange, before: Exchange | None) -> Iterator[Candidate]:
    """The agent's option that the person picked, or its proposal that the person agreed to without
    a but.
    """
    said = sentences(exchange.user)
    if before is None or not said:
        return
    found = agreed(said, before)
    if found is None:
        return
    text = _ADVICE.sub("", found.text)
    confidence = PICKED if found.is_pick else CONFIRMED
    if found.is_pick and note_doubts.ERRAND.match(said[0].text):
        return
    is_bare = len(words(exchange.user)) <= BARE_YES
    if not is_bare or any(s.is_question or talk_cues.HEDGED_REPLY.search(s.text) for s in said):
        confidence -= 0.2
    if (
        _points_elsewhere(text)
        or note_doubts.HEDGED.search(text)
        or len(set(terms(text))) < MIN_TERMS
    ):
        confidence -= 0.3
    category = _kind_of_decision(text)
    yield Candidate(
        _capitalised(text), category, confidence, Quote(clip(found.text), "assistant", before.id)
    )


def _kind_of_decision(text: str) -> str:
    """A choice is a decision, also where it is about a server; how people work and what is secret
    is more than that.
    """
    category = category_of(text)
    is_more = category in (note_cues.SECURITY, note_cues.CONVENTIONS, note_cues.PREFERENCES)
    return category if is_more else note_cues.DECISIONS


def _plain(text: str) -> str:
    """The statement without the small words that lead up to it."""
    rest = _LOOSE.sub("", text)
    rest = rest[match.end() :] if (match := _OPENER.match(rest)) else rest
    # "no tests on Friday" says the opposite without its "no"
    is_part = _NEGATION.search(text[: len(text) - len(rest)]) is not None
    return _capitalised(text if is_part or len(terms(rest)) < 2 else rest)


def _capitalised(text: str) -> str:
    text = text.strip("*_ \t\n")
    if text.startswith("(") and text.endswith(")") and text.count("(") == 1:
        text = text[1:-1]
    return text[:1].upper() + text[1:] if _LOWER_WORD.match(text) else text
