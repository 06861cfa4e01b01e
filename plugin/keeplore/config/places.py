"""The two directories of this machine: the inbox, which must be kept, and the cache, which may go
at any time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import platformdirs

STATE_README = (
    "Keeplore's inbox on this machine: host events that are not yet text in a workspace, and where"
    "\neach session stands. Safe to read. Do not delete while `keeplore doctor` reports a backlog: "
    "what is in spool/\nexists nowhere else.\n"
)
CACHE_README = (
    "Keeplore's cache on this machine: search indexes and model files, all made from the text in "
    "the\nworkspaces. Safe to delete at any time; it comes back.\n"
)


@dataclass(frozen=True, slots=True)
class Places:
    state: Path
    cache: Path

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Places:
        """``KEEPLORE_STATE_DIR`` and ``KEEPLORE_CACHE_DIR``, else the platform's own
        directories.
        """
        state = environment.get("KEEPLORE_STATE_DIR") or platformdirs.user_state_dir(
            "keeplore", appauthor=False
        )
        cache = environment.get("KEEPLORE_CACHE_DIR") or platformdirs.user_cache_dir(
            "keeplore", appauthor=False
        )
        return cls(Path(state), Path(cache))

    @property
    def spool(self) -> Path:
        return self.state / "spool"

    @property
    def sessions(self) -> Path:
        return self.state / "sessions"

    @property
    def jobs(self) -> Path:
        """The queue: what waits to be ingested or refined."""
        return self.state / "jobs.sqlite3"

    @property
    def ledger(self) -> Path:
        """What language models have cost."""
        return self.state / "ledger.sqlite3"

    @property
    def models(self) -> Path:
        return self.cache / "models"

    def create(self) -> None:
        """Make both directories, private to this user, each with a README."""
        for directory, readme in (
            (self.state, STATE_README),
            (self.cache, CACHE_README),
        ):
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            note = directory / "README"
            if not note.exists():
                note.write_text(readme, encoding="utf-8")
        self.sessions.mkdir(mode=0o700, exist_ok=True)


def stamp(path: Path) -> tuple[int, int] | None:
    """Inode and time of a file, by which a change of it is seen; None where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns
