"""Hosts on machines of their own; without ``make hosts`` the tests that want one are skipped."""

from __future__ import annotations

import fcntl
import os
import pickle
import traceback
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from host_lab import HostLab, Played, play
from model_server import model_server

ATTEMPTS = 2


@pytest.fixture
def laboratory(tmp_path: Path) -> Iterator[Callable[[str], HostLab]]:
    """``laboratory(host)`` is that host on a machine of its own, not yet connected."""
    with ExitStack() as stack:

        def begin(name: str) -> HostLab:
            server = stack.enter_context(model_server())
            return stack.enter_context(_begun(HostLab(name, tmp_path / name, server)))

        yield begin


@pytest.fixture(scope="session")
def played(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Played:
    """What came of a working day with the host that the test names; worked through once a run."""
    folder = tmp_path_factory.getbasetemp()
    if os.environ.get("PYTEST_XDIST_WORKER"):
        folder = folder.parent  # which all processes of a run share
    kept = folder / f"played-{request.param}.pickle"
    with kept.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        is_first = not kept.exists()
        if is_first:
            directory = tmp_path_factory.mktemp(request.param)
            kept.write_bytes(pickle.dumps(_outcome(request.param, directory)))
    outcome = pickle.loads(kept.read_bytes())
    if isinstance(outcome, str):
        told = outcome if is_first else f"no day with {request.param}: told elsewhere"
        pytest.fail(told, pytrace=False)
    assert isinstance(outcome, Played)
    return outcome


def _outcome(name: str, directory: Path) -> Played | str:
    """What came of it, or what went wrong: another process should not find it out again.

    Keys get lost at a terminal: where the host did not do what they ask for, all begins anew.
    """
    for attempt in range(ATTEMPTS):
        home = directory / str(attempt)
        try:
            with (
                model_server() as server,
                _begun(HostLab(name, home, server)) as lab,
            ):
                return play(lab)
        except TimeoutError:
            outcome = traceback.format_exc()
        except Exception:  # noqa: BLE001  # told by every test that asks for it
            return traceback.format_exc()
    return outcome


def _begun(lab: HostLab) -> HostLab:
    if not lab.is_installed():
        pytest.skip(f"{lab.host.program} is not installed: make hosts")
    return lab
