"""Points in time as people write them on a command line."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import click


class When(click.ParamType[datetime]):
    """A date, or an age: ``2026-01-31``, ``30d``, ``8w``."""

    name = "date or age"

    def convert(self, value: str, param: click.Parameter | None, context: click.Context | None) -> datetime:
        if match := re.fullmatch(r"(\d{1,5})\s*([dw])", value):
            days = int(match[1]) * (7 if match[2] == "w" else 1)
            return datetime.now(UTC) - timedelta(days=days)
        try:
            return datetime.fromisoformat(value).astimezone()  # a date alone is one of this place
        except ValueError:
            self.fail(f"{value!r} is neither a date such as 2026-01-31 nor an age such as 30d or 8w", param, context)


def in_utc(moment: datetime | None) -> str:
    """As memories write it; "" for None."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if moment else ""
