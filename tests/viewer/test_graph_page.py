"""The page of `keeplore graph --format html` in a real browser: what a person sees, searches, moves
and presses.
"""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from browser import NAMES, Browser, found
from PIL import Image

from keeplore.viewer.page import as_page
from keeplore.viewer.picture import (
    GraphNode,
    GraphPicture,
    GraphRelation,
    MentionedIn,
    SharedMemories,
)

NODES = 500
EVIL = "</script><img src=http://evil.example/x onerror=alert(1)>"
NAMES_DRAWN = (
    "[...document.querySelectorAll('#nodes g')].map((node) => node.dataset.name)"
)
NAMES_LISTED = (
    "[...document.querySelectorAll('#list li:not([hidden]) .name')].map((name) => "
    "name.textContent)"
)
PLACES = (
    "Object.fromEntries([...document.querySelectorAll('#nodes circle')].map((c, i) => [i, "
    "c.outerHTML]))"
)
ENDS = """(() => {
  const boxes = [...document.querySelectorAll("#nodes circle")].map((circle) => circle.getBoundingClientRect());
  return [Math.min(...boxes.map((box) => box.left)), Math.max(...boxes.map((box) => box.right))];
})()"""
TYPES = ("project", "tool", "system", "concept", "person", "skill", "task", "unknown")

pytestmark = pytest.mark.skipif(
    not found(), reason=f"no Chromium in PATH: none of {', '.join(NAMES)}"
)


def large() -> GraphPicture:
    """A tree of relations with what is mentioned together across it, the most mentioned first."""
    nodes = [
        GraphNode(
            f"name-{i}",
            f"Name-{i}",
            TYPES[i % 8],
            "",
            1 + NODES // (i + 1),
            memories=(
                MentionedIn(f"mem_{i:08x}", f"About {i}", "2026-02-09T10:12:30Z"),
            ),
        )
        for i in range(NODES)
    ]
    nodes[40] = GraphNode(
        EVIL,
        EVIL,
        EVIL,
        EVIL,
        13,
        aliases=(EVIL,),
        memories=(MentionedIn("mem_e", EVIL, "2026-02-09T10:12:30Z"),),
    )
    relations = tuple(GraphRelation(i // 3, i, "uses", 0.9, 2) for i in range(1, NODES))
    together = tuple(SharedMemories(i, i + 7, 3) for i in range(0, NODES - 7, 5))
    return GraphPicture("memory", tuple(nodes), relations, together, has_more=True)


def test_five_hundred_names_can_be_seen_searched_and_moved_without_a_network(
    tmp_path: Path,
) -> None:
    page = tmp_path / "graph.html"
    page.write_text(as_page(large()), encoding="utf-8")
    with Browser(tmp_path / "profile") as browser:
        still = {"name": "prefers-reduced-motion", "value": "reduce"}
        browser.call(
            "Emulation.setEmulatedMedia",
            features=[still, {"name": "prefers-color-scheme", "value": "light"}],
        )
        browser.open(page.as_uri())
        names = {node.name for node in large().nodes}
        drawn = browser.ask(NAMES_DRAWN)
        assert len(drawn) == NODES and set(drawn) == names
        assert {name.lower() for name in browser.ask(NAMES_LISTED)} == {
            name.lower() for name in names
        }
        assert "There are more" in browser.ask(
            "document.getElementById('summary').textContent"
        )
        places = browser.ask(PLACES)
        assert_drawn(
            browser.screenshot(tmp_path / "light.png"), ground=(0xFB, 0xFA, 0xF8)
        )

        search(browser)
        move(browser)
        press_names(browser)
        read_what_is_evil(browser)

        browser.call(
            "Emulation.setEmulatedMedia",
            features=[still, {"name": "prefers-color-scheme", "value": "dark"}],
        )
        told = browser.told(*TROUBLE)
        asked = [
            request["request"]["url"]
            for request in browser.told("Network.requestWillBeSent")
        ]
        assert (told, asked) == ([], [page.as_uri()])
        browser.open(page.as_uri())
        assert browser.ask(PLACES) == places
        assert_drawn(
            browser.screenshot(tmp_path / "dark.png"), ground=(0x14, 0x17, 0x1B)
        )

        narrow = {"width": 390, "height": 800, "deviceScaleFactor": 1, "mobile": False}
        browser.call("Emulation.setDeviceMetricsOverride", **narrow)
        browser.open(page.as_uri())
        left, right = browser.ask(ENDS)
        assert left >= 0 and right <= 390 and right - left > 150


TROUBLE = (
    "Log.entryAdded",
    "Runtime.consoleAPICalled",
    "Runtime.exceptionThrown",
    "Page.javascriptDialogOpening",
)


def search(browser: Browser) -> None:
    """By keys alone: to the box, a few letters, Enter."""
    browser.press("/", *"AME-123", "Enter")
    assert browser.ask(NAMES_LISTED) == ["Name-123"]
    assert browser.ask("keeplore.chosen()") == "name-123"
    details = browser.ask("document.getElementById('details').innerText")
    assert all(
        text in details
        for text in ("Name-123", "concept", "About 123", "0000007b", "uses ← Name-41")
    )
    at = browser.ask("keeplore.place('name-123')")
    middle = browser.ask(
        "({x: document.getElementById('graph').clientWidth / 2, y: "
        "document.getElementById('graph').clientHeight / 2})"
    )
    assert at == pytest.approx(middle)
    browser.press("Escape")
    assert browser.ask("keeplore.chosen()") is None


def move(browser: Browser) -> None:
    """By the mouse and by keys; what is under the pointer stays there while the wheel turns."""
    before = browser.ask("keeplore.view()")
    browser.drag(300, 620, 340, 590)
    after = browser.ask("keeplore.view()")
    assert after == pytest.approx(
        {"x": before["x"] + 40, "y": before["y"] - 30, "k": before["k"]}
    )
    browser.mouse("mouseWheel", 400, 300, deltaX=0, deltaY=-240)
    nearer = browser.ask("keeplore.view()")
    assert nearer["k"] > 1.2 * after["k"]
    assert (400 - nearer["x"]) / nearer["k"] == pytest.approx(
        (400 - after["x"]) / after["k"]
    )
    browser.ask("document.getElementById('graph').focus()")
    browser.press("ArrowLeft")
    assert browser.ask("keeplore.view()")["x"] == pytest.approx(nearer["x"] + 60)
    browser.press("0")
    assert browser.ask("keeplore.view()")["k"] < nearer["k"]


def press_names(browser: Browser) -> None:
    """A press on a circle chooses it, one beside all circles lets go; a type can be hidden."""
    browser.ask("keeplore.choose('name-0'); keeplore.choose(null)")
    at = browser.ask("keeplore.place('name-0')")
    click = {"button": "left", "clickCount": 1}
    browser.mouse("mousePressed", at["x"], at["y"], **click)
    browser.mouse("mouseReleased", at["x"], at["y"], **click)
    assert browser.ask("keeplore.chosen()") == "name-0"
    shown = browser.ask(
        "[...document.querySelectorAll('#labels text:not([hidden])')].map((text) => "
        "text.textContent)"
    )
    assert "Name-0" in shown and "uses" in shown
    browser.ask(
        "keeplore.choose(null); document.querySelector('#legend .skill button').click()"
    )
    assert (
        browser.ask("document.querySelectorAll('#nodes g.skill:not([hidden])').length")
        == 0
    )
    browser.ask("document.querySelector('#legend .skill button').click()")


def read_what_is_evil(browser: Browser) -> None:
    browser.ask(f"keeplore.choose({EVIL!r})")
    assert browser.ask("document.querySelector('#details h2').textContent") == EVIL
    assert (
        browser.ask("document.querySelectorAll('img, body script:not(#data)').length")
        == 1
    )


def assert_drawn(png: bytes, ground: tuple[int, int, int]) -> None:
    """Most of it is the ground, and the rest has the colours of types, lines and letters."""
    picture = Image.open(io.BytesIO(png)).convert("RGB")
    colours = {colour: number for number, colour in picture.getcolors(1 << 24) or []}
    assert max(colours, key=colours.__getitem__) == ground
    assert len([colour for colour, number in colours.items() if number > 20]) > 60
