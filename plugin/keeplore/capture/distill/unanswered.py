"""Questions that the agent put and the person put off, or let pass."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from keeplore.capture.cues import opens_with, says
from keeplore.capture.discourse.conversation_model import ConversationModel
from keeplore.capture.discourse.statements import is_step
from keeplore.capture.distill.antecedents import closing_questions, last_question
from keeplore.capture.distill.choices import asked_by, last_options
from keeplore.capture.distill.extracts import Extract
from keeplore.capture.distill.standing_decisions import Decision
from keeplore.memory import AnsweredQuestion, Exchange, Quote
from keeplore.text.sentences import answer_line, clip, sentences
from keeplore.text.terms import count_terms, terms

PUT_OFF, LET_PASS = 3.0, 1.5  # weights
SHORTEST = 2  # content words of a question that says what it is about
LONGEST = 6  # sentences; a longer message is about more than the question
TELLING = 4  # content words of a sentence that says itself what it puts off
IN_REPLY = 2  # sentences of a message in which it answers what was asked


def unanswered(
    model: ConversationModel, decided: Sequence[Decision]
) -> Iterator[Extract]:
    """The questions without an answer, ordered by their exchanges; of those that were put off, with
    the words that did so, the ones on which nothing was decided later.
    """
    yield from _let_pass(model)
    for at, (before, after) in enumerate(pairwise(model.exchanges), 1):
        words = _putting_off(after.user)
        question = _open_question(before) if words else ""
        if question and not _is_settled(question, before, at, decided):
            line = answer_line(question, words)
            yield Extract(Quote(line, "user", after.id), PUT_OFF, at)


def _let_pass(model: ConversationModel) -> Iterator[Extract]:
    """The agent's questions in form that the person let pass, also when they came again."""
    for at, asked in model.questions():
        if asked.answer.strip() or is_step(asked) or not asked.question.strip():
            continue
        if not any(_is_answer_to(asked, later) for _, later in model.questions(at)):
            text = clip(" ".join(asked.question.split()))
            yield Extract(
                Quote(text, "assistant", model.exchanges[at].id), LET_PASS, at
            )


def _is_answer_to(answered: AnsweredQuestion, later: AnsweredQuestion) -> bool:
    """True where a question with one of the same answers was answered."""
    return bool(later.answer.strip()) and not set(later.options).isdisjoint(
        answered.options
    )


def _putting_off(message: str) -> str:
    """The sentence of a short message that puts off what was asked; "" for none, and for one that
    says itself what it puts off.
    """
    said = sentences(message)
    if len(said) > LONGEST:
        return ""
    telling = (s.text for s in said[:IN_REPLY] if not s.is_question)
    deferring = [text for text in telling if says(text, "defers")]
    words = max(deferring, key=count_terms, default="")
    says_what = count_terms(words) >= TELLING and not opens_with(words, "defers")
    return "" if says_what else words


def _open_question(exchange: Exchange) -> str:
    """What the end of a reply, or else the person before it, asks to be decided, in words that say
    it; "" where it offers work or asks for leave.
    """
    options = last_options(sentences(exchange.assistant))
    asked = [s.text for s in closing_questions(exchange.assistant)]
    own = last_question(exchange.user)
    if not (asked or options):
        return own
    for text in asked:
        if says(text, "offer") or says(text, "workflow_question"):
            return ""
    question = asked_by(exchange, options) or own or "".join(asked[-1:])
    return question if count_terms(question) >= SHORTEST else ""


def _is_settled(
    question: str, asked: Exchange, at: int, decided: Sequence[Decision]
) -> bool:
    """Was anything decided from there on that speaks of the question or of an option?"""
    options = last_options(sentences(asked.assistant))
    matter = {*terms(question)}.union(*(terms(option.text) for option in options))
    return any(decision.at >= at and matter & decision.terms for decision in decided)
