"""From the window of one workspace a person reaches every other one of the machine, and each keeps
to itself.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from open_window import EVERYTHING, Window

from keeplore.memory.note import NoteDraft
from keeplore.workspace.lifecycle.known_workspaces import remove
from keeplore.workspace.lifecycle.setup import initialise
from keeplore.workspace.registry import Registry

OWN = ("/w/office/", "/static/")
SAID = "Invoices are numbered by year."


@pytest.fixture
def office(window: Window, home: Path) -> Path:
    """Another workspace, with one note."""
    root = home / "office"
    initialise(window.registry.places, root)
    with Registry(window.registry.places) as registry:
        workspace = registry.for_directory(root)
        workspace.notes.write(NoteDraft(SAID, scope="workspace"))
        workspace.commit("Office")
        workspace.index.refresh()
    window.enter()
    return root


def test_each_workspace_leads_to_the_others_and_shows_its_own(
    window: Window, office: Path
) -> None:
    here, there = window.ask("/timeline")[2], window.ask("/w/office/timeline")[2]
    assert '<a href="/w/office/">office</a>' in here and SAID not in here
    assert '<a href="/">memory</a>' in there and SAID in there
    assert "Ledger entries" in here and "Ledger entries" not in there
    named = set(re.findall(r'(?:href|action|hx-get)="(/[^"]*)"', there))
    assert {path for path in named if not path.startswith(OWN)} == {"/"}
    found = window.ask("/w/office/search?q=how+are+invoices+numbered")[2]
    assert "<mark>Invoices</mark>" in found


def test_an_act_is_done_in_the_workspace_of_its_page(
    window: Window, office: Path
) -> None:
    before = window.workspace.store.head()
    with Registry(window.registry.places) as registry:
        workspace = registry.for_directory(office)
        [row] = workspace.index.timeline.page(EVERYTHING).rows
        status, headers, _ = window.post("/w/office/act/forget", id=row.id)
        assert (status, headers["location"].partition("?")[0]) == (
            303,
            "/w/office/timeline",
        )
        told = window.ask(headers["location"])[2]
        assert f'action="/w/office/act/restore?id={row.id}"' in told
        workspace.index.refresh()
        assert workspace.index.timeline.page(EVERYTHING).rows == ()
    assert window.workspace.store.head() == before


def test_a_name_of_no_workspace_leads_nowhere(window: Window, office: Path) -> None:
    for name in ("nowhere", "..", "../office", "%2e%2e%2foffice", "%00", "<b>", ""):
        status, _, text = window.ask(f"/w/{name}/timeline")
        assert status in (404, 409), name
        assert SAID not in text and "Ledger" not in text, name


def test_one_that_is_gone_says_so_and_is_offered_no_more(
    window: Window, office: Path
) -> None:
    assert window.ask("/w/office/")[0] == 200
    shutil.rmtree(office)
    status, _, text = window.ask("/w/office/timeline")
    assert status == 409 and "office" in text and "Ledger" not in text
    assert "/w/office/" not in window.ask("/")[2]
    remove(window.registry.places, "office")
    status, _, text = window.ask("/w/office/timeline")
    assert status == 409 and "no workspace named" in text
