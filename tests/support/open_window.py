"""A server of the window in a thread of this process, and what a test does with it."""

from __future__ import annotations

import http.client
import os
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

from keeplore.config.places import Places
from keeplore.index.timeline import TimelineFilter
from keeplore.web.doctor_findings import Health, HealthFinding
from keeplore.web.serving import WindowServer
from keeplore.workspace.registry import Registry
from keeplore.workspace.workspace import Workspace

SCREENSHOTS = Path(__file__).resolve().parents[2] / ".venv" / "screenshots"
EVERYTHING = TimelineFilter()


@dataclass
class Window:
    """A running server, and requests as another program makes them."""

    server: WindowServer
    registry: Registry
    root: Path
    thread: threading.Thread
    cookie: str = ""

    @property
    def host(self) -> str:
        return urlsplit(self.server.address).netloc

    @property
    def workspace(self) -> Workspace:
        found = self.registry.for_directory(self.root)
        found.index.refresh()
        return found

    def ask(
        self, path: str, method: str = "GET", body: str | None = None, **headers: str
    ) -> tuple[int, dict[str, str], str]:
        """Status, headers and text of an answer; underscores stand for dashes in names."""
        connection = http.client.HTTPConnection(self.host, timeout=30)
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        if self.cookie:
            given.setdefault("Cookie", self.cookie)
        connection.request(method, path, body, given)
        answer = connection.getresponse()
        text = answer.read().decode("utf-8", "replace")
        connection.close()
        return answer.status, {k.lower(): v for k, v in answer.getheaders()}, text

    def enter(self) -> None:
        status, headers, _ = self.ask(
            urlsplit(self.server.address)._replace(scheme="", netloc="").geturl()
        )
        assert status == 303, status
        self.cookie = headers["set-cookie"].partition(";")[0]

    def csrf(self) -> str:
        match = re.search(r'"X-CSRF-Token": "([^"]+)"', self.ask("/")[2])
        assert match
        return match[1]

    def post(self, path: str, **fields: str) -> tuple[int, dict[str, str], str]:
        body = urlencode({"csrf": self.csrf(), **fields})
        return self.ask(path, "POST", body, Origin=f"http://{self.host}")

    def text(self, memory_id: str) -> str:
        """What the newest version of a memory says."""
        row = self.workspace.index.memories([memory_id])[memory_id]
        head = self.workspace.index.memories([row.superseded_by or row.id])
        return self.workspace.store.load(next(iter(head.values())).path).body

    def id_of(self, title: str) -> str:
        rows = self.workspace.index.timeline.page(EVERYTHING, limit=200).rows
        return next(row.id for row in rows if title in row.title)


@dataclass
class Tab:
    """One page of a browser of its own; what it complains about, asks for and opens is kept."""

    page: Any
    window: Window
    complaints: list[str]
    asked: list[str]

    def go(self, path: str) -> None:
        self.page.goto(f"http://{self.window.host}{path}")

    def text(self) -> str:
        return str(self.page.locator("main").inner_text())

    def keep(self, name: str) -> None:
        """A picture for looking at."""
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=SCREENSHOTS / f"{name}.png")


def nothing_found() -> list[HealthFinding]:
    return []


@contextmanager
def opened(
    root: Path,
    examine: Callable[[], Sequence[HealthFinding]] = nothing_found,
    **options: Any,
) -> Iterator[Window]:
    """A server in a thread of this process."""
    with Registry(Places.from_environment(os.environ)) as registry:
        server = WindowServer(registry, root, Health(examine), **options)
        thread = threading.Thread(target=server.run)
        thread.start()
        try:
            yield Window(server, registry, root, thread)
        finally:
            server.stop()
            thread.join(30)
            assert not thread.is_alive()
