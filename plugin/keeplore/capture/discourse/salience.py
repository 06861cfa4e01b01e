"""How much a statement tells of what a conversation came to, and how surely a person's sentence
says how a thing shall be.

Linear scores over form and place, as in trainable extracting (J. Kupiec, J. Pedersen and F. Chen,
"A trainable document summarizer", 1995): logistic regression on coding sessions in which people
marked the sentences that answer questions, and the decisions. ``docs/benchmarks.md`` has the
figures.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from keeplore.capture.cues import says, weight_of
from keeplore.capture.discourse.statements import Statement

SALIENCE = {
    "bias": -1.8,
    "terms": 0.52,
    "few terms": -0.42,
    "sentences": -0.18,
    "of the agent": -0.43,
    "answer": 1.3,
    "last exchange": 0.49,
    "last answer": 0.45,
    "on the way": -0.15,
    "end on the way": -0.44,
    "reported": 0.42,
    "code": 0.2,
    "figure": 0.19,
    "reason or contrast": 0.13,
    "done": 0.32,
    "directives": 0.74,
    "decided": 0.32,
    "state": 0.23,
    "left": 0.64,
}
DIRECTIVE = {
    "bias": -2.1,
    "terms": 0.32,
    "few terms": -0.28,
    "sentences": -0.24,
    "pasted": -0.67,
    "code": -0.23,
    "directives": 1.0,
    "decided": 0.6,
    "changes": 0.6,
    "wanted": 2.0,
    "required": 0.66,
    "please": 1.06,
    "suggested": 0.65,
    "asks_for_work": -0.96,
    "chore": -0.5,
    "trouble": -0.63,
    "undecided": -0.35,
}
# log-odds of a directive from which a sentence counts as one: one in four
DIRECTS = -1.9
MOST_TERMS = 25  # content words beyond which a sentence tells no more
FEW_TERMS = 3
_MOST_CUE = 3.0
_PHRASES = (
    "changes",
    "wanted",
    "required",
    "please",
    "suggested",
    "asks_for_work",
    "chore",
    "trouble",
    "undecided",
)
_CUES = ("done", "directives", "decided", "state", "left")


def salience(statement: Statement, exchanges: int) -> float:
    """The log-odds that a person would mark a statement of substance (see
    ``ConversationModel.salient_statements``); ``exchanges`` is how many there are.
    """
    return _score(SALIENCE, statement_features(statement, exchanges))


def directive_odds(statement: Statement) -> float:
    """The log-odds that a sentence of the person's settles how a thing shall be."""
    return _score(DIRECTIVE, directive_features(statement))


def _score(weights: Mapping[str, float], values: Iterator[tuple[str, float]]) -> float:
    return weights["bias"] + sum(weights[name] * value for name, value in values)


def statement_features(s: Statement, exchanges: int) -> Iterator[tuple[str, float]]:
    """Names and values, those of 0 left out."""
    is_last = s.exchange == exchanges - 1
    is_on_the_way = not s.is_of_person and not s.is_final
    marks = {
        "of the agent": not s.is_of_person,
        "answer": s.is_answer,
        "last exchange": is_last,
        "last answer": is_last and s.is_final,
        "on the way": is_on_the_way,
        "end on the way": is_on_the_way and not s.left,
        "reported": says(s.sentence.heading, "report_heading"),
        "code": "`" in s.text,
        "figure": any(map(str.isdigit, s.text)),
        "reason or contrast": says(s.text, "telling"),
    }
    yield from _size(s)
    yield from ((name, 1.0) for name, holds in marks.items() if holds)
    yield from _cue_weights(s.text, _CUES)


def directive_features(s: Statement) -> Iterator[tuple[str, float]]:
    marks = {"pasted": s.is_pasted, "code": "`" in s.text}
    yield from _size(s)
    yield from ((name, 1.0) for name, holds in marks.items() if holds)
    for name in _PHRASES:
        if says(s.text, name):
            yield name, 1.0
    yield from _cue_weights(s.text, ("directives", "decided"))


def _size(s: Statement) -> Iterator[tuple[str, float]]:
    yield "terms", min(len(s.terms), MOST_TERMS) / 10
    yield "few terms", float(len(s.terms) < FEW_TERMS)
    yield "sentences", math.log1p(s.size)


def _cue_weights(text: str, tables: tuple[str, ...]) -> Iterator[tuple[str, float]]:
    for table in tables:
        yield table, min(weight_of(text, table), _MOST_CUE)
