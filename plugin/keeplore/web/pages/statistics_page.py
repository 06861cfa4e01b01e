"""What Keeplore did on this machine, and how fast: counted here and sent nowhere."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from keeplore.text.dates import day_of, in_utc
from keeplore.web.page_context import PageContext
from keeplore.workspace.activity import Counted
from keeplore.workspace.reading.activity_report import activity_report

DAYS = (7, 30, 90, 365)
USUAL = 30
TOLD = {
    Counted.SESSIONS: ("Captured", "sessions"),
    Counted.TURNS: ("Captured", "turns"),
    Counted.PROMPTS: ("Asked", "prompts of a person"),
    Counted.NOTHING: ("Asked", "recalls that found nothing"),
    Counted.TOLD: ("Told to agents", "times"),
    Counted.MEMORIES: ("Told to agents", "memories"),
    Counted.USED: ("Told to agents", "of these were used afterwards"),
    Counted.SILENT: ("Told to agents", "prompts at which nothing was told"),
    Counted.ERRORS: ("Went wrong", "errors"),
}


def statistics_values(context: PageContext, since: str) -> dict[str, Any]:
    """The figures of as many days as ``since`` says, else of a month."""
    days = int(since) if since in map(str, DAYS) else USUAL
    first = day_of(in_utc(datetime.now(UTC) - timedelta(days=days)))
    report = activity_report(context.workspace, first)
    groups: dict[str, list[tuple[str, int]]] = {}
    for counted, (group, what) in TOLD.items():
        groups.setdefault(group, []).append((what, report["counts"][counted]))
    return {
        "report": report,
        "groups": groups,
        "days": days,
        "choices": DAYS,
        "has_any": any(
            (*report["counts"].values(), report["answers"], report["tokens"])
        ),
    }
