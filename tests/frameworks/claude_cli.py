"""A program that speaks to the Claude Agent SDK as Claude Code does, by its control protocol.

For each prompt it calls what the SDK has registered and, where PLUGIN is set, runs the entries of
Keeplore's plugin. What was answered to it goes to the file REPLIES, one JSON object a line.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import Any

SESSION = os.environ["SESSION"]
ANSWER = os.environ["ANSWER"]
TRANSCRIPT = os.environ["TRANSCRIPT"]
PLUGIN = os.environ.get("PLUGIN", "")  # client.py
QUESTION = {
    "questions": [
        {
            "question": "Commit it?",
            "header": "Git",
            "options": [{"label": "Yes"}, {"label": "No"}],
        }
    ]
}
matchers: dict[str, list[dict[str, Any]]] = {}


def send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def fire(event: str, **fields: Any) -> None:
    """One host event, for the SDK's callbacks and the plugin's entries."""
    payload = {
        "session_id": SESSION,
        "transcript_path": TRANSCRIPT,
        "cwd": str(Path.cwd()),
        "hook_event_name": event,
    }
    payload |= fields
    for matcher in matchers.get(event, []):
        if matcher["matcher"] in (None, fields.get("tool_name")):
            for callback in matcher["hookCallbackIds"]:
                request = {
                    "subtype": "hook_callback",
                    "callback_id": callback,
                    "input": payload,
                    "tool_use_id": None,
                }
                send(
                    {
                        "type": "control_request",
                        "request_id": str(uuid.uuid4()),
                        "request": request,
                    }
                )
                note(event, json.loads(sys.stdin.readline())["response"])
    if PLUGIN:
        command = [sys.executable, "-I", "-S", PLUGIN, "claude-code", event]
        done = subprocess.run(
            command, input=json.dumps(payload).encode(), capture_output=True, check=True
        )
        note(event, {"plugin": done.stdout.decode()})


def note(event: str, reply: dict[str, Any]) -> None:
    with Path(os.environ["REPLIES"]).open("a", encoding="utf-8") as file:
        file.write(json.dumps({"event": event, "reply": reply}) + "\n")


def record(kind: str, content: Any) -> None:
    at = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())
    line = {
        "type": kind,
        "uuid": str(uuid.uuid4()),
        "sessionId": SESSION,
        "timestamp": at,
        "cwd": str(Path.cwd()),
    }
    line |= {"version": "2.1.240", "isSidechain": False, "userType": "external"}
    with Path(TRANSCRIPT).open("a", encoding="utf-8") as file:
        file.write(
            json.dumps({**line, "message": {"role": kind, "content": content}}) + "\n"
        )


def answer(prompt: str) -> None:
    fire("UserPromptSubmit", prompt=prompt, prompt_id=str(uuid.uuid4()))
    record("user", prompt)
    record("assistant", [{"type": "text", "text": ANSWER}])
    asked = {"tool_name": "AskUserQuestion", "tool_input": QUESTION, "tool_use_id": "t"}
    fire(
        "PostToolUse",
        **asked,
        tool_response={**QUESTION, "answers": {"Commit it?": "Yes"}},
    )
    fire("PreCompact", trigger="manual", custom_instructions="")
    fire("Stop", stop_hook_active=False, last_assistant_message=ANSWER)
    text = {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [{"type": "text", "text": ANSWER}],
    }
    send(
        {
            "type": "assistant",
            "message": text,
            "session_id": SESSION,
            "parent_tool_use_id": None,
        }
    )
    times = {
        "duration_ms": 1,
        "duration_api_ms": 1,
        "num_turns": 1,
        "total_cost_usd": 0.0,
    }
    send(
        {
            "type": "result",
            "subtype": "success",
            "is_error": False,
            "session_id": SESSION,
            "result": ANSWER,
            **times,
        }
    )


def main() -> None:
    if PLUGIN:
        fire("SessionStart", source="startup")
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "control_request":
            matchers.update(message["request"].get("hooks") or {})
            reply = {
                "subtype": "success",
                "request_id": message["request_id"],
                "response": {"commands": []},
            }
            send({"type": "control_response", "response": reply})
        elif message["type"] == "user":
            answer(message["message"]["content"])


if __name__ == "__main__":
    main()
