"""A recorded session, played as Claude Code would: the transcript grows, and the events come with
their payloads.

The words stand in ``ledgerly.toml``. The lines have the form that versions 2.1.2xx write: one line
for each content block, attachments, a compaction in the middle. Everything is derived from the
arguments, so two plays are equal.
"""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

SCRIPT = Path(__file__).with_name("ledgerly.toml")
REMOTE = "git@github.com:ledgerly/ledgerly.git"
BRANCH = "main"
HOST = "claude-code"
VERSION = "2.1.218"
MODEL = "claude-opus-4-5-20251101"
# joined here, so that no file of the repository holds what looks like a password
PASSWORD = "-".join(("stage", "Tq7v", "9wLx2rKf"))
DATABASE_URL = (
    f"postgresql://ledgerly:{PASSWORD}@staging.ledgerly.example:5432/ledgerly"
)
_NAMESPACE = uuid.UUID("5a3a7f5e-6f55-5c0e-8d0c-7f5e6a1b2c3d")

Json = dict[str, Any]


@dataclass(slots=True)
class Step:
    """One host event. Set ``output`` to what the client printed: the host records it in the
    transcript.
    """

    event: str
    payload: bytes
    output: bytes = b""


def create_project(project: Path) -> None:
    """Make the code repository in which the session takes place, with the remote that identifies
    it.
    """
    project.mkdir(parents=True, exist_ok=True)
    (project / "README.md").write_text(
        "# ledgerly\n\nInvoices for small firms.\n", encoding="utf-8"
    )
    _git(project, "init", "-q", "-b", BRANCH)
    _git(project, "add", "README.md")
    who = ("-c", "user.name=Kim", "-c", "user.email=kim@ledgerly.example")
    _git(project, *who, "commit", "-q", "-m", "Start ledgerly")
    _git(project, "remote", "add", "origin", REMOTE)


def play(home: Path, project: Path, started_at: datetime) -> Iterator[Step]:
    """The session's events in order; the transcript under ``home``/.claude holds what the host has
    written by then.
    """
    script = _read_script(project)
    recorder = _Recorder(home, project, started_at)
    yield recorder.step("SessionStart", source="startup", model=MODEL)
    for number, turn in enumerate(script["turn"]):
        recorder.now = started_at + timedelta(minutes=turn["minute"])
        if turn.get("is_after_compaction"):
            yield from _compaction(recorder, script["summary"])
        yield from _turn(recorder, turn, is_lagging=number % 3 == 2)
    recorder.now += timedelta(minutes=1)
    yield recorder.step("SessionEnd", reason="prompt_input_exit")


@dataclass(slots=True)
class _Recorder:
    """Writes the transcript as the host does, and makes the payloads that go with it."""

    home: Path
    project: Path
    now: datetime
    session: str = ""
    prompt: str = ""  # id of the prompt that is worked on
    last: str | None = None  # uuid of the last line
    count: int = 0
    held: list[Json] = field(
        default_factory=list
    )  # lines that the host has not written yet

    def __post_init__(self) -> None:
        self.session = str(
            uuid.uuid5(_NAMESPACE, f"{self.project} {self.now.isoformat()}")
        )
        self.transcript.parent.mkdir(parents=True, exist_ok=True)
        self.write({"type": "mode", "mode": "normal", "sessionId": self.session})
        self.write(
            {
                "type": "permission-mode",
                "permissionMode": "acceptEdits",
                "sessionId": self.session,
            }
        )

    @property
    def transcript(self) -> Path:
        folder = re.sub(r"[^a-zA-Z0-9]", "-", str(self.project))
        return self.home / ".claude" / "projects" / folder / f"{self.session}.jsonl"

    def step(self, event: str, **fields: Any) -> Step:
        common = {
            "session_id": self.session,
            "transcript_path": str(self.transcript),
            "cwd": str(self.project),
            "permission_mode": "acceptEdits",
            "hook_event_name": event,
            **({"prompt_id": self.prompt} if self.prompt else {}),
        }
        return Step(
            event, json.dumps({**common, **fields}, ensure_ascii=False).encode()
        )

    def new_id(self) -> str:
        self.count += 1
        return str(uuid.uuid5(_NAMESPACE, f"{self.session} {self.count}"))

    def line(self, kind: str, *, is_held: bool = False, **fields: Any) -> str:
        """Write one line of the tree, two seconds after the one before it, and give its uuid."""
        self.now += timedelta(seconds=2)
        line = {
            "parentUuid": self.last,
            "isSidechain": False,
            "userType": "external",
            "entrypoint": "cli",
            "cwd": str(self.project),
            "sessionId": self.session,
            "version": VERSION,
            "gitBranch": BRANCH,
            "type": kind,
            "uuid": self.new_id(),
            "timestamp": self.now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z"),
            **fields,
        }
        self.last = line["uuid"]
        if is_held:
            self.held.append(line)
        else:
            self.write(line)
        return str(line["uuid"])

    def user(self, content: Any, **fields: Any) -> None:
        self.line(
            "user",
            message={"role": "user", "content": content},
            promptId=self.prompt,
            **fields,
        )

    def assistant(self, message: str, block: Json, *, is_held: bool = False) -> str:
        answer: Json = {
            "model": MODEL,
            "id": message,
            "type": "message",
            "role": "assistant",
            "content": [block],
        }
        usage = {
            "input_tokens": 8,
            "output_tokens": 320,
            "cache_read_input_tokens": 44600,
        }
        answer |= {"stop_reason": None, "stop_sequence": None, "usage": usage}
        return self.line(
            "assistant", is_held=is_held, message=answer, requestId=f"req_{message[4:]}"
        )

    def write(self, line: Json) -> None:
        with self.transcript.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")

    def release(self) -> None:
        for line in self.held:
            self.write(line)
        self.held.clear()

    def record_output(self, step: Step) -> None:
        """The host keeps what a client answered, as attachments; a reader must not take it for
        speech.
        """
        if not step.output:
            return
        about = {
            "hookName": step.event,
            "hookEvent": step.event,
            "toolUseID": f"hook-{self.new_id()}",
        }
        result = {
            "type": "hook_success",
            "stdout": step.output.decode(),
            "stderr": "",
            "exitCode": 0,
            **about,
        }
        self.line("attachment", attachment=result)
        context = (
            json.loads(step.output)
            .get("hookSpecificOutput", {})
            .get("additionalContext", "")
        )
        if context:
            self.line(
                "attachment",
                attachment={
                    "type": "hook_additional_context",
                    "content": [context],
                    **about,
                },
            )


def _turn(recorder: _Recorder, turn: Json, *, is_lagging: bool) -> Iterator[Step]:
    recorder.prompt = recorder.new_id()
    prompt = turn.get("prompt") or f"/{turn['command']} {turn['args']}"
    # the prompt reaches the transcript only after the client has answered
    step = recorder.step("UserPromptSubmit", prompt=prompt)
    yield step
    if "command" in turn:
        name = turn["command"]
        tags = {
            "command-message": name,
            "command-name": f"/{name}",
            "command-args": turn["args"],
        }
        recorder.user("\n".join(f"<{tag}>{text}</{tag}>" for tag, text in tags.items()))
        recorder.user([{"type": "text", "text": turn["expands_to"]}], isMeta=True)
    else:
        recorder.user(prompt, promptSource="typed", origin={"kind": "human"})
    recorder.record_output(step)
    message = f"msg_{recorder.new_id()[:8]}"
    for part in turn["part"]:
        is_last = part is turn["part"][-1]
        if "tool" in part:
            yield from _tool(recorder, message, part)
            message = f"msg_{recorder.new_id()[:8]}"
        else:
            recorder.now += timedelta(seconds=20)
            recorder.assistant(message, _block(part), is_held=is_lagging and is_last)
    said = [part["text"] for part in turn["part"] if "text" in part]
    yield recorder.step("Stop", stop_hook_active=False, last_assistant_message=said[-1])
    recorder.release()
    recorder.line("system", subtype="turn_duration", durationMs=48000, isMeta=False)


def _tool(recorder: _Recorder, message: str, part: Json) -> Iterator[Step]:
    call = f"toolu_{recorder.new_id()[:8]}"
    questions = [_question(asked) for asked in part.get("questions", ())]
    arguments = {"questions": questions} if questions else part["input"]
    block = {"type": "tool_use", "id": call, "name": part["tool"], "input": arguments}
    caller = recorder.assistant(message, block)
    answers = {
        asked["question"]: asked["answer"] for asked in part.get("questions", ())
    }
    told = ", ".join(f'"{question}"="{answer}"' for question, answer in answers.items())
    text = (
        part.get("result")
        or f"Your questions have been answered: {told}. You can now continue with these answers in "
        f"mind."
    )
    result = (
        {"questions": questions, "answers": answers} if questions else _result(part)
    )
    recorder.now += timedelta(seconds=30 if questions else 3)
    recorder.user(
        [{"tool_use_id": call, "type": "tool_result", "content": text}],
        toolUseResult=result,
        sourceToolAssistantUUID=caller,
    )
    if questions:
        yield recorder.step(
            "PostToolUse",
            tool_name=part["tool"],
            tool_input=arguments,
            tool_response=result,
            tool_use_id=call,
        )


def _compaction(recorder: _Recorder, summary: str) -> Iterator[Step]:
    yield recorder.step("PreCompact", trigger="auto", custom_instructions=None)
    before, recorder.last = recorder.last, None
    recorder.line(
        "system",
        subtype="compact_boundary",
        logicalParentUuid=before,
        content="Conversation compacted",
        isMeta=False,
        level="info",
        compactMetadata={"trigger": "auto", "preTokens": 167174},
    )
    recorder.user(summary, isCompactSummary=True, isVisibleInTranscriptOnly=True)
    yield recorder.step("PostCompact", trigger="auto", compact_summary=summary)
    step = recorder.step("SessionStart", source="compact", model=MODEL)
    yield step
    recorder.record_output(step)


def _block(part: Json) -> Json:
    if "thinking" in part:
        return {"type": "thinking", "thinking": part["thinking"], "signature": ""}
    return {"type": "text", "text": part["text"]}


def _question(asked: Json) -> Json:
    options = [{"label": label, "description": ""} for label in asked["options"]]
    return {
        "question": asked["question"],
        "header": asked["header"],
        "options": options,
        "multiSelect": False,
    }


def _result(part: Json) -> Json:
    given = part["input"]
    if part["tool"] == "Bash":
        return {
            "stdout": part["result"],
            "stderr": "",
            "interrupted": False,
            "isImage": False,
        }
    if part["tool"] == "Write":
        return {
            "type": "create",
            "filePath": given["file_path"],
            "content": given["content"],
            "structuredPatch": [],
        }
    if part["tool"] == "Edit":
        return {
            "filePath": given["file_path"],
            "oldString": given["old_string"],
            "newString": given["new_string"],
        }
    return {
        "type": "text",
        "file": {"filePath": given["file_path"], "content": part["result"]},
    }


def _read_script(project: Path) -> Json:
    script: Json = tomllib.loads(SCRIPT.read_text(encoding="utf-8"))
    filled: Json = _filled(
        script, {"{project}": str(project), "{database_url}": DATABASE_URL}
    )
    return filled


def _filled(value: Any, words: dict[str, str]) -> Any:
    if isinstance(value, str):
        for name, word in words.items():
            value = value.replace(name, word)
        return value
    if isinstance(value, list):
        return [_filled(item, words) for item in value]
    return (
        {key: _filled(item, words) for key, item in value.items()}
        if isinstance(value, dict)
        else value
    )


def _git(directory: Path, *arguments: str) -> None:
    subprocess.run(
        ["git", *arguments],
        cwd=directory,
        check=True,
        capture_output=True,
        stdin=subprocess.DEVNULL,
    )
