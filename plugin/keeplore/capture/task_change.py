"""How likely a turn begins another task of a session in which an agent works.

One task is many exchanges with tools between them, and its subject drifts; so beside the shift of
subject it counts how long the agent has worked since the last message and what it reported, whether
the same files are touched, whether the message reacts to what was done, and how much of the new
answer is in words that the conversation has not had. The weights are a logistic regression, fitted
by ``benchmarks/train_tasks.py``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from keeplore.capture.cues import opens_with, pattern, says
from keeplore.text.rarity import rare_terms
from keeplore.text.terms import count_terms, terms, words
from keeplore_hooks.events import Turn, Work

SUBJECT_MOST = 6.0  # the shift of subject, in log odds, says no more beyond
OPENING = 160  # characters of a message in which it says what is the matter
SENTENCE = 250  # characters of a first sentence
SUBSTANCE_MOST = 8  # content words of it; more say no more
EFFORT_MOST = math.log1p(60)  # likewise an hour of work
REPORT_MOST = math.log1p(8000)  # likewise the characters of a report
ASKED = 300  # characters at the end of an answer in which a question may wait
RUN = 4  # words in a row that are no chance
QUOTED = 0.3  # share of a message's runs of words
QUOTE = 600  # characters of a message in which it may quote an answer
SPAN = 16  # exchanges whose words are known
# characters of a message and of the new answer that are read
MESSAGE, REPLY = 2000, 4000
SAYS_SOMETHING = 2  # content words of a first sentence, or the next one belongs to it
_STOP = re.compile(r"(?<!\.)[?!.](?=\s)|\n|[。？！]")


class TaskEvidence(NamedTuple):
    """What a turn shows; each part has a weight."""

    subject: float  # log odds of the topic model
    trouble: float  # 1 where the message begins with something that does not work
    reacts: float  # 1 where it answers or judges what was done
    # content words of its first sentence, as a share of SUBSTANCE_MOST
    substance: float
    same_files: float  # share of the turn's files that the conversation has touched
    effort: float  # log of the minutes that the turn before took
    asked: float  # 1 where the last answer asks something near its end
    new_words: float  # share of the answer's rare words that were not said before
    report: float  # log of the characters of the last answer, as a share of REPORT_MOST


WEIGHTS = TaskEvidence(
    subject=0.23,
    trouble=0.84,
    reacts=-0.63,
    substance=1.81,
    same_files=-0.99,
    effort=0.50,
    asked=-0.94,
    new_words=3.09,
    report=2.90,
)
INTERCEPT = -5.53


def evidence(
    score: float, exchanges: Sequence[Mapping[str, Any]], turn: Turn, work: Work
) -> TaskEvidence:
    """What speaks for another task; ``score`` are the topic model's log odds, ``work`` is that of
    the open conversation."""
    last = exchanges[-1]
    answer = str(last["assistant"])
    sentence = first_sentence(turn.user)
    files = set(turn.work.files)
    return TaskEvidence(
        subject=max(-SUBJECT_MOST, min(SUBJECT_MOST, score)),
        trouble=float(says(sentence[:OPENING], "not_working")),
        reacts=float(opens_with(turn.user[: 2 * OPENING], "reacts")),
        substance=min(count_terms(sentence), SUBSTANCE_MOST) / SUBSTANCE_MOST,
        same_files=len(files.intersection(work.files)) / max(1, len(files)),
        effort=_log_minutes(last, turn.at),
        asked=float(has_asked(answer[-ASKED:])),
        new_words=_new_words(turn.assistant, exchanges[-SPAN:]),
        report=min(math.log1p(len(answer)) / REPORT_MOST, 1.0),
    )


def _log_minutes(last: Mapping[str, Any], now: str) -> float:
    """The log of the minutes that an exchange took; "" where it is unknown when the next began."""
    ended_at = str(last.get("ended_at") or last["at"])
    # a record that was written anew has later times than what follows
    ended_at = min(ended_at, now) if now else ended_at
    minutes = minutes_between(str(last["at"]), ended_at)
    return min(math.log1p(max(0.0, minutes)), EFFORT_MOST)


def chance(evidence: TaskEvidence) -> float:
    """Probability that the turn begins another task."""
    score = INTERCEPT + sum(
        weight * value for weight, value in zip(WEIGHTS, evidence, strict=True)
    )
    return 1 / (1 + math.exp(-score))


def first_sentence(message: str) -> str:
    """The message up to its first stop behind which it has said something, without the "ok, so …"
    before it.
    """
    opening = message.strip()[: 2 * SENTENCE]
    found = pattern("fillers").match(opening)
    head = opening[found.end() if found else 0 :][:SENTENCE]
    for stop in _STOP.finditer(head):
        if count_terms(head[: stop.start()]) >= SAYS_SOMETHING:
            return head[: stop.start()]
    return head


def _new_words(answer: str, exchanges: Sequence[Mapping[str, Any]]) -> float:
    """The share of an answer's rare words that the exchanges do not have."""
    own = set(rare_terms(answer[:REPLY]))
    said: set[str] = set()
    for exchange in exchanges:
        said.update(terms(str(exchange["user"])[:MESSAGE]))
        said.update(terms(str(exchange["assistant"])))
    return len(own - said) / max(1, len(own))


def quotes(message: str, answers: Sequence[str]) -> bool:
    """True where a good part of a message repeats one of the answers word for word: it picks up a
    point of that answer.
    """
    own = _word_runs(message[:QUOTE])
    said = set().union(*(_word_runs(answer) for answer in answers))
    return bool(own) and len(own & said) >= QUOTED * len(own)


def _word_runs(text: str) -> set[tuple[str, ...]]:
    """Every ``RUN`` words in a row."""
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
