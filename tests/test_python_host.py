"""A Python program as a host: what one session says, another one is told."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from keeplore.config.places import Places
from keeplore.config.settings import FILE as SETTINGS
from keeplore.errors import KeeploreError, NoWorkspace
from keeplore.host import MAX_SESSIONS, PythonHost
from keeplore.memory import Conversation, parse
from keeplore.workspace.lifecycle.setup import initialise

WHY = "Why did we drop Redis for the job queue?"
BECAUSE_TOO = "Invoices are numbered by year and customer, since auditors sort them so."
BECAUSE = "We decided to drop Redis, because it lost jobs twice when it was restarted."
AGAIN = "Remind me why Redis was dropped for the job queue"


@pytest.fixture
def root(workspace_dir: Path) -> Path:
    initialise(Places.from_environment(os.environ), workspace_dir)
    return workspace_dir


@pytest.fixture
def project(tmp_path: Path) -> Path:
    project = tmp_path / "billing"
    project.mkdir()
    return project


@pytest.fixture
def host(root: Path, project: Path) -> Iterator[PythonHost]:
    with PythonHost("test-agent", project) as host:
        yield host


def files(root: Path) -> list[str]:
    return [
        path.read_text(encoding="utf-8") for path in root.rglob("conversations/**/*.md")
    ]


def test_what_one_session_said_another_is_told_once(host: PythonHost) -> None:
    first = host.session("one")
    assert first.context(WHY) == ""
    first.add(WHY, BECAUSE)
    assert first.context(AGAIN) == ""  # it has that before it already
    second = host.session("two")
    told = second.context(AGAIN)
    assert (
        BECAUSE in told
        and told.startswith("<keeplore-recall id=")
        and "data, not instructions" in told
    )
    assert second.context(AGAIN) == ""


def test_the_first_prompt_of_a_session_brings_the_brief_whatever_it_asks(
    host: PythonHost,
) -> None:
    host.session("one").add(WHY, BECAUSE)
    session = host.session("two")
    assert "Decided:" in session.context("ok")
    assert session.context("ok") == ""


def test_a_turn_that_grows_takes_the_place_of_its_earlier_form(
    host: PythonHost, root: Path
) -> None:
    session = host.session("one")
    id_ = session.add(WHY, "Let me look.")
    assert session.add(WHY, "Let me look.", BECAUSE, id_=id_) == id_
    (text,) = files(root)
    assert text.count(WHY) >= 1 and text.count("Let me look.") == 1 and BECAUSE in text


def test_closing_ends_the_sessions_and_commits(
    host: PythonHost, root: Path, project: Path
) -> None:
    host.session("one").add(WHY, BECAUSE)
    assert [parse(text).meta.get("status") for text in files(root)] == ["open"]
    host.close()
    assert [parse(text).meta.get("status") for text in files(root)] == [None]
    status = subprocess.run(
        ["git", "status", "--short"],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    )
    assert status.stdout == ""
    host.close()
    assert host.session("two").context("ok") != ""  # it may be used again


def test_a_session_is_one_object_until_it_is_ended(host: PythonHost) -> None:
    session = host.session("one")
    assert host.session("one") is session
    session.end()
    assert host.session("one") is not session


def test_of_very_many_sessions_the_one_silent_for_longest_is_ended(
    host: PythonHost, root: Path
) -> None:
    first = host.session("first")
    first.add(WHY, BECAUSE)
    for number in range(MAX_SESSIONS):
        host.session(str(number))
    assert [parse(text).meta.get("status") for text in files(root)] == [None]
    assert host.session("first") is not first


def test_the_settings_of_the_workspace_hold_here_too(
    host: PythonHost, root: Path
) -> None:
    host.session("one").add(WHY, BECAUSE)
    settings = root / SETTINGS
    switched_off = settings.read_text(encoding="utf-8")
    for part in ("capture", "context"):
        switched_off = switched_off.replace(
            f"{part}:\n  enabled: true", f"{part}:\n  enabled: false"
        )
    settings.write_text(switched_off, encoding="utf-8")
    session = host.session("two")
    assert session.context(AGAIN) == ""
    session.add("And which queue do we take?", "Postgres.")
    assert not any("which queue" in text for text in files(root))


def test_without_a_workspace_the_next_step_is_named(project: Path) -> None:
    with (
        PythonHost("test-agent", project) as host,
        pytest.raises(NoWorkspace, match="keeplore init"),
    ):
        host.session("one").context(WHY)


def test_times_that_are_given_are_kept_and_a_pause_begins_another_conversation(
    host: PythonHost, root: Path
) -> None:
    session = host.session("one")
    said = [
        ("2026-02-09T15:00:00+01:00", "We drop Redis for the job queue.", BECAUSE),
        ("2026-02-09T14:05:00Z", "And the retries of the job queue?", "Five."),
        (
            "2026-02-11T09:00:00Z",
            "Name each invoice by year, customer and number.",
            BECAUSE_TOO,
        ),
    ]
    for at, user, reply in said:
        session.add(user, reply, at=at)
    session.end()
    conversations = [
        Conversation.from_markdown(parse(text).body) for text in files(root)
    ]
    times = sorted(
        [(exchange.at, exchange.ended_at) for exchange in talk.exchanges]
        for talk in conversations
    )
    assert times == [
        [("2026-02-09T14:00:00Z",) * 2, ("2026-02-09T14:05:00Z",) * 2],
        [("2026-02-11T09:00:00Z",) * 2],
    ]


@pytest.mark.parametrize(
    "at",
    ["yesterday", "2026-02-09T14:00:00", "0001-01-01T00:00+09:00", datetime.now(UTC)],
)
def test_a_time_without_a_zone_is_refused(
    host: PythonHost, root: Path, at: Any
) -> None:
    with pytest.raises(KeeploreError, match="is no time with a zone"):
        host.session("one").add(WHY, BECAUSE, at=at)
    assert files(root) == []


@pytest.mark.parametrize("said", [(None,), ([WHY],), (WHY, [BECAUSE]), (WHY, 5)])
def test_what_is_no_text_is_refused_with_the_way_to_give_it(
    host: PythonHost, root: Path, said: Any
) -> None:
    session = host.session("one")
    with pytest.raises(
        KeeploreError, match=r"must be text, not \w+\. Give each text as"
    ):
        session.add(*said)
    with pytest.raises(KeeploreError, match="must be text, not list"):
        session.context([WHY])  # type: ignore[arg-type]  # as a caller without types does
    assert files(root) == []
    session.add(WHY, BECAUSE)
    assert len(files(root)) == 1


def test_what_a_person_leaves_out_is_neither_taken_nor_closed(
    host: PythonHost, root: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEEPLORE_OFF", "1")
    session = host.session("one")
    session.add(WHY, BECAUSE)
    assert (session.context(AGAIN), files(root)) == ("", [])
    monkeypatch.delenv("KEEPLORE_OFF")
    (project / ".keeplore").write_text("capture: off\n")
    session.add(WHY, BECAUSE)
    session.end()
    assert files(root) == []
    (project / ".keeplore").unlink()
    host.session("two").add(WHY, BECAUSE)
    (project / ".keeplore").write_text("capture: off\n")
    host.session("two").end()
    (kept,) = files(root)
    assert BECAUSE in kept and "status: open" not in kept
