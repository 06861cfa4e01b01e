"""What becomes of Claude Code's own notes: the whole memory of each, and its next version."""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from keeplore.config.capture_choice import CaptureRule, Pause, Pauses
from keeplore.memory import Memory, new_id, parse
from keeplore.text.dates import now
from keeplore.text.similarity import content_hash
from keeplore.workspace.importing.auto_memory import (
    AutoMemoryFile,
    AutoMemoryFiles,
    AutoMemoryImport,
    find_auto_memory,
    import_auto_memory,
)
from keeplore.workspace.registry import Registry
from keeplore.workspace.workspace import Workspace
from keeplore.workspace.writing.person_choice import exclude
from keeplore_hooks.specs import hookimpl

WRITTEN = datetime(2026, 2, 2, 2, 40, tzinfo=UTC)
FEEDBACK = (
    "---\nname: mortar-tests\ndescription: How they are run\nmetadata:\n  type: feedback\n---\n\n"
    "Run the tests of Mortar with `make check`.\n"
)
# no YAML, for its second colon and its odd line
LOOSE = (
    "\ufeff---\r\nname: 'deploys'\r\ndescription:  Deploys: they go out \"on Tuesdays\"\r\nodd line\r\n"
    "created: 2026-01-02T10:00:00Z\r\n---\r\nThe release train leaves on Tuesdays.\r\n"
)
LONG = "# Build\n\n" + "The kiln needs Java 21. " * 100
HIDDEN = "---\ntitle: <private>key</private>\n---\n## Way\n\nWords below.\n"
INDEX = "# Memory Index\n\n- [Mortar tests](feedback.md): how they are run\n"
# kind, title, category and text of what is read from them
READ = {
    "feedback.md": (
        "note",
        "mortar tests",
        "corrections",
        "How they are run\n\nRun the tests of Mortar with `make check`.",
    ),
    "sub/loose.md": (
        "note",
        "deploys",
        "infrastructure",
        'Deploys: they go out "on Tuesdays"\n\nThe release train leaves on Tuesdays.',
    ),
    "long.md": ("document", "Build", "", LONG.partition("\n\n")[2].rstrip()),
    "hidden.md": (
        "note",
        "hidden",
        "architectural-decisions",
        "## Way\n\nWords below.",
    ),
}


@pytest.fixture
def notes(home: Path) -> Path:
    return home / ".claude" / "projects" / "-x" / "memory"


def lay(folder: Path, written: datetime = WRITTEN, **texts: str) -> None:
    """Write notes of these names, without their ending."""
    for name, text in texts.items():
        path = folder / f"{name.replace('_', '/')}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        os.utime(path, (written.timestamp(), written.timestamp()))


@pytest.fixture
def take(
    registry: Registry, notes: Path, project: Path
) -> Callable[..., AutoMemoryImport]:
    """A function that lays notes down and imports all that are there."""

    def lay_and_import(**texts: Any) -> AutoMemoryImport:
        lay(notes, **texts)
        found = find_auto_memory(notes, project).files
        seen: list[tuple[int, int]] = []
        done = import_auto_memory(registry, found, lambda *at: seen.append(at))
        assert seen == [(number + 1, len(found)) for number in range(len(found))]
        return done

    return lay_and_import


def stored(workspace: Workspace) -> dict[str, Memory]:
    """Title and version → memory."""
    paths = workspace.root.glob("projects/*/memory/**/*.md")
    found = [parse(path.read_text(encoding="utf-8")) for path in paths]
    return {f"{one.title} {one.version}": one for one in found}


def first_id(workspace: Workspace, name: str) -> str:
    place = f"~/.claude/projects/-x/memory/{name}"
    return new_id("auto-memory", workspace.machine, place)


def meta_of(workspace: Workspace, name: str, **others: Any) -> dict[str, Any]:
    """The front matter of the first version of a note."""
    kind, title, category, text = READ[name]
    body = f"# {title}\n\n{text}\n"
    fields = {
        "schema": 1,
        "id": first_id(workspace, name),
        "kind": kind,
        "title": title,
        "created_at": "2026-02-02T02:40:00Z",
        "updated_at": "2026-02-02T02:40:00Z",
        "version": 1,
        "scope": "project",
        "project": "ledgerly",
        "category": category,
        "trust": "assistant",
        "trigger": "import",
        "source": {
            "host": "claude-code",
            "path": f"~/.claude/projects/-x/memory/{name}",
            "machine": workspace.machine,
            "content": content_hash("\x1f".join((kind, title, body))),
        },
        **others,
    }
    return {key: value for key, value in fields.items() if value != ""}


class WrittenPaths:
    """A plugin that is told of the files that are written."""

    def __init__(self) -> None:
        self.told: dict[str, str] = {}

    @hookimpl
    def keeplore_memory_written(self, memory_id: str, path: str) -> None:
        self.told[memory_id] = path


def test_each_note_is_one_memory_of_its_project(
    workspace: Workspace, take, notes: Path, git
) -> None:
    plugin = WrittenPaths()
    workspace.plugins.register(plugin)
    broken = "---\nname: [unclosed"
    done = take(
        feedback=FEEDBACK,
        sub_loose=LOOSE,
        long=LONG,
        hidden=HIDDEN,
        MEMORY=INDEX,
        broken=broken,
    )
    ((path, problem),) = done.problems
    assert (done.new, done.updated, path) == (4, 0, notes / "broken.md")
    assert problem == (
        "no front matter between two lines of ---. Add one, or move the file out of the memory "
        "folders"
    )
    found = stored(workspace)
    assert {title: (one.meta, one.body) for title, one in found.items()} == {
        f"{title} 1": (
            meta_of(
                workspace,
                name,
                created_at="2026-01-02T10:00:00Z"
                if title == "deploys"
                else "2026-02-02T02:40:00Z",
            ),
            f"# {title}\n\n{text}\n",
        )
        for name, (_, title, _, text) in READ.items()
    }
    assert {
        id_: workspace.store.load(path).id for id_, path in plugin.told.items()
    } == {one.id: one.id for one in found.values()}
    # the project has its entry, and all of it is one commit
    assert (workspace.root / "projects" / "ledgerly" / "project.json").is_file()
    assert git("status", "--porcelain", cwd=workspace.root) == ""
    assert (
        git("log", "-1", "--format=%s", cwd=workspace.root)
        == "Import 4 notes of Claude Code"
    )


def test_a_changed_note_is_the_next_version_of_its_memory(
    workspace: Workspace, take
) -> None:
    take(feedback=FEEDBACK)
    later = WRITTEN + timedelta(days=3)
    # a document, which says nothing of its category
    plain = FEEDBACK.replace("metadata:\n  type: feedback\n", "")
    more = " ".join(["It takes a while."] * 120)
    longer = f"{plain}\n{more}\n"
    assert take(feedback=longer, written=later) == AutoMemoryImport(0, 1)
    body = f"# mortar tests\n\n{READ['feedback.md'][3]}\n\n{more}\n"
    head = first_id(workspace, "feedback.md")
    content = content_hash("\x1f".join(("document", "mortar tests", body)))
    first = meta_of(workspace, "feedback.md")
    second = {
        **first,
        "id": new_id("auto-memory", head, content),
        "kind": "document",
        "created_at": "2026-02-05T02:40:00Z",
        "updated_at": "2026-02-05T02:40:00Z",
        "version": 2,
        "supersedes": head,
        "source": {**first["source"], "content": content, "from": head},
    }
    found = stored(workspace)
    assert found.keys() == {"mortar tests 1", "mortar tests 2"}
    assert found["mortar tests 2"].meta == second
    assert found["mortar tests 2"].body == body
    # whose words it was does not stay: the agent's are what it says now
    workspace.notes.revise(second["id"], trust="user")
    (confirmed,) = (one for one in stored(workspace).values() if one.version == 3)
    # a file that was brought back is no older than what it replaces
    assert take(feedback=FEEDBACK) == AutoMemoryImport(0, 1)
    assert stored(workspace)["mortar tests 4"].meta == {
        **first,
        "id": new_id("auto-memory", confirmed.id, first["source"]["content"]),
        "created_at": confirmed.created_at,
        "updated_at": confirmed.created_at,
        "version": 4,
        "supersedes": confirmed.id,
        "source": {**first["source"], "from": confirmed.id},
    }
    assert take() == AutoMemoryImport(0, 0)


def test_a_memory_that_was_changed_here_is_left_to_the_person(
    workspace: Workspace, take, notes: Path
) -> None:
    take(feedback=FEEDBACK)
    id_ = first_id(workspace, "feedback.md")
    workspace.notes.revise(id_, body="# mortar tests\n\nBy hand.\n")
    (edited,) = (one for one in stored(workspace).values() if one.version == 2)
    assert take() == AutoMemoryImport(0, 0)
    told = (
        "the memory of this note was changed here since, and the note itself as well. "
        f"`keeplore edit {edited.id}` takes over what is new in it"
    )
    changed = FEEDBACK.replace("make check", "make verify")
    assert take(feedback=changed) == AutoMemoryImport(
        0, 0, ((notes / "feedback.md", told),)
    )
    assert len(stored(workspace)) == 2


def test_what_the_project_denies_stands_in_no_part_of_a_memory(
    workspace: Workspace, take
) -> None:
    entry = {"schema": 1, "name": "ledgerly", "path": "~/code/ledgerly"}
    text = json.dumps({**entry, "deny": ["(?i)blue.?heron"]})
    workspace.store.write_text("projects/ledgerly/project.json", text)
    take(
        **{"blue-heron": "# Why Blue Heron\n\nBlue Heron is what the customer chose.\n"}
    )
    (found,) = stored(workspace).values()
    denied = re.compile(r"\[REDACTED:denied:\w+\]")
    assert denied.sub("X", found.title) == "Why X"
    assert denied.sub("X", found.body) == "# Why X\n\nX is what the customer chose.\n"
    place = denied.sub("X", found.source["path"])
    assert place == "~/.claude/projects/-x/memory/X.md"


def test_what_is_said_already_or_has_no_place_is_not_taken(
    registry: Registry, workspace: Workspace, take, home: Path, project: Path, places
) -> None:
    take(feedback=FEEDBACK)
    other = home / "elsewhere"
    lay(other, copy=FEEDBACK)
    lay(other, WRITTEN + timedelta(days=1), paused=LONG)
    since, until = "2026-02-03T00:00:00Z", "2026-02-04T00:00:00Z"
    Pauses((Pause(since, until),)).save(places)
    found = find_auto_memory(other, project).files
    (home / "code" / "left").mkdir()
    aside = replace(found[1], cwd=str(home / "code" / "left"), written_at=WRITTEN)
    exclude(workspace, (CaptureRule.parse("path:~/code/left"),), is_shared=False)

    def done(*files: AutoMemoryFile) -> AutoMemoryImport:
        return import_auto_memory(registry, files, lambda *_: None)

    assert done(*found, aside) == AutoMemoryImport(0, 0)
    assert stored(workspace).keys() == {"mortar tests 1"}
    assert done(replace(aside, cwd=str(project))) == AutoMemoryImport(1, 0)


def test_no_time_of_a_memory_is_later_than_its_note_or_than_now(
    workspace: Workspace, take
) -> None:
    before = now()
    ahead = FEEDBACK.replace("name:", "created: 2100-01-01T00:00:00Z\nname:")
    take(feedback=ahead)
    take(long=LONG, written=datetime(2100, 1, 1, tzinfo=UTC))
    times = {
        title: (one.created_at, one.updated_at)
        for title, one in stored(workspace).items()
    }
    assert times["mortar tests 1"] == ("2026-02-02T02:40:00Z",) * 2
    created, updated = times["Build 1"]
    assert before <= created == updated <= now()


def test_which_notes_are_found(home: Path, project: Path) -> None:
    claude = home / ".claude"
    folder = claude / "projects" / str(project).replace("/", "-").replace(".", "-")
    unknown = claude / "projects" / "-nowhere" / "memory"
    lay(folder / "memory", feedback=FEEDBACK)
    lay(unknown, long=LONG)
    note = AutoMemoryFile(
        folder / "memory", "feedback.md", str(project), len(FEEDBACK), WRITTEN
    )
    why = (
        "these notes may be of no directory that is here; in the right one, "
        f"`keeplore import auto-memory --from {unknown}` takes them"
    )
    expected = AutoMemoryFiles((note,), ((unknown, why),))
    for base in (claude, claude / "projects"):
        assert find_auto_memory(base, home) == expected
    assert find_auto_memory(claude, home, WRITTEN) == expected
    later = WRITTEN + timedelta(seconds=1)
    assert find_auto_memory(claude, home, later) == replace(expected, files=())
    # any other folder has the notes of the directory in which it is named
    own = replace(note, folder=unknown, name="long.md", cwd=str(home), size=len(LONG))
    assert find_auto_memory(unknown, home) == AutoMemoryFiles((own,))
    assert find_auto_memory(home / "code", home) == AutoMemoryFiles(())
    (claude / "projects" / "-nowhere" / "projects").mkdir()
    assert find_auto_memory(unknown.parent, home) == AutoMemoryFiles(())


def test_a_note_that_goes_away_while_it_is_looked_at_is_told_as_a_problem(
    registry: Registry, notes: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lay(notes, feedback=FEEDBACK)

    def vanished(path: Path) -> os.stat_result:
        raise FileNotFoundError(errno.ENOENT, path)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "lstat", vanished)
        (file,) = find_auto_memory(notes, project).files
    first = datetime(1970, 1, 1, tzinfo=UTC)
    assert file == AutoMemoryFile(notes, "feedback.md", str(project), 0, first)
    file.path.unlink()
    done = import_auto_memory(registry, [file], lambda *_: None)
    gone = "there is no feedback.md. Run `keeplore doctor` if a search named it"
    assert done == AutoMemoryImport(0, 0, ((file.path, gone),))
