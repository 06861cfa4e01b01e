"""How far each session's transcript has been read: a small file a session in the state
directory.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from keeplore_hooks import durable
from keeplore_hooks.events import Origin
from keeplore_hooks.hosts import Cursor
from keeplore_hooks.hosts.jsonl import session_digest

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
        return self._load(self._path(origin)) or SessionProgress(origin)

    def save(self, progress: SessionProgress) -> None:
        data = json.dumps({"schema": SCHEMA, **asdict(progress)}, ensure_ascii=False)
        durable.write(
            self._path(progress.origin), data.encode("utf-8", "surrogatepass")
        )

    def restart(self, host: str, session: str) -> None:
        """Forget what was read of a session, and the words that are kept of it: its transcript is
        read again.
        """
        progress = self._load(self._path(Origin(host, session)))
        if progress is not None:
            self.save(replace(progress, cursor=Cursor()))

    def unfinished(self) -> Iterator[SessionProgress]:
        """Every session that is not marked as swept."""
        for path in sorted(self._directory.glob("*.json")):
            progress = self._load(path)
            if progress is not None and progress.ended_at != "swept":
                yield progress

    def newest(self) -> SessionProgress | None:
        """The session that was heard of last; None where none was."""
        found = filter(None, map(self._load, self._directory.glob("*.json")))
        return max(found, key=lambda progress: progress.heard_at, default=None)

    def latest(self, most: int) -> list[Origin]:
        """The sessions that were heard of last, the newest first."""
        stamped = [
            (path.stat().st_mtime, path) for path in self._directory.glob("*.json")
        ]
        newest = [path for _, path in sorted(stamped, reverse=True)[:most]]
        return [found.origin for found in map(self._load, newest) if found]

    def heard(self) -> dict[str, str]:
        """Host → when its last event came (RFC 3339, UTC); a session that was only imported had
        none.
        """
        found: dict[str, str] = {}
        for path in self._directory.glob("*.json"):
            progress = self._load(path)
            if progress and progress.began_at:
                host = progress.origin.host
                found[host] = max(found.get(host, ""), progress.heard_at)
        return found

    def problems(self) -> dict[str, tuple[str, str, int]]:
        """Host → when something of it could not be read the last time (RFC 3339, UTC), what, in how
        many sessions.
        """
        found: dict[str, tuple[str, str]] = {}
        counts: Counter[tuple[str, str]] = Counter()
        for path in self._directory.glob("*.json"):
            progress = self._load(path)
            if progress and progress.problem:
                host = progress.origin.host
                found[host] = max(
                    found.get(host, ("", "")), (progress.problem_at, progress.problem)
                )
                counts[host, progress.problem] += 1
        return {
            host: (at, problem, counts[host, problem])
            for host, (at, problem) in found.items()
        }

    def _path(self, origin: Origin) -> Path:
        return self._directory / f"{session_digest(*origin.session_key)}.json"

    def _load(self, path: Path) -> SessionProgress | None:
        """None where the file is gone or damaged."""
        try:
            data = json.loads(path.read_bytes())
            # older versions had none
            more = [
                str(data.get(key, "")) for key in ("problem", "problem_at", "began_at")
            ]
            origin, cursor = Origin(**data["origin"]), Cursor(**data["cursor"])
            known = SessionProgress(origin, cursor, data["heard_at"], data["ended_at"])
            problem, problem_at, began_at = more
            left_out = tuple(map(str, data.get("left_out", ())))
            return replace(
                known,
                problem=problem,
                problem_at=problem_at,
                began_at=began_at,
                left_out=left_out,
            )
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None
