"""The briefs on disk: what a session is told where no worker runs, and when it is told nothing."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from new_workspace import lay_down

from keeplore.client import brief_on_disk as disk
from keeplore.config.places import Places
from keeplore.connect import assets
from keeplore.memory import Memory
from keeplore.memory.note import NoteDraft
from keeplore.worker.context.client_notes import GivenBrief, take_given, take_owed
from keeplore.workspace.brief_maker import EVENTS, BriefMaker, refresh_briefs
from keeplore.workspace.lifecycle import code_switch
from keeplore.workspace.lifecycle.setup import initialise
from keeplore.workspace.recording.cursors import Cursors, SessionProgress
from keeplore.workspace.registry import Registry
from keeplore.workspace.writing.forget import forget, purge
from keeplore.workspace.writing.remember import remember, target_of
from keeplore.workspace.written_directories import add, latest
from keeplore_hooks.events import Origin
from keeplore_hooks.installed import host_named
from keeplore_hooks.spool import Spool

FACT = "Redis was dropped because the queue fits into SQLite"


class Desk:
    """A machine with a workspace, a project in which agents worked, and no worker; the interpreter
    that hosts would start one with ends at once.
    """

    def __init__(self, folder: Path) -> None:
        self.places = Places.from_environment(os.environ)
        self.root = Path.home() / "memory"
        lay_down(self.places, self.root)
        self.start_nothing()
        self.registry = Registry(self.places)
        self.project = Path.home() / "code" / "api"
        self.project.mkdir(parents=True)
        git("init", "-q", cwd=self.project)
        self.client = folder / "client"
        self.client.mkdir()
        for name, data in assets.client_files().items():
            (self.client / name).write_bytes(data)

    def initialise(self, root: Path) -> None:
        initialise(self.places, root)
        self.start_nothing()

    def start_nothing(self) -> None:
        (self.places.state / "python").write_text("/bin/true\n")

    def hear(self, host: str, cwd: Path, at: str = "2026-01-01T10:00:00Z") -> None:
        """A session of the host was heard of there."""
        origin = Origin(host, f"{host} in {cwd}", str(cwd))
        Cursors(self.places.sessions).save(SessionProgress(origin, heard_at=at))

    def note(self, text: str = FACT, **fields: Any) -> Memory:
        workspace = self.registry.named("memory")
        fields = {"scope": "project", "project": "api", "permanent": True, **fields}
        memory = workspace.notes.write(NoteDraft(text, **fields)).memory
        workspace.commit()
        return memory

    def make(self) -> None:
        for view in self.registry.views(self.project):
            view.index.refresh()
        BriefMaker(self.registry).refresh()

    def begin(self, host: str = "claude-code", event: str = "", **fields: Any) -> str:
        """What a host is told when a session starts."""
        place = {"cwd": str(self.project)} if host != "cursor" else {}
        if host == "opencode":
            place = {"directory": str(self.project)}
        if host == "cursor":
            place = {"workspace_roots": [str(self.project)]}
        ids = {"claude-code": "session_id", "cursor": "conversation_id"}
        ids |= {"copilot": "sessionId", "opencode": "sessionID"}
        payload = {ids.get(host, "session_id"): "new", **place, **fields}
        command = (sys.executable, "-I", "-S", str(self.client / "client.py"))
        done = subprocess.run(
            (*command, host, event or EVENTS[host][0] or "SessionStart"),
            input=json.dumps(payload).encode(),
            capture_output=True,
            check=True,
        )
        assert done.stderr == b""
        return done.stdout.decode()

    def owed(self, host: str = "claude-code") -> str | None:
        payload = json.dumps({"session_id": "new"}).encode()
        return take_owed(self.places.state, host, payload)


def git(*arguments: str, cwd: Path) -> None:
    subprocess.run(("git", *arguments), cwd=cwd, check=True, capture_output=True)


@pytest.fixture
def desk(tmp_path: Path, impatient: Callable[[Path], None]) -> Iterator[Desk]:
    desk = Desk(tmp_path)
    impatient(desk.client)
    desk.hear("claude-code", desk.project)
    yield desk
    desk.registry.close()


@pytest.fixture
def impatient() -> Callable[[Path], None]:
    """Where a worker would be waited for, none comes here."""

    def change(client: Path) -> None:
        for name, old, new in (
            ("contact.py", "PATIENT_DEADLINE_S = 1.5", "PATIENT_DEADLINE_S = 0.1"),
            ("brief_on_disk.py", "CHANGED_S = 1.0", "CHANGED_S = 0.1"),
        ):
            text = (client / name).read_text()
            assert text.count(old) == 1
            (client / name).write_text(text.replace(old, new))

    return change


@pytest.mark.parametrize("host", sorted(EVENTS))
def test_each_host_is_told_in_its_own_form(desk: Desk, host: str) -> None:
    memory = desk.note()
    desk.hear(host, desk.project)
    desk.make()
    start, prompt = EVENTS[host][:2]
    said = desk.begin(host)
    if start:
        assert memory.id[4:12] in said
        whole = json.loads(said)
        text = next(iter(whole.values()))
        text = text["additionalContext"] if isinstance(text, dict) else text
        assert json.loads(host_named(host).reply(start, text)) == whole
    else:
        assert said == "" and desk.owed(host) == ""
        desk.begin(host)
        assert memory.id[4:12] in desk.begin(host, prompt, prompt="go on")


def test_it_is_told_once_and_the_worker_learns_of_it(desk: Desk) -> None:
    memory = desk.note()
    desk.make()
    assert FACT in desk.begin()
    (given,) = take_given(desk.places.state)
    text = given.told[0]
    assert given == GivenBrief(
        Origin("claude-code", "new", str(desk.project)),
        "",
        (text, (memory.id,)),
        is_part=False,
    )
    assert FACT in text
    assert list(take_given(desk.places.state)) == []
    assert desk.owed() is None
    assert desk.begin(event="UserPromptSubmit", prompt="go on") == ""
    assert [entry.event for entry in Spool(desk.places.spool).pending()] == [
        "SessionStart",
        "UserPromptSubmit",
    ]


def test_the_file_is_private(desk: Desk) -> None:
    desk.note()
    desk.make()
    assert FACT in desk.begin()
    folder = desk.places.state / disk.FOLDER
    modes = {
        path.relative_to(folder).parts[0]: stat.S_IMODE(path.stat().st_mode)
        for path in sorted(folder.rglob("*"))
    }
    (made,) = folder.glob("*.json")
    assert modes == {made.name: 0o600, disk.GIVEN: 0o600}
    assert stat.S_IMODE((folder / disk.GIVEN).stat().st_mode) == 0o700


def test_a_directory_inside_the_checkout_is_told_the_same(desk: Desk) -> None:
    desk.note()
    desk.make()
    inside = desk.project / "src" / "deep"
    inside.mkdir(parents=True)
    assert FACT in desk.begin(cwd=str(inside))


def test_no_other_project_is_told_it(desk: Desk) -> None:
    desk.note()
    desk.make()
    other = Path.home() / "code" / "web"
    other.mkdir()
    assert desk.begin(cwd=str(other)) == ""
    assert desk.owed() == "", "its first prompt brings it"
    nested = desk.project / "vendored"
    nested.mkdir()
    git("init", "-q", cwd=nested)
    assert desk.begin(cwd=str(nested)) == ""


@pytest.mark.parametrize(
    "fields",
    [
        {"source": "resume"},
        {"source": "fork"},
        {"agent_id": "a"},
        {"is_background_agent": True},
        {"cursor_version": "1"},
        {"cwd": ""},
        {"cwd": 7},
        {"cwd": "code/api"},
    ],
)
def test_whom_it_is_not_meant_for_is_not_told(
    desk: Desk, fields: dict[str, Any]
) -> None:
    desk.note()
    desk.make()
    assert desk.begin(**fields) == ""
    is_agent = bool({"agent_id", "is_background_agent"} & fields.keys())
    expected = None if is_agent else str(fields.get("source", ""))
    assert desk.owed() == expected


def test_who_goes_on_waits_for_no_worker(desk: Desk) -> None:
    """What was told before still holds; the next prompt brings the rest."""
    client = desk.client / "contact.py"
    client.write_text(
        client.read_text().replace(
            "PATIENT_DEADLINE_S = 0.1", "PATIENT_DEADLINE_S = 600"
        )
    )
    assert desk.begin(source="resume") == ""
    assert desk.owed() == "resume"


@pytest.mark.parametrize("host", ["claude-code", "codex"])
def test_a_compacted_session_is_told_it_and_owed_what_it_said_itself(
    desk: Desk, host: str
) -> None:
    desk.note()
    desk.hear(host, desk.project)
    desk.make()
    assert FACT in desk.begin(host, source="compact")
    (given,) = take_given(desk.places.state)
    assert (given.source, given.is_part) == ("compact", False)
    payload = json.dumps({"session_id": "new"}).encode()
    assert take_owed(desk.places.state, host, payload) == disk.REST


def test_a_host_goes_on_after_a_compaction_with_the_brief_that_stands_there(
    desk: Desk,
) -> None:
    desk.note()
    desk.hear("opencode", desk.project)
    desk.make()
    assert FACT in desk.begin("opencode")
    assert desk.begin("opencode", "session.compacted") == ""
    payload = json.dumps({"sessionID": "new"}).encode()
    assert take_owed(desk.places.state, "opencode", payload) == disk.COMPACT


@pytest.mark.parametrize("host", sorted(EVENTS))
def test_a_directory_of_which_nothing_was_heard_is_told_what_it_inherits(
    desk: Desk, host: str
) -> None:
    desk.note()
    inherited = desk.note("Prices are kept in cents", scope="workspace", project="")
    desk.make()
    desk.project = Path.home() / "code" / "web"
    desk.project.mkdir()
    start, prompt = EVENTS[host][:2]
    said = desk.begin(host)
    if not start:
        said = desk.begin(host, prompt, prompt="go on")
    assert inherited.id[4:12] in said and FACT not in said
    (given,) = take_given(desk.places.state)
    assert given.told[1] == (inherited.id,) and given.is_part
    if host == "claude-code":
        assert desk.owed() == disk.REST, "its project may be known all the same"


def test_a_project_in_which_only_a_person_wrote_has_a_brief_of_its_own(
    desk: Desk,
) -> None:
    desk.project = Path.home() / "code" / "web"
    (desk.project / "src").mkdir(parents=True)
    git("init", "-q", cwd=desk.project)
    here = desk.project / "src"
    draft = NoteDraft("Prices are in cents", scope="project", project="web")
    remember(target_of(desk.registry, here), draft, here)
    desk.registry.commit_all("")
    refresh_briefs(desk.places, 1)
    assert "Prices are in cents" in desk.begin("codex")
    (given,) = take_given(desk.places.state)
    assert not given.is_part


def test_only_the_directories_written_in_last_are_kept(tmp_path: Path) -> None:
    names = [str(tmp_path / name) for name in "abcd"]
    for number, name in enumerate(names):
        add(tmp_path, Path(name))
        file = tmp_path / disk.FOLDER / "written" / disk.digest(name)
        os.utime(file, (number, number))
    assert latest(tmp_path) == [names[3], names[2], names[1]]


def test_what_another_workspace_may_know_is_told_nobody(desk: Desk) -> None:
    desk.note("Prices are kept in cents", scope="workspace", project="")
    desk.make()
    desk.initialise(Path.home() / "work")
    other = Path.home() / "code" / "web"
    other.mkdir()
    assert desk.begin(cwd=str(other)) == ""
    desk.make()
    assert desk.begin(cwd=str(other)) == ""


def test_a_cleared_session_is_told_it(desk: Desk) -> None:
    desk.note()
    desk.make()
    assert FACT in desk.begin(source="clear")


def change_text(desk: Desk, memory: Memory) -> None:
    path = desk.registry.find(memory.id, desk.project)
    place = desk.root / path.row.path
    place.write_text(place.read_text() + "\nNo longer.\n")


def remove_text(desk: Desk, memory: Memory) -> None:
    found = desk.registry.find(memory.id, desk.project)
    (desk.root / found.row.path).unlink()


def switch_off(desk: Desk, _memory: Memory) -> None:
    settings = desk.root / "keeplore.yaml"
    settings.write_text(settings.read_text() + "\n# changed\n")


def answer_on_machines(desk: Desk, _memory: Memory) -> None:
    folder = desk.places.state / "machines"
    folder.mkdir(exist_ok=True)
    (folder / "memory.json").write_text("{}")


def add_remote(desk: Desk, _memory: Memory) -> None:
    git("remote", "add", "origin", "https://a.invalid/b/c", cwd=desk.project)


def make_another_checkout(desk: Desk, _memory: Memory) -> None:
    (desk.project / ".git").rename(desk.project / "old")
    git("init", "-q", cwd=desk.project)


def mark(desk: Desk, _memory: Memory) -> None:
    (desk.project / ".keeplore-project").write_text("web\n")


def damage(desk: Desk, _memory: Memory) -> None:
    for path in (desk.places.state / disk.FOLDER).glob("*.json"):
        path.write_text("[" * 100_000)


@pytest.mark.parametrize(
    "change",
    [
        change_text,
        remove_text,
        switch_off,
        answer_on_machines,
        add_remote,
        make_another_checkout,
        mark,
        damage,
    ],
)
def test_what_it_was_made_from_has_changed(
    desk: Desk, change: Callable[[Desk, Memory], None]
) -> None:
    memory = desk.note()
    desk.make()
    change(desk, memory)
    assert desk.begin() == ""
    assert desk.owed() == ""


def test_where_only_more_came_the_worker_is_asked_first(desk: Desk) -> None:
    """Somebody pulled: nothing that is told has changed, and something may be missing."""
    desk.note()
    desk.make()
    (made,) = (desk.places.state / disk.FOLDER).glob("*.json")
    assert disk.is_newest(json.loads(made.read_bytes()))
    git("commit", "--allow-empty", "-qm", "x", cwd=desk.root)
    assert not disk.is_newest(json.loads(made.read_bytes()))
    assert FACT in desk.begin()
    desk.make()
    assert disk.is_newest(json.loads(made.read_bytes()))


@pytest.mark.parametrize("act", [forget, purge])
def test_what_is_forgotten_leaves_it_in_the_same_act(
    desk: Desk, act: Callable[[Any, str], object]
) -> None:
    memory = desk.note()
    other = desk.note("Prices are kept in cents")
    desk.make()
    assert FACT in desk.begin()
    act(desk.registry.named("memory"), memory.id)
    left = [
        path.read_bytes()
        for path in (desk.places.state / disk.FOLDER).rglob("*")
        if path.is_file()
    ]
    assert left == []
    assert desk.begin() == ""
    desk.make()
    said = desk.begin()
    assert other.id[4:12] in said and FACT not in said


def test_what_changes_while_it_is_made_does_not_stay(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = desk.note()
    made = BriefMaker._brief_content

    def slowly(self: BriefMaker, *given: Any) -> Any:
        found = made(self, *given)
        change_text(desk, memory)
        return found

    monkeypatch.setattr(BriefMaker, "_brief_content", slowly)
    desk.make()
    assert list((desk.places.state / disk.FOLDER).glob("*.json")) == []


def test_only_the_latest_directories_have_one(desk: Desk) -> None:
    desk.note(scope="workspace", project="")
    for number in range(8):
        place = Path.home() / "code" / f"p{number}"
        place.mkdir()
        known = set(desk.places.sessions.iterdir())
        desk.hear("codex", place)
        (path,) = set(desk.places.sessions.iterdir()) - known
        os.utime(path, (2**31 + number, 2**31 + number))
    desk.make()
    folder = desk.places.state / disk.FOLDER
    named = {json.loads(p.read_bytes())["directory"] for p in folder.glob("*.json")}
    latest = {str(Path.home() / "code" / f"p{n}") for n in range(2, 8)}
    assert named == {disk.ANYWHERE, *latest}
    shutil.rmtree(desk.places.sessions)
    desk.places.sessions.mkdir()
    desk.make()
    (left,) = folder.glob("*.json")
    assert json.loads(left.read_bytes())["directory"] == disk.ANYWHERE


def test_what_is_current_is_not_made_again(desk: Desk) -> None:
    desk.note()
    desk.make()
    (made,) = (desk.places.state / disk.FOLDER).glob("*.json")
    before = made.read_bytes()
    desk.make()
    assert made.read_bytes() == before, "each has a delimiter of its own"
    desk.note("Prices are kept in cents")
    desk.make()
    assert made.read_bytes() != before


def test_with_nothing_to_tell_nothing_is_owed(desk: Desk) -> None:
    desk.make()
    assert desk.begin() == ""
    assert desk.owed() is None


def test_where_context_is_off_there_is_none(desk: Desk) -> None:
    desk.note()
    settings = desk.root / "keeplore.yaml"
    desk.make()
    text = settings.read_text()
    assert text.count("context:\n  enabled: true") == 1
    settings.write_text(
        text.replace("context:\n  enabled: true", "context:\n  enabled: false")
    )
    desk.make()
    assert list((desk.places.state / disk.FOLDER).glob("*.json")) == []


def test_a_command_makes_it_where_no_worker_does(desk: Desk) -> None:
    refresh_briefs(desk.places, 2)
    assert not (desk.places.state / disk.FOLDER).exists(), "nobody has made one here"
    desk.make()
    memory = desk.note()
    refresh_briefs(desk.places, 2)
    assert memory.id[4:12] in desk.begin()


def test_a_command_makes_the_first_one_where_a_host_is_connected(desk: Desk) -> None:
    shutil.rmtree(desk.places.sessions)
    (desk.places.state / "client").mkdir()
    memory = desk.note(scope="workspace", project="")
    refresh_briefs(desk.places, 2)
    assert memory.id[4:12] in desk.begin()


def test_the_head_of_a_checkout_is_read_without_git(tmp_path: Path) -> None:
    root = tmp_path / "r"
    git("init", "-q", "-b", "main", str(root), cwd=tmp_path)
    assert disk.head_of(str(root)) == ""
    git("commit", "--allow-empty", "-qm", "x", cwd=root)
    told = subprocess.run(
        ("git", "rev-parse", "HEAD"), cwd=root, capture_output=True, text=True
    )
    head = told.stdout.strip()
    assert disk.head_of(str(root)) == head
    git("pack-refs", "--all", cwd=root)
    assert disk.head_of(str(root)) == head
    git("worktree", "add", "-q", "-b", "other", str(tmp_path / "w"), cwd=root)
    assert disk.head_of(str(tmp_path / "w")) == head
    git("checkout", "-q", "--detach", cwd=root)
    assert disk.head_of(str(root)) == head
    assert disk.head_of(str(tmp_path)) == ""


NAMING = "Limits live in app/limits.py, not in app/old.py"


class Sources:
    """The files of the project that a memory names, written to a while after it."""

    def __init__(self, desk: Desk) -> None:
        self.folder = desk.project / "app"
        self.folder.mkdir()
        self.write("limits.py", "one\n")
        self.write("old.py", "one\n")
        git("add", ".", cwd=desk.project)
        who = ("-c", "user.name=A", "-c", "user.email=a@example.org")
        git(*who, "commit", "-qm", "Begin", cwd=desk.project)
        desk.note(NAMING)

    def write(self, name: str, text: str, after_s: float = 0) -> None:
        path = self.folder / name
        path.write_text(text)
        at = path.stat().st_mtime + after_s
        os.utime(path, (at, at))

    def touch(self) -> None:
        self.write("limits.py", "one\n", 7200)

    def change(self) -> None:
        self.write("limits.py", "two\n", 7200)

    def change_again(self) -> None:
        self.write("limits.py", "three\n", 9000)

    def remove(self) -> None:
        (self.folder / "limits.py").unlink()


CHANGED_SINCE, GONE_SINCE = (
    " — changed since: app/limits.py",
    " — gone since: app/limits.py",
)


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("", "", ""),
        ("", "touch", ""),
        ("", "change", CHANGED_SINCE),
        ("", "remove", GONE_SINCE),
        ("touch", "", ""),
        ("change", "", CHANGED_SINCE),
        ("change", "touch", ""),  # as it was: nobody can tell that at once
        ("change", "change_again", ""),
        ("change", "remove", GONE_SINCE),
        ("remove", "", GONE_SINCE),
        ("remove", "change", ""),
    ],
)
def test_what_became_of_files_is_told_as_it_is_when_it_is_read(
    desk: Desk, before: str, after: str, told: str
) -> None:
    sources = Sources(desk)
    for change, then in ((before, desk.make), (after, lambda: None)):
        if change:
            getattr(sources, change)()
        then()
    payload = json.dumps({"session_id": "new", "cwd": str(desk.project)}).encode()
    session = disk.SessionPayload(
        str(desk.places.state), "claude-code", "SessionStart", payload
    )
    found = disk.usable(session)
    assert found is not None
    printed = json.loads(found.reply)["hookSpecificOutput"]["additionalContext"]
    text, ids = found.told
    for said in (printed, text):
        (line,) = [line for line in said.splitlines() if NAMING in line]
        _, _, end = line.rpartition(")")
        assert end == told
    assert len(ids) == 1


def test_notes_of_the_code_repository_are_told_and_not_after_a_change(
    desk: Desk,
) -> None:
    git("commit", "-q", "--allow-empty", "-m", "Begin", cwd=desk.project)
    code_switch.switch_on(desk.registry, desk.project)
    git("add", "-A", cwd=desk.project)
    git("commit", "-q", "-m", "Keep notes", cwd=desk.project)
    desk.make()
    desk.note()
    # no commit tells of it
    desk.make()
    assert FACT in desk.begin()
    git("stash", "-q", "-u", cwd=desk.project)
    assert FACT not in desk.begin()
    git("stash", "pop", "-q", cwd=desk.project)
    desk.make()
    assert FACT in desk.begin()
    code_switch.switch_off(desk.registry, desk.project)
    assert FACT not in desk.begin()
