"""Transcripts that are read while their host goes on writing."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from hypothesis import strategies as st

from keeplore_hooks.events import to_json
from keeplore_hooks.hosts import Cursor

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


def drawn(steps: Iterable[str], seed: str) -> list[str]:
    """Each step, and many again, in an order that is always the same."""
    names = sorted(steps)
    rng = random.Random(seed)
    return [*rng.sample(names, len(names)), *rng.choices(names, k=2 * len(names))]


def told_of(
    session: Any, content: bytes, heard: Iterable[str], at: str, parts: int = 8
) -> Iterator[str]:
    """All that is read of a record in parts, at each of them with the next of the host's events,
    and of all of it at once; without the folder in which it lies.
    """

    def short(text: str) -> str:
        for long in (str(session.path), str(session.path.parent), session.path.stem):
            text = text.replace(long, "…")
        # of an event with the folder in it
        text = re.sub(r'(":")[0-9a-f]{12}(!?")', r"\1…\2", text)
        return text.replace('"schema": 1, ', "")

    def lines(name: str, reading: Any) -> Iterator[str]:
        cursor = reading.cursor
        yield f"# {name}: {cursor.offset} {cursor.fingerprint} {short(cursor.pending)}"
        yield from (short(to_json(event)) for event in reading.events)
        yield from (f"problem: {short(one)}" for one in reading.problems)

    events = [*heard]
    for number in range(1, parts + 1):
        session.write(content[: len(content) * number // parts])
        event = events[number % len(events)]
        yield from lines(event, session.hear(event, at=at))
    yield from lines("at once", session.host.read_transcript(session.path, Cursor()))
    for one in session.host.recorded(session.path.parent, str(session.path.parent)):
        yield f"recorded {one.session} {one.cwd} {one.started_at} {one.size}"
