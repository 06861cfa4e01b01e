"""Workspaces on several machines with a bare repository between them."""

from __future__ import annotations

import shutil
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


@pytest.fixture(scope="session")
def pushed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a remote and the first machine's workspace, of which tests have copies."""
    folder = tmp_path_factory.mktemp("pushed")
    remote = folder / "remote.git"
    init = ("git", "init", "-q", "--bare", "-b", "main", str(remote))
    subprocess.run(init, check=True)
    first = create(folder / "first", TEMPLATE)
    add = ("git", "remote", "add", "origin", str(remote))
    subprocess.run(add, cwd=first.root, check=True)
    synchronise(first)
    return folder


@pytest.fixture
def network(tmp_path: Path, git: Callable[..., str], pushed: Path) -> Network:
    """The first machine has created the workspace, and pushed it."""
    shutil.copytree(pushed, tmp_path, dirs_exist_ok=True)
    settings = tmp_path / "first" / ".git" / "config"
    settings.write_text(settings.read_text().replace(str(pushed), str(tmp_path)))
    return Network(tmp_path, tmp_path / "remote.git", git)


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
