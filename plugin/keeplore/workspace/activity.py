"""What Keeplore did on this machine, counted by day: for its owner, in the state directory alone.

One file a month; no text, no names. The worker alone writes, and waits with it, so that no host
does. Times are counted in steps of a quarter, which is as exact as their percentiles are.
"""

from __future__ import annotations

import contextlib
import json
import math
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from keeplore.text.dates import day_of, now
from keeplore_hooks import durable

FOLDER = "activity"
KEPT = 13  # months
SAVE_S = 60.0  # for so long counts wait for more of them, and a crash may lose them
GROWTH = 1.25  # from one step of times to the next
LONGEST = 60  # steps: some ten minutes
MONTH = len("2026-01")


class Counted(StrEnum):
    """What is counted; times have names of their own, those of what a host or person asked."""

    TURNS = "turns"
    SESSIONS = "sessions"
    PROMPTS = "prompts"
    SILENT = "silent"  # prompts beside which nothing was told
    TOLD = "told"  # blocks
    MEMORIES = "memories"  # in these blocks
    USED = "used"  # of these memories by what a session said afterwards
    NOTHING = "nothing found"  # by a recall
    ERRORS = "errors"


@dataclass(slots=True)
class Activity:
    """``times`` maps what was asked to how often it took so many steps."""

    counts: Counter[str] = field(default_factory=Counter)
    times: defaultdict[str, Counter[int]] = field(
        default_factory=lambda: defaultdict(Counter)
    )

    def add(self, other: Activity) -> None:
        self.counts.update(other.counts)
        for name, steps in other.times.items():
            self.times[name].update(steps)

    def within_ms(self, name: str, share: float) -> float:
        """The number of milliseconds within which this share was answered."""
        steps = self.times[name]
        rest = share * steps.total()
        for step in sorted(steps):
            rest -= steps[step]
            if rest <= 0:
                return float(f"{GROWTH**step:.2g}")
        return 0.0

    def to_json(self) -> dict[str, Any]:
        return {"counts": self.counts, "times": self.times}

    @classmethod
    def from_json(cls, data: Any) -> Activity:
        """The activity that JSON holds. Raises ValueError, TypeError, KeyError or AttributeError
        for what is none.
        """
        made = cls(Counter({str(k): int(n) for k, n in data["counts"].items()}))
        for name, steps in data["times"].items():
            made.times[name] = Counter({int(s): int(n) for s, n in steps.items()})
        return made


class ActivityLog:
    """Thread-safe; of one process at a time."""

    def __init__(self, state: Path) -> None:
        self._folder = state / FOLDER
        self._lock = threading.Lock()
        self._days: defaultdict[str, Activity] = defaultdict(
            Activity
        )  # not written yet
        self._saved_at = time.monotonic()

    def count(self, what: Counted, number: int = 1) -> None:
        if number:
            with self._lock:
                self._days[day_of(now())].counts[what] += number

    @contextlib.contextmanager
    def timed(self, what: str) -> Iterator[None]:
        """Count how long the context takes."""
        began = time.monotonic()
        try:
            yield
        finally:
            ms = max(1.0, 1000 * (time.monotonic() - began))
            step = min(math.ceil(math.log(ms, GROWTH)), LONGEST)
            with self._lock:
                self._days[day_of(now())].times[what][step] += 1

    def save(self, *, is_last: bool = False) -> None:
        """Write what is due, or all where it is the last time. Raises OSError."""
        with self._lock:
            if time.monotonic() - self._saved_at < SAVE_S and not is_last:
                return
            days, self._days = self._days, defaultdict(Activity)
            self._saved_at = time.monotonic()
        for month in {day[:MONTH] for day in days}:
            new = {
                day: activity for day, activity in days.items() if day.startswith(month)
            }
            self._write(self._folder / f"{month}.json", new)

    def _write(self, path: Path, new: dict[str, Activity]) -> None:
        known = _read_days(path)
        for day, activity in new.items():
            known.setdefault(day, Activity()).add(activity)
        durable.make_private(self._folder)
        data = {day: known[day].to_json() for day in sorted(known)}
        durable.write(path, json.dumps(data).encode())
        for old in sorted(self._folder.glob("*.json"))[:-KEPT]:
            old.unlink(missing_ok=True)


def activity_since(state: Path, day: str) -> Activity:
    """What is written down from a day on."""
    total = Activity()
    for path in sorted((state / FOLDER).glob("*.json")):
        if path.stem >= day[:MONTH]:
            for at, activity in _read_days(path).items():
                if at >= day:
                    total.add(activity)
    return total


def _read_days(path: Path) -> dict[str, Activity]:
    """Day → what was counted; a file that cannot be read counts as empty."""
    try:
        data = json.loads(path.read_bytes())
        return {
            str(day): Activity.from_json(activity) for day, activity in data.items()
        }
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return {}
