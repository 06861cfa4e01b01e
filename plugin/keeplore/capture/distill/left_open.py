"""What a conversation leaves open: what was put off, what a report leaves undone, what was asked
and never answered, and what nobody knew an answer to.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from keeplore.capture.cues import opens_with, pattern, says, weight_of
from keeplore.capture.discourse.statements import Statement
from keeplore.capture.distill import outcomes
from keeplore.capture.distill.choices.lettered_answers import lettered_answers
from keeplore.capture.distill.choices.reply_options import last_options
from keeplore.capture.distill.extracts import ALIKE, Extract, ExtractSource
from keeplore.capture.distill.numbered_answers import (
    answers_by_number,
    undecided_points,
)
from keeplore.capture.distill.unanswered import unanswered
from keeplore.memory import Exchange, Quote
from keeplore.recall.question import looks_up_decision
from keeplore.text.sentences import (
    Sentence,
    answer_line,
    clip,
    question_and_answer,
)
from keeplore.text.terms import overlap, terms

DOUBT = 2.0  # weight up to which what a person says is open is only what they ask to be told
ASKED_WORDS = 3  # content words of a question that can be understood later
OFFERED_WORDS = 4  # likewise of an offer
WAY_CHARS = 80  # of each way between which a question asks to choose
LAST_WORDS = 4  # sentences at the end of the last answer in which a question waits for the person
HEADED, HEADED_OPEN, ASKED = 2.0, 2.5, 1.5  # weights of a heading, and of a question


def open_questions(source: ExtractSource) -> Iterator[Extract]:
    """What was put off, what a report leaves undone, and what was asked and never answered."""
    lines = [(s.exchange, s.speaker, s.sentence) for s in source.said]
    answered = _answered(source.exchanges)
    undone = {n: weight for weight, n in outcomes.left_undone(lines)}
    unsettled = [*unanswered(source.model, source.decided)]
    told = [extract.quote.text for extract in unsettled]
    for order, s in enumerate(map(_rest_put_off, source.said)):
        if not _may_be_open(s, source) or any(s.text in line for line in told):
            continue
        weight = _open_weight(s, source, undone.get(order, 0.0))
        if s.exchange not in answered and _is_listed_as_open(s, source):
            weight = max(weight, HEADED_OPEN)
        if not weight and _waits_for_answer(s, source):
            weight = ASKED
        if weight and not outcomes.is_settled(lines, order):
            yield Extract(_whole_question(s, source), weight, order)
    for extract in unsettled:
        yield replace(extract, order=extract.order + len(source.said))
    yield from _undecided_points(source)


def _may_be_open(s: Statement, source: ExtractSource) -> bool:
    """False for what says too little, looks a decision up, leads up to code of the agent's, or was
    decided then or later.
    """
    if s.leads_in and not s.is_of_person:
        return False
    asked = set(terms(s.text))
    if s.sentence.is_heading or len(asked) < (1 if _put_off_weight(s) else 2):
        return False
    later = (d for d in source.decided if d.at >= s.exchange)
    is_decided = any(overlap(asked, d.terms) >= ALIKE for d in later)
    return not (is_decided or looks_up_decision(s.text))


def _undecided_points(source: ExtractSource) -> Iterator[Extract]:
    """Points of the agent's to which the person answered that they do not know."""
    for before, after in pairwise(source.exchanges):
        for point in undecided_points(after.user, before):
            quote = Quote(clip(point), "assistant", before.id)
            yield Extract(quote, HEADED_OPEN, len(source.said))


def _whole_question(s: Statement, source: ExtractSource) -> Quote:
    """An open question; one that asks which way to go is given with the ways that it leaves
    unnamed.
    """
    if _put_off_weight(s):
        return _with_matter(s, source)
    is_choice = s.sentence.is_question and says(s.text, "asks_which")
    if s.is_of_person or not is_choice or len(s.terms) >= ASKED_WORDS:
        return s.quote
    before = [
        other.sentence
        for other in source.said
        if other.message_place == s.message_place and other.place < s.place
    ]
    ways = [option for option in last_options(before) if option.label != "-"]
    if len(ways) > 1:
        named = " / ".join(clip(way.text, WAY_CHARS) for way in ways)
        return replace(s.quote, text=clip(f"{s.text} {named}"))
    telling = [
        exchange.text
        for exchange in before[-1:]
        if len(terms(exchange.text)) >= ASKED_WORDS
    ]
    return replace(s.quote, text=clip(" ".join([*telling, s.text])))


def _with_matter(s: Statement, source: ExtractSource) -> Quote:
    """What is put off, behind the question of the person's own that stands before it; as "that",
    behind what the sentence before it answers, or behind that sentence where it says what it is.
    """
    before = (o for o in source.said if o.message_place == s.message_place)
    last = next((o for o in before if o.place == s.place - 1), None)
    matter = _matter_of(s, last, source) if last else ""
    return replace(s.quote, text=answer_line(matter, s.text)) if matter else s.quote


def _matter_of(s: Statement, last: Statement, source: ExtractSource) -> str:
    """What is put off behind this sentence; "" where it says so itself."""
    if last.sentence.is_question and len(last.terms) > 1:
        return last.text
    if len(s.terms) >= ASKED_WORDS or not says(s.text, "refers_back"):
        return ""
    asked = _question_answered_by(last.text, s.turn, source)
    return asked or (last.text if len(last.terms) >= ASKED_WORDS else "")


def _question_answered_by(text: str, turn: str, source: ExtractSource) -> str:
    """The name of the question that a sentence of the person's answers, or else the question."""
    answers = (
        question_and_answer(d.quote.text)
        for d in source.decided
        if d.quote.turn == turn
    )
    whole = next((question for question, answer in answers if answer in text), "")
    name = whole.partition(":")[0]
    return name if len(name) <= WAY_CHARS else whole


def _open_weight(s: Statement, source: ExtractSource, undone: float) -> float:
    """How surely a sentence tells that something is open; ``undone`` is what it weighs as something
    that a report leaves.
    """
    sentence = s.sentence
    is_asked = s.is_of_person and sentence.is_question
    # a doubt that the other side heard and answered is none any more; what came of it stands
    # elsewhere
    is_replied = is_asked or s.exchange < len(source.exchanges) - 1
    weight = 0.0 if is_replied else weight_of(s.text, "open")
    if s.is_of_person and weight <= DOUBT and source.exchanges[s.exchange].assistant:
        weight = 0.0
    weight = max(weight, _put_off_weight(s))
    weight = 0.0 if says(s.text, "not_open") else max(weight, undone)
    is_item = bool(sentence.label) or _is_asking(s)
    if is_item and not is_replied and _is_left_to_do(s):
        weight = max(weight, HEADED)
    return weight


def _put_off_weight(s: Statement) -> float:
    """How surely the person leaves something for another day, or for somebody else."""
    is_told = s.is_of_person and not s.sentence.is_question
    return weight_of(s.text, "put_off") if is_told else 0.0


def _rest_put_off(s: Statement) -> Statement:
    """The part of a sentence that puts something off behind what it decides, as in "keep 25 a page,
    we'll add paging later"; a statement without such a part as it is.
    """
    rest = pattern("rest_put_off").search(s.text) if s.is_of_person else None
    return s if rest is None else replace(s, sentence=Sentence(rest["rest"]))


def _is_asking(s: Statement) -> bool:
    return s.sentence.is_question and not says(s.text, "courtesy")


def _is_listed_as_open(s: Statement, source: ExtractSource) -> bool:
    """Does it stand under a heading for what is open, as a point and not as one of its ways?"""
    heading = s.sentence.heading
    if not says(heading, "open_heading"):
        return False
    is_replied = s.exchange < len(source.exchanges) - 1
    if is_replied and says(heading, "asks_person_heading"):
        return False  # the person's next message was the time to answer it
    is_point = bool(s.sentence.label) and s.sentence.is_first and not _is_way(s, source)
    return is_point or _is_asking(s)


def _is_way(s: Statement, source: ExtractSource) -> bool:
    """Is it a bullet below a numbered point, one of its possible answers?"""
    if s.sentence.label != "-":
        return False
    items = [
        other.sentence.label
        for other in source.said
        if other.message_place == s.message_place
        and other.place < s.place
        and other.sentence.heading == s.sentence.heading
    ]
    return next((label for label in reversed(items) if label != "-"), "").isdigit()


def _answered(exchanges: Sequence[Exchange]) -> frozenset[int]:
    """The numbers of the exchanges whose numbered points the next message answers."""
    return frozenset(
        number
        for number, (before, after) in enumerate(pairwise(exchanges))
        if any(answers_by_number(after.user, before))
        or lettered_answers(after.user, exchanges[: number + 1])
    )


def _is_left_to_do(s: Statement) -> bool:
    """Is it one of the things that the last answer leaves to the person, and no name or code?"""
    places = (s.sentence.heading, s.sentence.lead)
    is_listed = s.is_final and any(says(place, "todo_heading") for place in places)
    is_told = not s.text.startswith("`") and not s.leads_in
    # what follows in the same item tells more of it
    is_point = is_told and s.sentence.is_first
    return is_listed and is_point and len(s.terms) >= ASKED_WORDS


def _waits_for_answer(s: Statement, source: ExtractSource) -> bool:
    """True for a question or an offer at the very end, and for the person's own unanswered one."""
    if _is_told_offer(s):
        return s.exchange == len(source.exchanges) - 1 and s.left < LAST_WORDS
    is_told = ": " in s.text and not opens_with(s.text, "to_decide")
    if not s.sentence.is_question or is_told:
        return False
    if s.is_of_person:
        is_told = len(terms(s.text)) >= ASKED_WORDS and not says(s.text, "offer")
        return is_told and not _is_heard(s, source.exchanges)
    last = len(source.exchanges) - 1
    if s.exchange != last or s.left >= LAST_WORDS or says(s.text, "courtesy"):
        return False
    # where the agent asked in form and was answered, what it asked in prose has its answer too
    return not any(asked.is_answered for _, asked in source.model.questions(last))


def _is_told_offer(s: Statement) -> bool:
    """Does the agent offer some work by its name?"""
    if len(s.terms) < OFFERED_WORDS or says(s.text, "idle_offer"):
        return False
    return s.is_final and opens_with(s.text, "offered")


def _is_heard(s: Statement, exchanges: Sequence[Exchange]) -> bool:
    """True where an answer came, be it as an exchange of its own, or to the same words sent
    again.
    """
    if exchanges[s.exchange].replies:
        return True
    following = exchanges[s.exchange + 1 : s.exchange + 2]
    return any(not e.user or s.text in e.user for e in following)
