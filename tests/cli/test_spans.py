"""How long a pause may be, as a person writes it."""

from __future__ import annotations

from datetime import timedelta

import click
import pytest

from keeplore.cli.commands.machine.pause_ import SPAN


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("1m", timedelta(minutes=1)),
        ("30 m", timedelta(minutes=30)),
        ("2h", timedelta(hours=2)),
        ("1d", timedelta(days=1)),
        ("3w", timedelta(weeks=3)),
        ("9999m", timedelta(minutes=9999)),
    ],
)
def test_a_span_is_a_number_and_a_unit(text: str, span: timedelta) -> None:
    assert SPAN.convert(text, None, None) == span


@pytest.mark.parametrize("text", ["", "0h", "2", "h", "-1h", "10000m", "2y", "1h30m"])
def test_what_is_no_span_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter, match="is no span such as 30m, 2h or 1d"):
        SPAN.convert(text, None, None)
