"""What is said to stay as it is."""

from __future__ import annotations

import pytest

from keeplore.capture.distill.distiller import distill
from keeplore.memory import Exchange

AT = "2026-02-09T14:03:11Z"


def decided(message: str) -> list[str]:
    asked = Exchange("t-0", AT, "which yeasts?", ("WLP004 for the stout.",))
    parts = distill([asked, Exchange("t-1", AT, message, ("Noted.",))])
    return [quote.text for quote in (*parts["decision"], *parts["also_decided"])]


@pytest.mark.parametrize(
    "message",
    [
        "Yes, WLP004 for the stout, the lager stays on S-23.",
        "yep, and the worker stays on 3.11",
        "agreed, three retries, but the time-out stays at 30s",
        "ok let's try it on the utils first, the rest stays on jest until we know",
    ],
)
def test_what_stays_as_it_is_is_decided(message: str) -> None:
    assert decided(message) == [message]


@pytest.mark.parametrize(
    "message",
    [
        "the counter stays at 0 after the click",
        "ok, the spinner stays on the page",
        "hm, it stays on the loading screen",
        "the rest of the page stays blank",
    ],
)
def test_what_stays_as_a_defect_is_none(message: str) -> None:
    assert decided(message) == []
