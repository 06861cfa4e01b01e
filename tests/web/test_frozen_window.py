"""A frozen workspace in the window: every page is there, and no form writes."""

from __future__ import annotations

import re

from file_hashes import digests
from open_window import Window

from keeplore.config.setting_layers import set_shared
from keeplore.index.rows import EVERYWHERE
from keeplore.memory import Conversation, new_id
from keeplore.refine.changes import EVENT
from keeplore.refine.gates import ProposalOutcome
from keeplore.text.dates import now
from keeplore.web.actions.action_names import ACTIONS
from keeplore.workspace.writing.disputes import disputes
from keeplore.workspace.writing.review import review_candidates

# what a machine believes and leaves out is written down outside of the workspace
OF_THE_MACHINE = {"accept-machine", "refuse-machine", "exclude", "include"}


def proposed(window: Window) -> str:
    """The id of a proposal that waits."""
    workspace, talk = window.workspace, window.id_of("Rounding of VAT")
    memory = workspace.store.load(workspace.index.memories([talk])[talk].path)
    first = Conversation.from_markdown(memory.body).exchanges[0]
    entry = {
        "at": now(),
        "event": EVENT,
        "id": new_id("proposal"),
        "proposal": "ADD",
        "outcome": ProposalOutcome.REVIEW,
        "gate": "rule",
        "statement": "VAT is rounded for each line.",
        "conversation": talk,
        "span": first.user[:40],
        "speaker": "user",
        "turn": first.id,
        "category": "architectural-decisions",
        "scope": "project",
        "project": "billing",
    }
    workspace.store.record(workspace.machine, entry)
    workspace.commit("Propose")
    return str(entry["id"])


def test_no_form_writes_into_a_frozen_workspace(window: Window) -> None:
    window.enter()
    gone = window.id_of("tabs in Makefiles")
    assert window.post("/act/forget", id=gone)[0] == 303
    proposal, deploys = proposed(window), window.id_of("Deploys")
    workspace = window.workspace
    earlier = next(v for v in workspace.index.versions(deploys) if v != deploys)
    statement = next(review_candidates(workspace, EVERYWHERE)).draft.id
    [dispute] = disputes(workspace.index, workspace.store)
    forms = {
        "pin": {"id": deploys, "permanent": "yes"},
        "forget": {"id": deploys},
        "return": {"id": earlier},
        "restore": {"id": gone},
        "keep-statement": {"id": statement},
        "reject-statement": {"id": statement},
        "accept-proposal": {"id": proposal},
        "reject-proposal": {"id": proposal},
        "decide-dispute": {"id": dispute.other.row.id, "decision": "both"},
    }
    assert forms.keys() | OF_THE_MACHINE == ACTIONS.keys()
    set_shared(window.root, workspace.places.state, "frozen", True)  # a value
    before = digests(window.root)
    edit = {"title": "Another", "text": "Other words.", "scope": "project"}
    edit |= {"project": "shop", "category": "project-conventions"}
    asked = {f"/act/{name}": form for name, form in forms.items()}
    for path, form in {**asked, f"/m/{deploys}/edit": edit}.items():
        status, _, text = window.post(path, **form)
        assert (status, "is frozen" in text) == (409, True), (
            path,
            re.findall(r"role=\"alert\".*?</", text, re.DOTALL),
        )
        assert digests(window.root) == before, path
    for path in ("/", f"/m/{deploys}", "/review", "/forgotten", "/search?q=ledger"):
        assert window.ask(path)[0] == 200, path
    assert digests(window.root) == before
