"""Which notes become one chain, which words stay, and what the joined version says of itself."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from sample_note import note as made

from keeplore.index import MemoryRow
from keeplore.memory import Memory, new_id
from keeplore.memory.note import statement_of
from keeplore.refine.decide import ProposalAction
from keeplore.text.turn_ids import short_turn
from keeplore.workspace.tidying import note_doubts
from keeplore.workspace.tidying.note_joins import (
    CurrentNote,
    join_steps,
    says_the_same,
)

SAID = "Use pnpm instead of npm in the shop"
AT = "2026-02-09T10:00:00Z"


def row(memory: Memory, **more: Any) -> MemoryRow:
    known = {
        "id": memory.id, "path": "x.md", "title": memory.title, "kind": "note",
        "scope": memory.scope, "project": memory.project, "category": memory.category,
        "created_at": memory.created_at, "updated_at": memory.meta.get("updated_at", ""),
        "permanent": False, "trust": memory.trust, "session": "", "host": "",
        "is_open": False, "is_archived": False,
    }  # fmt: skip
    return MemoryRow(**(known | more))


def current(title: str, text: str = SAID, **fields: Any) -> CurrentNote:
    is_permanent = fields.pop("permanent", False)
    known = {"trust": "user", "category": "patterns", "scope": "project"}
    memory = made(title, f"{text}.\n", **({"project": "shop"} | known | fields))
    return CurrentNote(
        row(memory, permanent=is_permanent), memory, statement_of(memory)
    )


@pytest.mark.parametrize(
    ("other", "is_same"),
    [
        (current("b"), True),
        (current("b", f"{SAID} now"), True),
        (current("b", "Deploys happen on Tuesdays in the shop"), False),
        (current("b", project="till"), False),
        (current("b", category="gotchas"), False),
        (current("b", "Never use pnpm instead of npm in the shop"), False),
    ],
    ids=["same", "nearly", "another", "other place", "other category", "against it"],
)
def test_notes_of_one_place_that_say_nearly_the_same_are_one(
    other: CurrentNote, is_same: bool
) -> None:
    assert says_the_same(current("a"), other) is is_same


def test_the_words_of_the_most_trusted_stay_then_the_permanent_then_the_newest() -> (
    None
):
    notes = [
        current("a", trust="assistant", permanent=True, created_at="2026-03-01T00:00:00Z"),
        current("b", created_at="2026-01-01T00:00:00Z"),
        current("c", created_at="2026-02-01T00:00:00Z"),
        current("d", created_at="2025-01-01T00:00:00Z", permanent=True),
    ]  # fmt: skip
    order = sorted(notes, key=lambda note: note.weight)
    assert [note.memory.title for note in order] == ["a", "b", "c", "d"]


def workspace_of(*notes: CurrentNote) -> Any:
    """A workspace in which all notes are near to one another, and to one that is not ours."""
    strange = SimpleNamespace(row=SimpleNamespace(id="mem_strange"))

    def near(memory: Memory) -> list[Any]:
        return [strange, *(note for note in notes if note.row.id != memory.id)]

    return SimpleNamespace(notes=SimpleNamespace(near=near))


def test_a_joined_note_takes_the_place_of_all_and_keeps_the_links_of_the_one_that_stays() -> (
    None
):
    link = {"id": new_id("talk"), "relationship": "refines"}
    old = {"id": new_id("old"), "relationship": "supersedes"}
    kept = current(
        "kept", created_at=AT, version=2, related=[link, old], source={"host": "codex"}
    )
    first = current(
        "first", trust="assistant", version=5, updated_at="2026-04-01T10:00:00Z"
    )
    second = current("second", trust="assistant")
    apart = current("apart", "Deploys happen on Tuesdays in the shop")
    notes = (second, kept, apart, first)
    [step] = join_steps(workspace_of(*notes), notes)
    [joined] = step.memories
    others = sorted((first.row.id, second.row.id))
    assert (step.deed, step.title, step.ids) == ("join", "kept", (joined.id,))
    shown = ", ".join(id_[4:12] for id_ in others)
    assert step.detail == f"{kept.row.id[4:12]} also stands for {shown}"
    assert joined.body == kept.memory.body
    assert (joined.version, joined.meta["updated_at"]) == (6, "2026-04-01T10:00:00Z")
    assert joined.meta["created_at"] == joined.meta["updated_at"]
    assert joined.meta["supersedes"] == kept.row.id
    assert joined.meta["source"] == {"host": "codex", "from": kept.row.id}
    assert joined.meta["related"] == [
        link,
        *({"id": id_, "relationship": "supersedes"} for id_ in others),
    ]
    # any machine that joins the same notes makes the same memory
    assert joined.id == new_id("joined", *sorted((kept.row.id, *others)))


def test_a_note_is_joined_once() -> None:
    notes = [current(letter) for letter in "abc"]
    assert len([*join_steps(workspace_of(*notes), notes)]) == 1
    assert [*join_steps(workspace_of(*notes[:1]), notes[:1])] == []


TURN = "5e551011-0000-4000-8000-000000000001"
QUOTED = f"> “we use pnpm” — user, turn {short_turn(TURN)}"


@pytest.mark.parametrize(
    ("text", "turns", "known", "said"),
    [
        (SAID, [TURN], {TURN: "mem_talk"}, (SAID + ".", "user")),
        (f"{QUOTED}\n\n{SAID}", ["other", TURN], {TURN: "mem_talk"}, ("we use pnpm", "user")),
        (f"{QUOTED}\n\n{SAID}", ["other"], {"other": "mem_talk"}, None),
        (SAID, [TURN], {}, None),
        (SAID, [], {TURN: "mem_talk"}, None),
    ],
    ids=["its statement", "its quotation", "another turn", "unknown", "no turn"],
)  # fmt: skip
def test_a_note_rests_on_its_first_quotation_in_a_talk_that_is_known(
    text: str,
    turns: list[str],
    known: dict[str, str],
    said: tuple[str, str] | None,
) -> None:
    note = current("a", text, source={"turns": turns})
    index = SimpleNamespace(
        known_turns=lambda ids: {id_: known[id_] for id_ in ids if id_ in known}
    )
    workspace: Any = SimpleNamespace(index=index)
    found = note_doubts._own_receipt(workspace, note.memory)
    if said is None:
        assert found is None
        return
    assert found == {
        "conversation": "mem_talk",
        "turn": TURN,
        "span": said[0],
        "speaker": said[1],
    }


def test_what_waits_for_a_person_is_written_as_review_reads_it() -> None:
    note = current("a")
    said = {"conversation": "mem_talk", "turn": "t", "span": "x", "speaker": "user"}
    entry = note_doubts._entry("doubt_1", ProposalAction.UPDATE, note, said)
    assert entry.pop("at").endswith("Z")
    assert entry == {
        "event": "refine",
        "id": "doubt_1",
        "proposal": "UPDATE",
        "outcome": "review",
        "reason": "tidy",
        **said,
        "scope": "project",
        "project": "shop",
        "category": "patterns",
        "trust": "user",
        "confidence": 1.0,
    }
