"""Ids of turns, as people read them."""

from __future__ import annotations

import re

SHORT_TURN = 8  # characters of a turn id that is random from its beginning
_RANDOM_FROM_THE_START = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[45]"
)  # a UUID of version 4 or 5
_OF_A_HOST = re.compile(r"[a-z][a-z-]*:([0-9a-f]{16})")  # made of what the host wrote


def short_turn(turn: str) -> str:
    """The beginning of a turn's id, where that tells it from others; the whole of a UUID of version
    7 and of some hosts' ids, which begin with the time.
    """
    return turn[:SHORT_TURN] if _RANDOM_FROM_THE_START.match(turn) else turn


def shown_turn(turn: str) -> str:
    """What a person reads and types of a turn's id; files hold ``short_turn``."""
    made = _OF_A_HOST.fullmatch(turn)
    return made[1][:SHORT_TURN] if made else short_turn(turn)


def matches_turn(turn: str, typed: str) -> bool:
    """Whether the id begins with what was typed, the host's name before it or not."""
    return bool(typed) and (
        turn.startswith(typed) or turn.partition(":")[2].startswith(typed)
    )
