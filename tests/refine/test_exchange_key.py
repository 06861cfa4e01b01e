"""By which key the audit knows an exchange again."""

from __future__ import annotations

from keeplore.memory import Exchange
from keeplore.refine.window import exchange_key


def test_an_exchange_is_known_by_its_words_alone_in_every_version() -> None:
    exchange = Exchange("t-1", "", "Why?", ("So.", "Yes."))
    assert exchange_key(exchange) == "7459dcd80f6492fb"
    moved = Exchange("t-2", "2026-02-09T10:00:00Z", "Why?", ("So.", "Yes."))
    assert exchange_key(moved) == exchange_key(exchange)
    joined = Exchange("t-1", "", "Why?", ("So.Yes.",))
    assert exchange_key(joined) != exchange_key(exchange)
