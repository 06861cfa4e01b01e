"""Points in time as a person or an agent writes them."""

from __future__ import annotations

import re
from contextvars import ContextVar
from datetime import UTC, datetime, timedelta, timezone, tzinfo

MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
NO_DATE = "no date"
# of whoever asks a worker from elsewhere; None for the one that this process has
ZONE: ContextVar[tzinfo | None] = ContextVar("ZONE", default=None)
_LENGTHS = {"d": 1, "w": 7, "y": 365}
_AGE = re.compile(r"(\d{1,5})\s*([dwy])")


def zone_at(offset_s: int) -> tzinfo | None:
    """The zone that is so far from UTC now; None where that is this process's own, which knows its
    summer time. Raises ValueError for an offset of a day and more.
    """
    offset = timedelta(seconds=offset_s)
    is_own = datetime.now().astimezone().utcoffset() == offset
    return None if is_own else timezone(offset)


def on_clocks_here(moment: datetime) -> datetime:
    """The moment in the zone of whoever asks; one without a zone is one of theirs."""
    zone = ZONE.get()
    if zone and not moment.tzinfo:
        return moment.replace(tzinfo=zone)
    return moment.astimezone(zone)


def age_of(value: str) -> timedelta | None:
    """``180d``, ``8w``, ``1y``; None for anything else."""
    match = _AGE.fullmatch(value)
    return timedelta(days=int(match[1]) * _LENGTHS[match[2]]) if match else None


def moment_of(value: str) -> datetime | None:
    """A date or time (one without a zone is one of this place), or an age before now; None for
    anything else.
    """
    try:
        if (age := age_of(value)) is not None:
            return datetime.now(UTC) - age
        return on_clocks_here(datetime.fromisoformat(value))
    except (ValueError, OverflowError):  # an age or a zone may lead out of the calendar
        return None


def now() -> str:
    """This moment as memories write it: RFC 3339, UTC, whole seconds."""
    return in_utc(datetime.now(UTC))


def today() -> str:
    """The date of this moment, UTC: `2026-02-09`."""
    return now()[:10]


def is_recent(at: str, span: timedelta) -> bool:
    """Whether a time that a host wrote, which may be anything, is no further from now than that."""
    try:
        return abs(datetime.now(UTC) - datetime.fromisoformat(at)) <= span
    except (ValueError, TypeError):  # also a time without a zone
        return False


def in_utc(moment: datetime | None) -> str:
    """The moment in the form that memories use; "" for None."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if moment else ""


def local_time(moment: str) -> datetime | None:
    """A date or time as memories write it, on the clocks of this place; None for any other text."""
    try:
        found = datetime.fromisoformat(moment)
        return on_clocks_here(found) if found.tzinfo else found
    except (ValueError, TypeError, OverflowError):
        return None


def minute_of(moment: str) -> str:
    """A date or time as memories write it, to the minute on the clocks of this place: "2026-02-09
    11:08".
    """
    found = local_time(moment) if len(moment) > len("2026-01-31") else None
    return f"{found:%Y-%m-%d %H:%M}" if found else moment


def day_of(moment: str) -> str:
    """The day in this place of a date or time as memories write it, "2026-02-09"."""
    return minute_of(moment)[:10]


def shown_day(moment: str) -> str:
    """The day of a moment as a person reads it; in words where a file that a person wrote states
    none.
    """
    return day_of(moment) or NO_DATE
