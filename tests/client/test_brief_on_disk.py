"""The brief on disk, in whole: which sessions are told it, with what of the files in it, and what is
left on disk for the worker.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from keeplore.client import brief_on_disk as disk

MARK = "[slot]"
HOSTS = ("claude-code", "opencode", "codex")
EVENTS = ("sessionstart", "sessioncompacted", "userpromptsubmit")


class Machine:
    """A state directory, a checkout, a file that was quoted, and briefs."""

    def __init__(self, folder: Path) -> None:
        self.state = str(folder / "state")
        self.code = folder / "code"
        (self.code / "below").mkdir(parents=True)
        subprocess.run(["git", "init", "-q", self.code], check=True)
        self.head = self.code / ".git" / "refs" / "heads" / "main"
        self.head.write_text("c0ffee\n")
        self.quoted = folder / "quoted.py"
        self.quoted.write_text("a = 1\n")

    def lay(self, directory: str, text: str, **changes: Any) -> None:
        """A brief that every host is told, with the state of the quoted file at the mark."""
        path = str(self.quoted)
        known = [path, disk.stamp(path), disk.checksum_of(path), disk.FRESH]
        reply = json.dumps(text)
        made = {
            "directory": changes.pop("named", directory),
            "files": [[str(self.code), disk.stamp(str(self.code))]],
            "heads": [[str(self.code), "c0ffee"]],
            "printed": {host: dict.fromkeys(EVENTS, reply) for host in HOSTS},
            "told": {host: [text, ["mem_1"]] for host in HOSTS},
            "slots": [[MARK, [["quoted.py", *known]]]],
            **changes,
        }
        place = Path(disk.path_for(self.state, directory))
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(json.dumps(made))

    def session(
        self, host: str = "codex", event: str = "SessionStart", **payload: Any
    ) -> disk.SessionPayload:
        data = {"session_id": "s", "cwd": str(self.code / "below"), **payload}
        return disk.SessionPayload(self.state, host, event, json.dumps(data).encode())

    def left(self) -> dict[str, Any]:
        """Every file below the state, and what is in it; a name that was drawn is left out."""
        found: dict[str, Any] = {}
        for path in sorted(Path(self.state, disk.FOLDER).rglob("*")):
            if path.is_file() and path.suffix != ".json":
                assert path.stat().st_mode & 0o777 == 0o600
                assert path.parent.stat().st_mode & 0o777 == 0o700
                text = path.read_text()
                is_note = path.parent.name == disk.GIVEN
                name = disk.GIVEN if is_note else f"{path.parent.name}/{path.name}"
                found[name] = json.loads(text) if is_note else text
                path.unlink()
        return found


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    machine = Machine(tmp_path)
    machine.lay(str(machine.code), f"Of é here{MARK}.")
    machine.lay(disk.ANYWHERE, f"Of anywhere{MARK}.")
    return machine


def told(brief: disk.DiskBrief | None) -> Any:
    if brief is None:
        return None
    flags = (brief.is_newest, brief.is_whole)
    return json.loads(brief.reply), *brief.told, brief.why, *flags


@pytest.mark.parametrize(
    ("host", "event", "payload", "source", "expected"),
    [
        ("codex", "SessionStart", {}, "", "here"),
        ("codex", "SessionStart", {"source": "startup"}, "", "here startup"),
        ("codex", "SessionStart", {"source": "startup"}, "clear", "here clear"),
        ("codex", "SessionStart", {"source": "resume"}, "", None),
        ("codex", "SessionStart", {"source": "fork"}, "", None),
        ("codex", "SessionStart", {}, "rest", None),
        ("codex", "SessionStart", {"source": "compact"}, "", "part compact"),
        ("codex", "SessionCompacted", {"source": "startup"}, "", "part compact"),
        ("opencode", "SessionStart", {"source": "compact"}, "", None),
        ("opencode", "SessionCompacted", {}, "", None),
        ("opencode", "SessionStart", {}, "", "here"),
        ("codex", "SessionStart", {"agent_id": "a"}, "", None),
        ("codex", "SessionStart", {"agent_id": ""}, "", "here"),
        ("codex", "SessionStart", {"parentID": "a"}, "", None),
        ("codex", "SessionStart", {"is_background_agent": True}, "", None),
        ("codex", "SessionStart", {"agent_type": "reviewer"}, "", None),
        ("claude-code", "SessionStart", {"timestamp": None}, "", None),
        ("codex", "SessionStart", {"timestamp": None}, "", "here"),
        ("claude-code", "SessionStart", {}, "", "here"),
        ("gemini", "SessionStart", {}, "", None),
        ("codex", "Unknown", {}, "", None),
        ("codex", "SessionStart", {"cwd": "/", "source": "x"}, "", "anywhere x"),
        ("codex", "SessionStart", {"cwd": "below"}, "", None),
        ("codex", "SessionStart", {"cwd": None}, "", None),
        ("codex", "SessionStart", {"cwd": "/", "directory": "/code"}, "", "anywhere"),
        ("codex", "SessionStart", {"cwd": 3}, "", None),
        ("codex", "SessionStart", {"cwd": "", "directory": "CODE"}, "", "here"),
        ("codex", "SessionStart", {"workspace_roots": ["CODE", "/"]}, "", "here"),
        ("codex", "SessionStart", {"workspace_roots": ["/", "CODE"]}, "", "anywhere"),
        ("codex", "SessionStart", {"workspace_roots": []}, "", "here"),
    ],
)
def test_which_session_is_told_which_brief(
    machine: Machine,
    host: str,
    event: str,
    payload: Mapping[str, Any],
    source: str,
    expected: str | None,
) -> None:
    changed = json.loads(json.dumps(payload).replace("CODE", str(machine.code)))
    found = told(disk.usable(machine.session(host, event, **changed), source))
    if expected is None:
        assert found is None
    else:
        which, _, why = expected.partition(" ")
        text = "Of anywhere." if which == "anywhere" else "Of é here."
        assert found == (text, text, ["mem_1"], why, True, which == "here")


def test_what_became_of_the_files_of_a_line(machine: Machine) -> None:
    assert told(disk.usable(machine.session()))[1] == "Of é here."
    before = machine.quoted.stat()
    machine.quoted.write_text("a = 1\n")
    os.utime(machine.quoted, ns=(0, before.st_mtime_ns + 10**9))
    assert told(disk.usable(machine.session()))[1] == "Of é here."  # the same words
    machine.quoted.write_text("a = 2\n")
    os.utime(machine.quoted, ns=(0, before.st_mtime_ns + 10**9))
    changed = "Of é here — changed since: quoted.py."
    assert told(disk.usable(machine.session()))[:2] == (changed, changed)
    machine.quoted.unlink()
    assert (
        told(disk.usable(machine.session()))[1] == "Of é here — gone since: quoted.py."
    )


def test_the_state_of_a_file_that_was_not_fresh_before(tmp_path: Path) -> None:
    path, gone = str(tmp_path / "f"), str(tmp_path / "gone")
    Path(path).write_text("new")
    now, content = disk.stamp(path), disk.checksum_of(path)
    other = [1, 2, 3]
    assert [
        disk.state_of(path, now, "", "changed"),
        disk.state_of(path, other, "", "changed"),
        disk.state_of(path, other, content, "changed"),
        disk.state_of(path, other, "3:1", "fresh"),
        disk.state_of(path, None, "", "gone"),
        disk.state_of(path, None, content, "fresh"),
        disk.state_of(gone, None, "", "gone"),
        disk.state_of(gone, other, "", "gone"),
        disk.state_of(gone, other, "", "fresh"),
    ] == ["changed", "", "changed", "changed", "", "changed", "gone", "gone", "gone"]


def test_what_is_said_of_many_files() -> None:
    assert disk.since_then([], []) == ""
    assert disk.since_then([*"abc"], [*"defg"]) == (
        "changed since: a, b, c and gone since: d, e, f, …"
    )
    assert (disk.line_end(""), disk.line_end("gone")) == ("", " — gone")


def test_a_checksum_is_of_plain_files_of_moderate_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "f"
    file.write_bytes(b"12345")
    monkeypatch.setattr(disk, "MAX_READ", 5)
    assert disk.checksum_of(str(file)) == "5:3421846044"
    file.write_bytes(b"123456")
    odd = (file, tmp_path, tmp_path / "none", "\0")
    assert [disk.checksum_of(str(one)) for one in odd] == [""] * 4
    assert disk.stamp(str(tmp_path)) == [tmp_path.stat().st_ino]
    found = file.stat()
    assert disk.stamp(str(file)) == [found.st_ino, 6, found.st_mtime_ns]
    assert [disk.stamp(str(one)) for one in (tmp_path / "none", "\0")] == [None] * 2


def test_a_brief_whose_base_changed_is_told_with_less_or_not_at_all(
    machine: Machine,
) -> None:
    machine.head.write_text("decaf\n")
    assert told(disk.usable(machine.session()))[3:] == ("", False, True)
    machine.lay(str(machine.code), "Of here.", heads=[[str(machine.code), ""]])
    assert told(disk.usable(machine.session()))[3:] == ("", False, True)
    machine.lay(str(machine.code), "Of here.", files=[[str(machine.code), [1]]])
    assert told(disk.usable(machine.session()))[0] == "Of anywhere."
    machine.lay(disk.ANYWHERE, "Of anywhere.", named="/other")
    assert disk.usable(machine.session()) is None


def test_what_a_session_is_given_and_what_is_noted_of_it(machine: Machine) -> None:
    here = machine.session(source="startup")
    key = disk.digest("codex\0s")
    note = {
        "host": "codex",
        "event": "SessionStart",
        "payload": json.loads(here.payload),
        "told": ["Of é here.", ["mem_1"]],
        "source": "startup",
        "is_part": False,
    }
    assert disk.reply_from_disk(here, disk.usable(here)) == b'"Of \\u00e9 here."'
    assert machine.left() == {"given": note}
    away = machine.session(cwd="/")
    assert disk.reply_from_disk(away, disk.usable(away)) == b'"Of anywhere."'
    assert machine.left() == {
        "given": note
        | {"payload": json.loads(away.payload), "told": ["Of anywhere.", ["mem_1"]]}
        | {"source": "", "is_part": True},
        f"owed/{key}": "rest",
    }
    lost = machine.session(source="compact")
    assert disk.reply_from_disk(lost, disk.usable(lost)) == b'"Of \\u00e9 here."'
    assert machine.left() == {
        "given": note | {"payload": json.loads(lost.payload), "source": "compact"},
        f"owed/{key}": "rest",
    }
    assert disk.reply_from_disk(here, None) == b""
    assert machine.left() == {f"owed/{key}": "startup"}
    for nobody in ({"agent_id": "a"}, {"session_id": 3}, {"session_id": ""}):
        assert disk.reply_from_disk(machine.session(**nobody), None) == b""
    assert machine.left() == {}


def test_a_brief_that_prints_nothing_is_given_where_it_has_nothing_to_tell(
    machine: Machine,
) -> None:
    for text, left in (
        ("", "given"),
        ("words", f"owed/{disk.digest('codex' + chr(0) + 's')}"),
    ):
        machine.lay(
            str(machine.code),
            text,
            printed={"codex": {"sessionstart": ""}},
        )
        assert (
            disk.reply_from_disk(machine.session(), disk.usable(machine.session()))
            == b""
        )
        assert [*machine.left()] == [left]


class Worker:
    """Answers each request with what is next, and keeps how it was asked."""

    def __init__(self, *replies: bytes | Exception | None) -> None:
        self.replies = [*replies]
        self.asked: list[tuple[Any, ...]] = []

    def __call__(
        self, state: str, request: bytes, deadline: float, **how: bool
    ) -> bytes | None:
        left_s = round(deadline - time.monotonic(), 1)
        self.asked.append((state, request, left_s, *how.items()))
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply

    def call(self, wait_s: float = 60, *, is_patient: bool = True) -> disk.WorkerCall:
        until = time.monotonic() + wait_s
        return disk.WorkerCall(self, b"request", until, is_patient=is_patient)


def test_how_long_a_worker_is_waited_for(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "monotonic", lambda: 100.0)
    newest, lost = machine.session(), machine.session(source="compact")
    worker = Worker(*[None] * 7)
    disk.begin(newest, worker.call())
    disk.begin(lost, worker.call())
    disk.begin(machine.session(source="resume"), worker.call())
    disk.begin(newest, worker.call(0.2))
    machine.head.write_text("decaf")
    disk.begin(newest, worker.call())
    disk.begin(newest, worker.call(is_patient=False))
    disk.begin(machine.session("gemini"), worker.call(is_patient=False))
    assert worker.asked == [
        (
            machine.state,
            b"request",
            left,
            ("is_patient", patient),
            ("is_hurried", hurried),
        )
        for left, patient, hurried in (
            (0.5, False, True),
            (60, False, True),
            (60, False, True),
            (0.2, False, True),
            (1.0, True, False),
            (1.0, False, False),
            (60, False, False),
        )
    ]


def test_the_reply_of_a_worker_goes_before_the_brief_on_disk(machine: Machine) -> None:
    session = machine.session()
    worker = Worker(b"its own", b"", TimeoutError(), ConnectionError(), OSError("gone"))
    assert [disk.begin(session, worker.call()) for _ in range(4)] == [
        b"its own",
        b"",
        *[b'"Of \\u00e9 here."'] * 2,
    ]
    with pytest.raises(OSError, match="gone"):
        disk.begin(session, worker.call())


def test_a_prompt_brings_what_is_owed(machine: Machine) -> None:
    key = f"owed/{disk.digest('codex' + chr(0) + 's')}"
    session = machine.session(event="UserPromptSubmit")
    worker = Worker(b"its own", None, b"", *[None] * 5)
    assert [disk.go_on(session, worker.call()) for _ in range(2)] == [b"its own", b""]
    assert machine.left() == {}
    disk.note_owed_brief(session)
    assert disk.go_on(session, worker.call()) == b""
    assert disk.go_on(session, worker.call()) == b'"Of \\u00e9 here."'
    assert [*machine.left()] == ["given"]
    disk.note_owed_brief(session, "rest")
    assert disk.owed(machine.state, "codex", session.payload) == "rest"
    assert disk.go_on(session, worker.call()) == b""
    assert disk.take_owed(machine.state, "codex", session.payload) == "rest"
    assert disk.take_owed(machine.state, "codex", session.payload) is None
    assert machine.left() == {}
    disk.note_owed_brief(session, "startup")
    Path(disk.path_for(machine.state, str(machine.code))).unlink()
    assert disk.go_on(session, worker.call()) == b'"Of anywhere."'
    assert sorted(machine.left()) == ["given", key]
    disk.note_owed_brief(session, "x" * 65)
    Path(disk.path_for(machine.state, disk.ANYWHERE)).unlink()
    assert disk.go_on(session, worker.call()) == b""
    assert machine.left() == {key: "x" * 64}
    for payload in (b"[]", b"{", b"{}"):
        assert disk.owed(machine.state, "codex", payload) is None


def test_where_a_checkout_is_and_at_which_commit(machine: Machine) -> None:
    code, git = str(machine.code), machine.code / ".git"
    assert disk.root_of(f"{code}/below/gone") == code
    assert disk.root_of("/") == "/"
    assert disk.head_of(code) == "c0ffee"
    machine.head.unlink()
    assert disk.head_of(code) == ""
    packed = "# pack-refs\n1dea refs/heads/main2\nfeed refs/heads/main\n^beef\n"
    (git / "packed-refs").write_text(packed)
    assert disk.head_of(code) == "feed"
    (git / "HEAD").write_text("d00d\n")
    assert disk.head_of(code) == "d00d"
    tree = machine.code.parent / "tree"
    own = git / "worktrees" / "tree"
    tree.mkdir()
    own.mkdir(parents=True)
    (tree / ".git").write_text(f"gitdir: {own}\n")
    (own / "commondir").write_text("../..\n")
    (own / "HEAD").write_text("ref: refs/heads/main\n")
    assert disk.head_of(str(tree)) == "feed"
    paths = [(path, seen is not None) for path, seen in disk.stamps_around(str(tree))]
    config = os.path.join(str(own), "../..", "config")  # noqa: PTH118 - as it is made
    assert paths == [
        (str(tree / ".git"), True),
        (str(tree / ".keeplore-project"), False),
        (config, True),
    ]
    below = [path for path, _ in disk.stamps_around(f"{code}/below")]
    assert below == [
        f"{code}/below/.git",
        f"{code}/below/.keeplore-project",
        f"{code}/.git",
        f"{code}/.keeplore-project",
        f"{code}/.git/config",
    ]


def test_names_are_the_digests_of_known_values() -> None:
    assert disk.digest("") == "cbf29ce484222325"
    assert disk.digest("a") == "af63dc4c8601ec8c"
    assert disk.digest("\ud800") == disk.digest("\ud800") != disk.digest("?")
    ids = (
        {"sessionID": "b"},
        {"session_id": "", "sessionId": "b"},
        {"conversation_id": "b"},
    )
    assert {disk.name_of("a", data) for data in ids} == {disk.digest("a\0b")}
    assert disk.path_for("/s", "/d") == f"/s/briefs/{disk.digest('/d')}.json"
