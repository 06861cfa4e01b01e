"""Events of an agent in any language: kept, refused by line, made memory of as any host's, and
answered.
"""

from __future__ import annotations

import dataclasses
import io
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ready import keeplore
from waiting import until
from worker_end import end_worker

from keeplore.cli import emitted_lines
from keeplore.cli.commands.machine import emit_
from keeplore.cli.emitted_lines import EmittingProgram, LineRefused, read_line, schema
from keeplore.config.places import Places
from keeplore.memory import Conversation, parse
from keeplore.worker.server.protocol import ask
from keeplore.worker.start import start
from keeplore.workspace import Registry
from keeplore.workspace.importing.intake import Intake
from keeplore_hooks import events
from keeplore_hooks.events import Command, Compaction, Origin, Question, Session, Turn
from keeplore_hooks.spool import Spool

START_S = 120.0
EXAMPLE = Path(__file__).parents[2] / "docs" / "agent.mjs"
AT = "2026-02-09T15:00:00+01:00"
UTC = "2026-02-09T14:00:00Z"
SAID = "We keep the ledger append-only, because auditors ask for every state."
TURN = {"event": "turn", "session": "s1", "id": "t1", "at": AT, "user": "Append-only?"}


def program(cwd: Path) -> EmittingProgram:
    return EmittingProgram("my-agent", cwd)


def line(**fields: Any) -> bytes:
    return json.dumps(fields).encode()


def conversations(root: Path) -> list[Conversation]:
    paths = sorted(root.rglob("conversations/**/*.md"))
    return [Conversation.from_markdown(parse(p.read_text()).body) for p in paths]


@pytest.fixture
def places(memory: Path, monkeypatch: pytest.MonkeyPatch) -> Places:
    """A machine on which no worker starts by itself."""
    monkeypatch.setattr(emit_, "start", lambda _: None)
    return Places.from_environment(os.environ)


def take_spool(places: Places) -> None:
    spool = Spool(places.spool)
    with Registry(places) as registry:
        intake = Intake(registry)
        for entry in spool.pending():
            intake.take(entry)
            spool.acknowledge(entry)
        intake.sweep()
        registry.commit_all("Take what was emitted")


def test_a_line_becomes_the_event_that_a_host_would_report(tmp_path: Path) -> None:
    shop = str(tmp_path / "shop")
    here = Origin("my-agent", "s1", shop, "main", agent_name="reviewer")
    where = {"cwd": "shop", "branch": "main", "agent": "reviewer"}
    common = {"session": "s1", "id": "1", "at": AT, **where}
    question = {"question": "Which?", "answer": "A", "options": ["A", "B"]}
    asked = Question("1", here, UTC, "Which?", "A", ("A", "B"))
    work = {"files": ["a.py"], "commands": ["make"], "commits": ["ab1 x"]}
    done = events.Work(("a.py",), ("make",), ("ab1 x",))
    expected = {
        line(event="session", phase="started", reason="resume", **common): Session(
            "1", here, UTC, "started", "resume"
        ),
        line(event="prompt", user="Hi", **common): Turn(
            "prompt:1", here, UTC, "Hi", is_complete=False, is_provisional=True
        ),
        line(
            event="turn", user="Hi", replies=["Ho", question], work=work, **common
        ): Turn("1", here, UTC, "Hi", ("Ho", asked), UTC, done),
        line(event="command", name="/deploy", args="now", **common): Command(
            "1", here, UTC, "deploy", "now"
        ),
        line(event="question", **question, **common): asked,
        line(event="compaction", phase="after", summary="So far", **common): Compaction(
            "1", here, UTC, "after", "", "So far"
        ),
    }
    assert {one: read_line(one, program(tmp_path)) for one in expected} == expected


@pytest.mark.parametrize(
    ("sent", "told"),
    [
        (b"nope", "the line: Invalid JSON: expected ident at line 1 column 2"),
        (b"[" * 5000, "the line: Invalid JSON: recursion limit exceeded"),
        (
            b'{"event": "turn", "user": "\xff"}',
            "the line: Invalid JSON: invalid unicode",
        ),
        (line(event="turn", session="s"), "user: Field required"),
        (
            line(event="turn", session="s", user=1),
            "user: Input should be a valid string",
        ),
        (
            line(event="turn", session="s", user="a", usr=""),
            "usr: Extra inputs are not",
        ),
        (line(event="turn", session="a\nb", user="a"), "session: String should match"),
        (line(event="turn", session="s", user=""), "user: nothing was said"),
        (line(event="shout", session="s"), "the line: Input tag 'shout' found using"),
        (
            line(event="turn", session="s", user="a", at="2026-02-09T14:00:00"),
            "at: Input should have timezone info",
        ),
        (
            line(event="turn", session="s", user="a", at="0001-01-01T00:00:00+14:00"),
            "at: date value out of range",
        ),
    ],
)
def test_a_line_that_is_no_event_is_refused_by_its_field(
    sent: bytes, told: str
) -> None:
    with pytest.raises(LineRefused) as refusal:
        read_line(sent, program(Path("/")))
    assert str(refusal.value).startswith(told)


def test_the_same_line_with_a_time_is_the_same_event_and_a_turn_may_grow() -> None:
    by = program(Path("/"))
    said = {key: value for key, value in TURN.items() if key != "id"}
    first = read_line(line(**said), by)
    assert read_line(line(**said, replies=["Yes."]), by).id == first.id
    assert read_line(line(**{**said, "user": "No?"}), by).id != first.id
    del said["at"]
    assert read_line(line(**said), by).id != read_line(line(**said), by).id


def test_the_schema_has_the_fields_of_the_events() -> None:
    own = {"id", "origin", "at", "is_provisional"}
    common = {"event", "session", "id", "at", "cwd", "branch", "agent"}
    models = {
        "SessionLine": Session,
        "TurnLine": Turn,
        "CommandLine": Command,
        "QuestionLine": Question,
        "CompactionLine": Compaction,
    }
    published = schema()
    told = {
        name: set(published["$defs"][name]["properties"]) - common for name in models
    }
    fields = {
        name: {field.name for field in dataclasses.fields(kind)} - own
        for name, kind in models.items()
    }
    assert told == fields
    assert json.loads(keeplore("emit", "--schema").stdout) == published


def test_lines_are_kept_and_a_bad_one_does_not_stop_the_rest(
    places: Places, memory: Path, shop: Path
) -> None:
    emitter = emit_.Emitter(places, program(shop), is_answering=False)
    key = "ghp_" + "a8Kd02LmQz71XcVbN45tYuRe93WsPo6HjG1f"
    sent = [
        line(event="prompt", session="s1", user="Append-only?", id="p", at=AT),
        b"{}",
        line(**TURN, replies=[SAID, f"The key is {key}"]),
        line(event="session", session="s1", phase="ended", id="e", at=AT),
    ]
    assert [emitter.take(one) for one in sent] == [
        {"ok": True, "id": "p"},
        {
            "ok": False,
            "error": "the line: Unable to extract tag using discriminator 'event'; "
            "see `keeplore emit --schema`",
        },
        {"ok": True, "id": "t1"},
        {"ok": True, "id": "e"},
    ]
    take_spool(places)
    (talk,) = conversations(memory)
    (exchange,) = talk.exchanges
    assert (exchange.id, exchange.at, exchange.user) == ("t1", UTC, "Append-only?")
    assert SAID in exchange.assistant and key not in exchange.assistant
    assert talk.projects == ("shop",)
    before = {path: path.read_bytes() for path in memory.rglob("*.md")}
    for one in sent:
        emitter.take(one)
    take_spool(places)
    assert {path: path.read_bytes() for path in memory.rglob("*.md")} == before


def test_a_line_that_is_too_long_is_refused_and_the_next_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(emitted_lines, "MAX_LINE", 10)
    stream = io.BytesIO(b"123456789\n\n" + b"x" * 25 + b"\n{}\n" + b"y" * 11)
    assert list(emit_._lines(stream)) == [
        (1, b"123456789\n"),
        (3, None),
        (4, b"{}\n"),
        (5, None),
    ]


def test_nothing_is_kept_where_a_person_has_switched_it_off(
    places: Places, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEEPLORE_OFF", "1")
    emitter = emit_.Emitter(places, program(shop), is_answering=False)
    note = "KEEPLORE_OFF: nothing is kept"
    assert emitter.take(line(**TURN)) == {"ok": True, "id": "t1", "note": note}
    assert Spool(places.spool).pending() == []


def test_a_full_disk_refuses_the_line(
    places: Places, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Spool, "add", full)
    emitter = emit_.Emitter(places, program(shop), is_answering=False)
    error = "it cannot be kept: the disk: No space left on device; emit it again"
    assert emitter.take(line(**TURN)) == {"ok": False, "error": error}


@pytest.mark.parametrize(
    ("host", "told"),
    [
        ("codex", "codex has an adapter of its own"),
        ("specstory", "specstory has an adapter of its own"),
        ("My Agent", "use small letters, digits and dashes"),
        ("", "use small letters, digits and dashes"),
    ],
)
def test_the_name_of_a_host_is_checked(host: str, told: str) -> None:
    done = keeplore("emit", "--host", host, stdin="")
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr


def test_what_was_acknowledged_outlives_a_kill(places: Places, shop: Path) -> None:
    command = (sys.executable, "-m", "keeplore.cli", "emit", "--host", "my-agent")
    with subprocess.Popen(
        command, cwd=shop, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as emitting:
        assert emitting.stdin and emitting.stdout
        emitting.stdin.write(line(**TURN, replies=[SAID]) + b"\n")
        emitting.stdin.flush()
        answer = json.loads(emitting.stdout.readline())
        emitting.send_signal(signal.SIGKILL)
    assert answer == {"line": 1, "ok": True, "id": "t1"}
    try:
        assert ask(places.state, "catch-up", timeout_s=120.0) is not None or (
            Spool(places.spool).pending()
        )
    finally:
        end_worker(places.state)
    take_spool(places)
    assert keeplore("recall", "append-only", cwd=shop).returncode == 0


def test_a_worker_that_has_just_started_is_asked_once_more(
    places: Places, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = iter([None, None, {"version": "1"}, {"context": "We decided."}])
    asked = []

    def answered(state: Path, operation: str, *_: Any, timeout_s: float) -> Any:
        asked.append(operation)
        return next(told, None)

    monkeypatch.setattr(emit_, "ask", answered)
    monkeypatch.setattr(emit_, "TRY_S", 0.0)
    emitter = emit_.Emitter(places, program(shop), is_answering=True)
    prompt = {"event": "prompt", "session": "s1", "id": "p", "user": "Append-only?"}
    expected = {"ok": True, "id": "p", "context": "We decided."}
    assert emitter.take(line(**prompt)) == expected
    assert asked == ["status", "answer emit turn", "status", "answer emit turn"]
    # one that runs, and has no workspace to tell of
    told = iter([None, {"version": "1"}, None])
    assert emitter.take(line(**{**prompt, "id": "q"}))["context"] == ""


@pytest.mark.skipif(not shutil.which("node"), reason="node is not installed here")
def test_the_example_in_node_remembers_and_is_given_memory(
    memory: Path, shop: Path, tmp_path: Path
) -> None:
    keeplore("remember", SAID, cwd=shop)
    command = tmp_path / "bin" / "keeplore"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m keeplore.cli "$@"\n')
    command.chmod(0o755)
    script = tmp_path / "agent.mjs"
    stand_in = "(an answer to: ${prompt})"
    text = EXAMPLE.read_text()
    assert stand_in in text and len(text.splitlines()) == 30
    script.write_text(text.replace(stand_in, "${prompt} | ${context}"))
    state = Places.from_environment(os.environ).state
    path = f"{command.parent}{os.pathsep}{os.environ['PATH']}"
    # on a busy machine it starts for longer than the example waits
    worker = start(state)
    try:
        until(
            lambda: ask(state, "status", timeout_s=START_S) is not None,
            "the worker answers",
        )
        done = subprocess.run(
            ("node", script, "Is the ledger append-only?"),
            cwd=shop,
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert "auditors ask for every state" in done.stdout
        caught_up = {"is_caught_up": True}
        until(
            lambda: ask(state, "catch-up", timeout_s=START_S) == caught_up,
            "it is caught up",
        )
    finally:
        ask(state, "stop", timeout_s=START_S)
        if worker:
            worker.wait()
    (talk,) = conversations(memory)
    assert [exchange.user for exchange in talk.exchanges] == [
        "Is the ledger append-only?"
    ]
