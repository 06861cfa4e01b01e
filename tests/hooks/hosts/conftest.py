"""Lines of Claude Code transcripts, written for the tests after the shapes that versions 1.0 to 2.1
use.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from keeplore_hooks.events import HostEvent, Turn
from keeplore_hooks.hosts import Cursor, Reading
from keeplore_hooks.installed import host_named

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

    def call(
        self, name: str, given: dict[str, Any], call: str = "", message: str = ""
    ) -> str:
        call = call or f"toolu_{self.count}"
        self.block(
            {"type": "tool_use", "id": call, "name": name, "input": given}, message
        )
        return call

    def block(self, block: dict[str, Any], message: str = "", **fields: Any) -> str:
        model = fields.pop("model", "claude-opus-4-5")
        content = {
            "id": message or f"msg_{self.count}",
            "role": "assistant",
            "model": model,
            "content": [block],
        }
        return self.add("assistant", message=content, **fields)

    def result(
        self,
        call: str,
        content: Any = "ok",
        *,
        more: Any = (),
        is_error: bool = False,
        **fields: Any,
    ) -> str:
        block = {
            "type": "tool_result",
            "tool_use_id": call,
            "content": content,
            "is_error": is_error,
        }
        return self.user([block, *more], **fields)

    def queued(self, prompt: Any, mode: str = "prompt", **fields: Any) -> str:
        attachment = {
            "type": "queued_command",
            "prompt": prompt,
            "commandMode": mode,
            **fields,
        }
        return self.add("attachment", attachment=attachment)

    def command(self, name: str, args: str = "") -> str:
        return self.user(
            f"<command-name>/{name}</command-name>\n            "
            f"<command-message>{name}</command-message>\n"
            f"            <command-args>{args}</command-args>"
        )

    def compaction(self, trigger: str = "auto") -> str:
        boundary = self.add(
            "system", subtype="compact_boundary", compactMetadata={"trigger": trigger}
        )
        self.user(
            "This session is being continued from a previous conversation.\nSummary:\n1. Redis was "
            "dropped.",
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
        self.path.write_bytes(
            content if isinstance(content, bytes) else content.bytes()
        )

    def payload(self, **fields: Any) -> bytes:
        common = {
            "session_id": SESSION,
            "cwd": "/home/ann/kasha",
            "transcript_path": str(self.path),
        }
        return json.dumps(common | fields).encode()

    def hear(
        self, event: str, at: str = "2026-02-09T14:00:00Z", **fields: Any
    ) -> Reading:
        """Take a host event and keep the cursor, as the worker does."""
        reading = self.host.read(
            event, self.payload(hook_event_name=event, **fields), self.cursor, at
        )
        self.cursor = reading.cursor
        return reading

    def events(self, content: Lines | bytes) -> list[HostEvent]:
        self.write(content)
        return list(self.host.read_transcript(self.path, Cursor()).events)

    def turns(self, content: Lines | bytes) -> list[Turn]:
        return final_turns(self.events(content))


class Gemini:
    """A record of Gemini CLI in the making: every method adds one line, a second after the line
    before.
    """

    session = SESSION

    def __init__(self) -> None:
        self.records: list[Any] = [
            {
                "sessionId": SESSION,
                "projectHash": "abc",
                "startTime": "2026-02-09T14:00:00.000Z",
                "kind": "main",
            }
        ]

    def message(self, kind: str, content: Any, **fields: Any) -> str:
        """Returns the message's id."""
        count = len(self.records)
        message = {
            "id": f"00000000-0000-4000-8000-{count:012}",
            "timestamp": (BEGIN + timedelta(seconds=count)).strftime(
                "%Y-%m-%dT%H:%M:%S.123Z"
            ),
            "type": kind,
            "content": content,
        }
        self.records.append(message | fields)
        return str(self.records[-1]["id"])

    def user(self, words: str, **fields: Any) -> str:
        return self.message("user", [{"text": words}], **fields)

    def say(self, words: str, *calls: dict[str, Any], **fields: Any) -> str:
        more = {"toolCalls": list(calls)} if calls else {}
        return self.message("gemini", words, model="gemini-3-pro", **more, **fields)

    @staticmethod
    def call(
        name: str,
        given: dict[str, Any],
        output: str = "ok",
        status: str = "success",
        call: str = "",
    ) -> Any:
        response = {
            "functionResponse": {
                "id": call or name,
                "name": name,
                "response": {"output": output},
            }
        }
        return {
            "id": call or f"{name}-1",
            "name": name,
            "args": given,
            "status": status,
            "result": [response],
        }

    def bytes(self) -> bytes:
        return b"".join(
            raw
            if isinstance(raw, bytes)
            else json.dumps(raw, ensure_ascii=False).encode() + b"\n"
            for raw in self.records
        )

    def whole(self) -> bytes:
        """The same in the form that versions before 2026 write."""
        return json.dumps(
            {**self.records[0], "messages": self.records[1:]}, indent=2
        ).encode()


class CursorLog:
    """A transcript of Cursor in the making: every method adds one line."""

    session = SESSION

    def __init__(self) -> None:
        self.raw: list[bytes] = []

    def line(self, role: str, *blocks: Any, **fields: Any) -> None:
        content = [
            {"type": "text", "text": block} if isinstance(block, str) else block
            for block in blocks
        ]
        self.raw.append(
            json.dumps(
                {"role": role, "message": {"content": content}, **fields}
            ).encode()
            + b"\n"
        )

    def user(self, words: str, before: str = "") -> None:
        self.line("user", f"{before}<user_query>\n{words}\n</user_query>")

    def say(self, *blocks: Any) -> None:
        self.line("assistant", *blocks)

    def call(self, name: str, **given: Any) -> None:
        self.say({"type": "tool_use", "name": name, "input": given})

    def end(self) -> None:
        self.raw.append(b'{"type":"turn_ended","status":"success"}\n')

    def bytes(self) -> bytes:
        return b"".join(self.raw)


class Rollout:
    """A rollout of Codex in the making: every line comes a second after the one before."""

    def __init__(self, **meta: Any) -> None:
        self.raw: list[bytes] = []
        git = {"branch": "main"}
        self.line(
            "session_meta",
            id=SESSION,
            cwd="/home/ann/kasha",
            cli_version="0.145.0",
            git=git,
            **meta,
        )

    def line(self, line_type: str, /, **payload: Any) -> None:
        at = (BEGIN + timedelta(seconds=len(self.raw))).strftime(
            "%Y-%m-%dT%H:%M:%S.123Z"
        )
        line = {"timestamp": at, "type": line_type, "payload": payload}
        self.raw.append(json.dumps(line, ensure_ascii=False).encode() + b"\n")

    def event(self, event_type: str, /, **payload: Any) -> None:
        self.line("event_msg", type=event_type, **payload)

    def task(self, task: str) -> None:
        self.event("task_started", turn_id=task)
        self.line("turn_context", turn_id=task, cwd="/home/ann/kasha")

    def user(self, words: str, **more: Any) -> None:
        self.item("user", words)
        self.event("user_message", message=words, **more)

    def say(self, words: str) -> None:
        self.event("agent_message", message=words)
        self.item("assistant", words)

    def item(self, role: str, words: str) -> None:
        kind = "output_text" if role == "assistant" else "input_text"
        self.line(
            "response_item",
            type="message",
            role=role,
            content=[{"type": kind, "text": words}],
        )

    def call(self, name: str, given: Any, output: Any = "ok", call: str = "") -> None:
        call, custom = call or f"call_{len(self.raw)}", isinstance(given, str)
        kind, more = (
            ("custom_tool_call", {"input": given}) if custom else ("function_call", {})
        )
        more = more or {"arguments": json.dumps(given)}
        self.line("response_item", type=kind, name=name, call_id=call, **more)
        if output is not None:
            self.line(
                "response_item", type=f"{kind}_output", call_id=call, output=output
            )

    def bytes(self) -> bytes:
        return b"".join(self.raw)


class EventLog:
    """An event log of Copilot CLI in the making: every line comes a second after the one before."""

    def __init__(self, version: int = 1, **start: Any) -> None:
        self.raw: list[bytes] = []
        context = {"cwd": "/home/ann/kasha", "branch": "main"}
        self.add(
            "session.start",
            {"sessionId": SESSION, "version": version, "context": context, **start},
        )

    def add(self, kind: str, data: dict[str, Any], **line: Any) -> str:
        """Returns the line's id."""
        key = str(line.pop("id", f"00000000-0000-4000-8000-{len(self.raw):012}"))
        at = (BEGIN + timedelta(seconds=len(self.raw))).strftime(
            "%Y-%m-%dT%H:%M:%S.123Z"
        )
        whole = {
            "type": kind,
            "data": data,
            "id": key,
            "timestamp": at,
            "parentId": None,
            **line,
        }
        self.raw.append(json.dumps(whole, ensure_ascii=False).encode() + b"\n")
        return key

    def user(self, words: str, **data: Any) -> str:
        return self.add(
            "user.message",
            {"content": words, "transformedContent": f"<x>1</x>{words}", **data},
        )

    def say(self, words: str, **data: Any) -> str:
        return self.add(
            "assistant.message",
            {"messageId": f"m{len(self.raw)}", "content": words, **data},
        )

    def call(
        self, name: str, given: Any, told: str = "ok", call: str = "", **done: Any
    ) -> None:
        call = call or f"call_{len(self.raw)}"
        self.say(
            "", toolRequests=[{"toolCallId": call, "name": name, "arguments": given}]
        )
        self.add(
            "tool.execution_start",
            {"toolCallId": call, "toolName": name, "arguments": given},
        )
        self.add(
            "tool.execution_complete",
            {"toolCallId": call, "success": True, "result": {"content": told}, **done},
        )

    def bytes(self) -> bytes:
        return b"".join(self.raw)


class HostSession:
    """A session of any host: its record on disk, its payloads, and the adapter that reads both."""

    def __init__(self, host: str, path: Path, common: dict[str, Any]) -> None:
        self.host, self.path, self.common = host_named(host), path, common
        self.cursor = Cursor()

    def write(self, content: bytes, at: datetime = BEGIN) -> None:
        self.path.write_bytes(content)
        os.utime(self.path, (at.timestamp(), at.timestamp()))

    def payload(self, **fields: Any) -> bytes:
        return json.dumps(
            {"transcript_path": str(self.path), **self.common, **fields}
        ).encode()

    def hear(
        self, event: str, at: str = "2026-02-09T14:00:00Z", **fields: Any
    ) -> Reading:
        """Take a host event and keep the cursor, as the worker does."""
        reading = self.host.read(event, self.payload(**fields), self.cursor, at)
        self.cursor = reading.cursor
        return reading

    def events(self, content: bytes) -> list[HostEvent]:
        self.write(content)
        return list(self.host.read_transcript(self.path, Cursor()).events)

    def turns(self, content: bytes) -> list[Turn]:
        return final_turns(self.events(content))


def final_turns(events: list[HostEvent] | tuple[HostEvent, ...]) -> list[Turn]:
    """The last form of every turn, in the order in which they began."""
    return list(
        {event.id: event for event in events if isinstance(event, Turn)}.values()
    )


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
def gemini_log() -> type[Gemini]:
    return Gemini


@pytest.fixture(scope="session")
def cursor_log() -> type[CursorLog]:
    return CursorLog


@pytest.fixture(scope="session")
def gemini_in() -> Callable[..., HostSession]:
    def build(folder: Path, suffix: str = ".jsonl") -> HostSession:
        (folder / "chats").mkdir(exist_ok=True)
        (folder / ".project_root").write_text("/home/ann/kasha")
        common = {"session_id": SESSION, "cwd": "/home/ann/kasha"}
        return HostSession(
            "gemini-cli", folder / "chats" / f"session-x{suffix}", common
        )

    return build


@pytest.fixture(scope="session")
def cursor_in() -> Callable[..., HostSession]:
    common = {"conversation_id": SESSION, "workspace_roots": ["/home/ann/kasha"]}
    return lambda folder, suffix=".jsonl": HostSession(
        "cursor", folder / f"{SESSION}{suffix}", common
    )


@pytest.fixture(scope="session")
def rollout() -> type[Rollout]:
    return Rollout


@pytest.fixture(scope="session")
def codex_in() -> Callable[[Path], HostSession]:
    common = {"session_id": SESSION, "cwd": "/home/ann/kasha"}
    return lambda folder: HostSession(
        "codex", folder / f"rollout-2026-02-09T14-00-00-{SESSION}.jsonl", common
    )


@pytest.fixture(scope="session")
def event_log() -> type[EventLog]:
    return EventLog


@pytest.fixture(scope="session")
def copilot_in() -> Callable[[Path], HostSession]:
    def build(folder: Path) -> HostSession:
        path = folder / "session-state" / SESSION / "events.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        common = {
            "sessionId": SESSION,
            "cwd": "/home/ann/kasha",
            "transcriptPath": str(path),
        }
        return HostSession("copilot", path, common)

    return build


@pytest.fixture(scope="session")
def final() -> Callable[[Any], list[Turn]]:
    return final_turns


@pytest.fixture(scope="session")
def recordings() -> Path:
    """Real transcripts, which are not part of this repository."""
    data = Path(
        os.environ.get("KEEPLORE_DATA")
        or Path(__file__).resolve().parents[4] / "shared" / "data"
    )
    if not (data / "transcripts" / "index.json").is_file():
        pytest.skip(
            f"no recorded transcripts in {data}; set KEEPLORE_DATA to the folder that holds "
            f"transcripts/"
        )
    return data / "transcripts"
