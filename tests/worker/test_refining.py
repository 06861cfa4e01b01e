"""From a host's raw payloads to a refined note that recall finds: the worker asks a real server
over the real SDK.
"""

from __future__ import annotations

import json
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from file_hashes import digests
from tests.llm.model_server import ModelServer, Request, Said, Status, model_server
from waiting import until

from keeplore.config.setting_layers import set_shared
from keeplore.config.settings import load_settings
from keeplore.ingest import origin_of
from keeplore.jobs.queue import JobQueue, JobState
from keeplore.llm.open_model import accept
from keeplore.memory import Memory, parse
from keeplore.worker.server.protocol import ask
from keeplore.workspace.recording.refine_trigger import KINDS
from keeplore.workspace.registry import Registry
from keeplore.workspace.writing.ingest_jobs import IngestQueue

QUESTION = (
    "Which queue do we take for the invoices: RabbitMQ or a table? We have one small server, "
    "nobody wants to run a "
    "broker, and a lost invoice costs us a customer, so whatever it is must live in the backup "
    "that we have already."
)
ADVICE = (
    "A table with SKIP LOCKED does it at your load: jobs are rows, so the nightly dump holds them, "
    "and there is no "
    "broker to watch. The price is polling, which at one invoice a second nobody will notice."
)
DECIDED = (
    "Then we take a table with SKIP LOCKED for the invoices, because of the backup."
)
STATEMENT = (
    "Invoices are queued in a table with SKIP LOCKED, because the backup holds it."
)
FACT = {
    "content": STATEMENT,
    "type": "decision",
    "scope": "project",
    "category": "architectural-decisions",
    "confidence": 0.95,
    "lasting": 0.5,
    "span": "we take a table with SKIP LOCKED for the invoices",
    "about": "",
}


@pytest.fixture
def server() -> Any:
    with model_server() as server:
        yield server


def answer(request: Request) -> Said:
    """As a model that reads: the facts of a talk, or an ADD for each fact."""
    if "Talk:" in request.prompt:
        return Said(
            f"<think>Let me "
            f"see.</think>\n```json\n{json.dumps({'facts': [FACT], 'entities': []})}\n```"
        )
    choice = {
        "fact": 1,
        "action": "ADD",
        "target": "",
        "content": "",
        "confidence": 0.9,
        "reason": "it says more",
    }
    return Said(json.dumps({"decisions": [choice]}))


def hear(office: Any, event: str, **fields: str) -> None:
    place = str(Path.home() / "code" / "api")
    data = {
        "conversation_id": "c-1",
        "workspace_roots": [place],
        "cursor_version": "2026.09.1",
        **fields,
    }
    office.spool.add(
        "cursor", event, json.dumps({"hook_event_name": event, **data}).encode()
    )


def talk(office: Any) -> None:
    hear(office, "sessionStart")
    for number, (prompt, reply) in enumerate(((QUESTION, ADVICE), (DECIDED, "Noted."))):
        hear(office, "beforeSubmitPrompt", prompt=prompt, generation_id=f"g{number}")
        hear(office, "afterAgentResponse", text=reply, generation_id=f"g{number}")
        hear(office, "stop", status="completed", generation_id=f"g{number}")
    hear(office, "sessionEnd", reason="completed")


def set_up(office: Any, server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    (Path.home() / "code" / "api").mkdir(parents=True)
    office.init()
    settings = f"llm:\n  provider: openai\n  model: played\n  base_url: {server.url}\n"
    (office.root / "keeplore.yaml").write_text(
        f"capture:\n  notes: false\n{settings}", encoding="utf-8"
    )


def refined(root: Path) -> list[Memory]:
    notes = [
        parse(path.read_text())
        for path in sorted(root.glob("**/memory/decisions/*.md"))
    ]
    return [note for note in notes if note.meta["trigger"] == "refine"]


def git(root: Path, *arguments: str) -> str:
    return subprocess.run(
        ["git", "-C", str(root), *arguments], capture_output=True, text=True, check=True
    ).stdout


def test_a_talk_becomes_a_note_that_recall_finds(
    office: Any, server: ModelServer, monkeypatch: Any
) -> None:
    set_up(office, server, monkeypatch)
    accept(office.places, office.root, load_settings(office.root).llm)
    server.script(Status(500))  # it is tried again
    server.always(answer)
    office.start()
    talk(office)
    until(lambda: bool(refined(office.root)), "the note is written")
    [note] = refined(office.root)
    assert (note.trust, note.source["session"]) == ("user", "c-1")
    assert (
        f"> “we take a table with SKIP LOCKED for the invoices” — user, turn {note.turns[0]}"
        in note.body
    )
    until(
        lambda: "audit/" in git(office.root, "log", "-1", "--format=", "--name-only"),
        "it is committed",
    )
    changed = git(office.root, "log", "-1", "--format=", "--name-only").split()
    assert sorted(path.split("/")[0] for path in changed) == ["audit", "projects"]
    question = {
        "query": "where are invoices queued",
        "cwd": str(Path.home() / "code" / "api"),
        "limit": 3,
        "wide": False,
        "exchanges": False,
        "session": "",
        "within": "",
        "text": True,
        "agent": "",
    }
    until(
        lambda: (
            STATEMENT in str(ask(office.places.state, "recall", question, timeout_s=60))
        ),
        "recall finds it",
    )
    until(lambda: JobQueue(office.places.jobs).counts() == [], "the job is done")
    assert len(server.requests) == 2


def test_nothing_is_sent_to_a_server_that_nobody_accepted_here(
    office: Any, server: ModelServer, monkeypatch: Any
) -> None:
    set_up(office, server, monkeypatch)
    server.always(answer)
    office.start()
    talk(office)
    office.taken()
    until(lambda: len(office.prompts()) == 2, "the talk is written")
    office.stop()
    assert (server.requests, JobQueue(office.places.jobs).counts()) == ([], [])


def test_an_answer_that_is_none_is_dead_after_three_attempts_and_costs_nothing_else(
    office: Any, server: ModelServer, monkeypatch: Any
) -> None:
    set_up(office, server, monkeypatch)
    accept(office.places, office.root, load_settings(office.root).llm)
    server.always(Said("I would rather talk about the weather."))
    monkeypatch.setattr("keeplore.jobs.queue.FIRST_PAUSE_S", 0.0)
    office.start()
    talk(office)
    queue = JobQueue(office.places.jobs)
    until(
        lambda: [count.state for count in queue.counts()] == [JobState.DEAD],
        "it is dead",
    )
    office.stop()
    assert len(server.requests) == 3
    assert (refined(office.root), len(office.prompts())) == ([], 2)
    assert not [*office.root.glob("audit/*/*.jsonl")]


def test_a_workspace_that_was_frozen_meanwhile_gets_nothing_of_what_waits(
    office: Any, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_up(office, server, monkeypatch)
    accept(office.places, office.root, load_settings(office.root).llm)
    server.always(Status(500))
    office.start()
    talk(office)
    office.taken()
    queue = JobQueue(office.places.jobs)
    until(lambda: any(one.reason for one in queue.counts()), "refining was tried")
    office.stop()
    (Path.home() / "guide.md").write_text("# Guide\n\nA rollback takes four minutes.\n")
    with Registry(office.places) as registry:
        origin = origin_of("guide.md", Path.home(), Path.home())
        IngestQueue(registry).add(origin, "memory", "workspace", "")
        registry.named("memory").commit()
    set_shared(office.root, office.places.state, "tidy.nightly", True)  # a value
    set_shared(office.root, office.places.state, "frozen", True)  # a value
    before = digests(office.root)
    asked = len(server.requests)
    server.always(answer)
    in_an_hour = datetime.now(UTC) + timedelta(hours=1)
    job = queue.lease(KINDS, in_an_hour)
    assert job and queue.put_off(job, datetime.now(UTC), "")
    office.start(idle_exit_s=2.0)
    assert office.joined() == [[True]]
    assert digests(office.root) == before
    assert len(server.requests) == asked
    with Registry(office.places) as registry:
        [ingested] = IngestQueue(registry).all()
    assert (ingested.state, "is frozen" in ingested.reason) == ("failed", True)
    [waiting] = queue.counts()
    assert (waiting.state, "is frozen" in waiting.reason) == (JobState.WAITING, True)
