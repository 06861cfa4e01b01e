"""Which conversation each session has open: a small file a session in the state directory."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from keeplore_hooks import durable
from keeplore_hooks.events import Origin
from keeplore_hooks.hosts.jsonl import session_digest
from keeplore_hooks.typed_json import load

SCHEMA = 1
# ids of commands, questions and compactions kept, to take each once though a cursor rereads it
MAX_SEEN = 200


@dataclass(slots=True)
class SessionState:
    origin: Origin
    open_id: str = (
        ""  # the open conversation's memory id, written before the conversation itself
    )
    opened_by: str = ""  # the command that begins the next one, or ""
    trigger: str = "turn"
    seen: list[str] = field(default_factory=list)
    # turns that began with a command of Keeplore's
    own: list[str] = field(default_factory=list)
    # the open conversation as it was last made, before anybody's edits, and as the time before: the
    # newest first
    made: list[str] = field(default_factory=list)
    before: str = ""  # the session's last conversation that was closed

    def add_seen(self, event_id: str) -> bool:
        """Remember the id of an event; returns True the first time."""
        if event_id in self.seen:
            return False
        self.seen = [*self.seen, event_id][-MAX_SEEN:]
        return True


class Sessions:
    """The session files of one directory. A file that cannot be read counts as a session not seen
    before: ids of memories come from ids of turns, so reading a transcript again writes the same
    files."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._loaded: dict[tuple[str, str], SessionState] = {}
        self._written: dict[Path, str] = {}

    def get(self, origin: Origin) -> SessionState:
        key = origin.session_key
        if key not in self._loaded:
            self._loaded[key] = load(self._path(*key), SessionState) or SessionState(
                origin
            )
        state = self._loaded[key]
        if origin.cwd:  # a session may move between directories
            state.origin = origin
        return state

    def save(self, state: SessionState) -> None:
        path = self._path(*state.origin.session_key)
        data = json.dumps({"schema": SCHEMA, **asdict(state)})
        if self._written.get(path) != data:
            durable.write(path, data.encode())
            self._written[path] = data

    def discard(self, host: str, session: str) -> None:
        """Forget where a session stands, and the words that are kept of it."""
        path = self._path(host, session)
        path.unlink(missing_ok=True)
        self._loaded.pop((host, session), None)
        self._written.pop(path, None)

    def save_all(self) -> None:
        """Write what changed since it was last written."""
        for state in self._loaded.values():
            self.save(state)

    def forget_loaded(self) -> None:
        """Read the files again at the next look: another process may have written them."""
        self._loaded.clear()
        self._written.clear()

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the right to capture, one process at a time; what another one wrote meanwhile is
        read again.
        """
        durable.make_private(self._directory)
        with durable.locked(self._directory / ".lock"):
            self.forget_loaded()
            yield

    def _path(self, host: str, session: str) -> Path:
        return self._directory / f"{session_digest(host, session)}.json"
