"""Making the briefs that lie on disk, from which clients tell sessions without a worker."""

from __future__ import annotations

import contextlib
import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from keeplore.client import brief_on_disk as disk
from keeplore.config.code_consent import FILE as CONSENTS
from keeplore.config.machine import FILE as MACHINE
from keeplore.config.places import Places
from keeplore.config.project_file import IN_FOLDER
from keeplore.config.setting_layers import MACHINE_FILE
from keeplore.config.settings import FILE as SETTINGS
from keeplore.connect.client_copy import FOLDER as CLIENT
from keeplore.connect.client_copy import agents_command, composing_room, with_command
from keeplore.errors import KeeploreError
from keeplore.memory import Memory
from keeplore.recall.brief import brief
from keeplore.recall.render import ContextBlock, TextBudget, shown_name
from keeplore.recall.since.named_files import Freshness, nothing_known
from keeplore.recall.unasked.workspace_view import WorkspaceView
from keeplore.store import Store
from keeplore.workspace import written_directories
from keeplore.workspace.freshness import GIT_TIMEOUT_S
from keeplore.workspace.recording.cursors import Cursors
from keeplore.workspace.registry import Registry
from keeplore.workspace.workspace import Workspace
from keeplore.workspace.workspace_instructions import FILE as INSTRUCTIONS
from keeplore_hooks import durable
from keeplore_hooks.hosts.base import StartReason
from keeplore_hooks.installed import host_named

DIRECTORIES = 6  # the latest in which agents worked
MARK_BYTES = 8  # by which no text has a mark by chance
SESSIONS = 60  # that are looked at to find them
# host → its events at which a brief is told: a session's start, and the first prompt; Gemini CLI
# takes none at a start, which is said by a reply without text
EVENTS = {
    "claude-code": ("SessionStart", "UserPromptSubmit"),
    "codex": ("SessionStart", "UserPromptSubmit"),
    "copilot": ("sessionStart", "userPromptSubmitted"),
    "cursor": ("sessionStart", "beforeSubmitPrompt"),
    "gemini-cli": ("", "BeforeAgent"),
    "opencode": ("sessioncreated", "chatmessage", "sessioncompacted"),
}
SILENT_STARTS = {"gemini-cli": "sessionstart"}
NO_PROJECT = ("project", "")  # a scope in which nothing is


class BriefMaker:
    """Makes the briefs on disk. One thread at a time; another process may make the same."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry

    def refresh(self) -> None:
        """Make the briefs of the latest directories where they are out of date, and remove those of
        others. Raises OSError.
        """
        paths = self._brief_directories(DIRECTORIES)
        for path in (self._registry.places.state / disk.FOLDER).glob("*.json"):
            if path not in paths:
                path.unlink(missing_ok=True)
        self._make_current(paths)

    def refresh_latest(self, most: int) -> None:
        """Make the briefs of at most so many directories where they are out of date. Raises
        OSError.
        """
        self._make_current(self._brief_directories(most))

    def _brief_directories(self, most: int) -> dict[Path, str]:
        """The path of each brief that there should be, with its directory."""
        state = self._registry.places.state
        roots = self._worked_in(most)
        # another workspace may know the project of a directory of which nothing was heard
        if len(self._registry.machine.workspaces) == 1:
            roots.append(disk.ANYWHERE)
        return {Path(disk.path_for(str(state), root)): root for root in roots}

    def _make_current(self, paths: Mapping[Path, str]) -> None:
        for path, root in paths.items():
            if not _is_current(path, self._code_at(root), self._commands()):
                self._write_brief(path, root)

    def _commands(self) -> dict[str, str]:
        """Host → the command line that its agents are told."""
        state = self._registry.places.state
        return {host: agents_command(state, host) for host in EVENTS}

    def _worked_in(self, most: int) -> list[str]:
        """The latest directories of agents, and those in which a person wrote memory."""
        places = self._registry.places
        origins = Cursors(places.sessions).latest(SESSIONS)
        named = [o.cwd for o in origins if o.cwd and o.host in EVENTS]
        roots = list(dict.fromkeys(map(disk.root_of, named)))[:most]
        return list(dict.fromkeys((*roots, *written_directories.latest(places.state))))

    def _code_at(self, directory: str) -> str:
        """The state of the notes that the code repository there keeps, "" for none."""
        with contextlib.suppress(KeeploreError):
            if directory:
                return _state_of(self._registry.code_memory(Path(directory)))
        return ""

    def _write_brief(self, path: Path, directory: str) -> None:
        try:
            made = self._brief_content(directory)
            # the first look at a workspace writes down whose machines it knows
            if made and not disk.is_untouched(made):
                made = self._brief_content(directory)
        except KeeploreError:
            made = None
        if made is None:
            path.unlink(missing_ok=True)
            return
        path.parent.mkdir(mode=0o700, exist_ok=True)
        durable.write(
            path, json.dumps(made, ensure_ascii=False).encode(errors="surrogatepass")
        )
        # what was forgotten meanwhile must not stay
        if not disk.is_untouched(made):
            path.unlink(missing_ok=True)

    def _brief_content(self, directory: str) -> dict[str, Any] | None:
        """What a client reads; None where nothing is to be told. Raises KeeploreError."""
        cwd = Path(directory) if directory else self._directory_outside_projects()
        workspace = self._registry.for_directory(cwd)
        settings = workspace.settings.context
        if not settings.enabled:
            return None
        # before anything is read: a change in between is seen
        files = dict(disk.stamps_around(directory) if directory else ())
        files |= _stamps_of_settings(self._registry, workspace)
        files |= _stamps_of_code(self._registry, cwd)
        state_of_code = self._code_at(directory)
        views = [
            _with_noted_files(view if directory else _inherited_view(view), files)
            for view in self._registry.views(cwd, GIT_TIMEOUT_S)
        ]
        heads = [_top_and_head(str(view.store.top)) for view in views]
        slots = _FileSlots()
        blocks = self._brief_blocks(views, settings.brief_tokens, slots)
        texts = [text for text, _ in blocks.values()]
        if not (directory or any(texts)):
            return None
        commands = self._commands()
        printed = {
            host: _replies(host, with_command(block.text, commands[host]))
            for host, block in blocks.items()
        }
        return {
            "directory": directory,
            "files": list(files.items()),
            "heads": heads,
            "code": state_of_code,
            "commands": commands,
            "told": blocks,
            "printed": printed,
            "slots": slots.in_texts(texts),
        }

    def _directory_outside_projects(self) -> Path:
        """A directory of no project, whose workspace is the home workspace."""
        machine = self._registry.machine
        return machine.workspaces[machine.home]

    def _brief_blocks(
        self, views: Sequence[WorkspaceView], tokens: int, slots: _FileSlots
    ) -> dict[str, ContextBlock]:
        """Host → what it is told."""
        made: dict[int, ContextBlock] = {}  # by the bytes that there are for it
        blocks: dict[str, ContextBlock] = {}
        for host, command in sorted(self._commands().items()):
            size = composing_room(host_named(host).context_bytes, command)
            if size not in made:
                room = TextBudget(tokens, size)
                made[size] = brief(
                    views, session="", source=StartReason.STARTUP, room=room, tell=slots
                )
            blocks[host] = made[size]
        return blocks


def refresh_briefs(places: Places, most: int) -> None:
    """Make the briefs of the latest directories in a process that is not the worker, where hosts
    are connected or briefs exist. Raises KeeploreError or OSError.
    """
    if any((places.state / name).is_dir() for name in (disk.FOLDER, CLIENT)):
        with Registry(places) as registry:
            for name in registry.machine.workspaces:
                registry.named(name)
            registry.code_repositories()
            for workspace in registry.searched():
                workspace.index.refresh()
            BriefMaker(registry).refresh_latest(most)


def drop(places: Places) -> None:
    """Remove every brief: something was forgotten that may be in it. Raises OSError."""
    folder = places.state / disk.FOLDER
    for path in (
        *folder.glob("*.json"),
        *folder.glob("*.tmp"),
        *folder.glob(f"{disk.GIVEN}/*"),
    ):
        path.unlink(missing_ok=True)


def _top_and_head(top: str) -> tuple[str, str]:
    return top, disk.head_of(top)


def _is_current(path: Path, code: str, commands: dict[str, str]) -> bool:
    try:
        made = json.loads(path.read_bytes())
        return (
            made["commands"] == commands
            and made["code"] == code
            and disk.is_untouched(made)
            and disk.is_newest(made)
        )
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return False


def _replies(host: str, text: str) -> dict[str, str]:
    """Event, as clients compare it → what is printed."""
    replies = {
        event.lower(): host_named(host).reply(event, text).decode()
        for event in filter(None, EVENTS[host])
    }
    return {**replies, SILENT_STARTS[host]: ""} if host in SILENT_STARTS else replies


def _stamps_of_settings(registry: Registry, workspace: Workspace) -> dict[str, Any]:
    """What decides which memories are told where, and whose are believed."""
    state = registry.places.state
    paths = [state / MACHINE, state / MACHINE_FILE]
    for name in (workspace.name, *registry.inherited(workspace)):
        root = registry.machine.workspaces.get(name)
        paths += [
            state / "machines" / f"{name}.json",
            *([root / SETTINGS, root / INSTRUCTIONS] if root else []),
        ]
    return {str(path): disk.stamp(str(path)) for path in paths}


def _stamps_of_code(registry: Registry, cwd: Path) -> dict[str, Any]:
    """What decides whether notes of the code repository are told."""
    paths = [registry.places.state / CONSENTS]
    if code := registry.code_memory(cwd):
        paths += [code.root / IN_FOLDER, code.machine_trust.state]
    return {str(path): disk.stamp(str(path)) for path in paths}


def _state_of(code: Workspace | None) -> str:
    """A value that differs once notes of a code repository have changed, which no commit need
    show.
    """
    files = sorted(code.store.indexed()) if code else []
    return sha256(repr(files).encode("utf-8", "replace")).hexdigest() if code else ""


class _FileSlots:
    """Places in a brief whose text depends on how files are when it is told: each a mark as long as
    that can be, and the files with how they are now.
    """

    def __init__(self) -> None:
        self._slots: dict[str, list[Any]] = {}

    def __call__(self, state: Freshness) -> str:
        files = list(filter(None, (_watched_file(name, state) for name in state.files)))
        mark = secrets.token_hex(MARK_BYTES + _longest_end(files) // 2)
        self._slots[mark] = files
        return mark

    def in_texts(self, texts: Sequence[str]) -> list[tuple[str, list[Any]]]:
        """The memories whose reference stands in one of the texts."""
        together = "".join(texts)
        return [
            (mark, files) for mark, files in self._slots.items() if mark in together
        ]


def _longest_end(files: Sequence[Sequence[Any]]) -> int:
    """Characters of the most that can be told of files."""
    shown = sorted((name for name, *_ in files), key=len)[-2 * disk.SHOWN_FILES :]
    each = disk.SHOWN_FILES
    return len(disk.line_end(disk.since_then(shown[:each], shown[each:] or ["…"])))


def _watched_file(name: str, state: Freshness) -> list[Any] | None:
    """A file as a client compares it; None for what is none."""
    path = str(state.directory / name)
    stamp = disk.stamp(path)
    known = disk.GONE if name in state.gone else disk.FRESH
    known = disk.CHANGED if name in state.changed else known
    if stamp is None and known != disk.GONE:
        return None
    return [shown_name(name), path, stamp, disk.checksum_of(path), known]


def _inherited_view(view: WorkspaceView) -> WorkspaceView:
    """What every directory inherits: what was said outside of projects is not told in one, and
    which files are meant is not known.
    """
    return replace(view, scopes=(NO_PROJECT, *view.scopes), freshness=nothing_known)


def _with_noted_files(view: WorkspaceView, files: dict[str, Any]) -> WorkspaceView:
    store: Any = _NotingStore(view.store, files)
    return replace(view, store=store)


class _NotingStore:
    """A store that notes what is read of it, as it was before."""

    def __init__(self, store: Store, files: dict[str, Any]) -> None:
        self.root = store.root
        self.top = store.top
        self._store = store
        self._files = files

    def load(self, path: str) -> Memory:
        place = str(self.root / path)
        self._files.setdefault(place, disk.stamp(place))
        return self._store.load(path)
