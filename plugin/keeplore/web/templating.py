"""Templates to HTML: everything that is put into one is text, unless it was made here."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime
from functools import cache
from typing import Any

import jinja2

from keeplore.memory.names import short_id
from keeplore.text.dates import minute_of
from keeplore.viewer.tree import counted
from keeplore.web.links import anchor
from keeplore.web.safe_text import marked, shown, with_code


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
        finalize=shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters = {
        "ago": ago,
        "anchor": anchor,
        "counted": counted,
        "day": spoken_day,
        "marked": marked,
        "minute": minute_of,
        "plainly": plainly,
        "short": short_id,
        "with_code": with_code,
    }
    made.filters.update(filters)
    return made


def plainly(word: str) -> str:
    """A word of a file as a person reads it."""
    return word.replace("-", " ")


def ago(moment: str) -> str:
    """How long ago a moment (RFC 3339) was, in the largest unit that tells it."""
    try:
        then = datetime.fromisoformat(moment)
        passed_s = (datetime.now(UTC) - then).total_seconds()
    except (ValueError, TypeError):
        return moment
    for unit_s, unit in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if passed_s >= unit_s:
            return f"{counted(int(passed_s // unit_s), unit)} ago"
    return "just now"


def spoken_day(day: str) -> str:
    """``Monday, 9 February 2026`` for a day (YYYY-MM-DD)."""
    try:
        found = date.fromisoformat(day[:10])
    except ValueError:
        return day or "No date"
    today = datetime.now(UTC).date()
    names = {0: "Today", 1: "Yesterday"}
    near = names.get((today - found).days, "")
    told = f"{found:%A}, {found.day} {found:%B %Y}"
    return f"{near} · {told}" if near else told
