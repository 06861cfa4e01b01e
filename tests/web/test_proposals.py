"""What a language model proposed is decided in the window as ``keeplore review`` does it."""

from __future__ import annotations

import pytest
from open_window import EVERYTHING, Tab, Window

from keeplore.index import ScopeFilter
from keeplore.memory import Conversation, Memory, new_id
from keeplore.refine.changes import EVENT
from keeplore.refine.decide import ProposalAction
from keeplore.refine.gates import ProposalOutcome
from keeplore.text.dates import now
from keeplore.text.turn_ids import short_turn
from keeplore.workspace.writing.proposals import held_proposals

SPAN = "VAT is rounded once for each invoice line, never on the total."
STATEMENT = "VAT is rounded for each line."
RIVAL = "Ledger entries"
ID = new_id("proposal")


@pytest.fixture
def talk(window: Window) -> Memory:
    """The conversation whose words a model took for a new note that contradicts another; it was
    held back.
    """
    workspace, id_ = window.workspace, window.id_of("Rounding of VAT")
    talk = workspace.store.load(workspace.index.memories([id_])[id_].path)
    entry = {
        "at": now(),
        "event": EVENT,
        "id": ID,
        "proposal": ProposalAction.ADD,
        "outcome": ProposalOutcome.REVIEW,
        "gate": "conflict",
        "detail": "it contradicts a note",
        "against": window.id_of(RIVAL),
        "statement": STATEMENT,
        "conversation": id_,
        "span": SPAN,
        "speaker": "user",
        "turn": Conversation.from_markdown(talk.body).exchanges[1].id,
        "category": "architectural-decisions",
        "scope": "project",
        "project": "billing",
    }
    workspace.store.record(workspace.machine, entry)
    workspace.commit("Propose")
    return talk


@pytest.mark.parametrize(
    ("key", "told", "outcome", "titles"),
    [
        ("y", f"Kept: “{STATEMENT}”.", ProposalOutcome.ACCEPTED, [RIVAL, STATEMENT]),
        ("r", "Changed: “Ledger entries", ProposalOutcome.ACCEPTED, [STATEMENT]),
        ("n", "It is not offered again.", ProposalOutcome.REJECTED, [RIVAL]),
    ],
    ids=["accept", "accept-in-place", "reject"],
)
def test_a_proposal_is_decided_with_one_key(
    talk: Memory, tab: Tab, key: str, told: str, outcome: str, titles: list[str]
) -> None:
    tab.go("/review")
    card = tab.page.locator("section[aria-labelledby=proposals-title] .card")
    shown = card.inner_text()
    for part in (
        STATEMENT,
        f"user: “{SPAN}”",
        "conflict, it contradicts a note",
        RIVAL,
    ):
        assert part in shown
    receipt = card.locator(".receipt").get_attribute("href")
    assert receipt and receipt.endswith(short_turn(talk.source["turns"][1]))
    for _ in range(3):  # behind the dispute and the machine
        tab.page.keyboard.press("j")
    with tab.page.expect_navigation():
        tab.page.keyboard.press(key)
    assert told in tab.text() and card.count() == 0
    workspace = tab.window.workspace
    assert [*held_proposals(workspace, ScopeFilter())] == []
    assert workspace.commit() == ""  # the window has committed it
    last = [entry for entry in workspace.store.records() if entry.get("id") == ID][-1]
    assert last["outcome"] == outcome
    rows = workspace.index.timeline.page(EVERYTHING).rows
    found = [name for name in (RIVAL, STATEMENT) if any(name in r.title for r in rows)]
    assert found == titles


def test_a_proposal_that_was_decided_elsewhere_is_decided_once(
    talk: Memory, window: Window
) -> None:
    window.enter()
    assert window.post("/act/reject-proposal", id=ID)[0] == 303
    before = window.workspace.store.head()
    assert window.post("/act/accept-proposal", id=ID)[0] == 404
    assert window.workspace.store.head() == before
