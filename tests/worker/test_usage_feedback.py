"""From a prompt that is told a memory to the answer that makes use of it, to what is recalled first
from then on.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from keeplore.config.places import Places
from keeplore.memory import feedback_counters
from keeplore.memory.note import NoteDraft
from keeplore.recall.request import RecallRequest
from keeplore.worker.context import context_provider
from keeplore.worker.server.request_handler import RequestHandler
from keeplore.worker.usage import view_log
from keeplore.worker.usage.usage_feedback import UsageFeedback
from keeplore.worker.usage.view_log import note_opened
from keeplore.workspace.activity import activity_since
from keeplore.workspace.importing.intake import Intake
from keeplore.workspace.lifecycle.setup import initialise
from keeplore.workspace.registry import Registry
from keeplore.workspace.writing.forget import forget
from keeplore_hooks.spool import SpoolEntry

RULE = "VAT is rounded in src/billing/vat.py by quantize_line with ROUND_HALF_UP."
PROMPT = "Where do we round VAT?"
USE = "That is quantize_line in src/billing/vat.py; I add a case to it."


def numbers(text: str) -> dict[str, tuple[int, int]]:
    return {
        id_: (tally.used, sum(tally.idle.values()))
        for id_, tally in feedback_counters.parse(text).items()
    }


class Session:
    """A session of Claude Code on a machine with one workspace, and the worker's parts that it
    meets.
    """

    def __init__(self, registry: Registry) -> None:
        self.registry = registry
        self.workspace = registry.named("memory")
        self.cwd = Path.home() / "code" / "ledgerly"
        self.transcript = Path.home() / "one.jsonl"
        self.turns = 0
        self.restart()

    def restart(self) -> None:
        self.answers = RequestHandler(self.registry, lambda _: True, dict, lambda: None)
        self.uses = UsageFeedback(
            self.registry, self.answers.taken, self.answers.activity.count
        )

    def note(self, text: str = RULE, **fields: Any) -> str:
        outcome = self.workspace.notes.write(
            NoteDraft(text, project="ledgerly", **fields)
        )
        self.workspace.index.refresh()
        return outcome.memory.id

    def prompt(self, words: str = PROMPT) -> str:
        return self._ask("UserPromptSubmit", prompt=words)

    def command(self, name: str, words: str) -> str:
        return self._ask(
            "UserPromptExpansion",
            command_name=f"keeplore:{name}",
            command_source="plugin",
            command_args=words,
        )

    def brief(self) -> str:
        return self._ask("SessionStart", source="startup")

    def turn(self, user: str, assistant: str) -> None:
        """What was said is in the transcript, and heard of."""
        self.turns += 1
        lines = (
            self._line("user", user),
            self._line("assistant", [{"type": "text", "text": assistant}]),
        )
        with self.transcript.open("a") as file:
            file.writelines(f"{json.dumps(line)}\n" for line in lines)
        self.hear()

    def hear(self) -> None:
        entry = Path.home() / "entry"
        entry.write_bytes(self._payload("Stop"))
        at = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        Intake(self.registry, self.uses.observe).take(
            SpoolEntry("entry", "claude-code", "Stop", at, 0, entry)
        )

    def recalled(self) -> dict[str, float]:
        """What is recalled for the prompt, best first, with its score."""
        answer = self.workspace.recall(RecallRequest(PROMPT, self.cwd, text_only=True))
        return {hit.memory_id: hit.score for hit in answer.hits}

    def counted(self) -> dict[str, tuple[int, int]]:
        """What stands in this machine's file at the end: sessions that made use of it, and those
        told for nothing.
        """
        self.uses.save(is_last=True)
        path = self.workspace.root / feedback_counters.path_of(self.workspace.machine)
        return numbers(path.read_text()) if path.exists() else {}

    def _ask(self, event: str, **fields: Any) -> str:
        return self.answers.answer(
            "claude-code", event, self._payload(event, **fields)
        ).decode()

    def _payload(self, event: str, **fields: Any) -> bytes:
        place = {
            "session_id": "one",
            "cwd": str(self.cwd),
            "transcript_path": str(self.transcript),
        }
        return json.dumps({"hook_event_name": event, **place, **fields}).encode()

    def _line(self, kind: str, content: Any) -> dict[str, Any]:
        at = datetime.now(UTC)
        return {
            "type": kind,
            "uuid": f"{kind}-{self.turns}",
            "parentUuid": f"user-{self.turns}" if kind == "assistant" else None,
            "sessionId": "one",
            "timestamp": at.strftime("%Y-%m-%dT%H:%M:%S.000Z"),
            "version": "2.1.218",
            "cwd": str(self.cwd),
            "isSidechain": False,
            "message": {"role": kind, "id": f"m-{self.turns}", "content": content},
        }


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    places = Places.from_environment(os.environ)
    initialise(places, Path.home() / "memory")
    (Path.home() / "memory" / "keeplore.yaml").write_text(
        "schema: 1\ncontext:\n  threshold: 0.3\n"
    )
    (Path.home() / "code" / "ledgerly").mkdir(parents=True)
    (Path.home() / "code" / "ledgerly" / ".keeplore-project").write_text("ledgerly")
    monkeypatch.setattr(
        context_provider, "VECTOR_SHARE", 1000.0
    )  # a busy machine must not make silence of an answer
    with Registry(places) as registry:
        yield Session(registry)


def test_the_memory_that_an_answer_uses_comes_first_from_then_on(
    session: Session,
) -> None:
    rules = {
        session.note(
            "VAT is rounded in src/invoice/vat.py by round_line, HALF_UP."
        ): "round_line in src/invoice/vat.py",
        session.note(
            "VAT is rounded in src/reports/vat.py by round_page, HALF_UP."
        ): "round_page in src/reports/vat.py",
    }
    before = session.recalled()
    assert before.keys() == rules.keys()
    last = [*before][-1]
    session.prompt()
    session.turn(PROMPT, f"That is {rules[last]}.")
    assert session.counted()[last] == (1, 0)
    after = session.recalled()
    assert (
        next(iter(after)) == last and before[last] <= after[last] < before[last] + 0.05
    )


def test_what_was_told_used_and_not_told_is_counted_for_the_owner_of_the_machine(
    session: Session,
) -> None:
    used = session.note()
    assert used[4:12] in session.prompt()
    session.turn(PROMPT, USE)
    assert session.prompt("Write a haiku about the sea") == ""
    session.uses.save(is_last=True)
    session.answers.save(is_last=True)
    found = activity_since(session.registry.places.state, "2020-01-01")
    assert dict(found.counts) == {
        "prompts": 2,
        "silent": 1,
        "told": 1,
        "memories": 1,
        "used": 1,
    }
    assert {name: steps.total() for name, steps in found.times.items()} == {"prompt": 2}


def test_a_memory_that_an_answer_uses_counts_once_however_often_its_turn_is_read(
    session: Session,
) -> None:
    used = session.note()
    assert used[4:12] in session.prompt()
    session.turn(PROMPT, USE)
    assert session.counted() == {used: (1, 0)}
    # the same turn again: by a replayed payload, by a transcript that is read anew, after a restart
    session.hear()
    for cursor in session.registry.places.sessions.glob("*.json"):
        cursor.unlink()
    session.restart()
    session.hear()
    session.turn(
        "And the rest?",
        "The rest of quantize_line in src/billing/vat.py is as it was, ROUND_HALF_UP too.",
    )
    assert session.counted() == {used: (1, 0)}


def test_what_was_told_beside_a_prompt_for_nothing_is_blamed_once_and_a_brief_never(
    session: Session,
) -> None:
    told = session.note()
    rule = session.note(
        "We always run ruff_format and mypy_strict before pushing to origin/main.",
        permanent=True,
    )
    assert told[4:12] in session.prompt()
    session.turn(PROMPT, "I look into the tests of the importer first, they are red.")
    session.turn("And?", "The importer is repaired, its tests are green.")
    assert session.counted() == {told: (0, 1)}
    session.restart()
    assert rule[4:12] in session.brief()
    session.turn("Go on", "The exporter is next, and I write its tests.")
    assert rule not in session.counted()


def test_words_of_the_prompt_or_of_the_talk_before_are_no_use(session: Session) -> None:
    told = session.note()
    session.turn(
        "Begin", "I read quantize_line in src/billing/vat.py and its ROUND_HALF_UP."
    )
    assert told[4:12] in session.prompt()
    session.turn(PROMPT, USE)
    assert session.counted().get(told, (0, 0))[0] == 0


def test_what_a_command_of_ours_answers_is_passed_on_which_is_no_use(
    session: Session,
) -> None:
    told = session.note()
    assert told[4:12] in session.command("recall", "VAT")
    session.turn("/keeplore:recall VAT", f"It says: {RULE}")
    assert session.counted() == {}


def test_a_memory_that_a_person_opens_counts_once_a_day_and_goes_when_it_is_forgotten(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(view_log, "today", lambda: "2026-06-01")  # midnight may come
    read, other = (
        session.note(),
        session.note("Icons lie in assets/icons and are named by their size."),
    )
    for id_ in (read, other, read, "mem_../../../etc"):
        note_opened(session.registry.places.state, id_)
        session.uses.save(is_last=True)
    assert session.counted() == {read: (1, 0), other: (1, 0)}
    forget(session.workspace, other)
    session.workspace.index.refresh()
    session.restart()
    session.prompt()
    session.turn(PROMPT, USE)
    assert session.counted() == {read: (2, 0)}


def test_one_line_turns_it_off(session: Session) -> None:
    (session.workspace.root / "keeplore.yaml").write_text(
        "schema: 1\ncontext:\n  threshold: 0.3\nrecall:\n  feedback: false\n"
    )
    told = session.note()
    assert told[4:12] in session.prompt()
    session.turn(PROMPT, USE)
    note_opened(session.registry.places.state, told)
    assert session.counted() == {}


def test_a_worker_counts_and_commits_before_it_leaves(office: Any) -> None:
    office.init()
    with Registry(office.places) as registry:
        workspace = registry.named("memory")
        id_, machine = (
            workspace.notes.write(NoteDraft(RULE)).memory.id,
            workspace.machine,
        )
        workspace.index.refresh()
    note_opened(office.places.state, id_)
    office.start()
    assert office.stop() == [[True]]
    path = feedback_counters.path_of(machine)
    committed = subprocess.run(
        ["git", "show", f"HEAD:{path}"],
        cwd=office.root,
        capture_output=True,
        check=True,
    )
    assert numbers(committed.stdout.decode()) == {id_: (1, 0)}


def test_what_a_worker_keeps_on_the_machine_is_for_its_owner_alone(office: Any) -> None:
    office.init()
    office.prompt("Which store do we take?")
    office.start()
    assert office.stop() == [[True]]
    state = office.places.state
    folders = {path for path in state.rglob("*") if path.is_dir()}
    assert len(folders) > 3
    assert {
        path: oct(path.stat().st_mode & 0o777) for path in folders
    } == dict.fromkeys(folders, "0o700")
