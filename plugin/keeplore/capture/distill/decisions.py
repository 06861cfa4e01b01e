"""Who decided what: decisions in the order in which they were made, less those that were taken
back.

What the person said counts first; the agent's proposal counts only where the person agreed to it or
picked it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from keeplore.capture.cues import outcome_cues, talk_cues
from keeplore.capture.distill.directives import directive
from keeplore.capture.distill.title_wording import is_instructions
from keeplore.memory import AnsweredQuestion, Exchange, Quote
from keeplore.text.sentences import MAX_QUOTE, Sentence, bare, clip, sentences
from keeplore.text.terms import overlap, terms

MAIN = 2.0  # weight from which a decision is a conversation's own and not one of many details
MIN_AGENT = 1.5
ANSWERED = 3.2  # an answer to a question that was put is as explicit as a decision gets
PICKED = 3.0
PLANNED = 2.4  # the approach of a plan that the person handed over, or agreed to
CONFIRMED = 2.4
SAME_MATTER = 0.5  # share of terms from which a later decision replaces an earlier one
OWN_MATTER = 3  # terms; a correction with more says itself what it is about
LOOK_BACK = 3  # exchanges in which a correction without a shared word finds what it corrects
MAX_PICK_WORDS = 12  # a pick with more words than that states its choice itself
PLAN_HEADINGS = 3  # from which a message is a plan
TAIL = 8  # sentences at the end of a reply in which a proposal waits for an answer
_ORDINALS = {"first": 0, "former": 0, "second": 1, "latter": 1, "third": 2, "fourth": 3, "last": -1}
_BREAK = re.compile(r"\.{3}|…|\s[-–—]\s")
_WHICH = re.compile(r"\b(?:which|prefer|choose|pick|option)\b", re.IGNORECASE)
_SEPARATORS = re.compile(r"\s+(?:instead of|rather than|in place of|over|not)\s+|,\s*not\s+")


@dataclass(frozen=True, slots=True)
class Decision:
    quote: Quote
    weight: float
    at: int  # number of the exchange in which it was made
    terms: frozenset[str] = field(default=frozenset())
    is_answer: bool = (
        False  # to a question that the agent put, and not a word of the person's own accord
    )


# number of an exchange → what the person, and what the agent settled in it
Made = Callable[[int], tuple[Sequence[Decision], Sequence[Decision]]]


@dataclass(frozen=True, slots=True)
class Agreed:
    """A sentence of the agent's that the person made their own."""

    text: str
    is_pick: bool  # one option of several, and not the one proposal


def decisions(exchanges: Sequence[Exchange]) -> list[Decision]:
    """What was decided and still stands, oldest first."""

    def made(at: int) -> tuple[list[Decision], list[Decision]]:
        before = exchanges[at - 1] if at else None
        of_agent = _of_agent(exchanges[at], at, exchanges[at + 1 : at + 2])
        return [*_of_person(exchanges[at], at, before)], [*of_agent]

    return standing(exchanges, made)


def standing(exchanges: Sequence[Exchange], made: Made) -> list[Decision]:
    """What was not taken back or replaced of that which ``made`` finds in each exchange."""
    stand: list[Decision] = []
    for at, exchange in enumerate(exchanges):
        of_person, of_agent = made(at)
        stand = _corrected(stand, of_person, exchange.user, at)
        for decision in (*of_person, *of_agent):
            stand = [old for old in stand if not _replaces(decision, old)]
            if not any(_repeats(decision, old) for old in stand):
                stand.append(decision)
    return stand


def is_decided(sentence: Sentence, *, in_reply: bool = False) -> float:
    """How strongly a person's sentence decides something; 0 for a question, a doubt, a task and a
    report.
    """
    text = sentence.text
    if sentence.is_question or len(terms(text)) < 1:
        return 0.0
    weight = talk_cues.weight_of(text, talk_cues.DECIDED)
    if in_reply:
        weight = max(weight, talk_cues.weight_of(text, talk_cues.SETTLED_IN_REPLY))
    if not weight or talk_cues.UNDECIDED.search(text) or talk_cues.WORKFLOW.search(text):
        return 0.0
    return weight


def proposals(message: str) -> list[Sentence]:
    """The agent's sentences that propose something, the strongest first."""
    found = [
        (talk_cues.weight_of(s.text, talk_cues.PROPOSED), n, s)
        for n, s in enumerate(sentences(message)[-3 * TAIL :])
    ]
    return [s for _, _, s in sorted((f for f in found if f[0]), key=lambda f: (-f[0], -f[1]))]


def _of_person(exchange: Exchange, at: int, before: Exchange | None) -> Iterator[Decision]:
    said = () if is_instructions(exchange.user) else sentences(exchange.user)
    is_paste = (
        len(said) > 40
    )  # a plan or a document: its headings, not its every "should", are what was decided
    own = []
    own += [_decision(s.text, "user", exchange.id, PLANNED, at) for s in _approach(said)]
    for n, sentence in enumerate(said[:40]):
        if is_paste and not talk_cues.DECISION_HEADING.search(sentence.heading):
            continue
        in_reply = before is not None and n < 3 and not sentence.label
        if weight := is_decided(sentence, in_reply=in_reply) or directive(sentence):
            own.append(_decision(sentence.text, "user", exchange.id, weight, at))
    if before is not None and said and (found := agreed(said, before)):
        weight = PICKED if found.is_pick else CONFIRMED
        yield _decision(found.text, "assistant", before.id, weight, at - 1)
    yield from own
    for before_it, reply in zip(("", *exchange.replies), exchange.replies, strict=False):
        if isinstance(reply, AnsweredQuestion) and reply.question.strip() and reply.answer.strip():
            if (
                isinstance(before_it, str)
                and reply.answer == "Yes"
                and talk_cues.PLAN_QUESTION.match(reply.question)
            ):
                agreed_to = _approach(sentences(before_it))
                yield from (
                    _decision(s.text, "assistant", exchange.id, PLANNED, at) for s in agreed_to
                )
            yield from _of_answer(reply, exchange.id, at)


def _approach(said: Sequence[Sentence]) -> list[Sentence]:
    """Of a plan the first sentences under the headings that say how it shall be done."""
    if sum(s.is_heading for s in said) < PLAN_HEADINGS:
        return []
    told = [
        s
        for s in said
        if not (s.is_heading or s.label) and talk_cues.APPROACH_HEADING.search(s.heading)
    ]
    told = [s for s in told if len(terms(s.text)) > 2]
    told = [s for s in told if not talk_cues.GOAL_HEADING.search(s.heading)] or told
    return [s for n, s in enumerate(told) if n == 0 or s.heading != told[n - 1].heading][:2]


def _of_answer(asked: AnsweredQuestion, turn: str, at: int) -> Iterator[Decision]:
    """A choice with its question; of an answer to "may I?" or "shall I go on?", the words that
    settle something.
    """
    if not is_step(asked):
        yield replace(_decision(answered(asked), "user", turn, ANSWERED, at), is_answer=True)
    elif asked.answer not in asked.options:
        for sentence in sentences(asked.answer)[:6]:
            if weight := is_decided(sentence, in_reply=True):
                yield replace(_decision(sentence.text, "user", turn, weight, at), is_answer=True)


def _of_agent(exchange: Exchange, at: int, following: Sequence[Exchange]) -> Iterator[Decision]:
    """What the agent says that was decided, unless the person objects right away."""
    if following and talk_cues.CORRECTED.search(following[0].user[:MAX_QUOTE]):
        return
    said = sentences(exchange.assistant)
    for n, sentence in enumerate(said):
        if sentence.is_question or sentence.is_heading or talk_cues.UNDECIDED.search(sentence.text):
            continue
        weight = talk_cues.weight_of(sentence.text, talk_cues.AGENT_DECIDED)
        if not weight and talk_cues.BEST_WAY.search(sentence.text) and _is_done(said[n + 1 :]):
            weight = MIN_AGENT
        if (
            not weight
            and sentence.label
            and sentence.is_first
            and talk_cues.DECISION_HEADING.search(sentence.heading)
        ):
            weight = MIN_AGENT
        if weight >= MIN_AGENT and len(terms(sentence.text)) > 1:
            yield _decision(sentence.text, "assistant", exchange.id, weight - 1.0, at)


def _is_done(said: Sequence[Sentence]) -> bool:
    """True where what follows reports work of the agent's own."""
    return any(talk_cues.weight_of(s.text, outcome_cues.DONE) for s in said)


def agreed(said: Sequence[Sentence], before: Exchange) -> Agreed | None:
    """The agent's option that a message picks, or its proposal that the message agrees to."""
    opening = _BREAK.split(said[0].text, maxsplit=1)[
        0
    ]  # "yes, A ... and what about B?" agrees before it asks
    is_question = opening.endswith("?") or (said[0].is_question and opening == said[0].text)
    reply = before.assistant
    pick = talk_cues.PICKED.match(opening)
    if pick and len(opening.split()) <= MAX_PICK_WORDS and not (is_question or said[0].label):
        is_asked = bool(pick["bare"]) and pick["bare"].isdigit() and _asks_to_pick(reply)
        is_bare = len(opening.split()) <= 3 or pick["word"] or pick["ordinal"] or is_asked
        option = (
            _option(reply, pick["named"] or pick["bare"] or "", pick["ordinal"] or "")
            if is_bare
            else None
        )
        if option:
            return Agreed(option.text, is_pick=True)
    affirmed = talk_cues.AFFIRMED.match(opening)
    if not affirmed or is_question or talk_cues.HEDGED_REPLY.search(opening[affirmed.end() :]):
        return None
    if any(talk_cues.CORRECTED.search(s.text) for s in said[1:3]):
        return None
    tail = sentences(reply)[-TAIL:]
    waiting = [s for s in proposals(reply) if s in tail and not talk_cues.OFFER.search(s.text)]
    # two rival proposals leave open which one the "yes" is for
    if not waiting or (len(waiting) > 1 and _are_rivals(waiting)):
        return None
    return Agreed(waiting[0].text, is_pick=False)


def _asks_to_pick(reply: str) -> bool:
    return any(s.is_question and _WHICH.search(s.text) for s in sentences(reply)[-TAIL:])


def _are_rivals(waiting: Sequence[Sentence]) -> bool:
    return any(s.label and s.label != "-" for s in waiting) and len({s.label for s in waiting}) > 1


def _option(reply: str, name: str, ordinal: str) -> Sentence | None:
    """The option of this name in the last list of options of a reply."""
    said = sentences(reply)
    if name:
        named = [
            s
            for s in said
            if s.is_first
            and (
                s.label == name.upper()
                or (
                    (m := talk_cues.OPTION_LABELLED.match(s.text))
                    and m["label"].upper() == name.upper()
                )
            )
        ]
        return named[-1] if named else None
    listed = [
        s for s in said if (s.label and s.is_first) or talk_cues.OPTION_LABELLED.match(s.text)
    ]
    last = (
        [s for s in listed if (s.lead, s.heading) == (listed[-1].lead, listed[-1].heading)]
        if listed
        else []
    )
    index = _ORDINALS[ordinal.lower()]
    return last[index] if 1 < len(last) <= 6 and index < len(last) else None


def is_step(asked: AnsweredQuestion) -> bool:
    """True for a request for leave to do something, or to go on: the question itself is about
    nothing.
    """
    return bool(
        talk_cues.LEAVE.match(asked.question) or talk_cues.WORKFLOW_QUESTION.search(asked.question)
    )


def answered(asked: AnsweredQuestion) -> str:
    """Question and answer as one line, the question shortened where both do not fit."""
    answer = clip(" ".join(asked.answer.split()), MAX_QUOTE // 2)
    question = clip(" ".join(asked.question.split()), MAX_QUOTE - 3 - len(answer))
    return f"{question} → {answer}"


def _corrected(
    standing: list[Decision], found: Sequence[Decision], message: str, at: int
) -> list[Decision]:
    """Decisions less those that this message takes back."""
    opening = message[:MAX_QUOTE]
    is_withdrawn = bool(talk_cues.WITHDRAWN.search(opening))
    if not (is_withdrawn or (found and talk_cues.CORRECTED.search(opening))):
        return standing
    rejected = {term for text in talk_cues.REJECTED_AFTER.findall(opening) for term in terms(text)}
    recent = [old for old in standing if at - old.at <= LOOK_BACK]
    aimed = [old for old in standing if len(rejected & old.terms) > (0 if old in recent else 1)]
    corrected = aimed + [
        old for old in standing if any(_shares(new, old, is_near=old in recent) for new in found)
    ]
    # "no, SQLite" is about what was said last; what names its own matter, and "let's not", need not
    # be
    names_its_own = bool(found) and min(len(new.terms) for new in found) > OWN_MATTER
    if (
        not corrected
        and recent
        and (is_withdrawn or not (names_its_own or talk_cues.DECLINED.match(opening)))
    ):
        corrected = recent[-1:]
    return [old for old in standing if old not in corrected]


def _shares(new: Decision, old: Decision, *, is_near: bool) -> bool:
    return old.at < new.at and overlap(new.terms, old.terms) >= (
        SAME_MATTER / 2 if is_near else SAME_MATTER
    )


def _replaces(new: Decision, old: Decision) -> bool:
    """A later word of the person on the same matter stands; so does an explicit one over the
    agent's own.
    """
    if new.at < old.at or new.quote == old.quote or new.weight < 1.0:
        return False
    left = _SEPARATORS.split(bare(new.quote.text), maxsplit=1)
    dropped = frozenset(terms(left[1])) if len(left) > 1 else frozenset()
    chosen = frozenset(terms(left[0]))
    if dropped and dropped & old.terms and not overlap(chosen, old.terms) >= SAME_MATTER:
        return old.at < new.at
    return old.at < new.at and old.quote.speaker == new.quote.speaker and _repeats(new, old)


def _repeats(new: Decision, old: Decision) -> bool:
    return (
        min(len(new.terms), len(old.terms)) > 1
        and overlap(new.terms, old.terms) >= SAME_MATTER + 0.25
    )


def _decision(text: str, speaker: str, turn: str, weight: float, at: int) -> Decision:
    return Decision(Quote(clip(text), speaker, turn), weight, at, frozenset(terms(text)))
