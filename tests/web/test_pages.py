"""Every page in a real browser: it shows what it should, asks nobody else, and anyone can use it."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from open_window import Tab, Window, opened
from sample_workspace import hostile

from keeplore.cli.doctor.finding import note, well, wrong
from keeplore.llm import SpendingLedger, Usage
from keeplore.workspace.activity import ActivityLog, Counted

AXE = Path(__file__).resolve().parents[2] / ".venv" / "axe" / "axe.min.js"
RUN = "part => axe.run(part, {resultTypes: ['violations']})"  # what is well is not described
PAGES = {
    "home": "/",
    "timeline": "/timeline",
    "search": "/search?q=failed+jobs",
    "silence": "/search?q=zebra+crossing+permit",
    "threads": "/threads",
    "graph": "/graph",
    "projects": "/projects",
    "cost": "/cost",
    "statistics": "/statistics",
    "review": "/review",
    "forgotten": "/forgotten",
    "missing": "/m/ffffffff",
}


def with_memories(window: Window) -> dict[str, str]:
    """The pages, with those of one conversation, one note, its form, and a thread."""
    talk, note = window.id_of("Retries"), window.id_of("Deploys")
    return PAGES | {
        "conversation": f"/m/{talk}",
        "note": f"/m/{note}",
        "edit": f"/m/{note}/edit",
        "hostile": f"/m/{hostile().id}",
        "thread": f"/threads/{talk}",
    }


def test_pages_show_without_a_complaint_in_light_dark_and_narrow(tab: Tab) -> None:
    wide = {}
    for name, path in with_memories(tab.window).items():
        tab.go(path)
        tab.page.wait_for_load_state("networkidle") if name == "graph" else None
        for scheme, width in (("light", 1280), ("dark", 390)):
            tab.page.emulate_media(color_scheme=scheme)
            tab.page.set_viewport_size({"width": width, "height": 900})
        wide[name] = tab.page.evaluate("document.documentElement.scrollWidth")
    assert {name: width for name, width in wide.items() if width > 390} == {}
    complaints = [one for one in tab.complaints if "404" not in one]
    assert complaints == []
    far = [url for url in tab.asked if not url.startswith(f"http://{tab.window.host}/")]
    assert far == []


@pytest.mark.soak
def test_pictures_of_all_pages_are_there_to_be_looked_at(tab: Tab) -> None:
    for name, path in with_memories(tab.window).items():
        tab.go(path)
        for scheme, width in (("light", 1280), ("dark", 390)):
            tab.page.emulate_media(color_scheme=scheme)
            tab.page.set_viewport_size({"width": width, "height": 900})
            tab.keep(f"{name}-{scheme}-{width}")
    assert tab.page.title()


def test_on_paper_a_page_is_light_and_whole_and_has_nothing_to_press(tab: Tab) -> None:
    tab.page.emulate_media(media="print", color_scheme="dark")
    tab.page.set_viewport_size({"width": 700, "height": 900})  # A4
    ground = "getComputedStyle(document.documentElement).backgroundColor"
    shown = "all => all.filter(one => one.checkVisibility()).length"
    for path in with_memories(tab.window).values():
        tab.go(path)
        assert tab.page.evaluate(ground) == "rgb(255, 255, 255)"
        assert tab.page.locator("button, input, .side").evaluate_all(shown) == 0, path
    tab.go(f"/m/{tab.window.id_of('Retries')}")
    tab.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    said = tab.page.locator(".exchanges").inner_text()
    assert said.count("Agent") == 3 and "limit = 5" in said


@pytest.mark.skipif(not AXE.is_file(), reason="no axe-core: `make axe` fetches it")
def test_a_screen_reader_finds_its_way(tab: Tab) -> None:
    found: dict[str, list[str]] = {}
    for number, (name, path) in enumerate(with_memories(tab.window).items()):
        # the colours are the same on all pages
        tab.page.emulate_media(color_scheme="dark" if number % 2 else "light")
        tab.go(path)
        tab.page.evaluate(AXE.read_text(encoding="utf-8"))
        # what stands around is the same, too
        found[name] = serious(tab.page.evaluate(RUN, "main" if number else "html"))
    assert {page: told for page, told in found.items() if told} == {}


def serious(result: dict[str, Any]) -> list[str]:
    return [
        f"{one['id']}: {one['nodes'][0]['html'][:200]}"
        for one in result["violations"]
        if one["impact"] in ("serious", "critical")
    ]


def test_home_shows_what_needs_a_person_and_folds_the_rest(
    sample: Path, open_tab: Any
) -> None:
    found = [
        wrong("spool", "<b>3</b> events are lost", "Run `keeplore doctor --fix`"),
        note("sync", "it has no remote", "Add one"),
        well("git", "it is new"),
    ]
    with opened(sample, lambda: found) as window:
        tab = open_tab(window)
        health = tab.page.locator("#health")
        health.get_by_text("<b>3</b> events are lost").wait_for()
        assert (
            health.locator(".next code").first.inner_text() == "keeplore doctor --fix"
        )
        assert not health.get_by_text("it has no remote").is_visible()
        health.get_by_text("1 for your information").click()
        assert health.get_by_text("it has no remote").is_visible()
        found[0] = well("spool", "nothing waits")
        health.get_by_text("Look again").click()
        health.get_by_text("Nothing needs you.").wait_for()


def test_statistics_tell_what_was_done_here(window: Window) -> None:
    window.enter()
    assert "Nothing was counted yet" in window.ask("/statistics")[2]
    log = ActivityLog(window.registry.places.state)
    log.count(Counted.TURNS, 1234)
    with log.timed("prompt"):
        pass
    log.save(is_last=True)
    told = window.ask("/statistics?since=7")[2]
    assert '<dt>turns</dt><dd class="number">1,234</dd>' in told
    assert '<th scope="row">prompt</th><td class="number">1</td>' in told
    assert window.ask("/statistics?since=x")[0] == 200


def test_the_cost_of_this_day_and_month_is_told(window: Window) -> None:
    window.enter()
    ledger = SpendingLedger(window.registry.places.ledger)
    ledger.add(datetime.now(UTC), "haiku", "extract", Usage(3_000_000, 200_000))
    page = window.ask("/cost")[2]
    assert "<dt>this day</dt><dd>3,200,000 " in page
    assert "<dt>this month</dt><dd>3,200,000 " in page


def test_home_says_what_is_new_and_what_waits(tab: Tab) -> None:
    tab.page.get_by_text("wait for you").wait_for()
    told = tab.text()
    assert "1 dispute · 1 machine to accept" in told
    assert "Ledger entries are append-only" in told and "shop" in told
    tab.page.get_by_text("wait for you").click()
    tab.page.wait_for_url("**/review")


def test_a_conversation_shows_its_head_and_receipts_lead_to_the_turn(tab: Tab) -> None:
    tab.go(f"/m/{tab.window.id_of('Retries')}")
    first = tab.page.locator(".exchanges details").nth(1)
    assert first.get_attribute("open") is None
    receipt = tab.page.locator(".prose .receipt").first
    assert re.fullmatch(r"user, .+, \d\d:\d\d", receipt.inner_text())
    receipt.click()
    first.locator(".said.you", has_text="retried five times").wait_for()
    assert first.get_attribute("open") is not None
    tab.page.get_by_text("the raw file").click()
    assert tab.page.locator("body").inner_text().startswith("---\nschema: 1")


def test_a_note_shows_its_versions_with_what_changed(tab: Tab) -> None:
    tab.go(f"/m/{tab.window.id_of('Deploys')}")
    versions = tab.page.locator(".versions")
    assert versions.locator(".diff del").inner_text() == "Fridays,"
    assert versions.locator(".diff ins").inner_text() == "Tuesdays,"
    versions.get_by_role("link", name="Version 1").click()
    assert "This is an old version" in tab.text()


def test_a_thread_tells_what_was_decided_in_each_session(tab: Tab) -> None:
    tab.go("/threads")
    tab.page.get_by_role("link", name="Retries of failed jobs").click()
    told = tab.text()
    assert "3 conversations in 3 sessions" in told
    assert told.count("Failed jobs are retried five times, then parked.") == 3
    assert "Open: Who looks at what is parked?" in told


def test_the_graph_leads_to_the_memories_behind_a_node(tab: Tab) -> None:
    tab.go("/graph")
    picture = tab.page.frame_locator("iframe.picture-frame")
    picture.get_by_role("button", name="queue.py").first.click()
    picture.locator("#details a").first.click()
    tab.page.wait_for_url("**/m/*")
    assert "Where it comes from" in tab.text()


def test_the_timeline_is_chosen_by_what_a_person_wants_to_see(tab: Tab) -> None:
    tab.go("/timeline")
    tab.page.get_by_label("Project", exact=True).select_option("billing")
    tab.page.wait_for_url("**project=billing**")
    tab.page.get_by_label("open questions").check()
    tab.page.wait_for_url("**open=1**")
    titles = tab.page.locator(".memories .title").all_inner_texts()
    assert titles and set(titles) <= {
        "Retries of failed jobs",
        "Outbox in place of SQS",
    }
    tab.page.get_by_role("link", name="Clear").click()
    tab.page.wait_for_url("**/timeline")  # what is chosen before is lost with the page
    tab.page.get_by_label("Trust", exact=True).select_option("foreign")
    tab.page.wait_for_url("**trust=foreign**")
    titles = tab.page.locator(".memories .title").all_inner_texts()
    assert titles == ["Ben says that Redis is fine"]


def test_memory_of_an_attacker_is_text(tab: Tab) -> None:
    for path in (f"/m/{hostile().id}", "/timeline", "/search?q=web+file+click", "/"):
        tab.go(path)
        assert "broken" not in tab.page.title().partition("<script>")[0]
        assert tab.page.locator("main script, main img, main svg[onload]").count() == 0
    tab.go(f"/m/{hostile().id}")
    told = tab.text()
    for text in (
        "<script>document.title='broken'</script> ⟨U+202E⟩evil",
        "<img src=x onerror=\"document.title='broken'\"> and <svg onload=alert(1)>",
        "[click](javascript:document.title='broken')",
        "[picture: far https://evil.invalid/x.png]",
        "⟨U+202E⟩txt.exe⟨U+202C⟩ round, with a zero⟨U+200B⟩width space.",
        "{{ 7 * 7 }} {% raw %} </textarea></div></main>",
    ):
        assert text in told
    links = tab.page.locator("main a").evaluate_all("all => all.map(a => a.href)")
    assert not [link for link in links if not link.startswith("http")]
    web = tab.page.get_by_role("link", name="web")
    assert web.get_attribute("rel") == "noreferrer noopener"
    tab.go(f"/m/{hostile().id}/edit")
    assert "</textarea></div></main>" in tab.page.locator("textarea").input_value()
    assert tab.complaints == []


def test_trust_is_that_of_whoever_wrote_a_memory(window: Window) -> None:
    window.enter()
    foreign, own = (
        window.ask(f"/timeline?trust={one}")[2] for one in ("foreign", "user")
    )
    assert re.findall(r'class="title" href="[^"]*">([^<]*)<', foreign) == [
        "Ben says that Redis is fine"
    ]
    assert "Ledger entries" in own and "Ben says" not in own
    assert "1 memory in the last year" in foreign


def test_keys_lead_through_the_pages(tab: Tab) -> None:
    tab.page.keyboard.press("g")
    tab.page.keyboard.press("t")
    tab.page.wait_for_url("**/timeline")
    tab.page.keyboard.press("j")
    tab.page.keyboard.press("j")
    second = tab.page.locator(".memories li").nth(1)
    assert second.get_attribute("class") == "here"
    title = second.locator(".title").inner_text()
    tab.page.keyboard.press("Enter")
    tab.page.get_by_role("heading", name=title, level=1).wait_for()
    tab.page.wait_for_load_state()  # the script listens
    tab.page.keyboard.press("?")
    tab.page.locator("dialog").get_by_text("next, previous").wait_for()
    tab.page.keyboard.press("Escape")
    tab.page.keyboard.press("/")
    tab.page.keyboard.type("outbox")
    tab.page.wait_for_url("**/search?q=**")
    tab.page.locator(".hits mark").first.wait_for()


def test_read_only_shows_everything_and_offers_no_act(
    sample: Path, open_tab: Any
) -> None:
    with opened(sample, is_read_only=True) as window:
        tab = open_tab(window)
        for path in ("/review", "/projects", f"/m/{window.id_of('Deploys')}"):
            tab.go(path)
            assert tab.page.locator("form[method=post]").count() == 0
