"""The window as a person has it: a server over a sample workspace, and a real browser."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import found
from open_window import Tab, Window, opened
from sample_workspace import build

from keeplore.config.places import Places

WAIT_MS = 120_000  # a machine that runs other tests, too


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample workspace with its machine, made once."""
    top = tmp_path_factory.mktemp("sample")
    build(Places(top / "state", top / "cache"), top / "memory")
    return top


@pytest.fixture
def sample(home: Path, template: Path) -> Path:
    """The root of the sample workspace, on a machine of this test's own."""
    for name in ("state", "cache", "memory"):
        shutil.copytree(template / name, home / name, dirs_exist_ok=True)
    machine = home / "state" / "machine.json"
    machine.write_text(machine.read_text().replace(str(template), str(home)))
    return home / "memory"


@pytest.fixture
def window(sample: Path) -> Iterator[Window]:
    with opened(sample) as window:
        yield window


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """A browser for the tests of a module: while it is there, its event loop runs, and no other
    test of the process may run one.
    """
    if not found():
        pytest.skip("no Chromium: `apt-get install chromium` installs it")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=found(), args=["--no-sandbox", "--disable-gpu"]
        )
        yield browser
        browser.close()


Open = Callable[..., Tab]


@pytest.fixture
def open_tab(chromium: Any) -> Iterator[Open]:
    """Open the window's first page in a fresh browser profile."""
    contexts = []

    def open_one(window: Window, beside: Tab | None = None) -> Tab:
        if beside is None:
            contexts.append(
                chromium.new_context(viewport={"width": 1280, "height": 900})
            )
        page = contexts[-1].new_page()
        page.set_default_timeout(WAIT_MS)
        tab = Tab(page, window, [], [])
        page.on("console", lambda told: tab.complaints.append(told.text))
        page.on("pageerror", lambda error: tab.complaints.append(str(error)))
        page.on("dialog", lambda box: tab.complaints.append(box.message))
        page.on("request", lambda request: tab.asked.append(request.url))
        page.goto(window.server.address if beside is None else f"http://{window.host}/")
        return tab

    yield open_one
    for context in contexts:
        context.close()


@pytest.fixture
def tab(window: Window, open_tab: Open) -> Tab:
    return open_tab(window)
