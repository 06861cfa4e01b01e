"""Values that several commands take: ages, points in time, sizes."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

import click

from keeplore.text.dates import age_of, moment_of

_BYTES = {"": 1, "b": 1, "k": 1000, "kb": 1000, "m": 1_000_000, "mb": 1_000_000}


class Age(click.ParamType[timedelta]):
    """``180d``, ``8w``, ``1y``."""

    name = "age"

    def convert(
        self, value: object, param: click.Parameter | None, context: click.Context | None
    ) -> timedelta:
        if isinstance(value, timedelta):
            return value
        age = age_of(str(value))
        return (
            self.fail(f"{value!r} is no age such as 180d, 8w or 1y", param, context)
            if age is None
            else age
        )


class When(click.ParamType[datetime]):
    """A date, or an age: ``2026-01-31``, ``30d``, ``8w``."""

    name = "date or age"

    def convert(
        self, value: str, param: click.Parameter | None, context: click.Context | None
    ) -> datetime:
        if (moment := moment_of(value)) is None:
            self.fail(
                f"{value!r} is neither a date such as 2026-01-31 nor an age such as 30d or 8w",
                param,
                context,
            )
        return moment


class Size(click.ParamType[int]):
    """``50kB``, ``2MB``, in bytes."""

    name = "size"

    def convert(
        self, value: object, param: click.Parameter | None, context: click.Context | None
    ) -> int:
        match = re.fullmatch(r"(\d{1,12})\s*(b|kb?|mb?|)", str(value).lower())
        return (
            int(match[1]) * _BYTES[match[2]]
            if match
            else self.fail(f"{value!r} is no size such as 50kB", param, context)
        )
