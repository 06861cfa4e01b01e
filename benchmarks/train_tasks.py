"""Fit the weights by which capture tells one task of an agent from the next, and say how good they
are on sessions that they were not fitted on.

    python benchmarks/train_tasks.py [SESSIONS] [--cache FOLDER] [--check SESSIONS]

SESSIONS has one recorded session a line: ``{"weight": 1, "exchanges": [{"at", "ended_at", "user",
"assistant", "files", "commands", "commits"}], "opens": [n, …], "unsure": [n, …]}``. ``opens`` are
the numbers of the exchanges with which another task begins, as a person who read the session says;
those in ``unsure`` were not judged. Left out in turn is each session. ``--check`` only looks at
further sessions, with the weights that capture has. Without SESSIONS, which are not part of the
repository, the script says so and ends. A boundary counts as right where the person has
it too; the conversation before it begins where it was cut, as capture does it.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import logistic
import numpy as np
from segmentation import HERE, Kept

from keeplore.capture import task_change
from keeplore.capture.open_conversation import says_little
from keeplore.capture.segmenter import Segmenter, Shift, boundary
from keeplore.capture.task_change import TaskEvidence
from keeplore.index import embedder_for
from keeplore.memory import Exchange
from keeplore_hooks.events import Turn, Work

PENALTY = 2.0  # of the squared weights of standardised evidence
Row = tuple[TaskEvidence, bool, float]


@dataclass(frozen=True, slots=True)
class Recorded:
    """A session with a person's judgement."""

    weight: float
    exchanges: Sequence[dict[str, Any]]
    opens: frozenset[int]
    unsure: frozenset[int]

    def turn(self, n: int) -> Turn:
        said = self.exchanges[n]
        return Turn(
            str(n),
            HERE,
            said["at"],
            said["user"],
            (said["assistant"],),
            said["ended_at"],
            self.work(n, n + 1),
        )

    def work(self, start: int, end: int) -> Work:
        """What was done from one exchange up to another."""
        done = self.exchanges[start:end]
        files, commands, commits = (
            tuple(dict.fromkeys(item for e in done for item in e.get(name, ())))
            for name in ("files", "commands", "commits")
        )
        return Work(files, commands, commits)


class Judge:
    """The product's segmenter, asked as capture asks it."""

    def __init__(self, embedder: Any) -> None:
        self._segmenter = Segmenter(embedder)

    def reason(self, session: Recorded, start: int, n: int) -> str:
        """The reason for a boundary before an exchange, or an empty text."""
        return self._of(session, start, n, self._shift(session, start, n))

    def evidence(self, session: Recorded, start: int, n: int) -> TaskEvidence | None:
        """What decides there; None where something else does."""
        shift = self._shift(session, start, n)
        sure = shift._replace(size=1.0)
        is_asked = self._of(session, start, n, sure) == "shift"
        return shift.task if is_asked else None

    def _shift(self, session: Recorded, start: int, n: int) -> Shift:
        before = session.exchanges[start:n]
        return self._segmenter.shift_of(before, session.turn(n), session.work(start, n))

    def _of(self, session: Recorded, start: int, n: int, shift: Shift) -> str:
        turn = session.turn(n)
        exchange = Exchange(turn.id, turn.at, turn.user, (turn.assistant,))
        if says_little(exchange, turn.work):
            return ""
        return boundary(session.exchanges[start:n], turn, shift)


def load(path: Path) -> list[Recorded]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [
        Recorded(
            data["weight"],
            data["exchanges"],
            frozenset(data["opens"]),
            frozenset(data["unsure"]),
        )
        for data in map(json.loads, lines)
    ]


def rows(session: Recorded, judge: Judge) -> list[Row]:
    """TaskEvidence and judgement of each exchange that nothing else decides."""
    found, start = [], 0
    for n in range(1, len(session.exchanges)):
        evidence = judge.evidence(session, start, n)
        if evidence is not None and n not in session.unsure:
            found.append((evidence, n in session.opens, session.weight))
        start = n if n in session.opens else start
    return found


def fit(all_rows: Sequence[Row]) -> tuple[TaskEvidence, float]:
    """Weights and intercept."""
    inputs = np.array([row[0] for row in all_rows])
    answers = np.array([row[1] for row in all_rows], float)
    counts = np.array([row[2] for row in all_rows])
    weights, intercept = logistic.fit(inputs, answers, PENALTY, counts)
    return TaskEvidence(*weights.tolist()), intercept


def cuts(session: Recorded, judge: Judge) -> Counter[str]:
    """How the product's boundaries and the person's agree."""
    counts: Counter[str] = Counter()
    start = 0
    for n in range(1, len(session.exchanges)):
        reason = judge.reason(session, start, n)
        if n not in session.unsure:
            names = {(1, 1): "right", (1, 0): "wrong", (0, 1): "missed", (0, 0): "kept"}
            counts[names[bool(reason), n in session.opens]] += 1
        start = n if reason else start
    return counts


def report(name: str, counts: Counter[str]) -> None:
    cut, true = (
        counts["right"] + counts["wrong"],
        counts["right"] + counts["missed"],
    )
    print(
        f"{name:16} cuts right {counts['right'] / max(1, cut):.2f} of {cut}, "
        f"changes found {counts['right'] / max(1, true):.2f} of {true}"
    )


def cross_validated(sessions: Sequence[Recorded], judge: Judge) -> None:
    by_session = [rows(session, judge) for session in sessions]
    usual = task_change.WEIGHTS, task_change.INTERCEPT
    total: dict[float, Counter[str]] = {}
    for n, session in enumerate(sessions):
        others = [row for k, part in enumerate(by_session) if k != n for row in part]
        task_change.WEIGHTS, task_change.INTERCEPT = fit(others)
        total.setdefault(session.weight, Counter()).update(cuts(session, judge))
    task_change.WEIGHTS, task_change.INTERCEPT = usual
    for weight, counts in total.items():
        report(f"left out, × {weight}", counts)
    weights, intercept = fit([row for part in by_session for row in part])
    print(", ".join(f"{k}={v:.2f}" for k, v in weights._asdict().items()))
    print(f"intercept={intercept:.2f}")


def main() -> int:
    parser = argparse.ArgumentParser(description="Fit how tasks are told apart.")
    parser.add_argument("sessions", type=Path, nargs="?")
    parser.add_argument("--check", type=Path)
    parser.add_argument("--cache", type=Path)
    options = parser.parse_args()
    if not options.sessions:
        print("skipped: no file of sessions was named")
        return 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.cache or Path(temporary)
        judge = Judge(Kept(embedder_for("packaged", folder)))
        cross_validated(load(options.sessions), judge)
        for name in filter(None, (options.sessions, options.check)):
            everything: Counter[str] = Counter()
            for session in load(name):
                everything.update(cuts(session, judge))
            report(name.stem, everything)
    return 0


if __name__ == "__main__":
    sys.exit(main())
