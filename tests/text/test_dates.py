"""Dates, ages and days as people and memories write them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from keeplore.text.dates import (
    age_of,
    day_of,
    in_utc,
    is_recent,
    local_time,
    minute_of,
    moment_of,
    now,
    shown_day,
    today,
)


@pytest.fixture
def _in_kolkata(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Asia/Kolkata")  # UTC+5:30
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("180d", 180),
        ("8w", 56),
        ("1y", 365),
        ("2 w", 14),
        ("99999d", 99999),
        ("100000d", None),
        ("8m", None),
        ("d", None),
        ("1d2", None),
        (" 1d", None),
        ("", None),
    ],
)
def test_an_age_is_a_number_of_days_weeks_or_years(text: str, days: int | None) -> None:
    assert age_of(text) == (None if days is None else timedelta(days=days))


def test_a_moment_is_a_date_or_so_long_ago() -> None:
    assert moment_of("2026-01-31T10:00:00+02:00") == datetime(
        2026, 1, 31, 8, tzinfo=UTC
    )
    assert moment_of("2026-01-31") == datetime(2026, 1, 31, tzinfo=UTC)
    ago = moment_of("2w")
    assert ago is not None
    assert abs(datetime.now(UTC) - ago - timedelta(days=14)) < timedelta(minutes=1)
    assert [moment_of(text) for text in ("soon", "99999y", "")] == [None] * 3


def test_now_is_told_to_the_second_and_today_is_its_day() -> None:
    assert abs(datetime.now(UTC) - datetime.fromisoformat(now())) < timedelta(seconds=5)
    assert (len(now()), now()[-1], today() == now()[:10]) == (20, "Z", True)


@pytest.mark.parametrize(
    ("ago", "expected"),
    [
        (timedelta(days=1), True),
        (timedelta(days=-1), True),
        (timedelta(days=3), False),
        (timedelta(days=-3), False),
    ],
)
def test_what_is_recent_lies_no_further_than_that_from_now(
    ago: timedelta, expected: bool
) -> None:
    at = (datetime.now(UTC) - ago).isoformat()
    assert is_recent(at, timedelta(days=2)) is expected
    assert not is_recent("2026-02-09T10:00:00", timedelta(days=99_999))  # no zone
    assert not is_recent("never", timedelta(days=2))


def test_a_moment_is_written_in_utc() -> None:
    assert in_utc(datetime.fromisoformat("2026-02-09T14:03:11.9+02:00")) == (
        "2026-02-09T12:03:11Z"
    )
    assert in_utc(None) == ""


@pytest.mark.usefixtures("_in_kolkata")
@pytest.mark.parametrize(
    ("written", "minute", "day"),
    [
        ("2026-02-09T20:08:59Z", "2026-02-10 01:38", "2026-02-10"),
        ("2026-02-09T20:08:59", "2026-02-09 20:08", "2026-02-09"),
        ("2026-02-09", "2026-02-09", "2026-02-09"),
        ("some time ago", "some time ago", "some time "),
        ("", "", ""),
    ],
)
def test_a_moment_is_shown_on_the_clocks_of_this_place(
    written: str, minute: str, day: str
) -> None:
    assert (minute_of(written), day_of(written)) == (minute, day)
    assert shown_day(written) == (day or "no date")


@pytest.mark.usefixtures("_in_kolkata")
def test_local_time_is_none_for_other_text() -> None:
    found = local_time("2026-02-09T20:08:59Z")
    assert found is not None
    assert found.utcoffset() == timedelta(hours=5, minutes=30)
    assert local_time("2026-02-09") == datetime(2026, 2, 9)  # noqa: DTZ001  # has no zone
    assert local_time("nothing") is None
