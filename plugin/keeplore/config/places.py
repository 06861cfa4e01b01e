"""The two directories of this machine: the inbox, which must be kept, and the cache, which may go
at any time.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from keeplore.errors import ConfigError
from keeplore_hooks import durable

FORMAT_FILE = "format"  # in the inbox
FORMAT = (
    1  # of the whole inbox; raised when an older program would misread a file of it
)
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
        """Make both directories, private to this user, each with a README; the cache if it can be.

        Raises ConfigError where a newer program has changed the form of the inbox, or OSError.
        """
        found = self.found_format
        if found > FORMAT:
            raise ConfigError(
                f"{self.state} is of a newer Keeplore: its format is {found}, this one knows "
                f"{FORMAT}",
                "Run `keeplore upgrade`, which says how to upgrade this one",
            )
        _make_directory(self.state, STATE_README)
        with contextlib.suppress(OSError):  # what has to be kept needs none
            _make_directory(self.cache, CACHE_README)
        self.sessions.mkdir(mode=0o700, exist_ok=True)
        if found < FORMAT:
            durable.write(self.state / FORMAT_FILE, f"{FORMAT}\n".encode())

    @property
    def found_format(self) -> int:
        """The format of the inbox that is there; 0 where none is noted."""
        try:
            version = (self.state / FORMAT_FILE).read_bytes()[:20].strip()
        except OSError:
            return 0
        return int(version) if version.isdigit() else 0


def _make_directory(directory: Path, readme: str) -> None:
    durable.make_private(directory)
    note = directory / "README"
    if not note.exists():
        note.write_text(readme, encoding="utf-8")


def stamp(path: Path) -> tuple[int, int] | None:
    """Inode and time of a file, by which a change of it is noticed; None where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns


def expanded(path: str) -> str:
    """The path with the home directory in place of ``~``."""
    return str(Path(path).expanduser()) if path.startswith("~") else path
