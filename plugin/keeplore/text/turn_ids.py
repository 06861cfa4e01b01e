"""Ids of turns, as people read them."""

from __future__ import annotations

import re

SHORT_TURN = 8  # characters of a turn id that is random from its beginning
_RANDOM_FROM_THE_START = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[45]"
)  # a UUID of version 4 or 5


def short_turn(turn: str) -> str:
    """As much of a turn's id as tells it from others: UUIDs of version 7 and some hosts' ids begin
    with the time.
    """
    return turn[:SHORT_TURN] if _RANDOM_FROM_THE_START.match(turn) else turn
