"""Search while a person types: recall's own answer, with its reasons, and what silence means."""

from __future__ import annotations

from open_window import Tab


def test_hits_come_while_one_types_with_the_words_set_off(tab: Tab) -> None:
    tab.go("/search")
    tab.page.locator("#find").press_sequentially("where is VAT rounded")
    hit = tab.page.locator(".hits li").first
    hit.locator("mark", has_text="rounded").first.wait_for()
    assert hit.locator(".title").inner_text() == "Rounding of VAT"
    marked = {text.lower() for text in hit.locator("mark").all_inner_texts()}
    assert {"vat", "rounded"} <= marked
    tab.page.wait_for_url("**/search?q=where%20is%20VAT%20rounded")


def test_a_hit_says_why_it_is_there(tab: Tab) -> None:
    tab.go("/search?q=where+is+VAT+rounded")
    hit = tab.page.locator(".hits li").first
    hit.get_by_text("Why this is here").click()
    parts = hit.locator(".reasons tbody th")
    parts.first.wait_for()
    assert {"text", "vectors"} <= set(parts.all_inner_texts())
    assert "Found in place 1" in hit.locator(".reasons").inner_text()


def test_a_hit_leads_to_the_turn_that_says_it(tab: Tab) -> None:
    tab.go("/search?q=where+is+VAT+rounded")
    tab.page.locator(".hits .title").first.click()
    tab.page.wait_for_url("**/m/*#turn-*")
    said = tab.page.locator(".exchanges details:target .said.you")
    assert "rounded once for each invoice line" in said.inner_text()


def test_silence_is_explained(tab: Tab) -> None:
    tab.go("/search?q=zebra+crossing+permit")
    assert "No memory is about that. Try other words, or fewer." in tab.text()


def test_nothing_asked_is_no_question(tab: Tab) -> None:
    tab.go("/search?q=")
    assert tab.page.locator(".hits li").count() == 0
    assert "No memory" not in tab.text()
