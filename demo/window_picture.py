"""``make recording``: docs/window.png, the picture of `keeplore open`, from the demo's session.

Without Chromium or Playwright the picture stays as it is.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from demo.machine import Machine
from demo.session import create_project, play

PICTURE = Path(__file__).parents[1] / "docs" / "window.png"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
SIZE = {"width": 1200, "height": 760}
PROJECT = "code/ledgerly"
SESSION_AT = datetime(2026, 2, 9, 10, 2, tzinfo=UTC)


def main() -> int:
    browser = next(filter(None, map(shutil.which, BROWSERS)), "")
    if not browser:
        print(f"{PICTURE} stays as it is: there is no Chromium")
        return 0
    with tempfile.TemporaryDirectory(prefix="keeplore-window-") as folder:
        machine = Machine(Path(folder) / "home")
        project = machine.home / PROJECT
        create_project(project)
        for _ in play(machine.home, project, SESSION_AT):
            pass  # the transcript is what counts: no event is sent
        for arguments in (("init", "memory"), ("import", "claude-code")):
            machine.keeplore(*arguments, cwd=machine.home)
        take(machine, project, browser)
    print(f"wrote {PICTURE}")
    return 0


def take(machine: Machine, project: Path, browser: str) -> None:
    # here, so that the rest of the demo needs no browser
    from playwright.sync_api import sync_playwright

    window = subprocess.Popen(
        (sys.executable, "-m", "keeplore.cli", "open", "--no-browser"),
        cwd=project,
        env=machine.environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert window.stdout
    address = window.stdout.readline().strip()
    try:
        with sync_playwright() as driver:
            opened = driver.chromium.launch(
                executable_path=browser, args=["--no-sandbox"]
            )
            page = opened.new_page(viewport=SIZE)
            page.goto(address)
            page.locator("a.title", has_text="job queue").first.click()
            page.locator(".exchanges").wait_for()
            page.screenshot(path=PICTURE)
            opened.close()
    finally:
        window.terminate()
        window.wait()


if __name__ == "__main__":
    sys.exit(main())
