"""``python -m keeplore.mcp_server``: answer one request without a worker, from standard input to
standard output, in the form in which a worker is asked and answers.
"""

from __future__ import annotations

import logging
import os
import sys
from dataclasses import replace

from keeplore.config.places import Places
from keeplore.errors import KeeploreError, disk_message
from keeplore.mcp_server.context import McpServices
from keeplore.mcp_server.session_requests import McpRequestHandler
from keeplore.recall.request import Answer, RecallRequest
from keeplore.workspace.registry import Registry

NO_WORKER = (
    "searched by words alone: the worker, which has the model, did not answer; `keeplore "
    "doctor` says more"
)


def answer(payload: bytes, places: Places) -> bytes:
    """The reply to what a pipe asks. Raises ConfigError or OSError where the state cannot be
    used.
    """
    with Registry(places) as registry:

        def recall(request: RecallRequest) -> Answer:
            return registry.recall(replace(request, text_only=True)).with_note(
                NO_WORKER
            )

        services = McpServices(
            registry, recall, _tell_nobody, lambda _: False, _tell_nobody
        )
        return McpRequestHandler(services).answer(payload)


def _tell_nobody(*_: object) -> None:
    """Do nothing: without a worker nobody is to be told, and the next one finds what
    was written.
    """


def main() -> None:
    os.umask(0o077)
    logging.basicConfig(level=logging.WARNING)
    with os.fdopen(os.dup(0), "rb") as wire:
        payload = wire.read()
    reply = os.dup(1)
    # nothing else reaches the reply: not a plugin that prints, not a child process
    os.dup2(2, 1)
    try:
        answered = answer(payload, Places.from_environment(os.environ))
    except KeeploreError as e:
        sys.exit(f"keeplore: {e.message}\n  → {e.remedy}")
    except OSError as e:
        sys.exit(f"keeplore: {disk_message(e)}")
    with os.fdopen(reply, "wb") as wire:
        wire.write(f"{len(answered)}\n".encode() + answered)


if __name__ == "__main__":
    main()
