"""What a person does in the window is done as the command does it, and can be taken back."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from open_window import EVERYTHING, Tab, Window

from keeplore.web.pages import review_page
from keeplore.workspace.machine_trust import MachineState
from keeplore.workspace.writing.disputes import disputes

Git = Callable[..., str]


def titles(window: Window) -> list[str]:
    return [row.title for row in window.workspace.index.timeline.page(EVERYTHING).rows]


def press(tab: Tab, key: str) -> None:
    """A key, once its script is there, and the page that it leads to."""
    tab.page.wait_for_load_state("domcontentloaded")
    with tab.page.expect_navigation():
        tab.page.keyboard.press(key)


def test_an_edit_is_a_new_version_and_a_commit(tab: Tab, git: Git) -> None:
    id_ = tab.window.id_of("Ledger")
    before = tab.window.text(id_)
    tab.go(f"/m/{id_}")
    press(tab, "e")
    tab.page.get_by_label("Text").fill("Ledger entries are append-only; no exception.")
    tab.page.get_by_label("Title").fill("The ledger only grows")
    tab.page.get_by_role("button", name="Save").click()
    tab.page.get_by_text("Saved as version 2").wait_for()
    assert "append-only; no exception." in tab.text() and "Version 1" in tab.text()
    assert tab.window.text(id_) == (
        "# The ledger only grows\n\nLedger entries are append-only; no exception.\n"
    )
    assert git("status", "--porcelain", cwd=tab.window.root) == ""
    press(tab, "z")
    assert "Version 1 stands again." in tab.text()
    assert tab.window.text(id_) == before


def test_what_was_typed_stays_where_it_cannot_be_saved(tab: Tab) -> None:
    id_ = tab.window.id_of("Ledger")
    tab.go(f"/m/{id_}/edit")
    tab.page.get_by_label("Text").fill("My long and careful words.")
    tab.window.workspace.notes.revise(id_, body="# Ledger\n\nSomebody else's.\n")
    tab.page.get_by_role("button", name="Save").click()
    told = tab.page.get_by_role("alert")
    told.first.wait_for()
    assert "it was changed meanwhile" in told.first.inner_text()
    assert tab.page.get_by_label("Text").input_value() == "My long and careful words."
    assert "Somebody else's." in tab.window.text(id_)


def test_an_earlier_version_stands_again_as_it_was_and_with_whose_words_it_was(
    window: Window,
) -> None:
    window.enter()
    workspace = window.workspace
    id_ = window.id_of("Ben says")  # of a machine that nobody has accepted
    first = workspace.store.load(workspace.index.memories([id_])[id_].path)
    mine = {"body": "# Mine\n", "title": "Mine", "category": None, "trust": "user"}
    changed = workspace.notes.revise(id_, **mine).memory
    assert not workspace.machine_trust.is_foreign(changed)
    status, headers, _ = window.post("/act/return", id=id_)
    assert (
        status,
        "Version 1 stands again." in window.ask(headers["location"])[2],
    ) == (
        303,
        True,
    )
    row = window.workspace.index.memories([window.id_of("Ben says")]).popitem()[1]
    again = workspace.store.load(row.path)
    kept = ("title", "category", "scope", "trust")
    assert [*map(again.meta.get, kept)] == [*map(first.meta.get, kept)]
    assert (again.body, again.version) == (first.body, 3)
    assert workspace.machine_trust.is_foreign(again)


def test_a_memory_moves_to_another_project(tab: Tab) -> None:
    tab.go(f"/m/{tab.window.id_of('Deploys')}/edit")
    tab.page.get_by_label("Project", exact=True).fill("billing")
    tab.page.get_by_role("button", name="Save").click()
    tab.page.get_by_text("Saved as version 3").wait_for()
    [row] = [
        row
        for row in tab.window.workspace.index.timeline.page(EVERYTHING).rows
        if row.title == "Deploys"
    ]
    assert (row.scope, row.project) == ("project", "billing")


def test_pin_and_unpin_with_one_key(tab: Tab) -> None:
    tab.go(f"/m/{tab.window.id_of('Deploys')}")
    press(tab, "p")
    assert "is permanent." in tab.text() and "Unpin" in tab.text()
    press(tab, "p")
    assert "is permanent no more." in tab.text()
    press(tab, "z")
    assert "is permanent." in tab.text() and "Unpin" in tab.text()


def test_what_is_forgotten_comes_back_with_one_press(tab: Tab, git: Git) -> None:
    id_ = tab.window.id_of("Deploys")
    tab.go(f"/m/{id_}")
    tab.page.get_by_role("button", name="Forget").click()
    tab.page.get_by_text("Forgotten: “Deploys”.").wait_for()
    assert "Deploys" not in titles(tab.window)
    assert "Forget" in git("log", "-1", "--format=%s", cwd=tab.window.root)
    tab.go("/forgotten")  # two versions went, one memory
    assert tab.page.locator("tbody th").all_inner_texts() == [f"Deploys {id_[4:12]}"]
    tab.page.get_by_role("button", name="Restore").click()
    tab.page.get_by_text("It is back.").wait_for()
    assert "Deploys" in titles(tab.window)


def test_the_notice_of_forgetting_brings_it_back(tab: Tab) -> None:
    tab.go(f"/m/{tab.window.id_of('Deploys')}")
    press(tab, "x")
    press(tab, "z")
    tab.page.get_by_text("It is back.").wait_for()
    assert "Deploys" in titles(tab.window)


def test_statements_are_kept_and_rejected_with_one_key_each(tab: Tab) -> None:
    tab.go("/review")
    cards = tab.page.locator("section[aria-labelledby=statements-title] .card")
    count, first = cards.count(), cards.nth(0).get_attribute("aria-label")
    assert count == 5 and first  # two statements, in two projects and in three
    for _ in range(3):  # behind the dispute and the machine
        tab.page.keyboard.press("j")
    press(tab, "y")
    assert "Kept: " in tab.text() and first in titles(tab.window)
    for _ in range(3):
        tab.page.keyboard.press("j")
    press(tab, "n")
    assert "It is not offered again." in tab.text()
    assert cards.count() == 3 and titles(tab.window).count(first) == 1


def test_a_statement_is_kept_in_the_persons_own_words(tab: Tab) -> None:
    tab.go("/review")
    card = tab.page.locator("section[aria-labelledby=statements-title] .card").first
    card.get_by_text("In my words").click()
    card.locator("textarea").fill("Staging listens on 8443 and nowhere else.")
    card.get_by_role("button", name="Keep this").click()
    tab.page.get_by_text("Kept: ").wait_for()
    assert "Staging listens on 8443 and nowhere else." in titles(tab.window)


@pytest.mark.parametrize(
    ("key", "told", "kept"),
    [
        ("a", "What stood stays; the other is forgotten.", [30]),
        ("o", "The other one stands in its place now.", [45]),
        ("b", "Both are kept.", [30, 45]),
    ],
)
def test_a_dispute_is_decided_side_by_side(
    tab: Tab, key: str, told: str, kept: list[int]
) -> None:
    tab.go("/review")
    card = tab.page.locator("section[aria-labelledby=disputes-title] .card")
    assert card.locator("del").inner_text() == "30"
    assert card.locator("ins").inner_text() == "45"
    press(tab, key)
    assert told in tab.text()
    workspace = tab.window.workspace
    assert disputes(workspace.index, workspace.store) == ()
    left = sorted(one for one in titles(tab.window) if "The API times out" in one)
    assert left == [f"The API times out after {number} seconds." for number in kept]


def test_two_versions_are_made_one_by_hand(tab: Tab) -> None:
    tab.go("/review")
    press(tab, "e")
    assert "The API times out after 45 seconds." in tab.text()
    tab.page.get_by_label("Title").fill("The API times out after 40 seconds.")
    tab.page.get_by_role("button", name="Save").click()
    tab.page.get_by_text("The two are one now.").wait_for()
    workspace = tab.window.workspace
    assert disputes(workspace.index, workspace.store) == ()
    left = [one for one in titles(tab.window) if "The API times out" in one]
    assert left == ["The API times out after 40 seconds."]


def test_a_machine_is_accepted_and_refused_again(tab: Tab) -> None:
    tab.go("/projects")
    row = tab.page.locator("tr", has_text="bens-laptop-77aa")
    row.get_by_role("button", name="Accept").click()
    tab.page.get_by_text("Believed from now on: bens-laptop-77aa").wait_for()
    assert state_of_ben(tab.window) is MachineState.ACCEPTED
    tab.page.get_by_role("button", name="Refuse it").click()
    tab.page.get_by_text("Not believed from now on: bens-laptop-77aa").wait_for()
    assert state_of_ben(tab.window) is MachineState.REFUSED


def state_of_ben(window: Window) -> MachineState:
    machines = window.workspace.machine_trust.machines()
    return next(one.state for one in machines if one.id == "bens-laptop-77aa")


def test_a_project_is_left_out_and_let_in_again(tab: Tab) -> None:
    tab.go("/projects")
    card = tab.page.locator(".card", has_text="website").first
    card.get_by_role("button", name="Leave it out of memory").click()
    tab.page.get_by_text("Left out of memory on this machine: website").wait_for()
    assert "not captured" in tab.page.locator(".card", has_text="website").inner_text()
    tab.page.get_by_role("button", name="Undo").click()
    tab.page.get_by_text("Captured again: website").wait_for()
    assert "not captured" not in tab.text()


def test_what_is_gone_meanwhile_is_said_and_nothing_is_done(window: Window) -> None:
    window.enter()
    before = window.workspace.store.head()
    told = [
        window.post("/act/pin", id="ffffffff")[0],
        window.post("/act/pin")[0],
        window.post("/act/decide-dispute", id="mem_x", decision="first")[0],
        window.post("/act/accept-machine", id="<b>nobody</b>")[0],
        window.post("/act/no-such-act", id="x")[0],
    ]
    assert told == [404, 400, 404, 404, 404]
    assert window.workspace.store.head() == before


def test_review_looks_through_the_newest_conversations_and_says_so(
    window: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    window.enter()
    told = "Statements are those of the newest"
    whole = window.ask("/review")[2]
    assert whole.count("/act/keep-statement") > 2 and told not in whole
    monkeypatch.setattr(review_page, "LOOKED_AT", 1)
    cut = window.ask("/review")[2]
    assert cut.count("/act/keep-statement") < whole.count("/act/keep-statement")
    assert f"{told} 1 conversations" in cut
