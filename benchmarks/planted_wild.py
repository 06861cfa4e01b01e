"""Secrets in the forms in which they leak, each wholly to be covered.

``planted_open.yaml`` holds the forms that the rules are developed with, ``planted_held.yaml`` those
on which they were measured before anybody looked at what they miss, ``planted_tools.yaml`` and
``planted_sessions.yaml`` three more such lists each, of commands, settings of tools and
sentences. Recipes are those of
:mod:`planted` with further slots: ``{a}`` a password of any shape with a digit, ``{o}`` two words
and a dot, ``{y}`` one word, ``{s}`` a sentence, ``{q}`` joined words, ``{m}`` a word of a seed.
Several parts between ``« »`` are one secret.
"""

from __future__ import annotations

import json
import random
import re
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml
from planted import CLASSES, SETTINGS, expand, password
from planted_blind import _SEED, _WORDS

OPEN = Path(__file__).with_name("planted_open.yaml")
TOOLS = Path(__file__).with_name("planted_tools.yaml")
SESSIONS = Path(__file__).with_name("planted_sessions.yaml")
HELD = Path(__file__).with_name("planted_held.yaml")
LEFT = 4  # characters of a value in a row that may not be read any more
_OWN_SLOT = re.compile(r"\{([aoysqm])\}")
_PART = re.compile("«([^»]*)»", re.DOTALL)
_MARKER = re.compile(r"\[REDACTED:[^\]]*\]")


@dataclass(frozen=True, slots=True)
class Leak:
    kind: str
    setting: str
    text: str
    parts: tuple[str, ...]  # pieces of the value as they stand in the text


def _random_of(count: int) -> Callable[[random.Random], str]:
    def made(rng: random.Random) -> str:
        return "".join(rng.choice(CLASSES["w"]) for _ in range(count - 1)) + "7"

    return made


_SHAPES: tuple[Callable[[random.Random], str], ...] = (
    lambda rng: f"{rng.choice(_WORDS).title()}{rng.randint(10, 9999)}!",
    lambda rng: f"{rng.choice(_WORDS)}.{rng.choice(_WORDS)}{rng.randint(1000, 9999)}",
    lambda rng: f"{rng.choice(_WORDS)}_{rng.choice(_WORDS)}_{rng.randint(10, 99)}",
    lambda rng: f"{rng.choice(_WORDS)}{rng.randint(100, 9999)}",
    lambda rng: "-".join(rng.sample(_WORDS, 3)) + str(rng.randint(1, 99)),
    lambda rng: (
        f"{rng.choice(_WORDS).replace('a', '4').title()}@{rng.randint(2015, 2026)}"
    ),
    lambda rng: password(rng, 12),
    lambda rng: password(rng, 20),
    _random_of(10),
    _random_of(16),
    _random_of(32),
)
_MADE: dict[str, Callable[[random.Random], str]] = {
    "a": lambda rng: rng.choice(_SHAPES)(rng),
    "o": lambda rng: (
        f"{rng.choice(_WORDS)}.{rng.choice(_WORDS)}{rng.randint(100, 9999)}"
    ),
    "y": lambda rng: rng.choice(_WORDS) + rng.choice(_WORDS),
    "s": lambda rng: " ".join([*rng.sample(_WORDS, 4), str(rng.randint(1, 99))]),
    "q": lambda rng: "-".join(rng.sample(_WORDS, 4)),
    "m": lambda rng: rng.choice(_SEED),
}


def _compose(text: str) -> str:
    return "\n".join(f"web_1    | {line}" for line in text.split("\n"))


def _ci(text: str) -> str:
    return "\n".join(
        f"2026-02-09T14:03:{i:02}.1234567Z {line}"
        for i, line in enumerate(text.split("\n"), 10)
    )


def _comment(text: str) -> str:
    return "def run():\n" + textwrap.indent(text, "    # ") + "\n    return main()"


def _bullets(text: str) -> str:
    return (
        "What I found:\n\n1. Settings:\n\n"
        + textwrap.indent(text, "   ")
        + "\n\n2. Tests pass."
    )


def _tool_result(text: str) -> str:
    result = {
        "type": "tool_result",
        "content": [{"type": "text", "text": text}],
    }
    return json.dumps({"type": "user", "message": {"content": [result]}, "uuid": "u1"})


def _removed(text: str) -> str:
    lines = "\n".join(f"-{line}" for line in text.split("\n"))
    return f"--- a/x.txt\n+++ b/x.txt\n@@ -3,5 +3,2 @@\n same\n{lines}\n+gone"


HELD_SETTINGS = {
    "compose": _compose,
    "ci": _ci,
    "comment": _comment,
    "bullets": _bullets,
    "tool result": _tool_result,
    "removed": _removed,
}


def leaks(
    forms: Path, settings: dict[str, Callable[[str], str]], values: int, seed: int
) -> Iterator[Leak]:
    """``values`` random secrets of every form of a file in every setting."""
    rng = random.Random(seed)
    for kind, recipe in yaml.safe_load(forms.read_text(encoding="utf-8")).items():
        for _ in range(values):
            marked, _ = expand(_filled(recipe, rng).replace("«", "\1"), rng)
            marked = marked.replace("\1", "«")
            parts = tuple(
                word for part in _PART.findall(marked) for word in part.split()
            )
            text = _PART.sub(lambda part: part[1], marked)
            for setting, place in settings.items():
                yield Leak(kind, setting, place(text), parts or (text,))


def _filled(recipe: str, rng: random.Random) -> str:
    return _OWN_SLOT.sub(lambda slot: _MADE[slot[1]](rng), recipe)


def left_over(leak: Leak, redacted: str) -> str | None:
    """A piece of the value that can still be read, and None where all of it is covered."""
    frame, redacted = leak.text, _MARKER.sub("[]", redacted)
    for part in leak.parts:
        frame = frame.replace(part, " ")
    for part in leak.parts:
        for start in range(max(1, len(part) - LEFT + 1)):
            piece = part[start : start + LEFT]
            if len(piece) == LEFT and piece in redacted and piece not in frame:
                return piece
    return None


def developed_with(values: int, seed: int) -> Iterator[Leak]:
    """The forms that the rules are developed with."""
    return leaks(OPEN, SETTINGS, values, seed)


def of_tools(values: int, seed: int) -> Iterator[Leak]:
    """Forms of tools and talk, measured before their misses were looked at."""
    return leaks(TOOLS, SETTINGS, values, seed)


def of_sessions(values: int, seed: int) -> Iterator[Leak]:
    """Forms of agents' sessions, likewise."""
    return leaks(SESSIONS, SETTINGS, values, seed)


def held_out(values: int, seed: int) -> Iterator[Leak]:
    """Forms and settings that no rule was made for."""
    return leaks(HELD, HELD_SETTINGS, values, seed)
