"""A choice that was put: its options, and the question that it is of."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass

from keeplore.capture.cues import opens_with, pattern, says
from keeplore.capture.follow_ups import is_confirmation
from keeplore.memory import Exchange
from keeplore.text.sentences import (
    Sentence,
    answer_line,
    clip,
    question_and_answer,
    sentences,
)
from keeplore.text.terms import count_terms, terms

LOOK_BACK = 8  # exchanges in which is looked for what a message refers to
QUESTION_TERMS = 3  # content words of a question that tells what the choice is of
REQUEST_SENTENCES = 4  # of a message whose first sentence tells it where nothing asks
ASKED_WORDS = 12  # of a sentence that is little but the ways between which it asks
_LABEL = re.compile(
    r"\A(?:\*\*|__)?\w+\s*#?(?:[A-Ea-e]|\d)(?:\*\*|__)?\s*[:.)—–-]+(?:\*\*|__)?\s+"
)
CODE_NAME = re.compile(r"`[^`]+`")
# how a sentence or a list goes on from one of its options to the next
JOINING = re.compile(r"[,;]?\s+(?:or|and)\W*\Z|[;,:：]\Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Choice:
    """Options that were put at once; ``labels`` are their letters or numbers, in the same order."""

    question: str
    options: tuple[str, ...]
    labels: tuple[str, ...] = ()

    def line(self, option: str) -> str:
        """An option behind the question that it answers."""
        option = JOINING.sub(
            "", pattern("note_recommended").sub("", JOINING.sub("", option))
        )
        if not self.question:
            return clip(option)
        return answer_line(self.question.rstrip(".:：。 "), option)

    def rejected_terms(self, taken: Set[str]) -> frozenset[str]:
        """Content words of the options that the terms of the taken one lack."""
        return frozenset(t for option in self.options for t in terms(option)) - taken

    def names_another(self, text: str, taken: str) -> bool:
        """Does a text speak of an option that is a name in code and was not the taken one, and not
        of that?
        """
        named = [option for option in self.options if CODE_NAME.fullmatch(option)]
        spoken = [name for name in named if name.strip("`") in text]
        return bool(spoken) and taken in named and taken not in spoken


def named_choice(line: str) -> tuple[Choice, str]:
    """The choice between names in code that a line of question and answer tells, and the answer."""
    question, answer = question_and_answer(line)
    return Choice(question, tuple(CODE_NAME.findall(question))), answer


def choice_of(exchange: Exchange, options: Sequence[Sentence]) -> Choice:
    """The choice between listed options of a reply, with what it is of: the question behind them,
    the person's question or request before them.
    """
    texts = tuple(option.text for option in options)
    labels = tuple(option.label for option in options)
    return Choice(asked_by(exchange, options), texts, labels)


def asked_choice(message: str) -> Choice | None:
    """The choice that the person's own question puts, "a queue or a cron job?"; None for a message
    without one.
    """
    for sentence in sentences(message):
        is_order = opens_with(sentence.text, "task")
        if is_order or len(sentence.text.split()) > ASKED_WORDS:
            continue
        if found := pattern("names_ways").search(sentence.text):
            return Choice(sentence.text, tuple(way.strip() for way in found.groups()))
    return None


def without_label(option: str) -> str:
    """An option without the name that only its list gives it, "Option B: "."""
    if not opens_with(option, "option_labelled"):
        return option
    return _LABEL.sub("", option, count=1)


def asked_by(exchange: Exchange, options: Sequence[Sentence]) -> str:
    """The question that leads to the options or that a reply puts last, else the person's question
    or request; "" where neither tells what a choice is of.
    """
    leads = [option.lead for option in options[:1] if says(option.lead, "asks_choice")]
    listed = {option.text for option in options}
    questions = [
        s.text
        for s in sentences(exchange.assistant)
        if s.is_question and s.text not in listed
    ]
    asking = next(iter(leads or questions[-1:]), "")
    is_telling = count_terms(asking) >= QUESTION_TERMS
    return asking if is_telling else _asked_by_person(exchange.user)


def _asked_by_person(message: str) -> str:
    """The last question of a message that asks for a choice, else what it says first; "" for
    neither.
    """
    said = sentences(message)
    asked = [s.text for s in said if s.is_question]
    questions = [text for text in asked if not opens_with(text, "asks_advice")]
    fitting = [text for text in questions if says(text, "asks_choice")]
    # "we need a queue. Which one do we take?" asks of what was told before it
    least = 1 if said and said[0].is_question else 2
    named = [text for text in fitting if count_terms(text) >= least]
    if named:
        return named[-1]
    if len(said) > REQUEST_SENTENCES or (questions and not fitting):
        return ""
    told = (s.text for s in said if not (s.is_question or is_confirmation(s.text)))
    request = next(told, "")
    return "" if _is_no_request(request) else request


def _is_no_request(text: str) -> bool:
    """Does it say nothing, or what only those know who were there, or lead to what is pasted?"""
    is_empty = len(terms(text)) < 2 and not text.endswith("?")
    return is_empty or says(text, "pointer") or text.endswith((":", "："))
