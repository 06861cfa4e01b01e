"""Which workspace an address is of: that of the directory stands at the top, each other one of this
machine below its name.
"""

from __future__ import annotations

import threading
from dataclasses import replace

from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp, Receive, Scope, Send

from keeplore.errors import KeeploreError
from keeplore.web.application import application
from keeplore.web.links import OTHERS, ServedLinks
from keeplore.web.live_changes import ChangeFeed
from keeplore.web.page_context import PageContext


class WorkspacePages:
    """An ASGI application; what changes in a workspace is followed once somebody looks at it."""

    def __init__(self, context: PageContext) -> None:
        self._lock = threading.Lock()
        self._desk = context
        self._feeds: list[ChangeFeed] = []
        self._pages: dict[str, ASGIApp] = {}
        self._add_pages("", context)

    @property
    def unseen_s(self) -> float:
        """How long no page has been open."""
        return min(feed.unseen_s for feed in self._feeds)

    def start(self) -> None:
        for feed in self._feeds:
            feed.start()

    def stop(self) -> None:
        for feed in self._feeds:
            feed.stop()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        name, rest = _name_and_address(scope["path"])
        pages = await run_in_threadpool(self._pages_of, name) if name else None
        if pages:
            await pages({**scope, "path": rest}, receive, send)
        else:
            await self._pages[""](scope, receive, send)

    def _pages_of(self, name: str) -> ASGIApp | None:
        """The pages of a workspace; None where it cannot be opened, which those at the top
        explain.
        """
        with self._lock:
            try:
                self._desk.registry.named(name)
            except KeeploreError:
                return None
            if name not in self._pages:
                links = ServedLinks(f"{OTHERS}{name}")
                context = replace(self._desk, name=name, links=links)
                self._add_pages(name, context).start()
            return self._pages[name]

    def _add_pages(self, name: str, context: PageContext) -> ChangeFeed:
        """Open the pages of a workspace. Returns the feed of its changes, not started yet."""
        feed = ChangeFeed(lambda: context.workspace)
        self._feeds.append(feed)
        self._pages[name] = application(replace(context, changes=feed), feed)
        return feed


def _name_and_address(path: str) -> tuple[str, str]:
    """The name of a workspace, "" for that at the top, and the address within it."""
    if not path.startswith(OTHERS):
        return "", path
    name, _, rest = path.removeprefix(OTHERS).partition("/")
    return name, f"/{rest}"
