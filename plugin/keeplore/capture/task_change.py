"""How likely a turn begins another task of a session in which an agent works.

One task is many exchanges with tools between them, and its subject drifts; so beside the shift of
subject it counts how long the agent has worked since the last message, whether the same files are
touched, and whether the message reacts to what was done. The weights are a logistic regression,
fitted by ``benchmarks/train_tasks.py``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from keeplore.capture.cues import opens_with, says
from keeplore.text.terms import terms, words
from keeplore_hooks.events import Turn, Work

SUBJECT_MOST = 6.0  # the shift of subject, in log odds, says no more beyond
OPENING = 160  # characters of a message in which it says what is the matter
SENTENCE = 250  # characters of a first sentence
SUBSTANCE_MOST = 8  # content words of it; more say no more
EFFORT_MOST = math.log1p(60)  # likewise an hour of work
ASKED = 300  # characters at the end of an answer in which a question may wait
RUN = 4  # words in a row that are no chance
QUOTED = 0.3  # share of a message's runs of words
QUOTE, ANSWER = (
    600,
    20_000,
)  # characters of a message and of an answer that are compared
_STOPS = ("? ", "! ", ". ", "\n", "。", "？", "！")


class TaskEvidence(NamedTuple):
    """What a turn shows; each part has a weight."""

    subject: float  # log odds of the topic model
    trouble: float  # 1 where the message begins with something that does not work
    reacts: float  # 1 where it answers or judges what was done
    substance: (
        float  # content words of its first sentence, as a share of SUBSTANCE_MOST
    )
    same_files: float  # share of the turn's files that the conversation has touched
    effort: float  # log of the minutes that the turn before took
    asked: float  # 1 where the last answer asks something near its end


WEIGHTS = TaskEvidence(0.21, 1.32, -1.06, 1.63, -1.80, 0.64, -1.53)
INTERCEPT = -1.95


def evidence(
    score: float, exchanges: Sequence[Mapping[str, Any]], turn: Turn, work: Work
) -> TaskEvidence:
    """What speaks for another task; ``score`` are the topic model's log odds, ``work`` is that of
    the open conversation."""
    last = exchanges[-1]
    sentence = first_sentence(turn.user)
    files = set(turn.work.files)
    ended_at = str(last.get("ended_at") or last["at"])
    # a record that was written anew has later times than what follows
    ended_at = min(ended_at, turn.at) if turn.at else ended_at
    minutes = minutes_between(str(last["at"]), ended_at)
    return TaskEvidence(
        max(-SUBJECT_MOST, min(SUBJECT_MOST, score)),
        float(says(turn.user[:OPENING], "not_working")),
        float(opens_with(turn.user[: 2 * OPENING], "reacts")),
        min(len(set(terms(sentence))), SUBSTANCE_MOST) / SUBSTANCE_MOST,
        len(files.intersection(work.files)) / max(1, len(files)),
        min(math.log1p(max(0.0, minutes)), EFFORT_MOST),
        float(has_asked(str(last["assistant"])[-ASKED:])),
    )


def chance(found: TaskEvidence) -> float:
    """Probability that the turn begins another task."""
    score = INTERCEPT + sum(
        weight * value for weight, value in zip(WEIGHTS, found, strict=True)
    )
    return 1 / (1 + math.exp(-score))


def first_sentence(message: str) -> str:
    """The message up to its first stop."""
    head = message.strip()[:SENTENCE]
    ends = [head.find(stop) for stop in _STOPS]
    return head[: min((end for end in ends if end >= 0), default=len(head))]


def quotes(message: str, answers: Sequence[str]) -> bool:
    """True where a good part of what a message says was said in one of the answers, word for word:
    it takes a point out of them.
    """
    own = _runs(message[:QUOTE])
    said = set().union(*(_runs(answer[:ANSWER]) for answer in answers))
    return bool(own) and len(own & said) >= QUOTED * len(own)


def _runs(text: str) -> set[tuple[str, ...]]:
    found = words(text.lower())
    return {tuple(found[n : n + RUN]) for n in range(len(found) - RUN + 1)}


def has_asked(text: str) -> bool:
    return "?" in text or "？" in text


def minutes_between(earlier: str, later: str) -> float:
    """Minutes between two RFC 3339 times, 0 where one is no time."""
    try:
        pause = datetime.fromisoformat(later) - datetime.fromisoformat(earlier)
        return pause.total_seconds() / 60
    except (ValueError, TypeError):
        return 0.0
