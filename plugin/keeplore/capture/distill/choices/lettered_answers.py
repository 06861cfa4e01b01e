"""Answers that name a question by its number and an option by its letter: "1: B", "2c, 3a"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from keeplore.capture.cues import pattern
from keeplore.capture.distill.choices.choice import LOOK_BACK, Choice, without_label
from keeplore.memory import Exchange
from keeplore.text.sentences import Sentence, sentences
from keeplore.text.terms import terms

LONGEST = 300  # characters of a message that only answers
_ANSWER = re.compile(
    r"(?<!\w)(?:question |q)?#?(?P<number>\d{1,2})\s?[:=.)–-]?\s?"
    r"(?:option )?(?P<letter>[A-E])(?![\w'’])",
    re.IGNORECASE,
)
_QUESTION = re.compile(
    r"\A\W*(?:question|point|item|q)?\s?#?(?P<number>\d{1,2})\b(?:\*\*|__)?"
    r"[\s.):—–-]+(?P<text>\S.*)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class LetteredAnswer:
    choice: Choice
    option: str

    @property
    def line(self) -> str:
        return self.choice.line(self.option)


@dataclass(slots=True)
class _Question:
    text: str
    options: dict[str, str] = field(default_factory=dict)  # by letter


def lettered_answers(message: str, earlier: Sequence[Exchange]) -> list[LetteredAnswer]:
    """What a message answers that holds nothing else; empty where one of its answers has no
    question in the replies before it.
    """
    if len(message) > LONGEST:
        return []
    answers = [*_ANSWER.finditer(message)]
    if not answers or terms(_ANSWER.sub("", message)):
        return []
    found = []
    for answer in answers:
        number, letter = answer["number"], answer["letter"].upper()
        question = next(_matching_questions(number, letter, earlier), None)
        if question is None:
            return []
        choice = Choice(
            question.text, tuple(question.options.values()), tuple(question.options)
        )
        found.append(LetteredAnswer(choice, question.options[letter]))
    return found


def _matching_questions(
    number: str, letter: str, earlier: Sequence[Exchange]
) -> Iterator[_Question]:
    """The questions of this number with such an option, the latest first."""
    for exchange in reversed(earlier[-LOOK_BACK:]):
        question = _questions(sentences(exchange.assistant)).get(number)
        if question and letter in question.options:
            yield question


def _questions(message: Sequence[Sentence]) -> dict[str, _Question]:
    """The numbered questions of a reply with the options listed under each."""
    found: list[tuple[str, _Question]] = []
    for sentence in message:
        if letter := _letter_of(sentence):
            if found:
                found[-1][1].options.setdefault(letter, without_label(sentence.text))
        elif asked := _numbered(sentence):
            number, text = asked
            found.append((number, _Question(text)))
    return {number: asked for number, asked in found if len(asked.options) > 1}


def _letter_of(sentence: Sentence) -> str:
    """The letter of an option, "" for anything else."""
    if not sentence.is_first:
        return ""
    labelled = pattern("option_labelled").match(sentence.text)
    label = labelled["label"].upper() if labelled else sentence.label
    return label if label in {*"ABCDE"} else ""


def _numbered(sentence: Sentence) -> tuple[str, str] | None:
    """Number and text of a question."""
    if sentence.label.isdigit():
        return (sentence.label, sentence.text) if sentence.is_first else None
    found = _QUESTION.match(sentence.text)
    return (found["number"], found["text"]) if found else None
