"""Questions that the agent put and the person put off, or let pass."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from keeplore.capture.adjacency import closing_questions, last_question
from keeplore.capture.cues import opens_with, says
from keeplore.capture.discourse.conversation_model import ConversationModel
from keeplore.capture.discourse.statements import is_step
from keeplore.capture.distill.antecedents import offered_work
from keeplore.capture.distill.choices.choice import asked_by
from keeplore.capture.distill.choices.reply_options import last_options
from keeplore.capture.distill.extracts import Extract
from keeplore.capture.distill.standing_decisions import Decision
from keeplore.memory import AgentQuestion, Exchange, Quote
from keeplore.text.pasted import own_words
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
        question = _open_question(before) or offered_work(before) if words else ""
        if question and not _is_settled(question, before, at, decided):
            line = answer_line(question, words)
            yield Extract(Quote(line, "user", after.id), PUT_OFF, at)


def _let_pass(model: ConversationModel) -> Iterator[Extract]:
    """The agent's questions in form that the person let pass, also when they came again."""
    for at, asked in model.questions():
        if asked.is_answered or is_step(asked) or not asked.question.strip():
            continue
        if not any(_is_answered_by(asked, later) for _, later in model.questions(at)):
            text = clip(" ".join(asked.question.split()))
            yield Extract(
                Quote(text, "assistant", model.exchanges[at].id), LET_PASS, at
            )


def asked_before_plan(exchanges: Sequence[Exchange]) -> Quote | None:
    """What the person asked for last, where the conversation ends at the agent's plan for it, which
    was not approved: nothing came of it yet.
    """
    if not (exchanges and _ends_at_plan(exchanges[-1])):
        return None
    message = own_words(exchanges[-1].user)
    telling = [s.text for s in sentences(message) if count_terms(s.text) >= SHORTEST]
    asked = last_question(message) or "".join(telling[:1])
    return Quote(clip(asked), "user", exchanges[-1].id) if asked else None


def _ends_at_plan(exchange: Exchange) -> bool:
    """Is the one question in form of an exchange its last word, a plan, and without an answer?"""
    forms = [r for r in exchange.replies if isinstance(r, AgentQuestion)]
    if len(forms) != 1 or exchange.replies[-1] is not forms[0]:
        return False
    [form] = forms
    return not form.is_answered and opens_with(form.question, "plan_question")


def without_plan(exchange: Exchange) -> Exchange:
    """An exchange that ends at a plan, without it."""
    before = exchange.replies[:-1]
    is_written = bool(before) and isinstance(before[-1], str)
    return replace(exchange, replies=before[:-1] if is_written else before)


def _is_answered_by(asked: AgentQuestion, later: AgentQuestion) -> bool:
    """Whether a later question was answered that offers one of the same options."""
    return later.is_answered and not set(later.options).isdisjoint(asked.options)


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
    own = last_question(exchange.user) or _unmarked_question(exchange.user)
    if not (asked or options):
        return own
    for text in asked:
        if says(text, "offer") or says(text, "workflow_question"):
            return ""
    of_options = asked_by(exchange, options) if options else ""
    return _last_telling([own, *asked, of_options])


def _unmarked_question(message: str) -> str:
    """The last sentence of a message, where it asks without a question mark."""
    last = [s.text for s in sentences(message)[-1:]]
    return "".join(text for text in last if says(text, "asks_unmarked"))


def _last_telling(questions: Sequence[str]) -> str:
    telling = (text for text in questions if count_terms(text) >= SHORTEST)
    return "".join([*telling][-1:])


def _is_settled(
    question: str, asked: Exchange, at: int, decided: Sequence[Decision]
) -> bool:
    """Was anything decided from there on that speaks of the question or of an option?"""
    options = last_options(sentences(asked.assistant))
    matter = {*terms(question)}.union(*(terms(option.text) for option in options))
    return any(decision.at >= at and matter & decision.terms for decision in decided)
