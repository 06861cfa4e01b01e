"""How far each session's transcript has been read: a small file a session in the state
directory.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from keeplore_hooks import durable
from keeplore_hooks.events import Origin
from keeplore_hooks.hosts import Cursor
from keeplore_hooks.hosts.jsonl import session_digest
from keeplore_hooks.typed_json import load

SCHEMA = 1


@dataclass(frozen=True, slots=True)
class SessionProgress:
    """``heard_at`` is when the last event came, ``ended_at`` when the host reported the end (""
    while it runs).

    ``began_at`` is when it was first heard of here; ``problem`` is what could not be read the last
    time that there was such a thing, ``problem_at`` when that was. ``left_out`` are digests of the
    events that may not be captured: they stay out when the session may be captured again.
    """

    origin: Origin
    cursor: Cursor = field(default_factory=Cursor)
    heard_at: str = ""
    ended_at: str = ""
    problem: str = ""
    problem_at: str = ""
    began_at: str = ""
    left_out: tuple[str, ...] = ()


class Cursors:
    """A file that cannot be read counts as none: ids of memories come from ids of turns, so that
    reading a transcript again from its start changes nothing."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def get(self, origin: Origin) -> SessionProgress:
        return load(self._path(origin), SessionProgress) or SessionProgress(origin)

    def save(self, progress: SessionProgress) -> None:
        data = json.dumps({"schema": SCHEMA, **asdict(progress)}, ensure_ascii=False)
        durable.write(
            self._path(progress.origin), data.encode("utf-8", "surrogatepass")
        )

    def restart(self, host: str, session: str) -> None:
        """Forget what was read of a session, and the words that are kept of it: its transcript is
        read again.
        """
        progress = load(self._path(Origin(host, session)), SessionProgress)
        if progress is not None:
            self.save(replace(progress, cursor=Cursor()))

    def unfinished(self) -> Iterator[SessionProgress]:
        """Every session that is not marked as swept."""
        return (known for known in self._all_progress() if known.ended_at != "swept")

    def newest(self) -> SessionProgress | None:
        """The session that was heard of last; None where none was."""
        return max(
            self._all_progress(), key=lambda progress: progress.heard_at, default=None
        )

    def latest(self, most: int) -> list[Origin]:
        """The sessions that were heard of last, the newest first."""
        stamped = [
            (path.stat().st_mtime, path) for path in self._directory.glob("*.json")
        ]
        newest = [path for _, path in sorted(stamped, reverse=True)[:most]]
        return [progress.origin for progress in _load_all(newest)]

    def heard(self) -> dict[str, str]:
        """Host → when its last event came (RFC 3339, UTC); a session that was only imported had
        none.
        """
        found: dict[str, str] = {}
        for progress in self._all_progress():
            if progress.began_at:
                host = progress.origin.host
                found[host] = max(found.get(host, ""), progress.heard_at)
        return found

    def problems(self) -> dict[str, tuple[str, str, int]]:
        """Host → when something of it could not be read the last time (RFC 3339, UTC), what, in how
        many sessions.
        """
        found: dict[str, tuple[str, str]] = {}
        counts: Counter[tuple[str, str]] = Counter()
        for progress in self._all_progress():
            if progress.problem:
                host = progress.origin.host
                found[host] = max(
                    found.get(host, ("", "")), (progress.problem_at, progress.problem)
                )
                counts[host, progress.problem] += 1
        return {
            host: (at, problem, counts[host, problem])
            for host, (at, problem) in found.items()
        }

    def _all_progress(self) -> Iterator[SessionProgress]:
        return _load_all(sorted(self._directory.glob("*.json")))

    def _path(self, origin: Origin) -> Path:
        return self._directory / f"{session_digest(*origin.session_key)}.json"


def _load_all(paths: Iterable[Path]) -> Iterator[SessionProgress]:
    """What the files tell; one that is gone or damaged tells nothing."""
    return filter(None, (load(path, SessionProgress) for path in paths))
