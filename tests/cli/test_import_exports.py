"""`keeplore import chatgpt`: conversations of the person, once, with what was added since."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from keeplore.memory import Conversation, Memory, parse

Run = Callable[..., Any]
SAID = [
    ("Which queue do we take?", "Postgres with SKIP LOCKED, because Redis lost jobs."),
    ("How many retries?", "Five, because the mail provider was away for 40 minutes."),
]


def export(path: Path, said: list[tuple[str, str]]) -> Path:
    """A zip as ChatGPT sends it, with one conversation."""
    mapping: dict[str, Any] = {"root": {"parent": None, "message": None}}
    before = "root"
    flat = [
        (role, text)
        for pair in said
        for role, text in zip(("user", "assistant"), pair, strict=True)
    ]
    for number, (role, text) in enumerate(flat):
        mapping[f"n{number}"] = {
            "parent": before,
            "message": {
                "id": f"m{number}",
                "author": {"role": role},
                "create_time": 1770645600.5 + 60 * number,
                "content": {"content_type": "text", "parts": [text]},
            },
        }
        before = f"n{number}"
    talk = {
        "id": "c-1",
        "mapping": mapping,
        "current_node": before,
        "create_time": 1770645600,
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("conversations.json", json.dumps([talk]))
    return path


def memories(root: Path) -> list[Memory]:
    return [parse(p.read_text()) for p in sorted(root.rglob("conversations/**/*.md"))]


def turns(root: Path) -> list[tuple[str, str]]:
    return [
        (exchange.at, exchange.user)
        for memory in memories(root)
        for exchange in Conversation.from_markdown(memory.body).exchanges
    ]


def test_an_export_is_read_once_and_then_what_was_added(
    run: Run, memory: Path, home: Path
) -> None:
    path = export(home / "export.zip", SAID[:1])
    first = run("import", "chatgpt", "--from", str(path))
    assert (first.returncode, first.stderr) == (0, "")
    assert "chatgpt: 1 new turn in 1 of 1 sessions." in first.stdout
    (made,) = memories(memory)
    assert (made.scope, made.project, made.is_open) == ("user", "", False)
    assert made.source["host"] == "chatgpt"
    before = {p: p.read_bytes() for p in memory.rglob("*.md")}
    again = run("import", "chatgpt", "--from", str(path))
    assert "0 new turns in 0 of" in again.stdout
    assert {p: p.read_bytes() for p in memory.rglob("*.md")} == before
    export(path, SAID)
    more = run("import", "chatgpt", "--from", str(path))
    assert "in 1 of" in more.stdout
    assert {p: p.read_bytes() for p in before} == before
    expected = [
        ("2026-02-09T14:00:00Z", SAID[0][0]),
        ("2026-02-09T14:02:00Z", SAID[1][0]),
    ]
    assert sorted(turns(memory)) == expected


def test_a_person_may_give_an_export_to_the_workspace(
    run: Run, memory: Path, home: Path
) -> None:
    path = export(home / "export.zip", SAID)
    done = run("import", "chatgpt", "--from", str(path), "--scope", "workspace")
    assert done.returncode == 0
    assert {made.scope for made in memories(memory)} == {"workspace"}
    assert (
        "mail provider"
        in run("recall", "--text", "retries of the mail provider").stdout
    )


@pytest.mark.parametrize(
    "words", [["claude-code", "--scope", "user"], ["--scope", "user"]]
)
def test_the_scope_is_for_exports_alone(
    run: Run, memory: Path, words: list[str]
) -> None:
    done = run("import", *words)
    assert done.returncode == 2 and "--scope is for the conversations" in done.stderr


def test_the_wrong_service_and_a_missing_file_say_what_to_do(
    run: Run, memory: Path, home: Path
) -> None:
    path = export(home / "export.zip", SAID)
    wrong = run("import", "claude-ai", "--from", str(path))
    assert wrong.returncode == 0 and "0 new turns" in wrong.stdout
    assert (
        "it is no conversation of Claude.ai: it has no `chat_messages`" in wrong.stderr
    )
    none = run("import", "claude-ai")
    assert "`keeplore import claude-ai --from FILE` reads it" in none.stdout
    assert turns(memory) == []
