"""Days and their parts as people name them ("in the evening"), by the clocks of this place."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta

from keeplore.text.dates import on_clocks_here

# first hour, and the one after the last; a night lasts into the next day
_HOURS = {
    "morning": (5, 12),
    "noon": (11, 14),
    "afternoon": (12, 18),
    "evening": (18, 24),
    "night": (18, 29),
}
_ALL = (0, 24)
PART = rf"(?P<hours>{'|'.join(_HOURS)})"  # of a regular expression


def minutes_of(day: str, part: str = "") -> tuple[str, str]:
    """The first and the last minute of a day or a part of it, in UTC: beginnings of RFC 3339."""
    hours = _HOURS[part.lower()] if part else _ALL
    begins, ends = (_hour_of_day(date.fromisoformat(day), hour) for hour in hours)
    return _in_utc(begins), _in_utc(ends - timedelta(minutes=1))


def _hour_of_day(day: date, hour: int) -> datetime:
    later, hour = divmod(hour, 24)
    return datetime.combine(day + timedelta(days=later), time(hour))


def _in_utc(moment: datetime) -> str:
    return f"{on_clocks_here(moment).astimezone(UTC):%Y-%m-%dT%H:%M}"
