"""Fit the weights by which capture tells one task of an agent from the next, and say how good they
are on sessions that they were not fitted on.

    python benchmarks/train_tasks.py [LABELS] [--cache FOLDER]

LABELS, by default ``task_labels.tsv``, has above the exchanges of a session its transcript, and a
line an exchange: its number, the first eight hex digits of the SHA-256 of its message, and whether
another task begins with it as a person says who read the session (``opens``, ``goes on``, or
``unsure`` where that was not judged). Left out in turn is each session. A boundary counts as right
where the person has it too; the conversation before it begins where it was cut, as capture does it.
The data is not part of the repository (KEEPLORE_DATA, or ../shared/data).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import captured
import logistic
import numpy as np
from segmentation import Kept
from talks import DATA, text_hash

from keeplore.capture import task_change
from keeplore.capture.message_filter import filtered_exchange, observed_work
from keeplore.capture.open_conversation import says_little
from keeplore.capture.segmenter import Segmenter, TopicShift, boundary
from keeplore.capture.task_change import TaskEvidence
from keeplore.index import embedder_for
from keeplore.memory import Exchange
from keeplore_hooks.events import HostEvent, Turn, Work
from keeplore_hooks.hosts import Cursor
from keeplore_hooks.installed import SOURCES

LABELS = Path(__file__).with_name("task_labels.tsv")
OPENS, UNSURE = "opens", "unsure"
PENALTY = 5.0  # of the squared weights of standardised evidence
Row = tuple[TaskEvidence, bool]


@dataclass(frozen=True, slots=True)
class Recorded:
    """A session with a person's judgement."""

    name: str
    turns: Sequence[Turn]
    exchanges: Sequence[Exchange]
    opens: frozenset[int]
    unsure: frozenset[int]

    def before(self, start: int, end: int) -> list[dict[str, str]]:
        """The exchanges as capture hands them on."""
        names = ("id", "at", "ended_at", "user", "assistant")
        return [
            {name: getattr(exchange, name) for name in names}
            for exchange in self.exchanges[start:end]
        ]

    def work(self, start: int, end: int) -> Work:
        """What was done from one exchange up to another."""
        done = [turn.work for turn in self.turns[start:end]]
        files, commands, commits = (
            tuple(dict.fromkeys(item for work in done for item in getattr(work, name)))
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

    def _shift(self, session: Recorded, start: int, n: int) -> TopicShift:
        before = session.before(start, n)
        return self._segmenter.shift_of(
            before, session.turns[n], session.work(start, n)
        )

    def _of(self, session: Recorded, start: int, n: int, shift: TopicShift) -> str:
        turn = session.turns[n]
        if says_little(session.exchanges[n], turn.work):
            return ""
        return boundary(session.before(start, n), turn, shift)


def load(path: Path) -> Iterator[Recorded]:
    """The labelled sessions; an exchange whose message has changed was not judged."""
    session, labels = "", dict[int, tuple[str, str]]()
    for line in [*path.read_text(encoding="utf-8").splitlines(), "= "]:
        if line.startswith("= "):
            if session:
                yield recorded(session, labels)
            session, labels = line[2:], {}
        elif not line.startswith("#"):
            number, digest, label = line.split("\t")
            labels[int(number)] = digest, label


def recorded(name: str, labels: dict[int, tuple[str, str]]) -> Recorded:
    turns, exchanges = said(name)
    opens, unsure = set[int](), set[int]()
    for n, exchange in enumerate(exchanges):
        digest, label = labels.get(n, ("", UNSURE))
        if digest != text_hash(exchange.user) or label == UNSURE:
            unsure.add(n)
        elif label == OPENS:
            opens.add(n)
    return Recorded(name, turns, exchanges, frozenset(opens), frozenset(unsure))


def said(name: str) -> tuple[list[Turn], list[Exchange]]:
    """The turns of a session as capture sees them, each with its exchange."""
    found: dict[str, tuple[Turn, Exchange]] = {}
    for turn in events(DATA / name):
        exchange = (
            filtered_exchange(turn, unredacted) if isinstance(turn, Turn) else None
        )
        if isinstance(turn, Turn) and exchange:
            replies = tuple(r for r in exchange.replies if isinstance(r, str))
            work = observed_work(turn, unredacted)
            seen = replace(turn, user=exchange.user, replies=replies, work=work)
            found[turn.id] = seen, exchange
    return [turn for turn, _ in found.values()], [e for _, e in found.values()]


def events(transcript: Path) -> Sequence[HostEvent]:
    host = transcript.relative_to(DATA).parts[0]
    if host in SOURCES:
        return SOURCES[host].read_record(transcript, Cursor()).events
    return [*captured.events(transcript)]


def unredacted(text: str, _cwd: str) -> str:
    return text


def rows(session: Recorded, judge: Judge) -> list[Row]:
    """TaskEvidence and judgement of each exchange that nothing else decides."""
    found, start = [], 0
    for n in range(1, len(session.turns)):
        evidence = judge.evidence(session, start, n)
        if evidence is not None and n not in session.unsure:
            found.append((evidence, n in session.opens))
        start = n if n in session.opens else start
    return found


def fit(all_rows: Sequence[Row]) -> tuple[TaskEvidence, float]:
    """Weights and intercept."""
    inputs = np.array([row[0] for row in all_rows])
    answers = np.array([row[1] for row in all_rows], float)
    weights, intercept = logistic.fit(inputs, answers, PENALTY)
    return TaskEvidence(*weights.tolist()), intercept


def cuts(session: Recorded, judge: Judge) -> Counter[str]:
    """How the product's boundaries and the person's agree."""
    counts: Counter[str] = Counter()
    start = 0
    for n in range(1, len(session.turns)):
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
    total: Counter[str] = Counter()
    for n, session in enumerate(sessions):
        others = [row for k, part in enumerate(by_session) if k != n for row in part]
        task_change.WEIGHTS, task_change.INTERCEPT = fit(others)
        total += cuts(session, judge)
    task_change.WEIGHTS, task_change.INTERCEPT = usual
    report("left out", total)
    weights, intercept = fit([row for part in by_session for row in part])
    print(", ".join(f"{k}={v:.2f}" for k, v in weights._asdict().items()))
    print(f"intercept={intercept:.2f}")


def main() -> int:
    parser = argparse.ArgumentParser(description="Fit how tasks are told apart.")
    parser.add_argument("labels", type=Path, nargs="?", default=LABELS)
    parser.add_argument("--cache", type=Path)
    options = parser.parse_args()
    if not DATA.is_dir():
        print(f"no transcripts in {DATA}: set KEEPLORE_DATA")
        return 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.cache or Path(temporary)
        judge = Judge(Kept(embedder_for("packaged", folder)))
        sessions = [*load(options.labels)]
        cross_validated(sessions, judge)
        total: Counter[str] = Counter()
        for session in sessions:
            total += cuts(session, judge)
        report("weights in use", total)
    return 0


if __name__ == "__main__":
    sys.exit(main())
