"""The server as a process: what it needs, what it writes where, and when it ends."""

from __future__ import annotations

import fcntl
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from keeplore.config.install_method import install_hint
from keeplore.worker.single_instance import only_one
from keeplore.worker.stop import without_worker

START = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "a test", "version": "1"},
    },
}
# what has nothing to do with the SDK is tried with the version that starts sooner
WITH_ANY_SDK = pytest.mark.parametrize(
    "version",
    ["1", pytest.param("2", marks=pytest.mark.soak)],
    ids=["sdk-1", "sdk-2"],
    indirect=True,
    scope="module",
)
STARTED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def call(number: int, name: str, **arguments: Any) -> dict[str, Any]:
    return {
        "jsonrpc": "2.0",
        "id": number,
        "method": "tools/call",
        "params": {"name": name, "arguments": arguments},
    }


def speak(
    office: Any, *lines: bytes | dict[str, Any], **more: Any
) -> tuple[list[dict[str, Any]], str, int]:
    """Send lines and close the input: every line that came back, the log, and the exit status."""
    sent = b"".join(
        line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n"
        for line in lines
    )
    done = subprocess.run(
        more.get("command", office.pipe),
        input=sent,
        capture_output=True,
        cwd=more.get("cwd", office.project),
        env={**office.environment, **more.get("environment", {})},
        timeout=120,
    )
    return (
        [json.loads(line) for line in done.stdout.splitlines()],
        done.stderr.decode(),
        done.returncode,
    )


def test_it_ends_when_the_input_is_closed(office: Any) -> None:
    replies, log, status = speak(office, START, STARTED)
    assert [reply["id"] for reply in replies] == [1] and status == 0, log
    assert replies[0]["result"]["serverInfo"]["name"] == "keeplore"
    assert speak(office)[0::2] == ([], 0)


def test_it_ends_when_the_input_is_closed_in_the_midst_of_a_call(office: Any) -> None:
    _, log, status = speak(
        office,
        START,
        STARTED,
        call(2, "timeline"),
        call(3, "remember", text="A late thought"),
    )
    assert status == 0, log
    assert "Traceback" not in log


def test_the_command_serves_as_well(office: Any) -> None:
    replies, log, status = speak(
        office, START, command=(sys.executable, "-m", "keeplore.cli", "mcp")
    )
    assert replies[0]["result"]["instructions"] and status == 0, log


@WITH_ANY_SDK
def test_without_the_sdk_it_says_what_to_install(office: Any, tmp_path: Path) -> None:
    (tmp_path / "mcp.py").write_text(
        "raise ModuleNotFoundError('no module named mcp', name='mcp')\n"
    )
    office.leave()
    client = office.client(SERVER_PYTHONPATH=str(tmp_path))
    told = client.refused("timeline")
    assert f"{install_hint('mcp')}, then `keeplore worker stop`" in told
    assert "pip install" in client.ask({"read": "keeplore://recent"})[0]["refused"]
    client.close()
    office.leave()


def test_lines_that_are_no_requests_end_nothing(office: Any) -> None:
    half = call(5, "search", query="x")
    surrogate = json.dumps(half).replace('"x"', '"\\ud83d port"').encode() + b"\n"
    replies, log, status = speak(
        office, START, STARTED, b"\xff\xfe\n", b"[1, 2\n", b"\n", surrogate
    )
    assert status == 0, log
    assert [reply["id"] for reply in replies] == [1, 5]
    assert "an error of Keeplore itself" not in json.dumps(replies)
    assert log.splitlines() == ["keeplore: a line was no JSON, and was left out"] * 2


@WITH_ANY_SDK
def test_a_machine_without_a_workspace_is_told_what_to_do(
    office: Any, tmp_path: Path
) -> None:
    (tmp_path / "state").mkdir()
    shutil.copy(office.state / "python", tmp_path / "state")
    client = office.client(
        KEEPLORE_STATE_DIR=str(tmp_path / "state"),
        KEEPLORE_CACHE_DIR=str(tmp_path / "cache"),
    )
    for tool, arguments in (
        ("timeline", {}),
        ("read", {"id": "abcd"}),
        ("remember", {"text": "a fact"}),
        ("forget", {"id": "mem_00000000-0000-0000-0000-000000000000"}),
    ):
        assert "`keeplore init DIR`" in client.refused(tool, **arguments)
    assert "keeplore init" in client.ask({"read": "keeplore://recent"})[0]["refused"]
    # one that is set up meanwhile is found
    environment = {**office.environment, "KEEPLORE_STATE_DIR": str(tmp_path / "state")}
    environment["KEEPLORE_CACHE_DIR"] = str(tmp_path / "cache")
    command = (sys.executable, "-m", "keeplore.cli", "init", str(tmp_path / "memory"))
    subprocess.run(command, env=environment, check=True, capture_output=True)
    assert client.call("timeline").startswith("There is no memory yet")
    client.close()
    with without_worker(tmp_path / "state"):
        pass


@WITH_ANY_SDK
def test_a_workspace_that_is_gone_and_one_that_comes_back(office: Any) -> None:
    note = office.note("The safe is behind the picture")
    client = office.client()
    root = office.home / "memory"
    aside = root.rename(office.home / "aside")
    told = client.refused("timeline")
    assert str(root) in told and "Traceback" not in told
    aside.rename(root)
    assert note.id in client.call("timeline")
    client.close()


@WITH_ANY_SDK
def test_an_index_that_is_damaged_is_made_again(office: Any) -> None:
    note = office.note("The index is made from the text")
    client = office.client()
    assert note.id in client.call("timeline")
    for path in (office.home / "cache" / "index").rglob("*.sqlite3*"):
        path.write_bytes(b"\0" * 50_000)
    assert note.id in client.call("timeline")
    assert "index is made from the text" in client.call("read", id=note.id)
    client.close()


@WITH_ANY_SDK
def test_without_a_worker_words_are_matched_and_the_answer_says_so(
    office: Any, impatient: Path
) -> None:
    office.note("The lighthouse keeper has the key")
    office.leave()
    with only_one(office.state) as lock:  # so that none can start
        assert lock is not None
        client = office.client(server=("-I", "-S", str(impatient / "mcp.py")))
        told = client.call("search", query="who has the lighthouse key")
        assert "lighthouse keeper" in told and "searched by words alone" in told
        assert "Remembered" in client.call("remember", text="The key is lost")
        client.close()


@WITH_ANY_SDK
def test_a_worker_is_started_for_a_search_and_outlives_the_server(office: Any) -> None:
    office.note("The lighthouse keeper has the key")
    office.leave()
    client = office.client()
    assert "lighthouse keeper" in client.call(
        "search", query="who has the lighthouse key"
    )
    client.close()
    assert office.status()["pid"] > 0


def test_switched_off_it_offers_nothing(office: Any) -> None:
    client = office.client(KEEPLORE_OFF="1")
    assert "KEEPLORE_OFF" in client.instructions
    tools, resources, prompts = client.ask(
        {"list": "tools"}, {"list": "resources"}, {"list": "prompts"}
    )
    assert (tools["tools"], resources["resources"], prompts["prompts"]) == ([], [], [])
    client.close()


def test_a_directory_of_somebody_else_has_no_say(office: Any, tmp_path: Path) -> None:
    """Version 1 of the SDK would read its settings from there."""
    (tmp_path / ".env").write_text("FASTMCP_LOG_LEVEL=LOUD\nFASTMCP_PORT=none\n")
    hostile = {"FASTMCP_PORT": "none", "FASTMCP_LOG_LEVEL": "LOUD"}
    replies, log, status = speak(office, START, cwd=tmp_path, environment=hostile)
    assert replies and status == 0, log


@WITH_ANY_SDK
def test_the_project_is_the_one_that_the_host_names(
    office: Any, tmp_path: Path
) -> None:
    note = office.note("The api speaks protobuf")
    client = office.client(cwd=tmp_path, CLAUDE_PROJECT_DIR=str(office.project))
    assert note.id in client.call("search", query="protobuf")
    client.close()
    # a plugin's own directory says nothing: what was asked from there is looked up, and not written
    # to
    client = office.client(cwd=tmp_path, COPILOT_PLUGIN_ROOT=str(tmp_path))
    assert "which project this belongs to is not known" in client.refused(
        "remember", text="The api speaks JSON"
    )
    assert "of project api" in client.call(
        "search", query="protobuf", directory=str(office.project)
    )
    told = client.call(
        "remember", text="The api speaks JSON too", directory=str(office.project)
    )
    assert "project api" in told
    client.close()


@WITH_ANY_SDK
def test_an_index_that_is_behind_is_not_nothing_found(
    office: Any, impatient: Path
) -> None:
    office.note("The index is made from the text")
    office.leave()
    with (
        only_one(office.state) as lock,
        (office.home / "cache/index/memory/writer.lock").open("ab") as writer,
    ):
        assert lock is not None
        client = office.client(server=("-I", "-S", str(impatient / "mcp.py")))
        assert client.call("search", query="zebra crossing").startswith(
            "Nothing found: the index is current"
        )
        fcntl.flock(
            writer, fcntl.LOCK_EX
        )  # another process writes, and does not come to an end
        place = office.home / "memory/projects/api/memory/facts/zebra.md"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("# The zebra crossing is out of order\n")
        told = client.call("search", query="zebra crossing")
        assert (
            told.startswith("Nothing found, but the index is behind")
            and "keeplore doctor" in told
        )
        fcntl.flock(writer, fcntl.LOCK_UN)
        assert "out of order" in client.call("search", query="zebra crossing")
        place.unlink()
        client.close()
