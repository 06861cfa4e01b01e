"""Serving the pages to the browser of this machine, until nobody looks any more."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from pathlib import Path

import uvicorn

from keeplore.web.access import Access
from keeplore.web.doctor_findings import Health
from keeplore.web.guard import ENTRY, Guard
from keeplore.web.page_context import PageContext
from keeplore.web.workspace_pages import WorkspacePages
from keeplore.workspace.registry import Registry

LOOPBACK = "127.0.0.1"
UNSEEN_S = 5 * 60.0  # after the last page was closed
LOOK_S = 0.5
GRACE_S = 1  # for answers that are under way at the end


class WindowServer:
    """Listens from the beginning; ``address`` works once. Raises NoWorkspace where a directory has
    none.
    """

    def __init__(
        self,
        registry: Registry,
        cwd: Path,
        health: Health,
        *,
        is_read_only: bool = False,
        unseen_s: float = UNSEEN_S,
    ) -> None:
        access = Access()
        self._unseen_s = unseen_s
        csrf = "" if is_read_only else access.csrf
        context = PageContext(registry, cwd, health, csrf)
        _ = context.workspace
        self._pages = WorkspacePages(context)
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self._socket.bind((LOOPBACK, 0))
        self._socket.listen()
        port = self._socket.getsockname()[1]
        self._server = uvicorn.Server(
            uvicorn.Config(
                Guard(self._pages, access, port, is_read_only=is_read_only),
                log_config=None,
                access_log=False,
                server_header=False,
                lifespan="off",
                timeout_graceful_shutdown=GRACE_S,
            )
        )
        self.address = f"http://{LOOPBACK}:{port}{ENTRY}?ticket={access.ticket}"

    def run(self) -> None:
        """Serve until the last page has been closed for a while, ``stop``, or a signal."""
        self._pages.start()
        try:
            asyncio.run(self._serve())
        finally:
            self._pages.stop()
            self._socket.close()

    def stop(self) -> None:
        self._server.should_exit = True
        self._pages.stop()

    async def _serve(self) -> None:
        serving = asyncio.create_task(self._server.serve(sockets=[self._socket]))
        while not serving.done():
            await asyncio.wait([serving], timeout=LOOK_S)
            if self._pages.unseen_s > self._unseen_s:
                self.stop()
        with contextlib.suppress(asyncio.CancelledError):
            await serving
