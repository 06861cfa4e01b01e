"""Workspaces on several machines with a bare repository between them."""

from __future__ import annotations

import socketserver
import subprocess
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from keeplore.store import Store, create
from keeplore.sync import clone, synchronise

TEMPLATE = Path(__file__).resolve().parents[2] / "workspace_template"


@pytest.fixture
def template() -> Path:
    return TEMPLATE


@dataclass
class Network:
    """A remote, and machines that use it."""

    folder: Path
    remote: Path
    git: Callable[..., str]

    def machine(self, name: str) -> Store:
        clone(str(self.remote), self.folder / name)
        return Store(self.folder / name, branch="main")

    def git_hook(self, name: str, script: str) -> Path:
        """Give the remote a git hook."""
        path = self.remote / "hooks" / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        return path


@pytest.fixture
def network(tmp_path: Path, git: Callable[..., str]) -> Network:
    """The first machine has created the workspace, and pushed it."""
    remote = tmp_path / "remote.git"
    git("init", "-q", "--bare", "-b", "main", str(remote), cwd=tmp_path)
    first = create(tmp_path / "first", TEMPLATE)
    git("remote", "add", "origin", str(remote), cwd=first.root)
    synchronise(first)
    return Network(tmp_path, remote, git)


@pytest.fixture
def first(network: Network) -> Store:
    return Store(network.folder / "first", branch="main")


@pytest.fixture
def daemon(network: Network) -> Iterator[str]:
    """The address under which git's own server offers the network's folder."""
    command = (
        "git",
        "daemon",
        "--inetd",
        "--export-all",
        "--enable=receive-pack",
        f"--base-path={network.folder}",
    )

    class Connection(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            subprocess.run(
                command,
                stdin=self.request,
                stdout=self.request,
                stderr=subprocess.DEVNULL,
                check=False,
            )

    # the port is taken here, and not guessed for a server that binds it later
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Connection) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"git://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()
