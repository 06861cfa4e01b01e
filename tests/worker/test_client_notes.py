"""What clients told a session, or could not tell it, while no worker answered."""

from __future__ import annotations

import json
import logging
import socket
import time
from pathlib import Path
from typing import Any

import pytest

from keeplore.client import brief_on_disk as disk
from keeplore.index import MemoryFilter
from keeplore.memory.note import NoteDraft
from keeplore.worker.context.client_notes import take_given, take_owed
from keeplore.worker.server.protocol import ask
from keeplore.worker.single_instance import only_one
from keeplore.workspace.registry import Registry

FACT = "Redis was dropped because the queue fits into SQLite"


@pytest.fixture
def project(office: Any) -> Path:
    """A directory with a memory that every session there is told."""
    office.init()
    place = Path.home() / "code" / "api"
    place.mkdir(parents=True)
    with Registry(office.places) as registry:
        workspace = registry.named("memory")
        workspace.notes.write(NoteDraft(FACT, scope="workspace", permanent=True))
        workspace.commit()
        workspace.index.refresh()
    return place


def payload(project: Path, session: str = "s-1", **fields: str) -> dict[str, Any]:
    return {"session_id": session, "cwd": str(project), **fields}


def owe(office: Any, told: dict[str, Any], source: str = "startup") -> None:
    """As a client does that printed nothing at the session's start."""
    state, data = str(office.places.state), json.dumps(told).encode()
    session = disk.SessionPayload(state, "claude-code", "SessionStart", data)
    disk.note_owed_brief(session, source)


def prompted(office: Any, project: Path, session: str = "s-1") -> str:
    """What a prompt that concerns no memory is told, once the worker listens."""
    office.prompt("Which port does staging use?", "another")
    office.taken()
    asked = payload(project, session, prompt=f"go on with the work {session}")
    told = ask(
        office.places.state,
        "answer claude-code UserPromptSubmit",
        asked,
        timeout_s=60,
    )
    return json.dumps(told)


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine must not decide what a prompt is told."""
    monkeypatch.setattr("keeplore.worker.context.context_provider.SPOOL_SHARE", 100.0)


@pytest.mark.usefixtures("patient")
def test_who_was_told_nothing_at_the_start_is_told_with_the_first_prompt(
    office: Any, project: Path
) -> None:
    owe(office, payload(project))
    office.start()
    assert FACT not in prompted(office, project, "s-2")
    assert FACT in prompted(office, project)
    assert FACT not in prompted(office, project)
    assert list((office.places.state / disk.FOLDER / disk.OWED).iterdir()) == []


@pytest.mark.usefixtures("patient")
def test_who_was_told_by_the_client_is_not_told_again(
    office: Any, project: Path
) -> None:
    data = payload(project, source="startup")
    owe(office, data)
    with Registry(office.places) as registry:
        index = registry.named("memory").index
        index.refresh()
        (memory,) = index.listed(MemoryFilter())
    note = {"host": "claude-code", "event": "SessionStart", "payload": data}
    told = (FACT, [memory.id])
    state = str(office.places.state)
    disk.put(state, disk.GIVEN, "n", json.dumps({**note, "told": told}))
    disk.take_owed(state, "claude-code", json.dumps(data).encode())
    office.start()
    assert FACT not in prompted(office, project)
    resumed = payload(project, source="resume")
    again = ask(
        office.places.state, "answer claude-code SessionStart", resumed, timeout_s=60
    )
    assert FACT not in json.dumps(again), "and what is new since is known"


@pytest.mark.usefixtures("patient")
def test_an_answer_for_which_nobody_waited_comes_with_the_next_prompt(
    office: Any, project: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    office.start()
    while ask(office.places.state, "status", timeout_s=60) is None:
        time.sleep(0.05)
    owe(office, payload(project))
    asked = payload(project, prompt="go on with the work at once")
    request = b"KEEPLORE/1 0.1.0 answer claude-code UserPromptSubmit\n"
    with socket.socket(socket.AF_UNIX) as client:
        client.connect((office.places.state / "worker.addr").read_text())
        client.sendall(request + json.dumps(asked).encode())
        client.shutdown(socket.SHUT_WR)
    until = time.monotonic() + 60
    while "a request was dropped" not in caplog.text:
        assert time.monotonic() < until
        time.sleep(0.05)
    assert FACT in prompted(office, project)
    assert FACT not in prompted(office, project)


@pytest.mark.usefixtures("patient")
def test_who_was_told_a_part_is_told_the_rest_with_the_first_prompt(
    office: Any, project: Path
) -> None:
    rest = "Prices are kept in cents"
    with Registry(office.places) as registry:
        workspace = registry.named("memory")
        workspace.index.refresh()
        (memory,) = workspace.index.listed(MemoryFilter())
        workspace.notes.write(NoteDraft(rest, scope="workspace", permanent=True))
        workspace.commit()
    data = payload(project, source="startup")
    note = {"host": "claude-code", "event": "SessionStart", "payload": data}
    note |= {"told": (FACT, [memory.id]), "source": "startup", "is_part": True}
    disk.put(str(office.places.state), disk.GIVEN, "n", json.dumps(note))
    owe(office, data, disk.REST)
    office.start()
    told = prompted(office, project)
    assert rest in told and FACT not in told
    assert rest not in prompted(office, project)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "7",
        '{"host": "nobody", "event": "E", "payload": {}, "told": ["", []]}',
        '{"host": "codex", "event": "SessionStart", "payload": {}, "told": ["", []]}',
        '{"host": "codex", "event": "SessionStart", "payload": 7, "told": ["", []]}',
        '{"host": "codex", "event": "SessionStart", "payload": {"session_id": "s"}}',
    ],
)
def test_a_note_that_is_none_is_removed(office: Any, text: str) -> None:
    disk.put(str(office.places.state), disk.GIVEN, "n", text)
    assert list(take_given(office.places.state)) == []
    assert list((office.places.state / disk.FOLDER / disk.GIVEN).iterdir()) == []


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"7", b"{}", b'{"session_id": 7}'])
def test_a_payload_that_names_no_session_is_owed_nothing(
    office: Any, data: bytes
) -> None:
    assert take_owed(office.places.state, "codex", data) is None


def test_a_worker_that_leaves_in_order_lets_the_next_start_at_once(
    office: Any,
) -> None:
    office.init()
    office.start()
    office.taken()
    (office.places.state / "worker.start-20260209T14031").touch()
    assert office.stop() == [[True]]
    assert list(office.places.state.glob("worker.start-*")) == []


def test_a_worker_waits_for_one_that_is_leaving(office: Any) -> None:
    office.init()
    with only_one(office.places.state) as lock:
        assert lock is not None
        office.start()
    office.prompt("Which port does staging use?")
    office.taken()
    assert office.stop() == [[True]]
