"""Where a question is asked from: hosts start a server in any directory, and few say which project
is open.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from keeplore.errors import ConfigError
from keeplore.workspace.recording.cursors import Cursors
from keeplore_hooks.events import Origin

PROJECTS = ("CLAUDE_PROJECT_DIR", "CURSOR_PROJECT_DIR", "GEMINI_PROJECT_DIR")
ROOTS = (
    "PLUGIN_ROOT",
    "CLAUDE_PLUGIN_ROOT",
    "COPILOT_PLUGIN_ROOT",
    "CURSOR_PLUGIN_ROOT",
)
# variable → host
SESSIONS = {
    "CLAUDE_CODE_SESSION_ID": "claude-code",
    "COPILOT_AGENT_SESSION_ID": "copilot",
}


@dataclass(frozen=True, slots=True)
class ResolvedDirectory:
    """``is_known`` is False where the directory was only guessed: good enough to look, not to
    write.
    """

    directory: Path
    is_known: bool = True


class ProjectRoots:
    """``sessions`` is the directory with a file for each session, ``cwd`` the one that the server
    was started in, ``roots`` are the URIs of the directories that the host says are open.
    """

    def __init__(
        self,
        environment: Mapping[str, str],
        sessions: Path,
        cwd: Path,
        roots: Sequence[str] = (),
    ) -> None:
        self._environment = environment
        self._cursors = Cursors(sessions)
        self._cwd = cwd
        self._roots = roots

    @property
    def session(self) -> Origin:
        """The host's session that started this server; without an id where the host does not
        say.
        """
        for variable, host in SESSIONS.items():
            if session := self._environment.get(variable):
                return Origin(host, session)
        return Origin("", "")

    @property
    def agent(self) -> str:
        """The agent that the person runs in that session, "" for the host's own."""
        known = self.session.session and self._cursors.get(self.session)
        return known.origin.agent_name if known else ""

    def asked(self, directory: str) -> ResolvedDirectory:
        """The directory that was named, else the one that the host names or where the session was
        last seen.

        Raises ConfigError for a name that is no directory.
        """
        if directory:
            return ResolvedDirectory(_existing_directory(directory))
        for variable in PROJECTS:
            if found := _directory_or_none(self._environment.get(variable, "")):
                return ResolvedDirectory(found)
        if self.session.session and (
            found := _directory_or_none(self._cursors.get(self.session).origin.cwd)
        ):
            return ResolvedDirectory(found)
        for uri in self._roots:
            if found := _directory_or_none(_path_of(uri)):
                return ResolvedDirectory(found)
        if self._is_project(self._cwd):
            return ResolvedDirectory(self._cwd)
        newest = self._cursors.newest()
        found = _directory_or_none(newest.origin.cwd) if newest else None
        return ResolvedDirectory(found or Path.home(), is_known=False)

    def _is_project(self, cwd: Path) -> bool:
        """Whether somebody may work there: the home directory, a plugin's and a host's own say
        nothing.
        """
        home = Path.home()
        if cwd in (home, Path(cwd.anchor)) or not cwd.is_dir():
            return False
        roots = [
            Path(self._environment[name])
            for name in ROOTS
            if self._environment.get(name)
        ]
        if any(cwd.is_relative_to(root) for root in roots):
            return False
        inside = cwd.relative_to(home).parts if cwd.is_relative_to(home) else ()
        return not (inside and inside[0].startswith("."))


def _path_of(uri: str) -> str:
    """The path in a URI of a file, "" for any other."""
    parts = urlsplit(uri)
    is_here = parts.scheme == "file" and parts.netloc in ("", "localhost")
    return unquote(parts.path) if is_here else ""


def _existing_directory(directory: str) -> Path:
    found = _directory_or_none(directory)
    if found is None:
        raise ConfigError(
            f"{directory!r} is no directory on this machine",
            "Give the absolute path of the project's directory, or leave `directory` out",
        )
    return found


def _directory_or_none(directory: str) -> Path | None:
    try:
        place = Path(directory).expanduser()
        return place if place.is_absolute() and place.is_dir() else None
    except (OSError, RuntimeError, ValueError):
        # a name that is too long, a home that nobody has
        return None
