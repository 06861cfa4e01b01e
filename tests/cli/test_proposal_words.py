"""What a person is shown of a proposal before they decide, and what becomes of each answer."""

from __future__ import annotations

from typing import Any

import click
import pytest

from keeplore.cli.commands.write import decide_proposal as deciding
from keeplore.errors import NotFound
from keeplore.index import MemoryRow
from keeplore.workspace.writing import proposals
from keeplore.workspace.writing.proposals import HeldProposal

ENTRY = {
    "id": "mem_1234abcd-0000",
    "proposal": "ADD",
    "statement": "The ledger stays append-only.",
    "category": "architectural-decisions",
    "confidence": 0.875,
    "scope": "project",
    "project": "shop",
    "gate": "confidence",
    "detail": "0.88 is below 0.9",
    "speaker": "assistant",
    "span": "it stays append-only",
}


def row(title: str, id_: str) -> MemoryRow:
    at = "2026-02-01T10:00:00Z"
    return MemoryRow(
        id_, f"{title}.md", title, "note", "workspace", "", "", at, at,
        permanent=False, trust="user", session="", host="", is_open=False, is_archived=False,
    )  # fmt: skip


TALK = row("The talk", "mem_aaaa1111-0000")
NOTE = row("The backup", "mem_bbbb2222-0000")
OTHER = row("The archive", "mem_cccc3333-0000")


def held(
    target: MemoryRow | None = None, against: MemoryRow | None = None, **more: Any
) -> HeldProposal:
    return HeldProposal(ENTRY | more, TALK, "2026-02-09T10:00:00Z", target, against)


def shown(capsys: pytest.CaptureFixture[str], proposal: HeldProposal) -> list[str]:
    deciding._show(proposal)
    return capsys.readouterr().out.splitlines()


def test_a_proposal_is_shown_with_its_receipt_and_why_it_was_held_back(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert shown(capsys, held()) == [
        "New note: The ledger stays append-only.",
        "  2026-02-09 · architectural-decisions · shop · 0.88 sure",
        "  held back: confidence, 0.88 is below 0.9",
        "  assistant: “it stays append-only”",
        "  in The talk; `keeplore show aaaa1111`",
    ]


def test_the_notes_that_it_would_change_or_contradict_are_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    lines = shown(capsys, held(NOTE, OTHER, proposal="UPDATE", project=""))
    assert (lines[0], lines[1]) == (
        "Change: The ledger stays append-only.",
        "  2026-02-09 · architectural-decisions · project · 0.88 sure",
    )
    assert lines[4:] == [
        "  changes The backup; `keeplore show bbbb2222`",
        "  contradicts The archive; `keeplore show cccc3333`",
        "  in The talk; `keeplore show aaaa1111`",
    ]


@pytest.mark.parametrize(
    ("action", "word", "is_for_good"),
    [
        ("ADD", "New note", True),
        ("UPDATE", "Change", False),
        ("NONE", "Change", False),
        ("DELETE", "Archive", False),
        ("MERGE", "MERGE", False),
    ],
)
def test_each_kind_has_its_word_and_only_a_new_note_may_be_for_good(
    capsys: pytest.CaptureFixture[str], action: str, word: str, is_for_good: bool
) -> None:
    lines = shown(capsys, held(proposal=action, permanent=True))
    assert lines[0].startswith(f"{word}: ")
    assert lines[1].endswith(" · for good") == is_for_good


def test_an_audit_line_that_lacks_things_is_shown_without_them(
    capsys: pytest.CaptureFixture[str],
) -> None:
    entry = {"id": "mem_1", "proposal": "ADD"}
    proposal = HeldProposal(entry, TALK, "2026-02-09T10:00:00Z", None, None)
    assert shown(capsys, proposal)[:4] == [
        "New note: ",
        "  2026-02-09 ·  ·  · 0.00 sure",
        "  held back: , ",
        "  : “”",
    ]


def test_in_a_list_it_has_the_columns_of_other_offers() -> None:
    assert deciding.proposal_cells(held()) == (
        "2026-02-09",
        "proposal: add",
        "0.88",
        "shop",
        "The ledger stays append-only.",
        "1234abcd",
    )
    assert deciding.proposal_json(held()) == {"what": "proposal", **ENTRY}


@pytest.mark.parametrize(
    ("answer", "edited", "done"),
    [
        ("y", None, ("accept", "", None)),
        ("e", " Better. \n", ("accept", "Better.", None)),
        ("e", None, ("accept", "", None)),
        ("r", None, ("accept", "", OTHER)),
        ("n", None, ("reject",)),
        ("s", None, None),
        ("q", None, None),
    ],
)
def test_each_answer_is_carried_out(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    answer: str,
    edited: str | None,
    done: tuple[Any, ...] | None,
) -> None:
    did: list[tuple[Any, ...]] = []

    def accept(_workspace: Any, _held: Any, text: str, in_place_of: Any) -> str:
        did.append(("accept", text, in_place_of))
        return "notes/a.md"

    monkeypatch.setattr(proposals, "accept", accept)
    monkeypatch.setattr(proposals, "reject", lambda *_: did.append(("reject",)))
    monkeypatch.setattr(click, "edit", lambda *_, **__: edited)
    monkeypatch.setattr(click, "prompt", lambda *_, **__: answer)
    workspace: Any = None
    assert deciding.decide_proposal(workspace, held(against=OTHER)) == answer
    assert did == ([done] if done else [])
    is_accepted = bool(done) and done[0] == "accept"
    assert ("  Done: notes/a.md" in capsys.readouterr().out) == is_accepted


@pytest.mark.parametrize(
    ("against", "action", "is_offered"),
    [(OTHER, "ADD", True), (OTHER, "UPDATE", False), (None, "ADD", False)],
)
def test_a_new_note_may_take_the_place_of_the_one_that_it_contradicts(
    monkeypatch: pytest.MonkeyPatch,
    against: MemoryRow | None,
    action: str,
    is_offered: bool,
) -> None:
    asked: list[str] = []

    def prompt(question: str, **_: Any) -> str:
        asked.append(question)
        return "s"

    monkeypatch.setattr(click, "prompt", prompt)
    workspace: Any = None
    deciding.decide_proposal(workspace, held(against=against, proposal=action))
    letters = "y/e/n/s/q/r" if is_offered else "y/e/n/s/q"
    assert asked == [f"  Do this? [{letters}]"]


def test_what_cannot_be_carried_out_is_left_for_later(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def accept(*_: Any, **__: Any) -> None:
        raise NotFound("the note is gone", "Look at it")

    monkeypatch.setattr(proposals, "accept", accept)
    monkeypatch.setattr(click, "prompt", lambda *_, **__: "y")
    workspace: Any = None
    assert deciding.decide_proposal(workspace, held()) == "s"
    assert "note: left for later: the note is gone" in capsys.readouterr().err
