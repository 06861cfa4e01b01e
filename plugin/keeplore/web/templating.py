"""Templates to HTML: everything that is put into one is text, unless it was made here."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

import jinja2

from keeplore.memory.names import short_id
from keeplore.text.counts import counted
from keeplore.text.dates import local_time
from keeplore.web.links import anchor
from keeplore.web.safe_text import highlighted, template_value, with_code

AGES = (
    (365 * 86_400, "year"),
    (30 * 86_400, "month"),
    (86_400, "day"),
    (3_600, "hour"),
    (60, "minute"),
)  # seconds


def render(name: str, values: Mapping[str, Any]) -> str:
    """The page, or piece of one, of a template."""
    text: str = _templates().get_template(name).render(values)
    return text


@cache
def _templates() -> jinja2.Environment:
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("keeplore.web", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=template_value,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters = {
        "ago": ago,
        "anchor": anchor,
        "clock": clock,
        "counted": counted,
        "date": spoken_date,
        "day": spoken_day,
        "highlighted": highlighted,
        "moment": spoken_moment,
        "plainly": without_dashes,
        "short": short_id,
        "with_code": with_code,
    }
    made.filters.update(filters)
    return made


def without_dashes(word: str) -> str:
    """A word of a file as a person reads it."""
    return word.replace("-", " ")


def ago(moment: str) -> str:
    """How long ago a moment (RFC 3339) was, in the largest unit that tells it."""
    try:
        passed_s = (datetime.now(UTC) - datetime.fromisoformat(moment)).total_seconds()
    except (ValueError, TypeError):
        return moment
    for unit_s, unit in AGES:
        if passed_s >= unit_s:
            return f"{counted(int(passed_s // unit_s), unit)} ago"
    return "just now"


def spoken_day(moment: str) -> str:
    """``Monday, 9 February 2026``, in the zone of this place."""
    found = local_time(moment)
    if found is None:
        return moment or "No date"
    near = _near_day(found).capitalize()
    date_text = f"{found:%A}, {found.day} {found:%B %Y}"
    return f"{near} · {date_text}" if near else date_text


def spoken_moment(moment: str) -> str:
    """``9 Feb 2026, 17:04``, ``today, 17:04``."""
    found = local_time(moment)
    if found is None or len(moment) == len("2026-01-31"):
        return spoken_date(moment)
    return f"{_near_day(found) or spoken_date(moment)}, {found:%H:%M}"


def spoken_date(moment: str) -> str:
    """``9 Feb 2026``."""
    found = local_time(moment)
    return f"{found.day} {found:%b %Y}" if found else moment


def clock(moment: str) -> str:
    """``17:04``."""
    found = local_time(moment)
    return f"{found:%H:%M}" if found else ""


def _near_day(moment: datetime) -> str:
    today = datetime.now().astimezone().date()
    names = {today: "today", today - timedelta(days=1): "yesterday"}
    return names.get(moment.date(), "")
