"""Who decided what: decisions in the order in which they were made, less those that were taken
back.

What the person said counts first; the agent's proposal counts only where the person agreed to it or
picked it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from keeplore.capture.adjacency import closing_question, last_question, told_answer
from keeplore.capture.cues import opens_with, pattern, says, weight_of
from keeplore.capture.discourse.dialogue import last_word
from keeplore.capture.discourse.instructions import is_instructions
from keeplore.capture.discourse.statements import is_step, objection
from keeplore.capture.distill.acknowledged import (
    Acknowledged,
    closing_answer,
    settled_by_reply,
)
from keeplore.capture.distill.agreements.agent_proposals import points_of
from keeplore.capture.distill.agreements.agreed import Agreed, AgreedKind
from keeplore.capture.distill.agreements.agreement import agreement_in
from keeplore.capture.distill.agreements.amendments import IN_REPLY, conditions
from keeplore.capture.distill.agreements.plans import (
    agreed_designs,
    agrees_to_plan,
    approved_design,
    planned_approach,
)
from keeplore.capture.distill.antecedents import NAMED_TERMS, with_antecedent
from keeplore.capture.distill.changed_states import settled_by_change
from keeplore.capture.distill.choices.choice import LOOK_BACK, Choice
from keeplore.capture.distill.choices.lettered_answers import (
    LetteredAnswer,
    lettered_answers,
)
from keeplore.capture.distill.choices.picks import mere_label, with_label_apart
from keeplore.capture.distill.decision_weights import (
    decision_weight,
    directive_weight,
    is_wish,
    stipulations,
    without_next_steps,
)
from keeplore.capture.distill.followed_suggestions import suggestions
from keeplore.capture.distill.numbered_answers import answers_by_number
from keeplore.capture.distill.standing_decisions import (
    CONFIRMED,
    Decision,
    decision_of,
    replacing_choice,
    standing_decisions,
)
from keeplore.capture.follow_ups import behind_yes
from keeplore.memory import AgentQuestion, Exchange
from keeplore.text.pasted import is_copied_from, is_reference, own_words
from keeplore.text.sentences import (
    MAX_QUOTE,
    MAX_READ,
    Sentence,
    answer_in,
    answer_line,
    clip,
    question_and_answer,
    sentences,
)
from keeplore.text.terms import count_terms, terms

MAIN = 2.0  # weight from which a decision is a conversation's own and not one of many details
MIN_AGENT = 1.5
ANSWERED = 3.2  # an answer to a question that was put is as explicit as a decision gets
TOLD = 2.0  # an answer that only tells something
PICKED = 3.0
STIPULATED = 1.2  # what is said of how a thing shall be, without a word of a decision
PLANNED = 2.4  # the approach of a plan that the person handed over, or agreed to
_REASON = re.compile(r",|\s(?:because|since|as)\s", re.IGNORECASE)  # behind a pick
_LABEL = re.compile(r"\b(?:[A-HJ-Z]|\d{1,2})\b|(?<=\()[a-e](?=\))")
PASTED = 40  # sentences from which a message is a plan or a document


def decisions(exchanges: Sequence[Exchange]) -> list[Decision]:
    """What was decided and still stands, oldest first."""

    def decisions_at(at: int) -> tuple[list[Decision], list[Decision]]:
        earlier = exchanges[max(0, at - LOOK_BACK) : at]
        of_person = _person_decisions(exchanges[at], at, earlier)
        following = exchanges[at + 1 : at + 2]
        of_agent = _agent_decisions(exchanges[at], at, following)
        if following and opens_with(following[0].user, "defers"):
            of_person = (decision for decision in of_person if not _is_asked(decision))
        return _without_leads(of_person), _without_leads(of_agent)

    found = [
        _in_context(decision, exchanges)
        for decision in standing_decisions(exchanges, decisions_at)
    ]
    told = {question_and_answer(decision.quote.text)[0] for decision in found}
    return [decision for decision in found if decision.quote.text not in told]


def _in_context(decision: Decision, exchanges: Sequence[Exchange]) -> Decision:
    exchange, text = exchanges[decision.at], decision.quote.text
    before = exchanges[decision.at - 1] if decision.at else None
    line = told_answer(before.assistant, exchange.user) if before else ""
    if line and answer_in(line) == text and not decision_weight(Sentence(text)):
        return replace(decision, quote=replace(decision.quote, text=line))
    quote = with_antecedent(decision.quote, before, exchange)
    return replace(decision, quote=quote)


def _is_asked(decision: Decision) -> bool:
    """Is it a way that the person put as a question?"""
    return decision.quote.text.endswith(("?", "？"))


def _without_leads(all_decisions: Iterable[Decision]) -> list[Decision]:
    """The decisions without those that only introduce the sentence after them."""
    return [
        decision
        for decision in all_decisions
        if not decision.quote.text.endswith((":", "："))
    ]


def _person_decisions(
    exchange: Exchange, at: int, earlier: Sequence[Exchange]
) -> Iterable[Decision]:
    read = last_word(exchange.user)[:MAX_READ]
    exchange = replace(exchange, user=own_words(read))
    is_of_person = not is_instructions(exchange.user)
    said = without_next_steps(sentences(exchange.user)) if is_of_person else []
    if earlier and said:
        said = with_label_apart(said, earlier[-1].assistant)
    if answers := lettered_answers(exchange.user, earlier):
        chosen = [_answered(answer, exchange.id, at) for answer in answers]
        return _with_acknowledged(chosen, None, exchange, earlier, at)
    found = agreement_in(said, earlier) if earlier and said else None
    made = [*_decisions_of_message(found, said, exchange, at, earlier)]
    return _with_acknowledged(made, found, exchange, earlier, at)


def _answered(answer: LetteredAnswer, turn: str, at: int) -> Decision:
    chosen = decision_of(answer.line, "user", turn, ANSWERED, at)
    return replace(chosen, is_answer=True, choice=answer.choice)


def _decisions_of_message(
    agreement: Agreed | None,
    message: Sequence[Sentence],
    exchange: Exchange,
    at: int,
    earlier: Sequence[Exchange],
) -> Iterator[Decision]:
    """What a message decides by its own words, or by those of the agent's that it takes."""
    if earlier and message:
        yield from _agreement_decisions(message, earlier[-1], exchange, at)
    if agreement:
        yield from _agreed_decisions(agreement, message, earlier[-1], exchange.id, at)
    for sentence in planned_approach(message):
        yield decision_of(sentence.text, "user", exchange.id, PLANNED, at)
    replacing = [line for line, _ in replacing_choice(message)]
    for line in replacing:
        yield decision_of(line, "user", exchange.id, CONFIRMED, at)
    taken = _picking_sentence(agreement, message) if agreement else ""
    question = closing_question(earlier[-1].assistant) if earlier else ""
    for decision in _own_decisions(exchange, message, at, is_reply=bool(earlier)):
        text = decision.quote.text
        is_told = text == taken or any(text in line for line in replacing)
        if not is_told and not _is_handed_back(text, message, earlier):
            yield from _telling_of_what(decision, question)
    for line in suggestions(message, exchange):
        yield decision_of(line, "user", exchange.id, CONFIRMED, at)
    yield from _decisions_in_answers(exchange, at)


def _with_acknowledged(
    made: Sequence[Decision],
    agreement: Agreed | None,
    exchange: Exchange,
    earlier: Sequence[Exchange],
    at: int,
) -> Iterator[Decision]:
    """The decisions of a message, and what it settles by what the agent asked and then says."""
    before = earlier[-1] if earlier else None
    said = sentences(exchange.user)
    if before:
        made = [*_with_question(made, closing_answer(said, before), exchange.id, at)]
    yield from made
    told = [decision.quote.text for decision in made]
    if agreement and (agreement.said or not _says_more(said[0].text)):
        told.append(agreement.said or said[0].text)
    question = closing_question(before.assistant) if before else ""
    left = (s for s in said if not _only_takes(s.text, question))
    untold = [s for s in left if not (_is_told(s.text, told) or is_reference(s.text))]
    settled = settled_by_reply(before, untold, exchange)
    for pair in settled:
        speaker = "user" if pair.said else "assistant"
        line = _with_matter(pair, before)
        yield decision_of(line, speaker, exchange.id, STIPULATED, at)
    if made or settled or not before:
        return
    if line := settled_by_change(before, untold, exchange):
        yield decision_of(line, "user", exchange.id, STIPULATED, at)


def _with_matter(pair: Acknowledged, before: Exchange | None) -> str:
    """What was settled; a figure alone behind the person's question that it is for."""
    asked = last_question(before.user) if before else ""
    is_bare = bool(pair.said) and not terms(pair.said)
    return answer_line(asked, pair.said) if asked and is_bare else pair.line


def _says_more(text: str) -> bool:
    """Does a sentence say more than yes?"""
    return count_terms(behind_yes(text) or "") >= NAMED_TERMS


def _is_told(text: str, told: Sequence[str]) -> bool:
    return any(text in line or answer_in(line) in text for line in told)


def _with_question(
    all_decisions: Sequence[Decision], line: str, turn: str, at: int
) -> Iterator[Decision]:
    """The decisions with a ``line`` of question and answer, in the place of those of its words."""
    answer = answer_in(line)
    same = [decision for decision in all_decisions if decision.quote.text in answer]
    others = [decision for decision in all_decisions if decision not in same]
    yield from others
    is_agreed = any(decision.quote.speaker == "assistant" for decision in others)
    if line and not (
        is_agreed or any(answer in decision.quote.text for decision in others)
    ):
        weight = max([CONFIRMED, *(decision.weight for decision in same)])
        yield replace(decision_of(line, "user", turn, weight, at), is_answer=not same)


def _picking_sentence(agreement: Agreed, message: Sequence[Sentence]) -> str:
    """The sentence that took an option and says no more than that and why."""
    first = message[0].text
    name, *reason = _REASON.split(first, maxsplit=1)
    name = pattern("takes_option").sub("", name, count=1)
    is_brief = count_terms(name) < NAMED_TERMS or opens_with(name, "approves_named")
    is_label = (
        agreement.kind is AgreedKind.PICK
        and is_brief
        and not any(decision_weight(Sentence(r), in_reply=True) for r in reason)
    )
    return clip(first if is_label else agreement.said)


def _telling_of_what(decision: Decision, question: str) -> Iterator[Decision]:
    """A decision that says itself what it takes; a mere label ("go with option B") behind the
    question that names it. Nothing for what the work goes on with.
    """
    text = decision.quote.text
    if not _only_takes(text, question):
        yield decision
    elif mere_label(text) in map(str.upper, _LABEL.findall(question)):
        line = answer_line(question, text)
        yield replace(decision, quote=replace(decision.quote, text=line))


def _only_takes(text: str, question: str) -> bool:
    """Does a sentence take an option by its label, or what the work goes on with? A figure alone
    can be a value.
    """
    takes_next = opens_with(text, "takes_next") and says(question, "asks_next_work")
    return takes_next or (" " in text and bool(mere_label(text)))


def _own_decisions(
    exchange: Exchange, message: Sequence[Sentence], at: int, *, is_reply: bool
) -> Iterator[Decision]:
    settled = [(s.text, w) for s, w in _deciding_sentences(message, is_reply=is_reply)]
    settled += [(text, STIPULATED) for text in stipulations(exchange)]
    for text, weight in settled:
        if is_reply or not is_wish(text):
            yield decision_of(text, "user", exchange.id, weight, at)


def _is_handed_back(
    text: str, message: Sequence[Sentence], earlier: Sequence[Exchange]
) -> bool:
    """Did the agent say it before, and the person only speaks of it? A plan, an option and all else
    that comes back alone, or with a yes, is meant to be followed.
    """
    replies = [exchange.assistant for exchange in earlier]

    def is_copied(words: str) -> bool:
        return any(is_copied_from(reply, words) for reply in replies)

    if not is_copied(text):
        return False
    agrees = any(opens_with(message[0].text, name) for name in ("affirmed", "picked"))
    return not (
        agrees or planned_approach(message) or all(is_copied(s.text) for s in message)
    )


def _agreement_decisions(
    message: Sequence[Sentence], before: Exchange, exchange: Exchange, at: int
) -> Iterator[Decision]:
    """What the person settled of a design or of numbered points that the agent asked about."""
    for sentence in agreed_designs(message, before):
        yield decision_of(sentence.text, "assistant", before.id, PLANNED, at - 1)
    for sentence in approved_design(message, before):
        yield decision_of(sentence.text, "assistant", before.id, STIPULATED, at - 1)
    for line in answers_by_number(exchange.user, before):
        if _is_leave(*question_and_answer(line)):
            continue
        weight = ANSWERED if _is_choice_answer(line) else TOLD
        chosen = decision_of(line, "user", exchange.id, weight, at)
        yield replace(chosen, is_answer=True)


def _is_leave(question: str, answer: str) -> bool:
    """Is it a yes to an offer to help or to tell?"""
    return says(question, "offers_telling") and opens_with(answer, "affirmed")


def _is_choice_answer(line: str) -> bool:
    """False for an answer that tells how things are, to a question that asks for no choice."""
    question, answer = question_and_answer(line)
    return not says(question, "asks_fact") or decision_weight(Sentence(answer)) > 0


def _agreed_decisions(
    agreement: Agreed, message: Sequence[Sentence], before: Exchange, turn: str, at: int
) -> Iterator[Decision]:
    """What the person took of the agent's words, with its points and their conditions."""
    yield _agreed_decision(agreement, turn, before.id, at)
    for sentence in points_of(agreement.text, before):
        yield decision_of(sentence.text, "assistant", before.id, CONFIRMED, at - 1)
    for text in conditions(message):
        yield decision_of(text, "user", turn, CONFIRMED, at)


def _agreed_decision(agreement: Agreed, turn: str, before: str, at: int) -> Decision:
    """What the person agreed to or picked in a turn, of what the agent said in the turn before."""
    if agreement.kind is AgreedKind.OTHER_PICK:
        picked = decision_of(agreement.line, "user", turn, PICKED, at)
        return replace(picked, choice=agreement.choice)
    if agreement.kind is AgreedKind.PICK:
        picked = decision_of(agreement.line, "user", turn, PICKED, at)
        own = frozenset(terms(agreement.text))
        about = own if len(own) > 1 and " " in agreement.text else picked.terms
        return replace(picked, choice=agreement.choice, terms=about)
    if agreement.kind is AgreedKind.NAMED:
        named = decision_of(agreement.line, "user", turn, CONFIRMED, at)
        return replace(named, choice=agreement.choice)
    if agreement.kind in {AgreedKind.ANSWERED_OFFER, AgreedKind.AMENDED}:
        taken = decision_of(agreement.text, "user", turn, CONFIRMED, at)
        return replace(taken, choice=agreement.choice)
    if agreement.kind is AgreedKind.NEW_VALUE:
        amended = decision_of(agreement.text, "user", turn, CONFIRMED, at)
        return replace(amended, is_new_value=True)
    # an offer may name what it does before it shows it
    leads_on = says(agreement.text, "points_on")
    offer = agreement.text if leads_on else agreement.text.rstrip(":：")
    return decision_of(offer, "assistant", before, CONFIRMED, at - 1)


def _deciding_sentences(
    message: Sequence[Sentence], *, is_reply: bool
) -> Iterator[tuple[Sentence, float]]:
    """The sentences that decide something, with their weights; of a plan or a document only those
    under a heading for decisions, not every "should".
    """
    is_paste = len(message) > PASTED
    for n, sentence in enumerate(message[:PASTED]):
        if is_paste and not says(sentence.heading, "decision_heading"):
            continue
        in_reply = is_reply and n < IN_REPLY and not sentence.label
        if weight := decision_weight(sentence, in_reply=in_reply) or directive_weight(
            sentence
        ):
            yield sentence, weight


def _decisions_in_answers(exchange: Exchange, at: int) -> Iterator[Decision]:
    """The decisions in answers to questions in form, and of a plan that the person agrees to."""
    before: str | AgentQuestion = ""
    for reply in exchange.replies:
        if isinstance(reply, AgentQuestion) and reply.is_complete:
            if isinstance(before, str) and agrees_to_plan(reply):
                for step in planned_approach(sentences(before)):
                    yield decision_of(step.text, "assistant", exchange.id, PLANNED, at)
            yield from _answer_decisions(reply, exchange.id, at)
        before = reply


def _answer_decisions(asked: AgentQuestion, turn: str, at: int) -> Iterator[Decision]:
    """The decisions in an answer: a choice with its question, or the settling sentences of somebody
    who was asked for leave and said more than yes or no.
    """
    if not is_step(asked) and not opens_with(asked.answer, "left_to_agent"):
        line = answer_line(asked.question, asked.answer)
        chosen = decision_of(line, "user", turn, ANSWERED, at)
        choice = Choice(" ".join(asked.question.split()), asked.options)
        yield replace(chosen, is_answer=True, choice=choice)
    said = without_next_steps(objection(asked))
    for sentence, weight in _deciding_sentences(said, is_reply=True):
        yield decision_of(sentence.text, "user", turn, weight, at)


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
        weight = weight_of(sentence.text, "agent_decided") or _implied_weight(
            sentence, said[n + 1 :]
        )
        if weight >= MIN_AGENT and len(terms(sentence.text)) > 1:
            yield decision_of(sentence.text, "assistant", exchange.id, weight - 1.0, at)


def _implied_weight(sentence: Sentence, following: Sequence[Sentence]) -> float:
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
