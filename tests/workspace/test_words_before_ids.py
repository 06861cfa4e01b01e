"""A session of OpenCode whose words end in those that announce secrets: from the raw export to the
recalled line, read twice, and pushed.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from keeplore.config.places import Places
from keeplore.memory import AgentQuestion, Conversation, Memory, parse
from keeplore.recall.request import RecallRequest
from keeplore.workspace import Registry
from keeplore.workspace.importing.session_import import import_sessions, worth_reading
from keeplore.workspace.lifecycle.setup import initialise
from keeplore.workspace.lifecycle.sync_workspace import synchronise
from keeplore_hooks.installed import source_named

SESSION = "ses_6b1f0d2a4ffeXk3JqW9LmPz0aB"
BEGIN = 1_770_645_600_000  # 2026-02-09T14:00:00Z, ms
TALK = (
    (
        "How do we rotate the API token?",
        "We rotate it each month with a short-lived token.",
    ),
    (
        "And who holds the secret",
        "The vault of the platform team holds the client secret",
    ),
    ("Is that also the database password?", "No, the database has its own password:"),
    (
        "Where do I put the API key",
        "Into the vault below services/kasha, never into .env:",
    ),
    ("So the header is Authorization: Bearer", "Yes, always Bearer"),
    ("ok, and the session?", "It signs out after one hour; we keep no session"),
)


def message(number: int, role: str, *parts: dict[str, object]) -> dict[str, object]:
    """With ids as OpenCode makes them: the time in hexadecimal, then random characters."""
    key = f"{0x6B1F0D2A4001 + number:012x}Qz7RtY2mK{number:02}vBx"
    time = {"created": BEGIN + number * 1000, "completed": BEGIN + number * 1000 + 500}
    made = [{"id": f"prt_{key}{place}", **part} for place, part in enumerate(parts)]
    info = {"id": f"msg_{key}", "role": role, "time": time, "finish": "stop"}
    return {"info": info, "parts": made}


def asking(number: int) -> dict[str, object]:
    questions = [
        {"question": "Which store gets the token", "options": [{"label": "Vault"}]}
    ]
    state = {
        "status": "completed",
        "input": {"questions": questions},
        "metadata": {"answers": [["Vault"]]},
    }
    tool = {"type": "tool", "tool": "question", "callID": "call_1", "state": state}
    return message(number, "assistant", tool)


def export(folder: Path, count: int, cwd: Path) -> None:
    """The session with so many of its exchanges, as ``opencode export`` writes it."""
    messages = []
    for place, (user, reply) in enumerate(TALK[:count]):
        said = [{"type": "text", "text": text} for text in (user, reply)]
        messages.append(message(3 * place, "user", said[0]))
        if place == 1:
            messages.append(asking(3 * place + 1))
        messages.append(message(3 * place + 2, "assistant", said[1]))
    time = {"created": BEGIN, "updated": BEGIN + 1000 * len(messages) * 2}
    info = {"id": SESSION, "directory": str(cwd), "time": time}
    folder.mkdir(exist_ok=True)
    (folder / "session.json").write_text(
        json.dumps({"info": info, "messages": messages})
    )


@pytest.fixture
def places(tmp_path, git):
    places = Places.from_environment(os.environ)
    initialise(places, Path.home() / "memory")
    remote = tmp_path / "remote.git"
    git("init", "-q", "--bare", "-b", "main", str(remote), cwd=tmp_path)
    git("remote", "add", "origin", str(remote), cwd=Path.home() / "memory")
    return places


def read(places: Places, folder: Path) -> list[Memory]:
    """Import what is there, and give what memory holds of it."""
    source = source_named("opencode")
    with Registry(places) as registry:
        recorded = worth_reading(source.recorded(Path.home(), str(folder)), None)
        assert not import_sessions(registry, source, recorded, lambda *_: None).problems
    found = (Path.home() / "memory").glob("**/conversations/**/*.md")
    return [parse(path.read_text()) for path in sorted(found)]


def test_words_that_announce_secrets_cost_no_turn_no_reply_and_no_push(
    places, tmp_path
):
    folder, cwd = tmp_path / "exports", Path.home() / "code" / "kasha"
    cwd.mkdir(parents=True)
    turns = [message(3 * place, "user")["info"]["id"] for place in range(len(TALK))]
    for count in (3, len(TALK), len(TALK)):
        export(folder, count, cwd)
        memories = read(places, folder)
        talks = [Conversation.from_markdown(memory.body) for memory in memories]
        exchanges = sorted(
            (e for talk in talks for e in talk.exchanges), key=lambda e: e.at
        )
        assert [e.id for e in exchanges] == turns[:count]
        assert (
            sorted(turn for memory in memories for turn in memory.turns)
            == turns[:count]
        )
        assert [(e.user, e.assistant) for e in exchanges] == list(TALK[:count])
        asked = AgentQuestion("Which store gets the token", "Vault", ("Vault",))
        assert asked in exchanges[1].replies
        assert {memory.source["session"] for memory in memories} == {SESSION}
    with Registry(places) as registry:
        workspace = registry.named("memory")
        answer = workspace.recall(
            RecallRequest("How do we rotate the API token?", by_exchange=True)
        )
        [line] = [hit.passage for hit in answer.hits if hit.turn == turns[0]]
        assert "We rotate it each month with a short-lived token." in line
        assert synchronise(workspace).pushed
        assert not synchronise(workspace).pushed
