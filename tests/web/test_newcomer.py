"""Somebody who has read nothing finds a decision, corrects it, forgets another, decides a dispute."""

from __future__ import annotations

from typing import Any

from open_window import EVERYTHING, Tab

from keeplore.workspace.writing.disputes import disputes


def test_who_has_read_nothing_corrects_forgets_and_decides_in_ten_steps(
    tab: Tab,
) -> None:
    """Each step is a press on what is in view, or words typed into a field."""
    page, steps = tab.page, iter(range(1, 100))

    def button(name: str) -> Any:
        return page.get_by_role("button", name=name).first

    def press(what: Any) -> None:
        next(steps)
        what.click()

    def fill(label: str, text: str) -> None:
        next(steps)
        page.get_by_label(label).first.fill(text)

    fill("Search memory", "when do we deploy")
    press(page.locator(".hits").get_by_role("link", name="Deploys"))
    press(page.get_by_role("link", name="Edit"))
    fill("Text", "We deploy on Wednesdays.")
    press(button("Save"))
    page.get_by_text("Saved as version 3").wait_for()
    fill("Search memory", "how is VAT rounded")
    press(page.locator(".hits").get_by_role("link", name="Rounding of VAT").first)
    press(button("Forget"))
    page.get_by_text("Forgotten: “Rounding of VAT”.").wait_for()
    press(page.get_by_role("navigation").get_by_role("link", name="Review"))
    press(button("Take the other"))
    page.get_by_text("The other one stands in its place now.").wait_for()
    workspace = tab.window.workspace
    rows = workspace.index.timeline.page(EVERYTHING).rows
    assert next(steps) == 11
    assert tab.window.text(tab.window.id_of("Deploys")).endswith("Wednesdays.\n")
    assert sum(row.title == "Rounding of VAT" for row in rows) == 2
    assert disputes(workspace.index, workspace.store) == ()
