"""Who decided what: decisions in the order in which they were made, less those that were taken
back.

What the person said counts first; the agent's proposal counts only where the person agreed to it or
picked it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field, replace

from keeplore.capture.cues import opens_with, pattern, says, weight_of
from keeplore.capture.discourse.dialogue import last_word
from keeplore.capture.discourse.instructions import is_instructions
from keeplore.capture.discourse.statements import is_step, objection
from keeplore.capture.distill.acknowledged import acknowledged_behind, closing_answer
from keeplore.capture.distill.agreements import (
    IN_REPLY,
    NAMED_TERMS,
    TELLING_TERMS,
    Agreed,
    AgreedKind,
    agreed,
    agreed_designs,
    agrees_to_plan,
    approach,
    conditions,
    points_of,
    suggestion,
)
from keeplore.capture.distill.choices import LOOK_BACK, Choice
from keeplore.capture.distill.decision_weights import (
    decision_weight,
    directive_weight,
    is_wish,
)
from keeplore.capture.distill.lettered_answers import lettered_answers
from keeplore.capture.distill.numbered_answers import answers_by_number
from keeplore.capture.distill.stipulations import stipulated
from keeplore.memory import AnsweredQuestion, Exchange, Quote
from keeplore.text.pasted import is_copied_from
from keeplore.text.sentences import (
    MAX_QUOTE,
    Sentence,
    answer_in,
    answer_line,
    bare,
    clip,
    question_and_answer,
    sentences,
)
from keeplore.text.terms import overlap, terms

MAIN = 2.0  # weight from which a decision is a conversation's own and not one of many details
MIN_AGENT = 1.5
ANSWERED = 3.2  # an answer to a question that was put is as explicit as a decision gets
TOLD = 2.0  # an answer that only tells something
PICKED = 3.0
STIPULATED = 1.2  # what is said of how a thing shall be, without a word of a decision
PLANNED = 2.4  # the approach of a plan that the person handed over, or agreed to
CONFIRMED = 2.4
SAME_MATTER = 0.5  # share of terms from which a later decision replaces an earlier one
OWN_MATTER = 3  # terms; a correction with more says itself what it is about
# exchanges in which a correction finds what it corrects without a shared word
RECENT = 3
PASTED = 40  # sentences from which a message is a plan or a document


@dataclass(frozen=True, slots=True)
class Decision:
    quote: Quote
    weight: float
    at: int  # number of the exchange in which it was made
    terms: frozenset[str] = field(default=frozenset())
    # to a question of the agent's, and not of the person's own accord
    is_answer: bool = False
    takes_back: bool = True  # False for what only tells how things are
    lasts: bool = False  # only a later word on the same matter replaces it
    choice: Choice | None = None  # that it was picked of
    is_new_value: bool = False  # another number than was proposed or decided

    def drops(self, named: Set[str]) -> bool:
        """Do these terms name an option that was not picked?"""
        return bool(self.choice and named & self.choice.dropped(self.terms))


# number of an exchange → what the person, and what the agent settled in it
Made = Callable[[int], tuple[Sequence[Decision], Sequence[Decision]]]


def decisions(exchanges: Sequence[Exchange]) -> list[Decision]:
    """What was decided and still stands, oldest first."""

    def made(at: int) -> tuple[list[Decision], list[Decision]]:
        of_person = _person_decisions(
            exchanges[at], at, exchanges[max(0, at - LOOK_BACK) : at]
        )
        of_person = _with_acknowledged([*of_person], exchanges, at)
        following = exchanges[at + 1 : at + 2]
        of_agent = _agent_decisions(exchanges[at], at, following)
        if following and opens_with(following[0].user, "defers"):
            of_person = (one for one in of_person if not _is_asked(one))
        return _without_leads(of_person), _without_leads(of_agent)

    return standing(exchanges, made)


def _is_asked(one: Decision) -> bool:
    """Is it a way that the person put as a question?"""
    return one.quote.text.endswith(("?", "？"))


def _without_leads(found: Iterable[Decision]) -> list[Decision]:
    """The decisions without those that only introduce the sentence after them."""
    return [one for one in found if not one.quote.text.endswith((":", "："))]


def standing(exchanges: Sequence[Exchange], made: Made) -> list[Decision]:
    """The decisions that ``made`` finds in the exchanges, without those that were taken back or
    replaced later; oldest first.
    """
    stand: list[Decision] = []
    for at, exchange in enumerate(exchanges):
        of_person, of_agent = made(at)
        of_person = [_of_same_value(one, stand) for one in of_person]
        settling = [one for one in of_person if one.takes_back]
        if not settling:
            settling = [*_correction(exchange, at, stand)]
            of_person = [*of_person, *settling]
        stand = _uncorrected(stand, settling, exchange.user[:MAX_QUOTE], at)
        for decision in (*of_person, *of_agent):
            stand = [old for old in stand if not _replaces(decision, old)]
            if not any(_repeats(decision, old) for old in stand):
                stand.append(decision)
    return stand


def _of_same_value(new: Decision, stand: Sequence[Decision]) -> Decision:
    """A new value behind what the one that it replaces stands behind; any other decision as it
    is.
    """
    for old in reversed(stand):
        if _is_value_before(new, old):
            before = old.quote.text
            matter = question_and_answer(before)[0] or before
            line = answer_line(matter, answer_in(new.quote.text))
            return replace(new, quote=replace(new.quote, text=line))
    return new


def _is_value_before(new: Decision, old: Decision) -> bool:
    """Is an earlier decision the value in the place of which a new one was put?"""
    is_recent = new.is_new_value and 0 < new.at - old.at <= RECENT
    matter = question_and_answer(new.quote.text)[0]
    if matter.endswith(("?", "？")):  # it says itself what its value is of
        return is_recent and overlap({*terms(matter)}, old.terms) >= SAME_MATTER
    is_alike = bool(new.terms & old.terms)
    return is_recent and is_alike and says(answer_in(old.quote.text), "value")


def _correction(
    exchange: Exchange, at: int, stand: Sequence[Decision]
) -> Iterator[Decision]:
    """What a message says instead of what was decided lately, where it opens as a correction and
    has no other word of a decision.
    """
    said = sentences(exchange.user)[:IN_REPLY]
    if not said or not opens_with(said[0].text, "takes_back"):
        return
    for sentence in said:
        about = {*terms(sentence.text)}
        if sentence.is_question or len(about) < TELLING_TERMS:
            continue
        if any(about & old.terms for old in _recent(stand, at)):
            yield _decision(sentence.text, "user", exchange.id, CONFIRMED, at)
            return


def _recent(stand: Sequence[Decision], at: int) -> list[Decision]:
    return [old for old in stand if at - old.at <= RECENT and not old.lasts]


def _person_decisions(
    exchange: Exchange, at: int, earlier: Sequence[Exchange]
) -> Iterator[Decision]:
    exchange = replace(exchange, user=last_word(exchange.user))
    said = () if is_instructions(exchange.user) else sentences(exchange.user)
    if answers := lettered_answers(exchange.user, earlier):
        for answer in answers:
            chosen = _decision(answer.line, "user", exchange.id, ANSWERED, at)
            yield replace(chosen, is_answer=True, choice=answer.choice)
        return
    found = agreed(said, earlier) if earlier and said else None
    if earlier and said:
        yield from _agreement_decisions(said, earlier[-1], exchange, at)
    if found:
        yield from _agreed_decisions(found, said, earlier[-1], exchange.id, at)
    for sentence in approach(said):
        yield _decision(sentence.text, "user", exchange.id, PLANNED, at)
    taken = _taking(found, said) if found else ""
    for decision in _own_decisions(exchange, said, at, is_reply=bool(earlier)):
        text = decision.quote.text
        if text != taken and not _is_handed_back(text, said, earlier):
            yield decision
    if put := suggestion(said, exchange):
        yield _decision(put, "user", exchange.id, CONFIRMED, at)
    yield from _decisions_in_answers(exchange, at)


def _with_acknowledged(
    found: Sequence[Decision], exchanges: Sequence[Exchange], at: int
) -> Iterator[Decision]:
    """The decisions of a message, and what it settles by what the agent asked and then says."""
    before, exchange = exchanges[at - 1] if at else None, exchanges[at]
    said = sentences(last_word(exchange.user))
    if before:
        found = [*_with_question(found, closing_answer(said, before), exchange.id, at)]
    yield from found
    told = [one.quote.text for one in found]
    for one in acknowledged_behind(before, said, exchange):
        if not any(one.said in text or answer_in(text) in one.said for text in told):
            yield _decision(one.line, "user", exchange.id, STIPULATED, at)


def _with_question(
    found: Sequence[Decision], line: str, turn: str, at: int
) -> Iterator[Decision]:
    """The decisions with a ``line`` of question and answer, in the place of those of its words."""
    answer = answer_in(line)
    same = [one for one in found if one.quote.text in answer]
    others = [one for one in found if one not in same]
    yield from others
    is_agreed = any(one.quote.speaker == "assistant" for one in others)
    if line and not (is_agreed or any(answer in one.quote.text for one in others)):
        weight = max([CONFIRMED, *(one.weight for one in same)])
        yield replace(_decision(line, "user", turn, weight, at), is_answer=not same)


def _taking(found: Agreed, said: Sequence[Sentence]) -> str:
    """The sentence that took an option and says no more than that."""
    is_label = found.kind is AgreedKind.PICK and len(terms(said[0].text)) < NAMED_TERMS
    return clip(said[0].text if is_label else found.said)


def _own_decisions(
    exchange: Exchange, said: Sequence[Sentence], at: int, *, is_reply: bool
) -> Iterator[Decision]:
    settled = [(s.text, w) for s, w in _deciding_sentences(said, is_reply=is_reply)]
    settled += [(text, STIPULATED) for text in stipulated(exchange)]
    for text, weight in settled:
        if is_reply or not is_wish(text):
            yield _decision(text, "user", exchange.id, weight, at)


def _is_handed_back(
    text: str, said: Sequence[Sentence], earlier: Sequence[Exchange]
) -> bool:
    """Did the agent say it before, and the person only speaks of it? A plan, an option and all else
    that comes back alone, or with a yes, is meant to be followed.
    """
    replies = [exchange.assistant for exchange in earlier]

    def is_copied(words: str) -> bool:
        return any(is_copied_from(reply, words) for reply in replies)

    if not is_copied(text):
        return False
    agrees = any(opens_with(said[0].text, name) for name in ("affirmed", "picked"))
    return not (agrees or approach(said) or all(is_copied(s.text) for s in said))


def _agreement_decisions(
    said: Sequence[Sentence], before: Exchange, exchange: Exchange, at: int
) -> Iterator[Decision]:
    """What the person settled of a design or of numbered points that the agent asked about."""
    for sentence in agreed_designs(said, before):
        yield _decision(sentence.text, "assistant", before.id, PLANNED, at - 1)
    for line in answers_by_number(exchange.user, before):
        weight = ANSWERED if _settles(line) else TOLD
        chosen = _decision(line, "user", exchange.id, weight, at)
        yield replace(chosen, is_answer=True)


def _settles(line: str) -> bool:
    """False for an answer that tells how things are, to a question that asks for no choice."""
    question, answer = question_and_answer(line)
    return not says(question, "asks_fact") or decision_weight(Sentence(answer)) > 0


def _agreed_decisions(
    found: Agreed, said: Sequence[Sentence], before: Exchange, turn: str, at: int
) -> Iterator[Decision]:
    """What the person took of the agent's words, with its points and their conditions."""
    yield _agreed_decision(found, turn, before.id, at)
    for sentence in points_of(found.text, before):
        yield _decision(sentence.text, "assistant", before.id, CONFIRMED, at - 1)
    for text in conditions(said):
        yield _decision(text, "user", turn, CONFIRMED, at)


def _agreed_decision(found: Agreed, turn: str, before: str, at: int) -> Decision:
    """What the person agreed to or picked in a turn, of what the agent said in the turn before."""
    if found.kind is AgreedKind.OTHER_PICK:
        picked = _decision(found.line, "user", turn, PICKED, at)
        return replace(picked, choice=found.choice)
    if found.kind is AgreedKind.PICK:
        picked = _decision(found.line, "user", turn, PICKED, at)
        own = frozenset(terms(found.text))
        about = own if len(own) > 1 and " " in found.text else picked.terms
        return replace(picked, choice=found.choice, terms=about)
    if found.kind is AgreedKind.NAMED:
        named = _decision(found.line, "user", turn, CONFIRMED, at)
        return replace(named, choice=found.choice)
    if found.kind in {AgreedKind.ANSWERED_OFFER, AgreedKind.AMENDED}:
        taken = _decision(found.text, "user", turn, CONFIRMED, at)
        return replace(taken, choice=found.choice)
    if found.kind is AgreedKind.NEW_VALUE:
        amended = _decision(found.text, "user", turn, CONFIRMED, at)
        return replace(amended, is_new_value=True)
    # an offer may name what it does before it shows it
    leads_on = says(found.text, "points_on")
    offer = found.text if leads_on else found.text.rstrip(":：")
    return _decision(offer, "assistant", before, CONFIRMED, at - 1)


def _deciding_sentences(
    said: Sequence[Sentence], *, is_reply: bool
) -> Iterator[tuple[Sentence, float]]:
    """The sentences that decide something, with their weights; of a plan or a document only those
    under a heading for decisions, not every "should".
    """
    is_paste = len(said) > PASTED
    for n, sentence in enumerate(said[:PASTED]):
        if is_paste and not says(sentence.heading, "decision_heading"):
            continue
        in_reply = is_reply and n < IN_REPLY and not sentence.label
        if weight := decision_weight(sentence, in_reply=in_reply) or directive_weight(
            sentence
        ):
            yield sentence, weight


def _decisions_in_answers(exchange: Exchange, at: int) -> Iterator[Decision]:
    before: str | AnsweredQuestion = ""
    for reply in exchange.replies:
        if (
            isinstance(reply, AnsweredQuestion)
            and reply.question.strip()
            and reply.answer.strip()
        ):
            if isinstance(before, str) and agrees_to_plan(reply):
                for sentence in approach(sentences(before)):
                    yield _decision(
                        sentence.text, "assistant", exchange.id, PLANNED, at
                    )
            yield from _answer_decisions(reply, exchange.id, at)
        before = reply


def _answer_decisions(
    asked: AnsweredQuestion, turn: str, at: int
) -> Iterator[Decision]:
    """The decisions in an answer: a choice with its question, or the settling sentences of somebody
    who was asked for leave and said more than yes or no.
    """
    if not is_step(asked) and not opens_with(asked.answer, "left_to_agent"):
        line = answer_line(asked.question, asked.answer)
        chosen = _decision(line, "user", turn, ANSWERED, at)
        choice = Choice(" ".join(asked.question.split()), asked.options)
        yield replace(chosen, is_answer=True, choice=choice)
    for sentence, weight in _deciding_sentences(objection(asked), is_reply=True):
        yield _decision(sentence.text, "user", turn, weight, at)


def _agent_decisions(
    exchange: Exchange, at: int, following: Sequence[Exchange]
) -> Iterator[Decision]:
    """What the agent says that was decided, unless the person objects right away."""
    if following and says(following[0].user[:MAX_QUOTE], "corrected"):
        return
    said = sentences(exchange.assistant)
    for n, sentence in enumerate(said):
        if (
            sentence.is_question
            or sentence.is_heading
            or says(sentence.text, "undecided")
        ):
            continue
        weight = weight_of(sentence.text, "agent_decided") or _implied(
            sentence, said[n + 1 :]
        )
        if weight >= MIN_AGENT and len(terms(sentence.text)) > 1:
            yield _decision(sentence.text, "assistant", exchange.id, weight - 1.0, at)


def _implied(sentence: Sentence, following: Sequence[Sentence]) -> float:
    """The weight of a decision that is not called one: "the best way" where the agent's own work
    follows, or the first words of an item under a heading or lead-in for decisions.
    """
    is_listed = sentence.label and sentence.is_first
    is_headed = says(sentence.heading, "decision_heading")
    if is_listed and (is_headed or says(sentence.lead, "decision_lead")):
        return MIN_AGENT
    is_best = says(sentence.text, "best_way") and any(
        weight_of(s.text, "done") for s in following
    )
    return MIN_AGENT if is_best else 0.0


def _uncorrected(
    stand: list[Decision], found: Sequence[Decision], opening: str, at: int
) -> list[Decision]:
    """Decisions less those that a message with this opening takes back."""
    is_withdrawn = says(opening, "withdrawn")
    if not (is_withdrawn or (found and says(opening, "corrected"))):
        return stand
    recent = _recent(stand, at)
    rejected = _rejected_terms(opening)
    corrected = [*_rejected(stand, recent, rejected), *_renewed(stand, recent, found)]
    if opens_with(opening, "takes_back"):
        said = frozenset[str]().union(*(new.terms for new in found))
        corrected += [old for old in recent if said & old.terms]
    # "no, SQLite" is about what was said last; what names its own matter or what it rejects, and
    # "let's not", need not be
    names_its_own = bool(found) and min(len(new.terms) for new in found) > OWN_MATTER
    is_about_last = is_withdrawn or not (
        names_its_own or rejected or opens_with(opening, "declined")
    )
    if not corrected and is_about_last:
        corrected = recent[-1:]
    return [old for old in stand if old.lasts or old not in corrected]


def _rejected_terms(opening: str) -> frozenset[str]:
    """The content words of what a message rejects."""
    texts = pattern("rejected_after").findall(opening)
    return frozenset(term for text in texts for term in terms(text))


def _rejected(
    stand: Sequence[Decision], recent: Sequence[Decision], rejected: Set[str]
) -> Iterator[Decision]:
    """The standing decisions that share a word with what the message rejects, or two where they
    were made long ago.
    """
    for old in stand:
        if len(rejected & old.terms) > (0 if old in recent else 1):
            yield old


def _renewed(
    stand: Sequence[Decision], recent: Sequence[Decision], found: Sequence[Decision]
) -> Iterator[Decision]:
    """The standing decisions that are decided anew, in a matter that may be told by fewer words
    where it was not long ago.
    """
    for old in stand:
        least = SAME_MATTER / 2 if old in recent else SAME_MATTER
        if any(
            old.at < new.at and overlap(new.terms, old.terms) >= least for new in found
        ):
            yield old


def _replaces(new: Decision, old: Decision) -> bool:
    """A later word of the person on the same matter stands; so does an explicit one over the
    agent's own.
    """
    is_recent = 0 <= new.at - old.at <= RECENT
    picked = answer_in(new.quote.text)
    if new.choice and is_recent and new.choice.leaves(old.quote.text, picked):
        return True
    if new.at <= old.at or new.quote == old.quote or new.weight < 1.0:
        return False
    if (new.choice and new.choice == old.choice) or _is_value_before(new, old):
        return True
    line = bare(new.quote.text)
    taken = answer_in(line) if new.choice else line
    chosen, *dropped = pattern("instead_of").split(taken, maxsplit=1)
    kept = terms(chosen)
    # what stands on both sides is the matter, and not what was dropped
    is_dropped = not old.lasts and any(
        old.terms & {*terms(text)}.difference(kept) for text in dropped
    )
    if is_dropped and new.takes_back and overlap(kept, old.terms) < SAME_MATTER:
        return True
    return old.quote.speaker == new.quote.speaker and _repeats(new, old)


def _repeats(new: Decision, old: Decision) -> bool:
    is_telling = min(len(new.terms), len(old.terms)) > 1
    return is_telling and overlap(new.terms, old.terms) >= SAME_MATTER + 0.25


def _decision(text: str, speaker: str, turn: str, weight: float, at: int) -> Decision:
    return Decision(
        Quote(clip(text), speaker, turn), weight, at, frozenset(terms(text))
    )
