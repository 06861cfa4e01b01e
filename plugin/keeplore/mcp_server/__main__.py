"""``python -m keeplore.mcp_server`` and ``keeplore mcp``: serve until standard input closes."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from typing import Any

from keeplore.config.places import Places
from keeplore.errors import ConfigError, KeeploreError
from keeplore.mcp_server.context import McpContext
from keeplore.mcp_server.project_roots import ProjectRoots

EXPECTED = 1


def serve() -> None:
    """Serve on standard input and output. Raises ConfigError without the SDK, OSError where the
    state is read-only.
    """
    os.umask(0o077)
    places = Places.from_environment(os.environ)
    is_off = bool(os.environ.get("KEEPLORE_OFF"))
    cwd = _working_directory()
    places.create()
    _leave_settings(places.state)
    _reserve_the_wire()
    try:
        # the SDK takes a second, and is an extra
        from keeplore.mcp_server.tools import GONE, build
    except ModuleNotFoundError as e:
        if e.name not in ("mcp", "pydantic"):
            raise
        raise ConfigError(
            "the MCP server needs a package that is not installed",
            "Run `pip install 'keeplore[mcp]'` where Keeplore is installed",
        ) from e
    context = (
        None
        if is_off
        else McpContext(places, ProjectRoots(dict(os.environ), places.sessions, cwd))
    )
    try:
        build(context).run()
    except* GONE:
        pass  # the host has gone, and the SDK still had something to say
    finally:
        if context is not None:
            context.close()


def _leave_settings(state: Path) -> None:
    """Version 1 of the SDK reads a file .env where it stands, which may be anybody's, and variables
    that are no business of ours.
    """
    os.chdir(state)
    for name in list(os.environ):
        if name.startswith("FASTMCP_"):
            del os.environ[name]


class _Wire:
    """A standard stream for those who look for its bytes, as the SDK does; what is printed goes to
    stderr.
    """

    def __init__(self, buffer: io.BufferedIOBase) -> None:
        self.buffer = buffer

    def __getattr__(self, name: str) -> Any:
        return getattr(sys.stderr, name)


def _reserve_the_wire() -> None:
    """Let nothing but the protocol reach the two streams: not a plugin that prints, not a child
    process.
    """
    wires = (os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb"))
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    sys.stdin, sys.stdout = map(_Wire, wires)


def _working_directory() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError:
        return Path.home()


def main() -> int:
    try:
        serve()
    except KeeploreError as e:
        sys.stderr.write(f"keeplore: {e.message}\n  → {e.remedy}\n")
        return EXPECTED
    except OSError as e:
        sys.stderr.write(f"keeplore: {e.filename or 'the disk'}: {e.strerror or e}\n")
        return EXPECTED
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
