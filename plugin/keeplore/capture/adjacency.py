"""What a reply asks at its end, and what the message after it answers.

Of two adjacent turns the second is read in the light of the first (E. Schegloff and H. Sacks,
"Opening up closings", Semiotica 1973).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from operator import attrgetter

from keeplore.capture.cues import opens_with, says
from keeplore.memory import Exchange
from keeplore.text.pasted import is_reference
from keeplore.text.sentences import Sentence, answer_line, sentences
from keeplore.text.terms import count_terms, terms

LAST_WORDS = 3  # sentences that end a reply
ANSWER_WORDS = 30  # of a message that may be an answer as a whole
TELLING_TERMS = 2  # content words of a question that tells what it is about
_NEW_TASK = ("task", "work_order", "next_step")  # what is no answer, but work
_IS_QUESTION = attrgetter("is_question")


def last_reply(exchange: Exchange) -> Sequence[Sentence]:
    """The sentences of what the agent says last in an exchange."""
    last = [reply for reply in exchange.replies if isinstance(reply, str)][-1:]
    return sentences("".join(last))


def closing_questions(reply: str) -> list[Sentence]:
    """The questions among the last sentences of a reply; one that only adds another way ("Or leave
    it?") is of the one before it.
    """
    whole = " ".join(reply.split())
    asked: list[Sentence] = []
    for s in filter(_IS_QUESTION, sentences(reply)[-LAST_WORDS:]):
        both = f"{asked[-1].text} {s.text}" if asked else ""
        if both and both in whole and opens_with(s.text, "other_way"):
            asked[-1] = replace(asked[-1], text=both)
        else:
            asked.append(s)
    return asked


def closing_question(reply: str) -> str:
    """The last of these; "" for none."""
    return next((s.text for s in reversed(closing_questions(reply))), "")


def last_question(message: str) -> str:
    """The last question of a message that tells what it is about; "" for none."""
    asked = (s.text for s in reversed(sentences(message)) if s.is_question)
    return next((text for text in asked if count_terms(text) >= TELLING_TERMS), "")


def told_answer(reply: str, said: str) -> str:
    """The questions that end a reply with the brief message that answers them, whatever it settles;
    "" where they ask for leave to go on, or where the message asks itself or is a new task.
    """
    question = _question_of_matter(reply)
    message = sentences(said) if question else ()
    if not _is_brief(message) or _begins_work(message[0].text, question):
        return ""
    return answer_line(question, " ".join(s.text for s in message))


def told_answers(exchanges: Sequence[Exchange]) -> Mapping[str, str]:
    """Turn → what the person answers in it to what the agent asked right before."""
    told = (
        (exchange.id, told_answer(before.assistant, exchange.user))
        for before, exchange in pairwise(exchanges)
    )
    return {turn: line for turn, line in told if line}


def _is_brief(message: Sequence[Sentence]) -> bool:
    """Is it something that is told in a few words?"""
    words = sum(len(s.text.split()) for s in message)
    is_told = not any(s.is_question or s.is_heading for s in message)
    is_told = is_told and not all(_shows_file(s.text) for s in message)
    return is_told and 0 < words <= ANSWER_WORDS


def _shows_file(text: str) -> bool:
    return text.startswith("@") and is_reference(text)


def _begins_work(text: str, question: str) -> bool:
    """Is it a task, or asked in return, and no answer to how a thing shall be?"""
    if asks_in_return(text, question):
        return True
    is_task = any(opens_with(text, name) for name in _NEW_TASK)
    return is_task and not says(question, "asks_how_it_shall_be")


def asks_in_return(text: str, question: str) -> bool:
    """Does a message ask for something of its own in the place of an answer?"""
    if any(opens_with(text, name) for name in ("affirmed", "turns_down")):
        return False
    is_asking = opens_with(text, "asks_in_return")
    return is_asking and not {*terms(text)} & {*terms(question)}


def _question_of_matter(reply: str) -> str:
    """The questions that end a reply and ask about something that they name, the last one alone
    where others stand apart; "" for none.
    """
    asked = [s.text for s in closing_questions(reply) if _asks_matter(s)]
    whole = " ".join(reply.split())
    several = " ".join(asked)
    question = several if several in whole else asked[-1]
    # "what do you prefer?" does not say of what
    is_named = count_terms(question) >= 1 + says(question, "asks_which")
    return question if is_named else ""


def _asks_matter(sentence: Sentence) -> bool:
    """Does a question ask for something else than leave to go on? One of several with numbers has
    its answer by its number.
    """
    text = sentence.text
    is_idle = opens_with(text, "offers_to") or says(text, "courtesy")
    return not (is_idle or sentence.label) and says(text, "asks_matter")
