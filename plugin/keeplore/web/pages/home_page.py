"""The first page: what is new; what waits for a decision and whether all is well come after it."""

from __future__ import annotations

from datetime import datetime, time, timedelta
from itertools import takewhile
from typing import Any

from keeplore.index.timeline import TimelineFilter
from keeplore.text.dates import in_utc
from keeplore.web.page_context import PageContext
from keeplore.web.pages.row_view import by_day, views

SHOWN = 40  # new memories
PROJECTS = 12


def home_values(context: PageContext) -> dict[str, Any]:
    """What the template of the first page is given. Raises IndexUnavailable."""
    workspace = context.workspace
    timeline = workspace.index.timeline
    day = datetime.now().astimezone().date() - timedelta(days=1)
    yesterday = in_utc(datetime.combine(day, time.min).astimezone())
    rows = timeline.page(TimelineFilter(), limit=SHOWN).rows
    new = [*takewhile(lambda row: row.updated_at >= yesterday, rows)]
    shown = new or [*rows[:5]]
    facets = timeline.facets()
    return {
        "days": list(by_day(views(workspace, shown))),
        "is_new": bool(new),
        "has_more": len(new) == SHOWN,
        "total": sum(facets["kind"].values()),
        "projects": [*facets["project"].items()][:PROJECTS],
        # pages that nobody serves cannot ask for it afterwards
        "findings": context.health.findings() if context.links.is_static else None,
    }
