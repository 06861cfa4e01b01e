"""Transcripts that are read while their host goes on writing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from hypothesis import strategies as st

Events = dict[str, Any]


def written(
    log: Any, steps: dict[str, Callable[[Any, int], Any]], names: list[str]
) -> bytes:
    """The log after these steps, each told its number."""
    for number, name in enumerate(names):
        steps[name](log, number)
    return bytes(log.bytes())


def settled(events: Iterable[Any]) -> tuple[Events, dict[tuple[str, str], Any]]:
    """The last form of every turn, and every other event once."""
    turns, others = {}, {}
    for event in events:
        if event.kind == "turn":
            turns[event.id] = event
        elif event.kind != "session":
            others[event.kind, event.id] = event
    return turns, others


def cuts(content: bytes) -> st.SearchStrategy[list[int]]:
    """Where a reading may find the end of the file: anywhere, but often right at or before the end
    of a line, or between two records of one line.
    """
    ends = [match.end() for match in re.finditer(rb"\n|\}\{", content)] or [0]
    near = st.builds(
        lambda end, before: max(0, end - before),
        st.sampled_from(ends),
        st.integers(0, 2),
    )
    return st.lists(near | st.integers(0, len(content)), max_size=8).map(sorted)
