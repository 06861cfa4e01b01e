"""The workspaces of this machine: which one a directory belongs to, opened when first needed."""

from __future__ import annotations

import contextlib
import difflib
import os
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from keeplore.config.machine import FILE, Machine
from keeplore.config.places import Places, stamp
from keeplore.config.setting_layers import MACHINE_FILE
from keeplore.config.settings import FILE as SETTINGS
from keeplore.errors import (
    ConfigError,
    KeeploreError,
    NotFound,
    NoWorkspace,
    RepositoryBusy,
)
from keeplore.index import EmbeddingModels, MemoryRow
from keeplore.memory import Memory
from keeplore.memory.model import Scope
from keeplore.memory.names import is_project_name
from keeplore.memory.note import NoteDraft
from keeplore.recall.request import Answer, AnswerStatus, RecallHit, RecallRequest
from keeplore.recall.since.named_files import FilesSince
from keeplore.recall.unasked.workspace_view import WorkspaceView
from keeplore.workspace.freshness import GIT_TIMEOUT_S, PROMPT_TIMEOUT_S, files_since
from keeplore.workspace.identity import load_projects
from keeplore.workspace.in_repo.code_memories import CodeMemories
from keeplore.workspace.in_repo.code_workspace import CodeWorkspace
from keeplore.workspace.last_settings import last_settings
from keeplore.workspace.loading import missing_memory
from keeplore.workspace.note_writer import NoteWriter
from keeplore.workspace.workspace import Workspace
from keeplore.workspace.workspace_instructions import instructions

SHOWN = 5  # memories that a reference may mean
EVERYWHERE = "this directory belongs to no project, so all projects were looked at"
OFFERED = (
    "this code repository brings notes that nobody has agreed to read on this machine;"
    " `keeplore projects in-repo` does"
)
# of two stores the status counts that says more
_SAYING = (
    AnswerStatus.EMPTY,
    AnswerStatus.NOTHING,
    AnswerStatus.STALE,
    AnswerStatus.FOUND,
)


def _merged_answers(answer: Answer, hits: list[RecallHit], limit: int) -> Answer:
    # stable: one's own come first
    best = sorted((*answer.hits, *hits), key=lambda hit: -hit.score)[:limit]
    return replace(
        answer, hits=tuple(best), status=AnswerStatus.FOUND if best else answer.status
    )


@dataclass(frozen=True, slots=True)
class FoundMemory:
    """A memory and the workspace that holds it."""

    workspace: Workspace
    row: MemoryRow
    memory: Memory


class Registry:
    """All registered workspaces, safe for several threads; a context manager that closes those it
    opened.

    While ``is_mending`` one whose settings are broken opens with those that it had last.
    """

    def __init__(self, places: Places) -> None:
        places.create()
        self.places = places
        self.is_mending = False
        # inode and time of the list of workspaces
        self._seen: tuple[int, int] | None = None
        self.machine = self._load()
        self._opened: dict[str, Workspace] = {}
        # of each that is open: inodes and times of its settings, and of this machine's
        self._settings: dict[str, tuple[tuple[int, int] | None, ...]] = {}
        self._models = EmbeddingModels(places.models)
        self._code = CodeMemories(places)
        self._lock = threading.RLock()

    def __enter__(self) -> Registry:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def named(self, name: str) -> Workspace:
        """The workspace of that name, opened anew where its settings have changed or it lies
        elsewhere now.

        Raises NoWorkspace for a name that is not registered, ConfigError where its directory is no
        workspace.
        """
        with self._lock:
            self._look_again()
            root = self.machine.workspaces.get(name)
            shared = stamp(root / SETTINGS) if root else None
            settings = (shared, stamp(self.places.state / MACHINE_FILE))
            known = self._opened.get(name)
            if known and (known.root != root or self._settings[name] != settings):
                del self._opened[name]
                known.close()
            if root is None:
                raise NoWorkspace(
                    f"no workspace named {name!r} on this machine",
                    "Run `keeplore init DIR`",
                )
            if shared is None and not (root / ".git").exists():
                raise _gone_error(name, root)
            if name not in self._opened:
                opened = self._open(name, root)
                opened.notes.elsewhere = partial(self._writer_of, opened)
                self._opened[name] = opened
                self._settings[name] = settings
            return self._opened[name]

    def _open(self, name: str, root: Path) -> Workspace:
        given = (name, root, self.places, self.machine, self._models)
        try:
            return Workspace(*given)
        except ConfigError:
            last = self.is_mending and last_settings(root, self.places.state)
            if not last:
                raise
            return Workspace(*given, last)

    def for_directory(self, directory: Path) -> Workspace:
        """The workspace that a directory lies in, else the one that knows its project, else the
        home workspace.

        Raises NoWorkspace where none is registered.
        """
        self._look_again()
        if not self.machine.workspaces:
            raise NoWorkspace(
                "no workspace is set up on this machine",
                "Run `keeplore init DIR` or `keeplore clone URL DIR`",
            )
        if around := self.machine.workspace_around(directory):
            return self.named(around)
        return next(self._knowing(directory), None) or self.named(self.machine.home)

    def also_knowing(self, directory: Path) -> list[str]:
        """Names of the workspaces that would be the directory's if the first were not; none for a
        directory in a workspace.
        """
        if self.machine.workspace_around(directory):
            return []
        return [workspace.name for workspace in self._knowing(directory)][1:]

    def _knowing(self, directory: Path) -> Iterator[Workspace]:
        """The workspaces that know the directory's project, the home workspace first, so that most
        lookups open one.
        """
        home = self.machine.home
        for name in (home, *sorted(self.machine.workspaces.keys() - {home})):
            # a workspace that is gone must not hide the others
            with contextlib.suppress(ConfigError):
                workspace = self.named(name)
                if workspace.identities.of(directory).is_known:
                    yield workspace

    def for_scope(self, scope: str, cwd: Path) -> Workspace:
        """Where memory of a scope belongs: what is about the person in the home workspace, the rest
        in the directory's.

        Raises NoWorkspace.
        """
        own = self.for_directory(cwd)
        return (
            self.named(self.machine.home)
            if scope == "user" and self.machine.home
            else own
        )

    def for_project(self, project: str, cwd: Path) -> Workspace:
        """The workspace that knows a project of this name, the directory's first.

        Raises NotFound, which names those that may be meant.
        """
        known: list[str] = []
        for workspace in self.nearest_first(cwd):
            names = _projects(workspace)
            if project in names:
                return workspace
            known += names
        close = difflib.get_close_matches(project, known, SHOWN)
        meant = f"Did you mean {' or '.join(close)}? " if close else ""
        raise NotFound(
            f"there is no project {project!r}", f"{meant}`keeplore projects` lists them"
        )

    def code_memory(
        self, cwd: Path, own: Workspace | None = None
    ) -> CodeWorkspace | None:
        """What the code repository around a directory keeps of its project, where the person has
        said yes to it; ``own`` is the directory's workspace.
        """
        return self._code.at(cwd, own or self.for_directory(cwd))

    def recall(self, request: RecallRequest) -> Answer:
        """What the directory's workspace and those it inherits answer; paths of the others are
        absolute. In a directory of no project all projects are asked. Raises NotFound where the one
        memory that alone is asked is not known.
        """
        if request.within:
            return self._recall_within(request)
        workspace = self.for_directory(request.cwd)
        is_everywhere = request.may_widen and not workspace.identities.project_of(
            str(request.cwd)
        )
        asked = replace(request, wide=True) if is_everywhere else request
        answer = workspace.recall(asked, freshness=_freshness(workspace, asked))
        if is_everywhere and any(hit.project for hit in answer.hits):
            answer = answer.with_note(EVERYWHERE)
        answer = self._with_code(answer, workspace, request)
        for name in self.inherited(workspace):
            is_named = name in workspace.settings.inherits
            answer = self._with_inherited(answer, name, request, is_named=is_named)
        return answer

    def _recall_within(self, request: RecallRequest) -> Answer:
        """What one memory says, in whatever workspace it is."""
        found = self.find(request.within, request.cwd)
        asked = replace(request, within=found.row.id)
        freshness = _freshness(found.workspace, request)
        answer = found.workspace.recall(asked, freshness=freshness)
        if found.workspace is self.for_directory(request.cwd):
            return answer
        hits = (_with_whole_path(hit, found.workspace.root) for hit in answer.hits)
        return replace(answer, hits=tuple(hits))

    def _with_inherited(
        self, answer: Answer, name: str, request: RecallRequest, *, is_named: bool
    ) -> Answer:
        """The answer with what another workspace adds, or a note that it could not be asked."""
        try:
            other = self.named(name)
            # seen from the other workspace itself: what it holds for all its projects
            there = replace(request, cwd=other.root, wide=False)
            more = other.recall(there, freshness=_freshness(other, request))
        except KeeploreError as e:
            return answer.with_note(f"{name} was not searched: {e}")
        hits = _inherited_hits(more.hits, other.root, is_named=is_named)
        return _merged_answers(answer, hits, request.limit)

    def _with_code(
        self, answer: Answer, own: Workspace, request: RecallRequest
    ) -> Answer:
        """The answer with what the code repository around the directory adds."""
        if code := self.code_memory(request.cwd, own):
            return _with_recalled(answer, code, request)
        if request.at_once or not self._code.is_offered(request.cwd):
            return answer
        status = max(answer.status, AnswerStatus.NOTHING, key=_SAYING.index)
        return replace(answer.with_note(OFFERED), status=status)

    def find(self, reference: str, cwd: Path) -> FoundMemory:
        """The memory that an id, four or more digits of one, a path or a file's name stands for.

        The directory's workspace is asked first, then the others. Raises NotFound, which names what
        may be meant.
        """
        for workspace in self.nearest_first(cwd):
            workspace.index.refresh_for_reading()
            path = _path_within(workspace.root, reference.strip(), cwd)
            rows = workspace.index.find(path)
            if len(rows) > 1:
                raise _ambiguous_error(reference, rows)
            if rows:
                return FoundMemory(
                    workspace, rows[0], workspace.store.load(rows[0].path)
                )
        stores = (workspace.store for workspace in self.nearest_first(cwd))
        raise missing_memory(reference.strip(), stores)

    def nearest_first(self, cwd: Path) -> Iterator[Workspace]:
        """The directory's workspace, those that it inherits, the others."""
        own = self.for_directory(cwd)
        yield own
        if code := self.code_memory(cwd, own):
            yield code
        for name in dict.fromkeys((*self.inherited(own), *self.machine.workspaces)):
            if name == own.name:
                continue
            # a workspace that is gone must not hide the others
            with contextlib.suppress(ConfigError):
                yield self.named(name)

    def inherited(self, workspace: Workspace) -> list[str]:
        """Names of the workspaces that are searched as well; the home workspace gives what is about
        the person.
        """
        names = dict.fromkeys((*workspace.settings.inherits, self.machine.home))
        return [name for name in names if name != workspace.name]

    def views(
        self, cwd: Path, files_within_s: float = PROMPT_TIMEOUT_S, *, agent: str = ""
    ) -> list[WorkspaceView]:
        """The directory's workspace, and of those that it inherits what applies here, to an agent
        that is called so; git is given so long to say what became of files.
        """
        own = self.for_directory(cwd)
        freshness = partial(files_since, own, cwd, timeout_s=files_within_s)
        here = replace(
            _view(own, own.identities.here(cwd, agent).scopes),
            related=own.settings.context.related,
            freshness=freshness,
            instructions=partial(instructions, own),
        )
        views = [here]
        if code := self.code_memory(cwd, own):
            of_code = _view(code, code.identities.here(cwd).own)
            views.append(replace(of_code, freshness=freshness))
        for name in self.inherited(own):
            scopes = [("user", "")]
            if name in own.settings.inherits:
                scopes.append(("workspace", ""))
            try:
                other = self.named(name)
            except KeeploreError:
                continue  # one that is gone must not hide the others
            views.append(_view(other, tuple(scopes)))
        return views

    def opened(self) -> list[Workspace]:
        """The workspaces in use, with their settings as they are now; one that is gone or has
        broken settings is left out.
        """
        with self._lock:
            for name in list(self._opened):
                with contextlib.suppress(KeeploreError):
                    self.named(name)
            return list(self._opened.values())

    def searched(self) -> list[Workspace]:
        """The workspaces in use, and the memories of code repositories in use."""
        own = self.opened()
        # anew where the settings of the workspace have changed
        code = [
            self.code_memory(workspace.tree.top) for workspace in self._code.opened()
        ]
        return [*own, *filter(None, code)]

    def code_repositories(self) -> list[tuple[Path, CodeWorkspace | None]]:
        """The code repositories to which the person has said yes, each with the memory that its
        main work tree keeps.
        """
        mains = self._code.consented() if self.machine.workspaces else []
        return [(main, self.code_memory(main)) for main in mains]

    def change_count(self) -> int:
        """How many memory files capture has written in this process."""
        return sum(workspace.plugins.changes.count for workspace in self.opened())

    def commit_all(self, message: str) -> None:
        """Bring index and HEAD of those in use up to what was written."""
        for workspace in self.searched():
            workspace.index.refresh()
            # the files are there, and the worker commits them later
            with contextlib.suppress(RepositoryBusy):
                workspace.commit(message)

    def close(self) -> None:
        self._code.close()
        for workspace in self._opened.values():
            workspace.close()
        self._opened.clear()

    def _writer_of(
        self, own: Workspace, draft: NoteDraft, directory: str
    ) -> NoteWriter | None:
        """Who writes a note of a project that keeps its notes with the code."""
        if draft.scope != Scope.PROJECT:
            return None
        project, here = draft.project, Path(directory)
        branch = str(draft.source.get("branch") or "")
        if directory and own.identities.project_of(directory) == project:
            code = self._code.at(here, own)
        else:
            code = self._code.of_project(own, project, branch)
        return code.notes if code else None

    def _look_again(self) -> None:
        """Read the list of workspaces where another process has changed it."""
        with self._lock:
            if self._seen != stamp(self.places.state / FILE):
                self.machine = self._load()

    def _load(self) -> Machine:
        # before reading: a change in between is seen the next time
        self._seen = stamp(self.places.state / FILE)
        return Machine.load(self.places)


def _with_recalled(answer: Answer, code: Workspace, request: RecallRequest) -> Answer:
    """The answer with what a project's code repository adds that the workspace has not."""
    try:
        more = code.recall(replace(request, wide=False))
    except KeeploreError as e:
        return answer.with_note(f"{code.root} was not searched: {e}")
    answer = replace(answer, status=max(answer.status, more.status, key=_SAYING.index))
    if not answer.stamp.memories:  # how nothing was searched is of no interest
        answer = replace(answer, legs=more.legs, notes=more.notes, stamp=more.stamp)
    known = {hit.memory_id for hit in answer.hits}
    hits = [
        _with_whole_path(hit, code.root)
        for hit in more.hits
        if hit.memory_id not in known
    ]
    return _merged_answers(answer, hits, request.limit)


def _view(workspace: Workspace, scopes: tuple[tuple[str, str], ...]) -> WorkspaceView:
    trust = workspace.machine_trust
    return WorkspaceView(
        workspace.index, workspace.store, scopes, trust.trust_of, trust.sources
    )


def _freshness(workspace: Workspace, request: RecallRequest) -> FilesSince:
    timeout_s = PROMPT_TIMEOUT_S if request.at_once else GIT_TIMEOUT_S
    return partial(files_since, workspace, request.cwd, timeout_s=timeout_s)


def _projects(workspace: Workspace) -> list[str]:
    """Names of projects: those with an entry, and those that only a folder or a memory names, put
    there by hand.
    """
    names = {entry.name for entry in load_projects(workspace.store)}
    folder = workspace.root / "projects"
    if folder.is_dir():
        names.update(
            path.name for path in folder.iterdir() if is_project_name(path.name)
        )
    workspace.index.refresh_for_reading()
    names.update(project for _, project in workspace.index.scopes() if project)
    return sorted(names)


def _path_within(root: Path, reference: str, cwd: Path) -> str:
    """A path as the index has it, where the reference is one of a file in this workspace; else the
    reference.
    """
    if "/" not in reference and "\\" not in reference:
        return reference
    place = Path(os.path.normpath(cwd / Path(reference).expanduser()))
    return (
        place.relative_to(root).as_posix() if place.is_relative_to(root) else reference
    )


def _gone_error(name: str, root: Path) -> ConfigError:
    return ConfigError(
        f"the workspace {name!r} is not in {root} any more",
        f"Mount its disk; where it was moved, `keeplore init NEW-DIR --name {name}`;"
        f" where it is gone for good, `keeplore workspaces remove {name}`",
    )


def _with_whole_path(hit: RecallHit, root: Path) -> RecallHit:
    return replace(hit, path=str(root / hit.path))


def _inherited_hits(
    hits: Iterable[RecallHit], root: Path, *, is_named: bool
) -> list[RecallHit]:
    """What another workspace gives to one that inherits it; its own memories where it is named."""
    return [
        _with_whole_path(hit, root)
        for hit in hits
        if hit.scope == "user" or (is_named and hit.scope == "workspace")
    ]


def _ambiguous_error(reference: str, rows: Sequence[MemoryRow]) -> NotFound:
    meant = ", ".join(f"{row.id} ({row.title})" for row in rows[:SHOWN])
    return NotFound(
        f"{reference!r} may mean {len(rows)} memories: {meant}", "Give more digits"
    )
