"""Values that several commands take: ages, points in time, sizes."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import click

_DAYS = {"d": 1, "w": 7, "y": 365}
_BYTES = {"": 1, "b": 1, "k": 1000, "kb": 1000, "m": 1_000_000, "mb": 1_000_000}


class Age(click.ParamType[timedelta]):
    """``180d``, ``8w``, ``1y``."""

    name = "age"

    def convert(self, value: object, param: click.Parameter | None, context: click.Context | None) -> timedelta:
        if isinstance(value, timedelta):
            return value
        age = _age(str(value))
        return self.fail(f"{value!r} is no age such as 180d, 8w or 1y", param, context) if age is None else age


class When(click.ParamType[datetime]):
    """A date, or an age: ``2026-01-31``, ``30d``, ``8w``."""

    name = "date or age"

    def convert(self, value: str, param: click.Parameter | None, context: click.Context | None) -> datetime:
        if (age := _age(value)) is not None:
            return datetime.now(UTC) - age
        try:
            return datetime.fromisoformat(value).astimezone()  # a date alone is one of this place
        except ValueError:
            self.fail(f"{value!r} is neither a date such as 2026-01-31 nor an age such as 30d or 8w", param, context)


class Size(click.ParamType[int]):
    """``50kB``, ``2MB``, in bytes."""

    name = "size"

    def convert(self, value: object, param: click.Parameter | None, context: click.Context | None) -> int:
        match = re.fullmatch(r"(\d{1,12})\s*(b|kb?|mb?|)", str(value).lower())
        return (
            int(match[1]) * _BYTES[match[2]]
            if match
            else self.fail(f"{value!r} is no size such as 50kB", param, context)
        )


def in_utc(moment: datetime | None) -> str:
    """As memories write it; "" for None."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if moment else ""


def _age(value: str) -> timedelta | None:
    match = re.fullmatch(r"(\d{1,5})\s*([dwy])", value)
    return timedelta(days=int(match[1]) * _DAYS[match[2]]) if match else None
