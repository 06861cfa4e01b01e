"""Lines of Claude Code transcripts, written for the tests after the shapes that versions 1.0 to 2.1 use."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from keeplore_hooks.events import HostEvent, Turn
from keeplore_hooks.hosts import Cursor, Reading, host_named

SESSION = "5e551011-0000-4000-8000-000000000001"
BEGIN = datetime(2026, 2, 9, 14, 0, 0, tzinfo=UTC)


class Lines:
    """A transcript in the making: every method adds one line, a second after the line before."""

    def __init__(self, version: str = "2.1.218", session: str = SESSION) -> None:
        self.version, self.session = version, session
        self.raw: list[bytes] = []
        self.count = 0

    def add(self, kind: str, **fields: Any) -> str:
        """Returns the line's uuid."""
        self.count += 1
        uuid = fields.pop("uuid", f"00000000-0000-4000-8000-{self.count:012}")
        line = {
            "type": kind,
            "uuid": uuid,
            "sessionId": self.session,
            "timestamp": self.time(self.count),
            "version": self.version,
            "cwd": "/home/ann/kasha",
            "gitBranch": "main",
            "isSidechain": False,
        }
        line |= fields
        self.raw.append(json.dumps(line, ensure_ascii=False).encode() + b"\n")
        return uuid

    def bare(self, **fields: Any) -> None:
        """A line without uuid, as for metadata."""
        self.raw.append(json.dumps(fields).encode() + b"\n")

    def time(self, second: int) -> str:
        return (BEGIN + timedelta(seconds=second)).strftime("%Y-%m-%dT%H:%M:%S.123Z")

    def user(self, content: Any, **fields: Any) -> str:
        return self.add("user", message={"role": "user", "content": content}, **fields)

    def say(self, words: str, message: str = "", **fields: Any) -> str:
        return self.block({"type": "text", "text": words}, message, **fields)

    def think(self, message: str = "") -> str:
        return self.block({"type": "thinking", "thinking": "hm"}, message)

    def call(self, name: str, given: dict[str, Any], call: str = "", message: str = "") -> str:
        call = call or f"toolu_{self.count}"
        self.block({"type": "tool_use", "id": call, "name": name, "input": given}, message)
        return call

    def block(self, block: dict[str, Any], message: str = "", **fields: Any) -> str:
        model = fields.pop("model", "claude-opus-4-5")
        content = {"id": message or f"msg_{self.count}", "role": "assistant", "model": model, "content": [block]}
        return self.add("assistant", message=content, **fields)

    def result(self, call: str, content: Any = "ok", *, more: Any = (), is_error: bool = False, **fields: Any) -> str:
        block = {"type": "tool_result", "tool_use_id": call, "content": content, "is_error": is_error}
        return self.user([block, *more], **fields)

    def queued(self, prompt: Any, mode: str = "prompt", **fields: Any) -> str:
        attachment = {"type": "queued_command", "prompt": prompt, "commandMode": mode, **fields}
        return self.add("attachment", attachment=attachment)

    def command(self, name: str, args: str = "") -> str:
        return self.user(
            f"<command-name>/{name}</command-name>\n            <command-message>{name}</command-message>\n"
            f"            <command-args>{args}</command-args>"
        )

    def compaction(self, trigger: str = "auto") -> str:
        boundary = self.add("system", subtype="compact_boundary", compactMetadata={"trigger": trigger})
        self.user(
            "This session is being continued from a previous conversation.\nSummary:\n1. Redis was dropped.",
            isCompactSummary=True,
            isVisibleInTranscriptOnly=True,
        )
        return boundary

    def bytes(self) -> bytes:
        return b"".join(self.raw)


class Session:
    """A transcript on disk and the adapter that reads it."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / f"{SESSION}.jsonl"
        self.cursor = Cursor()
        self.host = host_named("claude-code")

    def write(self, content: Lines | bytes) -> None:
        self.path.write_bytes(content if isinstance(content, bytes) else content.bytes())

    def payload(self, **fields: Any) -> bytes:
        common = {"session_id": SESSION, "cwd": "/home/ann/kasha", "transcript_path": str(self.path)}
        return json.dumps(common | fields).encode()

    def hear(self, event: str, at: str = "2026-02-09T14:00:00Z", **fields: Any) -> Reading:
        """Take a host event and keep the cursor, as the worker does."""
        reading = self.host.read(event, self.payload(hook_event_name=event, **fields), self.cursor, at)
        self.cursor = reading.cursor
        return reading

    def events(self, content: Lines | bytes) -> list[HostEvent]:
        self.write(content)
        return list(self.host.read_transcript(self.path, Cursor()).events)

    def turns(self, content: Lines | bytes) -> list[Turn]:
        return final_turns(self.events(content))


def final_turns(events: list[HostEvent] | tuple[HostEvent, ...]) -> list[Turn]:
    """The last form of every turn, in the order in which they began."""
    return list({event.id: event for event in events if isinstance(event, Turn)}.values())


@pytest.fixture(scope="session")
def lines() -> type[Lines]:
    return Lines


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return Session(tmp_path)


@pytest.fixture(scope="session")
def session_in() -> Callable[[Path], Session]:
    return Session


@pytest.fixture(scope="session")
def final() -> Callable[[Any], list[Turn]]:
    return final_turns


@pytest.fixture(scope="session")
def recordings() -> Path:
    """Real transcripts, which are not part of this repository."""
    data = Path(os.environ.get("KEEPLORE_DATA") or Path(__file__).resolve().parents[4] / "shared" / "data")
    if not (data / "transcripts" / "index.json").is_file():
        pytest.skip(f"no recorded transcripts in {data}; set KEEPLORE_DATA to the folder that holds transcripts/")
    return data / "transcripts"
