"""While pages are open: two tabs see the same, and the server leaves when nobody looks."""

from __future__ import annotations

import http.client
from pathlib import Path
from typing import Any

from open_window import Tab, opened

from keeplore.memory.note import NoteDraft

SAID = "Feature flags live in the database."


def test_what_is_written_elsewhere_appears_by_itself(tab: Tab) -> None:
    tab.page.get_by_text("wait for you").wait_for()
    tab.window.workspace.notes.write(NoteDraft(SAID, scope="workspace"))
    tab.page.locator(".memories .title", has_text=SAID).wait_for()


def test_a_change_in_one_tab_shows_in_the_other(tab: Tab, open_tab: Any) -> None:
    other = open_tab(tab.window, tab)
    id_ = tab.window.id_of("Deploys")
    other.go(f"/m/{id_}")
    tab.go(f"/m/{id_}")
    other.page.bring_to_front()
    status = tab.page.evaluate("document.visibilityState")
    assert status in ("visible", "hidden")
    tab.window.workspace.notes.revise(id_, permanent=True)
    other.page.get_by_text("This is an old version").wait_for()


def test_nobody_who_types_is_interrupted(tab: Tab) -> None:
    tab.go(f"/m/{tab.window.id_of('Deploys')}/edit")
    tab.page.get_by_label("Text").fill("Half a sen")
    tab.window.workspace.notes.write(NoteDraft(SAID, scope="workspace"))
    tab.page.get_by_text("Memory has changed. Show it").wait_for()
    assert tab.page.get_by_label("Text").input_value() == "Half a sen"


def test_a_question_is_answered_on_a_page_that_was_shown_anew_meanwhile(
    tab: Tab,
) -> None:
    tab.page.get_by_text("wait for you").wait_for()
    held: list[Any] = []  # a builtin method is no handler
    tab.page.route("**/search?*", lambda route: held.append(route))  # noqa: PLW0108
    with tab.page.expect_request("**/search?*"):
        tab.page.get_by_label("Search memory").fill("when do we deploy")
    tab.page.evaluate("main().replaceWith(main().cloneNode(true))")
    held[0].continue_()
    tab.page.locator(".hits .title", has_text="Deploys").first.wait_for()


def test_a_question_typed_before_the_scripts_are_there_is_answered(tab: Tab) -> None:
    held: list[Any] = []  # a builtin method is no handler
    tab.page.route("**/static/*.js", lambda route: held.append(route))  # noqa: PLW0108
    tab.page.goto(f"http://{tab.window.host}/timeline", wait_until="commit")
    tab.page.get_by_label("Search memory").fill("when do we deploy")
    for script in held:
        script.continue_()
    tab.page.locator(".hits .title", has_text="Deploys").first.wait_for()
    assert tab.page.url.endswith("/search?q=when%20do%20we%20deploy")


def test_a_page_says_that_its_server_has_left(tab: Tab) -> None:
    tab.page.get_by_text("wait for you").wait_for()
    tab.window.server.stop()
    tab.page.get_by_text("This window is no longer served.").wait_for()


def test_it_ends_when_the_last_page_was_closed_for_a_while(sample: Path) -> None:
    with opened(sample, unseen_s=3.0) as window:
        window.enter()
        page = http.client.HTTPConnection(window.host, timeout=30)
        page.request("GET", "/events", headers={"Cookie": window.cookie})
        answer = page.getresponse()
        window.thread.join(5.0)
        assert window.thread.is_alive()
        answer.close()
        page.close()
        window.thread.join(60)
        assert not window.thread.is_alive()


def test_a_second_window_has_a_session_of_its_own(sample: Path) -> None:
    with opened(sample) as one, opened(sample) as other:
        one.enter()
        other.enter()
        assert one.cookie.partition("=")[0] != other.cookie.partition("=")[0]
        assert other.ask("/", Cookie=one.cookie)[0] == 403
