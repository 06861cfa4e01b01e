"""Which sentences of a conversation are notes: what was settled or stated for good, by whom, and
how surely.

The form of a sentence says what it does (``capture/cues``); what speaks against a note, a doubt, a
moment, a word that points elsewhere, takes from its confidence. What was taken back later in the
same conversation is no candidate.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise

from keeplore.capture.cues import opens_with, pattern, rules, says
from keeplore.capture.discourse.dialogue import last_word
from keeplore.capture.discourse.instructions import is_document
from keeplore.capture.discourse.statements import (
    DOCUMENT,
    Statement,
    is_step,
    statements_of,
)
from keeplore.capture.distill.agreements.agreed import Agreed, AgreedKind
from keeplore.capture.distill.agreements.agreement import agreement_in
from keeplore.capture.distill.choices.choice import LOOK_BACK, Choice, without_label
from keeplore.capture.distill.choices.lettered_answers import (
    LetteredAnswer,
    lettered_answers,
)
from keeplore.capture.distill.decision_weights import without_next_steps
from keeplore.capture.distill.standing_decisions import Decision, standing_decisions
from keeplore.capture.notes.assertions import category_of_assertion, is_asserted
from keeplore.capture.notes.findings import (
    OFFERED,
    SURE,
    Finding,
    findings,
    is_restated,
)
from keeplore.capture.notes.note_wording import (
    answer_title,
    capitalised,
    is_bare,
    points_elsewhere,
    without_lead,
    without_opener,
)
from keeplore.capture.notes.repairs import is_complaint, is_repaired
from keeplore.capture.notes.standing_orders import standing_orders
from keeplore.memory import AgentQuestion, Exchange, Quote
from keeplore.memory.model import Category, Scope, Trust
from keeplore.text.pasted import own_words
from keeplore.text.sentences import (
    ARROW,
    Sentence,
    answer_in,
    answer_line,
    clip,
    question_and_answer,
    sentences,
)
from keeplore.text.similarity import content_hash
from keeplore.text.terms import count_terms, terms, words

AUTOMATIC = 0.8  # candidates from here on are written as notes; the curve is in docs/benchmarks.md
LEAST = 0.3  # candidates below it are not worth mentioning
ORDERED, ANSWERED, PICKED, CONFIRMED, ASSERTED = 0.98, 0.9, 0.84, 0.82, 0.82
OF_TASK = 0.2  # what a question about the piece of work on hand takes from its answer
BARE_YES = 12  # words of a message that agrees and says nothing else
LONG_MESSAGE = 40  # sentences from which a message counts as a document
# candidates of one message that are written unasked: more is a specification, and its file the
# place
A_MESSAGE = 4
HEDGE = 0.06  # what "I think" takes: people say so of what they have decided, too
SUBJECT_CHARS = 1000  # of a text that say what it is about
MIN_TERMS = 3  # content words of a sentence that says something by itself
_FIGURE = re.compile(r"\b\d+\b")
# what a person says of themselves, and against what was said, is short
SHORT = (Category.USER_FACTS, Category.PREFERENCES, Category.CORRECTIONS)
# what tells how things are: it takes no decision back, and none takes it back
REPORTS = (Category.USER_FACTS, Category.GOTCHAS, Category.PATTERNS)
# what a finding of the agent's may be; what else its words sound like, it is a gotcha
OF_SYSTEMS = (Category.SECURITY, Category.INFRASTRUCTURE, Category.PATTERNS)
# words by which it is one: what is not so, what goes wrong, and why
TRAPS = (
    "states_negated",
    "states_trap",
    "states_contrasted",
    "states_caused",
    "states_limited",
)
SUREST = 0.95  # confidence of a finding that is surely one
FIRM = 0.06  # what a clause of the person's that gives a reason adds


@dataclass(frozen=True, slots=True)
class NoteCandidate:
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
    choice: Choice | None = None  # that it was picked of
    is_new_value: bool = False  # another number than was proposed or decided

    @property
    def speaker(self) -> str:
        return self.quote.speaker

    @property
    def turn(self) -> str:
        return self.quote.turn

    @property
    def is_explicit(self) -> bool:
        return bool(self.order)


def candidates(exchanges: Sequence[Exchange]) -> tuple[NoteCandidate, ...]:
    """What a conversation holds of notes and did not take back, oldest first; each statement
    once.
    """
    found = [
        _stated_and_agreed(exchange, exchanges[max(0, at - LOOK_BACK) : at])
        for at, exchange in enumerate(exchanges)
    ]

    def made_at(at: int) -> tuple[list[Decision], list[Decision]]:
        of_person, of_agent = found[at]
        return _as_decisions(of_person, at), _as_decisions(of_agent, at)

    standing = {_answer_of(d.quote) for d in standing_decisions(exchanges, made_at)}
    in_order = chain.from_iterable(chain.from_iterable(found))
    by_quote = {candidate.quote: candidate for candidate in in_order}
    kept = [c for c in by_quote.values() if c.order or _answer_of(c.quote) in standing]
    told = [c.text for c in kept if c.confidence >= AUTOMATIC and not _is_tale(c)]
    untold = (f for f in findings(exchanges) if not is_restated(f.text, told))
    kept += map(_finding_candidate, untold)
    statements = statements_of(exchanges)
    kept = [c for c in kept if not _is_over(c, statements)]
    kept.sort(key=lambda candidate: candidate.confidence)
    return tuple(
        {content_hash(candidate.text): candidate for candidate in kept}.values()
    )


def _answer_of(quote: Quote) -> tuple[str, str]:
    """What was taken, and where: a new value changes what it stands behind."""
    return quote.turn, answer_in(quote.text)


def _stated_and_agreed(
    exchange: Exchange, earlier: Sequence[Exchange]
) -> tuple[Sequence[NoteCandidate], Sequence[NoteCandidate]]:
    """What the person stated, without the sentence that a pick tells already, and what they agreed
    to.
    """
    agreed_to = [*_agreed_candidates(exchange, earlier)]
    picks = [candidate.quote.text for candidate in agreed_to if candidate.title]

    def is_in_pick(candidate: NoteCandidate) -> bool:
        return any(candidate.quote.text in pick for pick in picks)

    return [c for c in _person_candidates(exchange) if not is_in_pick(c)], agreed_to


def _is_tale(candidate: NoteCandidate) -> bool:
    """True where it tells what was the matter: how things are, it leaves to the agent to say."""
    is_gotcha = candidate.category == Category.GOTCHAS
    return is_gotcha and says(candidate.text, "states_past")


def _is_over(candidate: NoteCandidate, statements: Sequence[Statement]) -> bool:
    """True for a defect that was repaired in the same conversation."""
    is_finding = candidate.category in (*OF_SYSTEMS, Category.GOTCHAS)
    if candidate.order or not is_finding:
        return False
    if is_complaint(candidate.quote, statements):
        return True
    if candidate.speaker == Trust.USER and candidate.category != Category.GOTCHAS:
        return False  # a rule, which stays one when it is followed
    return is_repaired(candidate.text, candidate.quote, statements)


def _as_decisions(candidates: Sequence[NoteCandidate], at: int) -> list[Decision]:
    """What the candidates of an exchange settle; orders to remember are not taken back."""
    return [_as_decision(c, at) for c in candidates if not c.order]


def _as_decision(candidate: NoteCandidate, at: int) -> Decision:
    return Decision(
        candidate.quote,
        1 + 2 * candidate.confidence,
        at,
        frozenset(terms(candidate.text)),
        takes_back=candidate.category not in REPORTS,
        choice=candidate.choice,
        lasts=candidate.category in (*REPORTS, Category.CORRECTIONS),
        is_new_value=candidate.is_new_value,
    )


def orders(exchange: Exchange) -> tuple[NoteCandidate, ...]:
    """What the person ordered to be kept, in one message."""
    return tuple(
        candidate for candidate in _message_candidates(exchange) if candidate.order
    )


def category_of(text: str, default: str = Category.DECISIONS) -> str:
    """The category that a statement is most likely of; ``default`` where no word tells: by labels,
    such a statement is mostly about how the work is to be.
    """
    beginning = text[:SUBJECT_CHARS]
    fitting = (
        rule.category for rule in rules("subjects") if rule.pattern.search(beginning)
    )
    return next(fitting, str(default))


def category_in(scope: str, text: str) -> str:
    """The category of a statement; in the user scope one that names no subject is about
    the person, and elsewhere a few words that state nothing are no decision.
    """
    if scope == Scope.USER:
        return category_of(text, Category.USER_FACTS)
    return category_of(text, Category.PATTERNS if is_bare(text) else Category.DECISIONS)


def _person_candidates(exchange: Exchange) -> Iterator[NoteCandidate]:
    yield from _message_candidates(exchange)
    for reply in exchange.replies:
        if isinstance(reply, AgentQuestion) and reply.is_complete:
            yield from _answer_candidates(reply, exchange.id)


def _message_candidates(exchange: Exchange) -> Iterator[NoteCandidate]:
    """The orders and statements of a short message; only the strongest may be kept unasked."""
    said = sentences(own_words(exchange.user))
    if is_document(exchange.user) or len(said) > LONG_MESSAGE:
        return
    ordered = [*_ordered_notes(said, exchange.id)]
    yield from ordered
    taken = {candidate.quote.text for candidate in ordered}
    last = {s.text for s in sentences(own_words(last_word(exchange.user)))}
    own = [s for s in said if s.text in last and clip(s.text) not in taken]
    own = without_next_steps(own)
    is_long = len(said) > DOCUMENT
    stated = [*_statements(own, exchange.id, is_long=is_long)]
    strongest = sorted(stated, key=lambda c: -c.confidence)[:A_MESSAGE]
    for candidate in stated:
        most = 1.0 if candidate in strongest else AUTOMATIC - 0.1
        yield replace(candidate, confidence=min(candidate.confidence, most))


def _statements(
    message: Iterable[Sentence], turn: str, *, is_long: bool
) -> Iterator[NoteCandidate]:
    """What the person states; a document only describes what is to be worked on."""
    for sentence, following in pairwise((*message, None)):
        stated = sentence and _statement_candidate(sentence, turn, is_long=is_long)
        if stated and following and _is_consequence(following):
            yield replace(stated, text=f"{stated.text} {following.text}")
        elif stated:
            yield stated


def _is_consequence(sentence: Sentence) -> bool:
    """Does it only say what follows from the sentence before it?"""
    is_said = not (sentence.is_first or sentence.is_question)
    return is_said and opens_with(sentence.text, "states_consequence")


def _ordered_notes(message: Sequence[Sentence], turn: str) -> Iterator[NoteCandidate]:
    """Orders to remember, and rules that shall hold from now on."""
    for order in standing_orders(message):
        yield _order(order.text, order.kind, order.said, turn)


def _order(text: str, order: str, quote: str, turn: str) -> NoteCandidate:
    text = capitalised(text)
    default = Category.CONVENTIONS if order == "rule" else Category.DECISIONS
    quoted = Quote(clip(quote), "user", turn)
    return NoteCandidate(text, category_of(text, default), ORDERED, quoted, order)


def _statement_candidate(
    sentence: Sentence, turn: str, *, is_long: bool
) -> NoteCandidate | None:
    """What a sentence of the person states for good; None for a question, a doubt and a task."""
    text = pattern("note_asked").sub("", capitalised(sentence.text))
    if text.endswith(("?", "？", ":")) or sentence.is_heading:
        return None
    if not terms(text) or opens_with(text, "quoted"):
        return None
    led = pattern("opinion").sub("", without_lead(text))
    if any(says(led, name) for name in ("undecided", "workflow", "doubted")):
        return None
    certainty, category = _by_rule(text, led)
    is_told_for_good = opens_with(text, "corrected") or opens_with(text, "volunteered")
    if not is_long and is_asserted(led, is_for_good=is_told_for_good):
        certainty = max(certainty, ASSERTED)
        category = category or category_of(led, category_of_assertion(led))
    if not certainty:
        return None
    # an item of a numbered list answers what the agent asked under this number
    is_reply = sentence.label[:1].isdigit() and not sentence.lead
    confidence = certainty + _confidence_adjustment(led, category, is_reply=is_reply)
    confidence -= HEDGE * says(text, "hedged")
    if confidence < LEAST:
        return None
    quote = Quote(clip(sentence.text), "user", turn)
    return NoteCandidate(
        without_opener(text), category, round(min(confidence, 0.95), 2), quote
    )


def _by_rule(text: str, led: str) -> tuple[float, str]:
    """Confidence and category by the surest rule, 0 and "" where none fits; ``led`` is the text
    without what leads up to it, which makes a correction one.
    """
    searched = {str(Category.CORRECTIONS): text}
    fitting = [
        rule
        for rule in rules("notes")
        if rule.pattern.search(searched.get(rule.category, led))
    ]
    if not fitting:
        return 0.0, ""
    surest = max(fitting, key=lambda rule: rule.confidence)
    return surest.confidence, surest.category or _kind_of_decision(text)


def _confidence_adjustment(text: str, category: str, *, is_reply: bool) -> float:
    """What speaks for a note, less what speaks against it, as confidence."""
    content = count_terms(text) + len(_FIGURE.findall(text))
    is_correction = category == Category.CORRECTIONS
    is_exempt = category == Category.GOTCHAS or (
        is_correction and opens_with(text, "corrected")
    )
    against = (
        (0.2, says(text, "moment")),
        (0.2, not is_exempt and says(text, "trouble")),
        (0.3, points_elsewhere(text)),
        (0.2, says(text, "talk")),
        (0.2, not is_correction and says(text, "of_screen")),
        (0.2, not is_correction and says(text, "turned")),
        (0.2, is_correction and says(text, "diagnosed")),
        (0.2, says(text, "of_turn")),
        (0.2, says(text, "task")),
        (
            0.05 if content > 1 else 0.1,
            content < MIN_TERMS
            and not (category in SHORT and content and not is_reply),
        ),
        (0.15, len(words(text)) > 60),
        (0.2, says(text, "vague")),
        (0.05, text.endswith((",", "!?", "?!"))),
    )
    return FIRM * says(text, "firm") - sum(weight for weight, holds in against if holds)


def _answer_candidates(reply: AgentQuestion, turn: str) -> Iterator[NoteCandidate]:
    """A choice with its question; of an answer to "may I?", the words that state something."""
    if is_step(reply) or says(reply.question, "momentary_question"):
        if reply.answer not in reply.options:
            yield from _statements(sentences(reply.answer)[:6], turn, is_long=False)
        return
    answer = " ".join(reply.answer.split())
    if says(answer, "unsettled_answer"):
        return
    question = " ".join(reply.question.split())
    answer = pattern("note_recommended").sub("", answer)
    category = _kind_of_decision(f"{question} {answer}")
    quote = Quote(answer_line(reply.question, reply.answer), "user", turn)
    is_of_task = says(reply.question, "task_question")
    confidence = ANSWERED - OF_TASK if is_of_task else ANSWERED
    yield NoteCandidate(
        f"{question}{ARROW}{answer}",
        category,
        confidence,
        quote,
        title=answer_title(question, answer),
        choice=Choice(question, reply.options),
    )


def _agreed_candidates(
    exchange: Exchange, earlier: Sequence[Exchange]
) -> Iterator[NoteCandidate]:
    """The agent's option that the person picked, or its proposal that the person agreed to without
    a but.
    """
    answers = lettered_answers(exchange.user, earlier)
    yield from (_lettered_candidate(answer, exchange.id) for answer in answers)
    said = sentences(exchange.user)
    agreement = (
        agreement_in(said, earlier) if earlier and said and not answers else None
    )
    if agreement is None or agreement.is_offer:
        return
    if agreement.choice and opens_with(said[0].text, "errand"):
        return
    text = without_label(pattern("note_advice").sub("", agreement.text))
    line = agreement.choice.line(text) if agreement.choice else text
    confidence = PICKED if agreement.choice else CONFIRMED
    if _has_but(said, agreement) or len(words(exchange.user)) > BARE_YES:
        confidence -= 0.2
    is_vague = points_elsewhere(text) or says(text, "hedged")
    if is_vague or count_terms(line) < MIN_TERMS:
        confidence -= 0.3
    is_theirs = agreement.choice or agreement.said
    place = ("user", exchange.id) if is_theirs else ("assistant", earlier[-1].id)
    yield NoteCandidate(
        capitalised(line),
        _kind_of_decision(line),
        confidence,
        Quote(clip(agreement.line), *place),
        title=_title_of_pick(agreement),
        choice=agreement.choice,
        is_new_value=agreement.kind is AgreedKind.NEW_VALUE,
    )


def _lettered_candidate(answer: LetteredAnswer, turn: str) -> NoteCandidate:
    line, question = answer.line, answer.choice.question
    is_weak = count_terms(line) < MIN_TERMS or says(question, "task_question")
    return NoteCandidate(
        capitalised(line),
        _kind_of_decision(line),
        round(PICKED - OF_TASK, 2) if is_weak else PICKED,
        Quote(line, "user", turn),
        title=answer_title(question, answer.option),
        choice=answer.choice,
    )


def _has_but(message: Sequence[Sentence], agreement: Agreed) -> bool:
    """Does the message ask, or limit what it agrees to without that being told? Who takes another
    option says "but" of the one before.
    """
    told = (AgreedKind.OTHER_PICK, AgreedKind.AMENDED, AgreedKind.NEW_VALUE)
    is_new = agreement.kind in told
    return any(
        s.is_question or (not is_new and says(s.text, "hedged_reply")) for s in message
    )


def _title_of_pick(agreement: Agreed) -> str:
    """What was taken behind its question, what was changed or refused behind the proposal."""
    question, answer = question_and_answer(agreement.text)
    if agreement.choice and agreement.choice.question:
        question, answer = agreement.choice.question, agreement.text
    return answer_title(question, answer) if question else ""


def _finding_candidate(finding: Finding) -> NoteCandidate:
    """What the agent found out: below ``AUTOMATIC`` where the model is not sure that it lasts."""
    least, most, start = LEAST, AUTOMATIC, OFFERED
    if finding.is_sure:
        least, most, start = AUTOMATIC, SUREST, SURE
    reached = min(1.0, (finding.chance - start) / (1 - start))
    return NoteCandidate(
        finding.text,
        _kind_of_finding(finding.text),
        round(least + reached * (most - least) - 0.005, 2),
        Quote(clip(finding.said), "assistant", finding.turn),
    )


def _kind_of_finding(text: str) -> str:
    """A trap, or how a thing works, where its subject does not tell more."""
    category = category_of(text, Category.GOTCHAS)
    if category in OF_SYSTEMS:
        return category
    is_trap = any(says(text, name) for name in TRAPS)
    return str(Category.GOTCHAS if is_trap else Category.PATTERNS)


def _kind_of_decision(text: str) -> str:
    """A choice is a decision, also where it is about a server; how people work and what is secret
    is more than that.
    """
    category = category_of(text)
    is_more = category in (
        Category.SECURITY,
        Category.CONVENTIONS,
        Category.PREFERENCES,
    )
    return category if is_more else str(Category.DECISIONS)
