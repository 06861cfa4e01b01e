"""Claude Code's own notes (auto memory) as memories: each file one, a file that was changed its
next version.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from keeplore.capture.message_filter import clean
from keeplore.capture.notes.note_candidates import category_of
from keeplore.errors import Corrupt, Forgotten, StoreError
from keeplore.memory import Memory, as_memory, new_id
from keeplore.memory.frontmatter import MAX_FILE
from keeplore.memory.model import MemoryKind, new_meta
from keeplore.memory.note import body_of, hash_of, title_and_text
from keeplore.store import files
from keeplore.text.counts import counted
from keeplore.text.dates import in_utc, now
from keeplore.text.similarity import content_hash
from keeplore.workspace.identity import below_home
from keeplore.workspace.note_writer import NoteVersion
from keeplore.workspace.registry import Registry
from keeplore.workspace.workspace import Workspace
from keeplore_hooks.events import Origin
from keeplore_hooks.hosts.claude import claude_auto_memory

HOST = "claude-code"
TRIGGER = "import"
_HEAD = re.compile(r"---[ \t]*\n(.*?)\n---[ \t]*(?:\n|\Z)", re.DOTALL)
_PAIR = re.compile(r"[ \t]*([A-Za-z_]+):[ \t]+([\"']?)(\S.*?)\2[ \t]*")
_HEADING = re.compile(r"^#{1,6}[ \t].*$", re.MULTILINE)
_SAID = re.compile(r"[^\W_]")


@dataclass(frozen=True, slots=True)
class AutoMemoryFile:
    """A file of Claude Code's notes; ``name`` is relative to its folder, ``cwd`` the directory that
    it is of.
    """

    folder: Path
    name: str
    cwd: str
    size: int  # bytes
    written_at: datetime

    @property
    def path(self) -> Path:
        return self.folder / self.name


@dataclass(frozen=True, slots=True)
class AutoMemoryFiles:
    """``left_out`` are folders whose directory nothing tells, with what to do."""

    files: tuple[AutoMemoryFile, ...]
    left_out: tuple[tuple[Path, str], ...] = ()


@dataclass(frozen=True, slots=True)
class AutoMemoryImport:
    new: int
    updated: int
    problems: tuple[tuple[Path, str], ...] = ()


def find_auto_memory(
    base: Path, cwd: Path, since: datetime | None = None
) -> AutoMemoryFiles:
    """The notes under a configuration directory of Claude Code; any other folder holds those of
    ``cwd`` itself.
    """
    found: list[AutoMemoryFile] = []
    left_out = []
    for notes in _note_folders(base, cwd):
        if len(notes.directories) == 1:
            found += [
                _file(notes.folder, name, notes.directories[0]) for name in notes.files
            ]
        else:
            left_out.append((notes.folder, _ambiguity_message(notes)))
    return AutoMemoryFiles(
        tuple(file for file in found if since is None or file.written_at >= since),
        tuple(left_out),
    )


def _note_folders(base: Path, cwd: Path) -> list[claude_auto_memory.AutoMemoryNotes]:
    if base.name == "projects" and not (base / "projects").is_dir():
        base = base.parent
    kept = list(claude_auto_memory.note_folders(base))
    if kept or (base / "projects").is_dir():
        return kept
    files = claude_auto_memory.files_of(base)
    return [claude_auto_memory.AutoMemoryNotes(base, files, (str(cwd),))]


def _ambiguity_message(notes: claude_auto_memory.AutoMemoryNotes) -> str:
    """Which directories the notes may be of, and how a person says which one is right."""
    meant = " or ".join(notes.directories) or "no directory that is here"
    return (
        f"these notes may be of {meant}; in the right one, `keeplore import auto-memory --from "
        f"{notes.folder}` takes them"
    )


def import_auto_memory(
    registry: Registry,
    found: Sequence[AutoMemoryFile],
    progress: Callable[[int, int], None],
) -> AutoMemoryImport:
    """Write what is new in these notes; what was forgotten, removed or changed here since stays so.

    One file that cannot be read costs that file. Raises NoWorkspace, or OSError where the disk
    refuses.
    """
    counts: Counter[str] = Counter()  # by what was done
    problems: list[tuple[Path, str]] = []
    for number, file in enumerate(found, 1):
        workspace = registry.for_directory(Path(file.cwd))
        try:
            if workspace.capture_policy.decide(file.cwd, in_utc(file.written_at)).may:
                counts[_take_file(registry, workspace, file)] += 1
        except (StoreError, PermissionError) as e:
            problems.append((file.path, str(e)))
        progress(number, len(found))
    registry.commit_all(
        f"Import {counted(counts['new'] + counts['updated'], 'note')} of Claude Code"
    )
    return AutoMemoryImport(counts["new"], counts["updated"], tuple(problems))


def _take_file(registry: Registry, workspace: Workspace, file: AutoMemoryFile) -> str:
    """ "new" or "updated"; "" where there is nothing to do. Raises StoreError."""
    if _is_in_a_workspace(registry, file.path):
        return ""  # it is a memory where it lies
    memory = _memory(workspace, file)
    if memory is None or workspace.store.is_forgotten(memory.id):
        return ""
    with workspace.store.exclusive, contextlib.suppress(Forgotten):
        workspace.index.refresh()
        heads = [
            version for version in workspace.notes.history(memory.id) if version.is_head
        ]
        if heads:
            return _update_note(workspace, heads[-1], memory)
        return _write_first(workspace, memory, file.cwd)
    return ""


def _is_in_a_workspace(registry: Registry, path: Path) -> bool:
    roots = registry.machine.workspaces.values()
    return any(path.resolve().is_relative_to(root.resolve()) for root in roots)


def _write_first(workspace: Workspace, memory: Memory, cwd: str) -> str:
    index, store = workspace.index, workspace.store
    if index.ids_saying(hash_of(memory), *memory.place) or any(
        store.deleted(memory.id)
    ):
        return ""
    workspace.identities.place(Origin(HOST, "", cwd))
    workspace.plugins.announce_written(memory.id, store.add(memory, index.path_of))
    return "new"


def _update_note(workspace: Workspace, head: NoteVersion, memory: Memory) -> str:
    """Write a host's note that has changed as a newer version; "" where it has not changed.

    Raises StoreError where the version here was changed as well.
    """
    imported = head.memory.source.get("content")
    if imported == memory.source["content"]:
        return ""
    if imported != _content(head.memory):
        raise StoreError(
            "the memory of this note was changed here since, and the note itself as well",
            f"`keeplore edit {head.row.id}` takes over what is new in it",
        )
    at = max(memory.created_at, head.memory.created_at)
    workspace.notes.revise(
        head.row.id,
        body=memory.body,
        id=new_id("auto-memory", head.row.id, memory.source["content"]),
        created_at=at,
        updated_at=at,
        kind=memory.kind,
        title=memory.title,
        category=memory.category or head.memory.category or None,
        trust=memory.trust,
        trigger=TRIGGER,
        source={**memory.source, "from": head.row.id},
    )
    return "updated"


def _memory(workspace: Workspace, file: AutoMemoryFile) -> Memory | None:
    """The memory of a note, as its first version; None for one that only points to others, or says
    nothing.

    What the file states of itself beside title, category and date is not believed.
    """
    project = workspace.identities.of(Path(file.cwd)).project
    read = _read_note(file)
    title = workspace.plugins.redact(clean(read.title), project) or Path(file.name).stem
    body = _body(title, workspace.plugins.redact(clean(read.body), project))
    if not body:
        return None
    made = Memory(_note_meta(workspace, file, read, project, title, body), body)
    source = {
        "host": HOST,
        "path": workspace.plugins.redact(below_home(file.path, Path.home()), project),
        "machine": workspace.machine,
        "content": _content(made),
    }
    return made.with_meta(source=source)


def _note_meta(
    workspace: Workspace,
    file: AutoMemoryFile,
    read: Memory,
    project: str,
    title: str,
    body: str,
) -> dict[str, Any]:
    kind = MemoryKind.NOTE if read.kind == MemoryKind.NOTE else MemoryKind.DOCUMENT
    guess = category_of(body) if kind == MemoryKind.NOTE else ""
    written = min(in_utc(file.written_at), now())
    return new_meta(
        id=new_id("auto-memory", workspace.machine, below_home(file.path, Path.home())),
        kind=str(kind),
        title=title,
        created_at=min(read.created_at or written, written),
        updated_at=written,
        version=1,
        scope="project" if project else "workspace",
        project=project,
        category=read.category or guess,
        trust="assistant",
        trigger=TRIGGER,
    )


def _body(title: str, text: str) -> str:
    """The body of the memory; "" for a text that is headings alone."""
    if not _SAID.search(_HEADING.sub("", text)):
        return ""
    heading, rest = title_and_text(text)
    return body_of(title, rest if heading == title else text)


def _read_note(file: AutoMemoryFile) -> Memory:
    """The file as any other of a memory folder; agents write front matter that is no YAML, and it
    is taken by lines.
    """
    path = f"memory/{file.name}"
    text = files.read(file.folder, file.name, MAX_FILE).decode("utf-8", "replace")
    try:
        return as_memory(text, path)
    except Corrupt:
        head = _HEAD.match(text.lstrip("\ufeff \n").replace("\r\n", "\n"))
        if head is None:
            raise
        rest = head.string[head.end() :]
        return as_memory(f"---\n{_stated_yaml(head[1])}---\n{rest}", path)


def _stated_yaml(lines: str) -> str:
    """What front matter states by lines, as YAML."""
    pairs = dict(filter(None, map(_pair, lines.split("\n"))))
    return "".join(f"{key}: {json.dumps(value)}\n" for key, value in pairs.items())


def _pair(line: str) -> tuple[str, str] | None:
    found = _PAIR.fullmatch(line)
    return (found[1], found[3]) if found else None


def _content(memory: Memory) -> str:
    """What tells whether a memory still says what was imported."""
    return content_hash("\x1f".join((memory.kind, memory.title, memory.body)))


def _file(folder: Path, name: str, cwd: str) -> AutoMemoryFile:
    try:
        found = (folder / name).lstat()
        return AutoMemoryFile(
            folder,
            name,
            cwd,
            found.st_size,
            datetime.fromtimestamp(found.st_mtime, UTC),
        )
    except (OSError, ValueError, OverflowError):
        # it vanished, or has a time that nobody can have
        return AutoMemoryFile(folder, name, cwd, 0, datetime.fromtimestamp(0, UTC))
