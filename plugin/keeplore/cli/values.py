"""Values that several commands take: ages and sizes."""

from __future__ import annotations

import re
from datetime import timedelta

import click

_DAYS = {"d": 1, "w": 7, "y": 365}
_BYTES = {"": 1, "b": 1, "k": 1000, "kb": 1000, "m": 1_000_000, "mb": 1_000_000}


class Age(click.ParamType[timedelta]):
    """``180d``, ``8w``, ``1y``."""

    name = "age"

    def convert(self, value: object, param: click.Parameter | None, context: click.Context | None) -> timedelta:
        if isinstance(value, timedelta):
            return value
        if match := re.fullmatch(r"(\d{1,5})\s*([dwy])", str(value)):
            return timedelta(days=int(match[1]) * _DAYS[match[2]])
        return self.fail(f"{value!r} is no age such as 180d, 8w or 1y", param, context)


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
