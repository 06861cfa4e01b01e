"""The note taker: orders at once, the rest before the conversation closes, each statement in one
file.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from keeplore.capture.capture_deps import MemoryPlace
from keeplore.capture.notes.note_taker import NoteDeps, NoteTaker
from keeplore.config.places import Places
from keeplore.errors import AlreadyExists, Forgotten
from keeplore.memory import Conversation, Exchange, Memory, Quote, parse
from keeplore.memory.note import NoteDraft, session_note_id
from keeplore.workspace import Registry
from keeplore.workspace.lifecycle.setup import initialise
from keeplore.workspace.workspace import Workspace
from keeplore_hooks.events import Command, HostEvent, Origin, Question, Turn
from keeplore_hooks.specs import hookimpl

HERE = Origin("claude-code", "session-1", "/code/ledgerly", "main")
SESSION = {"host": "claude-code", "session": "session-1", "branch": "main"}
ORDER = "Remember that the staging database lives on port 5433."
KEPT = "The staging database lives on port 5433."
DECISION = (
    "Let's go with Postgres instead of Redis because a job and its invoice are one "
    "transaction."
)


def turn(
    number: int, user: str, reply: str | Question = "Done.", **known: bool
) -> Turn:
    return Turn(
        f"turn-{number}",
        HERE,
        f"2026-02-09T14:{number:02d}:00Z",
        user,
        (reply,),
        **known,
    )


def command(name: str, args: str = "") -> Command:
    return Command("command-1", HERE, "2026-02-09T14:30:00Z", name, args)


class Desk:
    """A note taker over a list of drafts."""

    def __init__(
        self, refusal: Exception | None = None, *, is_automatic: bool = True
    ) -> None:
        self.drafts: list[NoteDraft] = []
        self.gone: dict[str, str] = {}
        self.refusal = refusal
        place = MemoryPlace("project", "ledgerly", "main")
        steps = NoteDeps(
            lambda _: place,
            lambda text, _: text.replace("hunter2", "[hidden]"),
            lambda: self.gone,
            self.write,
        )
        self.taker = NoteTaker(steps, is_automatic=is_automatic)

    def write(self, draft: NoteDraft) -> None:
        if self.refusal:
            raise self.refusal
        self.drafts.append(draft)

    def close(self, *turns: tuple[str, str]) -> None:
        body = Conversation(
            "", tuple(exchange_of(n, *said) for n, said in enumerate(turns))
        ).to_markdown()
        source = {
            "host": "claude-code",
            "session": "session-1",
            "turns": ["turn-0"],
            "machine": "studio",
            "branch": "main",
        }
        meta = {
            "id": "mem_1",
            "scope": "project",
            "project": "ledgerly",
            "source": source,
        }
        self.taker.keeplore_conversation_closing(meta, body)


def exchange_of(number: int, user: str, reply: str = "Done.") -> Exchange:
    return Exchange(f"turn-{number}", f"2026-02-09T14:{number:02d}:00Z", user, (reply,))


def test_an_order_is_written_as_soon_as_its_turn_is_whole() -> None:
    desk = Desk()
    desk.taker.keeplore_turn(turn(1, ORDER, is_provisional=True))
    desk.taker.keeplore_turn(turn(1, ORDER, is_complete=False))
    assert desk.drafts == []
    desk.taker.keeplore_turn(turn(1, ORDER))
    assert desk.drafts == [
        NoteDraft(
            KEPT,
            category="infrastructure",
            scope="project",
            project="ledgerly",
            permanent=True,
            confidence=0.98,
            quotes=(Quote(ORDER, "user", "turn-1"),),
            source={**SESSION, "turns": ["turn-1"]},
            id=session_note_id("claude-code", "session-1", KEPT),
            created_at="2026-02-09T14:01:00Z",
        )
    ]


def test_a_turn_of_a_forgotten_conversation_makes_no_note() -> None:
    desk = Desk()
    desk.gone["turn-1"] = "mem_1"
    desk.taker.keeplore_turn(turn(1, ORDER))
    desk.taker.keeplore_turn(
        turn(2, "From now on, write commit messages in the imperative.")
    )
    assert [draft.source["turns"] for draft in desk.drafts] == [["turn-2"]]


def test_only_what_shall_be_remembered_is_permanent() -> None:
    desk = Desk()
    desk.taker.keeplore_turn(
        turn(1, "From now on, write commit messages in the imperative.")
    )
    desk.taker.keeplore_turn(turn(2, "Note that the nightly build needs Java 21."))
    assert [draft.permanent for draft in desk.drafts] == [False, False]


def test_a_secret_in_an_order_is_not_written() -> None:
    desk = Desk()
    desk.taker.keeplore_turn(
        turn(1, "Remember that the test account signs in with hunter2.")
    )
    assert [draft.text for draft in desk.drafts] == [
        "The test account signs in with [hidden]."
    ]
    assert "hunter2" not in repr(desk.drafts)


def test_a_decision_waits_until_its_conversation_closes() -> None:
    desk = Desk()
    desk.taker.keeplore_turn(turn(0, DECISION))
    assert desk.drafts == []
    desk.close((DECISION, "Done."))
    assert desk.drafts == [
        NoteDraft(
            DECISION,
            category="architectural-decisions",
            scope="project",
            project="ledgerly",
            trigger="turn",
            confidence=desk.drafts[0].confidence,
            quotes=(Quote(DECISION, "user", "turn-0"),),
            source={
                **SESSION,
                "machine": "studio",
                "from": "mem_1",
                "turns": ["turn-0"],
            },
            id=session_note_id("claude-code", "session-1", DECISION),
            created_at="2026-02-09T14:00:00Z",
        )
    ]
    assert 0 < (desk.drafts[0].confidence or 0) < 1


def test_what_the_agent_proposed_and_the_person_agreed_to_has_the_agents_trust() -> (
    None
):
    desk = Desk()
    desk.close(
        (
            "Where do jobs wait?",
            "I'd recommend a Postgres table with SKIP LOCKED for the jobs.",
        ),
        ("yes", "Done."),
    )
    assert [(draft.trust, draft.source["turns"]) for draft in desk.drafts] == [
        ("assistant", ["turn-0"])
    ]


def test_without_automatic_notes_orders_alone_are_written() -> None:
    desk = Desk(is_automatic=False)
    desk.close((DECISION, "Done."), (ORDER, "Done."))
    assert [draft.text for draft in desk.drafts] == [KEPT]


def test_each_way_to_a_statement_leads_to_one_id() -> None:
    desk = Desk()
    desk.taker.keeplore_turn(turn(0, ORDER))
    desk.taker.keeplore_turn(turn(0, ORDER))
    desk.close((ORDER, "Done."))
    desk.taker.keeplore_command(command("keeplore:remember", KEPT))
    assert {draft.id for draft in desk.drafts} == {
        session_note_id("claude-code", "session-1", KEPT)
    }
    assert len(desk.drafts) == 4


@pytest.mark.parametrize("name", ["remember", "keeplore:remember"])
def test_a_typed_command_is_kept_whole_and_permanent(name: str) -> None:
    desk = Desk()
    said = "Refunds need two approvals. They are signed by hand."
    desk.taker.keeplore_command(command(name, said))
    assert desk.drafts == [
        NoteDraft(
            said,
            category="architectural-decisions",
            scope="project",
            project="ledgerly",
            permanent=True,
            source=SESSION,
            id=session_note_id("claude-code", "session-1", said),
            created_at="2026-02-09T14:30:00Z",
        )
    ]


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ('"Refunds need two approvals."', "Refunds need two approvals."),
        ("'Refunds need two approvals.'", "Refunds need two approvals."),
        ("„Refunds need two approvals.“", "Refunds need two approvals."),
        ('"Refunds" need "approvals"', '"Refunds" need "approvals"'),
    ],
)
def test_an_argument_that_is_wrapped_as_a_whole_loses_its_quotation_marks(
    typed: str, expected: str
) -> None:
    desk = Desk()
    desk.taker.keeplore_command(command("keeplore:remember", typed))
    assert [draft.text for draft in desk.drafts] == [expected]


def test_a_command_without_text_and_one_of_somebody_else_write_nothing() -> None:
    desk = Desk()
    desk.taker.keeplore_command(command("keeplore:remember"))
    desk.taker.keeplore_command(command("deploy", "to staging"))
    assert desk.drafts == []


@pytest.mark.parametrize(
    "refusal", [AlreadyExists("it is there", ""), Forgotten("it was forgotten", "")]
)
def test_what_is_there_or_was_forgotten_stops_nothing(refusal: Exception) -> None:
    desk = Desk(refusal)
    desk.taker.keeplore_turn(turn(0, ORDER))
    desk.close((DECISION, "Done."), (ORDER, "Done."))
    assert desk.drafts == []


# in a workspace


@pytest.fixture
def places() -> Places:
    places = Places.from_environment(os.environ)
    initialise(places, Path.home() / "memory")
    return places


@pytest.fixture
def workspace(places: Places) -> Iterator[Workspace]:
    with Registry(places) as registry:
        yield registry.named("memory")


def emit(workspace: Workspace, *events: HostEvent) -> None:
    for event in events:
        workspace.emit(event)


def close(workspace: Workspace) -> None:
    with workspace.recorder.capturing():
        workspace.recorder.capture.close(workspace.sessions.get(HERE))


def notes(workspace: Workspace) -> list[Memory]:
    found = (
        parse(path.read_text())
        for path in sorted(workspace.root.glob("**/memory/**/*.md"))
    )
    return [memory for memory in found if memory.kind == "note"]


def test_a_talk_leaves_its_notes_with_provenance(
    workspace: Workspace,
) -> None:
    emit(workspace, turn(1, "Where do jobs wait?"), turn(2, DECISION))
    assert notes(workspace) == []
    close(workspace)
    (note,) = notes(workspace)
    assert note.category == "architectural-decisions"
    assert (note.trust, note.turns, note.is_permanent) == ("user", ("turn-2",), False)
    assert note.body == f"# {DECISION[:77]}…\n\n{DECISION}\n"
    conversation = workspace.store.find(str(note.source["from"]))
    assert conversation and "conversations" in conversation


def test_the_same_session_read_again_writes_nothing_new(workspace: Workspace) -> None:
    talk = (turn(1, ORDER), turn(2, DECISION), command("keeplore:remember", KEPT))
    for _ in range(3):
        emit(workspace, *talk)
        close(workspace)
    assert sorted(note.title for note in notes(workspace)) == sorted(
        {note.title for note in notes(workspace)}
    )
    assert len(notes(workspace)) == 2
    # it was said twice, as a sentence and as a command; that it was read three times is no news
    assert sum(entry["event"] == "again" for entry in workspace.store.records()) == 1


def test_a_forgotten_note_does_not_come_back_when_its_conversation_closes(
    workspace: Workspace,
) -> None:
    emit(workspace, turn(1, ORDER))
    (note,) = notes(workspace)
    workspace.store.forget(note.id, "studio", "2026-02-09T15:00:00Z")
    emit(workspace, turn(1, ORDER), turn(2, "Where do jobs wait?"))
    close(workspace)
    assert notes(workspace) == []


def test_a_forgotten_conversation_leaves_no_notes(workspace: Workspace) -> None:
    emit(workspace, turn(1, DECISION))
    open_id = workspace.sessions.get(HERE).open_id
    with workspace.recorder.capturing():
        workspace.store.forget(open_id, "studio", "2026-02-09T15:00:00Z")
        workspace.recorder.capture.close(workspace.sessions.get(HERE))
    assert notes(workspace) == []


def test_the_setting_turns_off_all_but_orders(places: Places) -> None:
    settings = Path.home() / "memory" / "keeplore.yaml"
    settings.write_text(settings.read_text().replace("notes: true", "notes: false"))
    with Registry(places) as registry:
        workspace = registry.named("memory")
        emit(workspace, turn(1, DECISION), turn(2, ORDER))
        close(workspace)
        assert [note.title for note in notes(workspace)] == [KEPT]


def test_an_answer_to_the_agents_question_becomes_a_note(workspace: Workspace) -> None:
    asked = Question(
        "question-1",
        HERE,
        "2026-02-09T14:01:10Z",
        "Which queue do we take?",
        "Postgres",
        ("Postgres", "Redis"),
    )
    emit(workspace, turn(1, "Make jobs durable", asked))
    close(workspace)
    assert [note.title for note in notes(workspace)] == [
        "Which queue do we take? → Postgres"
    ]


class Witness:
    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.seen: list[tuple[str, bool, bool]] = []

    @hookimpl
    def keeplore_conversation_closing(self, meta, body) -> None:
        path = self.workspace.store.find(meta["id"])
        was_open = path is not None and self.workspace.store.load(path).is_open
        self.seen.append((meta["id"], was_open, DECISION in body))
        raise RuntimeError("out of order")


def test_a_plugin_hears_of_a_closing_conversation_before_its_file_is_closed(
    workspace: Workspace,
) -> None:
    witness = Witness(workspace)
    workspace.plugins.register(witness)
    emit(workspace, turn(1, DECISION))
    open_id = workspace.sessions.get(HERE).open_id
    assert witness.seen == []
    close(workspace)
    assert witness.seen == [(open_id, True, True)]
    path = workspace.store.find(open_id)
    assert path and not workspace.store.load(path).is_open
    assert any("out of order" in failure for failure in workspace.plugins.failures)


@pytest.mark.parametrize(
    "form", ["/keeplore:remember", "$keeplore-remember", "/remember"]
)
def test_the_words_behind_a_command_are_no_second_order(form: str) -> None:
    desk = Desk()
    desk.taker.keeplore_turn(
        turn(1, f"{form} that the staging database lives on port 5433.", "Noted.")
    )
    assert desk.drafts == []


def test_our_own_commands_do_not_end_a_topic(workspace: Workspace) -> None:
    emit(workspace, turn(1, "Where do jobs wait?"))
    open_id = workspace.sessions.get(HERE).open_id
    for name in (
        "remember",
        "keeplore:remember",
        "keeplore:recall",
        "keeplore:forget",
        "keeplore:memory",
    ):
        emit(
            workspace,
            Command(f"command-{name}", HERE, "2026-02-09T14:02:00Z", name, "the jobs"),
        )
    assert workspace.sessions.get(HERE).open_id == open_id
