"""How likely what an agent stated is still worth knowing in three months: logistic regression over
the form of the sentence.

Nothing that it weighs is a word of a subject: tense, limits, contrasts and causes, what is named,
who asked for it, and where in the answer it stands. The weights were fitted by
``benchmarks/train_findings.py``.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from keeplore.capture.cues import says
from keeplore.text.terms import is_identifier, words

# a line a feature: its name and its weight
WEIGHTS = Path(__file__).with_name("lasting_model.txt")
INTERCEPT = "intercept"
# tables of cues: each is a feature that is 1 where the sentence says so
SAID = (
    "states_past",
    "states_negated",
    "states_limited",
    "states_contrasted",
    "states_caused",
    "states_conditional",
    "states_trap",
    "states_habit",
    "states_of_session",
    "states_praise",
    "states_of_tests",
    "states_addressed",
    "states_measured",
    "states_observed",
    "states_bare",
    "states_supposed",
    "hedged",
    "guessed",
    "moment",
    "trouble",
    "on_the_way",
    "reported",
)
# likewise of the heading that it stands under
HEADED = ("caveat_heading", "work_heading")
MOST_NAMED = 4  # names in a sentence; more say no more
MOST_ECHOES = 4  # and repetitions
_CODE = re.compile(r"`[^`\n]{1,200}`")
_CAPITAL = re.compile(r"(?<=[a-z,] )[A-Z][A-Za-z0-9]+")
_OPTION = re.compile(r"(?<![\w-])--?[a-z][\w-]*")
_SYMBOL = re.compile(r"[a-z][A-Z]|_|\(\)|\w\.[A-Z]")


@dataclass(frozen=True, slots=True)
class PlacedSentence:
    """A sentence of an agent's, with what is known of its place in the conversation."""

    text: str
    heading: str = ""
    is_item: bool = False
    is_answer: bool = False  # the person's message before it asks
    is_final: bool = False  # in the last piece of an answer
    label: str = ""  # in bold before it
    echoes: int = 0  # other exchanges of the conversation that speak of what it names
    repeats: int = 0  # other pieces of answers that say it again


def chance(statement: PlacedSentence) -> float:
    """Probability, 0 to 1, that the statement lasts; 0 where there are no weights."""
    weights = _load(WEIGHTS)
    if not weights:
        return 0.0
    score = weights[INTERCEPT] + sum(
        weights.get(name, 0.0) * value for name, value in features(statement).items()
    )
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, score))))


def names(text: str) -> frozenset[str]:
    """What the text names: code, identifiers, and words with a capital inside a sentence."""
    coded = {found.strip("` ") for found in _CODE.findall(text)}
    written = {word for word in words(text) if is_identifier(word)}
    return frozenset(coded | written | set(_CAPITAL.findall(text)))


def is_symbol(name: str) -> bool:
    """True for a name out of somebody's code, False for a command, a file and a product."""
    return _SYMBOL.search(name) is not None and "/" not in name and " " not in name


def features(statement: PlacedSentence) -> Mapping[str, float]:
    """What is weighed, by name."""
    text = statement.text.replace("**", "")
    heading = f"{statement.heading} {statement.label}"
    named = names(text)
    symbols = sum(map(is_symbol, named))
    found = {name: float(says(text, name)) for name in SAID}
    found |= {name: float(says(heading, name)) for name in HEADED}
    found |= {
        "named": min(len(named), MOST_NAMED) / MOST_NAMED,
        "symbols": symbols / max(1, len(named)),
        "options": float(bool(_OPTION.search(text))),
        "proper": float(bool(_CAPITAL.search(text))),
        "headed": float(bool(statement.heading)),
        "item": float(statement.is_item),
        "labelled": float(bool(statement.label)),
        "stressed": float("**" in statement.text),
        "answer": float(statement.is_answer),
        "final": float(statement.is_final),
        "repeats": min(statement.repeats, MOST_ECHOES) / MOST_ECHOES,
        "echoes": min(statement.echoes, MOST_ECHOES) / MOST_ECHOES,
        "limit_and_negation": found["states_negated"] * found["states_limited"],
    }
    return found


@functools.lru_cache(maxsize=2)
def _load(path: Path) -> Mapping[str, float]:
    try:
        lines = path.read_text(encoding="ascii").splitlines()
        weights = {name: float(value) for name, value in map(str.split, lines)}
    except (OSError, ValueError):
        return {}
    return weights if INTERCEPT in weights else {}
