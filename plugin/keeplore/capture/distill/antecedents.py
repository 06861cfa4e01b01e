"""What a sentence is about that points back: "make it 20" tells a later reader nothing alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from keeplore.capture.adjacency import (
    closing_question,
    closing_questions,
    last_question,
    last_reply,
)
from keeplore.capture.cues import opens_with, pattern, says
from keeplore.memory import AgentQuestion, Exchange, Quote
from keeplore.memory.conversation_body import Reply
from keeplore.text.sentences import (
    Sentence,
    answer_line,
    clip,
    question_and_answer,
    sentences,
)
from keeplore.text.terms import count_terms, stems, terms

NAMED_TERMS = 2  # content words of a suggestion, and of what is said of it
INFORMATIVE_TERMS = 3  # content words; "remove it" tells a later reader nothing
# words likewise, where the sentence says "this", "it", "them" of what it does not name
FEW_WORDS = 4
FEW_TERMS = 4  # content words of what may answer the question before it
OFFER_BACK = 8  # sentences at the end of a reply in which it tells what it then offers
FEW_SENTENCES = 3  # of a reply whose last one a message means by "it"


def stands_alone(text: str) -> bool:
    """False where a decision is about "this" or "it" and says too little to tell a later reader
    what that was.
    """
    before, behind = question_and_answer(text)
    if terms(before):  # behind what it answers
        return True
    if before and count_terms(behind) > 1:  # before what it came to
        return stands_alone(behind)
    pointer = pattern("points_back").search(text)
    if pointer is None or len(stems(text)) >= FEW_WORDS:
        return True
    if not terms(text[: pointer.start()]):  # "sqlite, it is enough" names it first
        return False
    is_ending = not terms(text[pointer.end() :]) and len(terms(text)) < 2  # "remove it"
    return not is_ending


def with_antecedent(quote: Quote, before: Exchange | None, exchange: Exchange) -> Quote:
    """A quotation that points back behind what it points to: what its speaker said or was asked
    right before; as it is where it stands by itself or nothing tells.

    ``exchange`` is the one that it is from.
    """
    about = _named_before(quote, before, exchange)
    if not about and (not stands_alone(quote.text) or _acts_on_it(quote.text)):
        about = next(_antecedents(quote, before, exchange), "")
    return replace(quote, text=answer_line(about, quote.text)) if about else quote


def _named_before(quote: Quote, before: Exchange | None, exchange: Exchange) -> str:
    """What a person's few words are of: their own question right before, or what a reply told of
    the thing that they name ("match it is"); else "".
    """
    text = quote.text
    if quote.speaker != "user" or question_and_answer(text)[0]:
        return ""
    last = _before_it(text, sentences(exchange.user))
    asked = [s.text for s in last if s.is_question and count_terms(s.text) > 1]
    if asked and count_terms(text) <= FEW_TERMS:
        return asked[0]
    named = pattern("it_is_named").search(text)
    told = last_reply(before) if before and named else ()
    of_it = (s for s in reversed(told) if named and named["name"] in s.text.split())
    return next((s.text for s in of_it if _is_informative(s)), "")


def _acts_on_it(text: str) -> bool:
    """Does it order something of "it", and stand behind nothing that tells of what?"""
    order = pattern("acts_on_it").search(text)
    if order is None or question_and_answer(text)[0]:
        return False
    return count_terms(text[: order.start()]) < INFORMATIVE_TERMS


def _antecedents(
    quote: Quote, before: Exchange | None, exchange: Exchange
) -> Iterator[str]:
    """What a quotation may point to, the likeliest first."""
    is_by_user = quote.speaker == "user"
    message = sentences(exchange.user) if is_by_user else last_reply(exchange)
    if not is_by_user and (question := last_question(exchange.user)):
        yield question
    yield from _announced_before(quote.text, exchange.replies)
    yield from _said_before(quote.text, message)
    if is_by_user and before:
        for asked_last in closing_questions(before.assistant)[-1:]:
            heading = Sentence(asked_last.heading.rstrip(":："))
            asked_of = (asked_last, heading)  # behind "What do you prefer?"
            yield from (s.text for s in asked_of if _is_informative(s))
        if _acts_on_it(quote.text):
            yield from _told_last(before)


def _told_last(before: Exchange) -> Iterator[str]:
    """The question that a short reply answers, else what it tells at its end."""
    told = [s for s in last_reply(before) if not s.is_question]
    if len(told) <= FEW_SENTENCES:
        if count_terms(question := last_question(before.user)) >= NAMED_TERMS:
            yield question
        yield from (s.text for s in told[-1:] if count_terms(s.text) >= NAMED_TERMS)


def _announced_before(text: str, replies: Sequence[Reply]) -> Iterator[str]:
    """What the agent said that it is about to do, and what it asked leave for, before an answer
    with this text.
    """
    for before, asked in pairwise(("", *replies)):
        if not isinstance(asked, AgentQuestion) or text not in asked.answer:
            continue
        said = sentences(before)[-1:] if isinstance(before, str) else ()
        yield from (s.text.rstrip(":：") for s in said if _is_informative(s))
        yield asked.question


def _said_before(text: str, message: Sequence[Sentence]) -> Iterator[str]:
    yield from (s.text for s in _before_it(text, message) if _is_informative(s))


def _before_it(text: str, message: Sequence[Sentence]) -> Sequence[Sentence]:
    """The sentence of a message before the one with this text; none before the first."""
    place = next((n for n, s in enumerate(message) if clip(s.text) == text), 0)
    return message[max(0, place - 1) : place]


def _is_informative(sentence: Sentence) -> bool:
    return count_terms(sentence.text) >= INFORMATIVE_TERMS


def offered_work(exchange: Exchange) -> str:
    """The work that the end of a reply offers ("want me to …?"), in words that say it: those of the
    sentence before that it is about where it speaks of "it". "" for none, and for an offer to look,
    to go on or to commit.
    """
    offer = closing_question(exchange.assistant) or _told_offer(exchange)
    if offer and not opens_with(offer, "offers_to"):
        return ""
    if not terms(offer):
        return _able_before(exchange)
    if any(
        says(offer, name) for name in ("chore", "workflow_question", "offers_telling")
    ):
        return ""
    if count_terms(offer) >= INFORMATIVE_TERMS and stands_alone(offer):
        return offer
    told = [s for s in sentences(exchange.assistant)[-OFFER_BACK:] if not s.is_question]
    named = (s for s in reversed(told) if {*terms(offer)} & {*terms(s.text)})
    about = next(named, None)
    if about is None:
        return _able_before(exchange)
    return about.text if _is_informative(about) else ""


def possible_way(exchange: Exchange) -> str:
    """What the last sentence of a reply says to be possible, in words that say it; else ""."""
    last = last_reply(exchange)[-1:]
    ways = (s for s in last if opens_with(s.text, "possible"))
    return "".join(s.text for s in ways if _is_informative(s))


def ability_named(exchange: Exchange, behind: str) -> str:
    """What the agent says at the end of a reply that it can do, where the words behind a yes name
    that; else "".
    """
    named = {*terms(behind)}
    told = last_reply(exchange)[-1:]
    able = (s.text for s in told if _tells_ability(s.text))
    fits = (
        text for text in able if len(named) >= NAMED_TERMS and named <= {*terms(text)}
    )
    return next(fits, "")


def _told_offer(exchange: Exchange) -> str:
    """An offer that is no question, "let me know if you want me to …", at the end of a reply."""
    last = last_reply(exchange)[-1:]
    return "".join(s.text for s in last if opens_with(s.text, "offers_to"))


def _able_before(exchange: Exchange) -> str:
    """What the agent can do, where it only asks "shall I?" behind that."""
    told = [s for s in last_reply(exchange) if not s.is_question][-1:]
    able = [s for s in told if _tells_ability(s.text) and _is_informative(s)]
    return able[0].text if able and not says(able[0].text, "chore") else ""


def _tells_ability(text: str) -> bool:
    """Does a sentence say what the agent can do, behind what is needed too?"""
    return any(opens_with(clause.lstrip(), "able") for clause in text.split(";"))
