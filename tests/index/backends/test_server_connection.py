from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from keeplore.errors import EngineUnavailable
from keeplore.index.backends import server_connection as line_module
from keeplore.index.backends.server_connection import ServerConnection
from keeplore.index.backends.shared_engine import SharedEngine, point_id
from keeplore.index.backends.shared_points import UnsharedPassage


class Peer:
    """Stands for a connection; the line gives it to whoever calls and closes it after a failure."""

    is_closed = False

    def close(self) -> None:
        self.is_closed = True


def refused() -> Any:
    raise EngineUnavailable("nobody listens")


def test_whoever_waits_goes_on_without_a_server_that_hangs_and_the_next_ones_do_not_ask(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(line_module, "AGAIN_S", 1e6)
    is_answering, connects = threading.Event(), []

    def connect() -> Any:
        connects.append(1)
        is_answering.wait()
        return Peer()

    line = ServerConnection(connect)
    with pytest.raises(EngineUnavailable, match="no answer within"):
        line.call(lambda _: None, 0.01)
    with pytest.raises(EngineUnavailable, match="no answer within"):
        line.call(lambda _: None, 60)
    assert (len(connects), line.why_not != "") == (1, True)
    is_answering.set()
    line.retry()
    assert line.call(lambda _: "said", 60) == "said"
    assert (len(connects), line.is_open) == (1, True)


@pytest.mark.parametrize("fail", [refused, lambda: 1 / 0])
def test_what_a_call_raises_is_raised_where_somebody_waits(
    fail: Callable[[], Any],
) -> None:
    peer = Peer()
    line = ServerConnection(lambda: peer)  # type: ignore[arg-type]  # only what a line itself calls
    with pytest.raises((EngineUnavailable, ZeroDivisionError)):
        line.call(lambda _: fail(), 60)
    is_unavailable = fail is refused
    assert (peer.is_closed, line.is_open, bool(line.why_not)) == (
        is_unavailable,
        not is_unavailable,
        is_unavailable,
    )
    line.close()
    assert peer.is_closed


def test_a_point_has_the_same_id_on_every_machine_whatever_its_rows_are_called() -> (
    None
):
    one, other = (
        UnsharedPassage(
            row, vector, "mem_1", "project", "api", ("Tabs", "", "Use them.")
        )
        for row, vector in ((1, None), (9, b"x"))
    )
    assert (
        point_id("acme", one).hex()
        == point_id("acme", other).hex()
        == "39f72675486669b562255199d95c5080"
    )
    elsewhere = one._replace(project="web")
    assert (
        len(
            {point_id("acme", one), point_id("other", one), point_id("acme", elsewhere)}
        )
        == 3
    )


def test_without_a_model_the_server_is_not_asked_and_the_reason_is_told() -> None:
    database: Any = None  # it is not asked before the server
    engine = SharedEngine("acme", "a server", refused, database, None)
    with pytest.raises(EngineUnavailable):
        engine.warm_up()
    assert engine.note == (
        "searched by the full text of this machine alone: the shared engine does not answer: "
        "the shared engine cannot be asked without the embedding model: none is set"
    )
