"""The first page: what is new, what waits for a decision, and whether all is well."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice, takewhile
from typing import Any

from keeplore.index import ScopeFilter
from keeplore.index.timeline import TimelineFilter
from keeplore.text.dates import in_utc
from keeplore.web.page_desk import Desk
from keeplore.web.pages.row_view import by_day, views
from keeplore.worker.server.protocol import ask
from keeplore.workspace.machine_trust import MachineState
from keeplore.workspace.writing.disputes import disputes
from keeplore.workspace.writing.proposals import held_proposals
from keeplore.workspace.writing.review import review_candidates
from keeplore_hooks.spool import Spool

SHOWN = 40  # new memories
PROJECTS = 12
COUNTED = 20  # statements that wait; more are not looked for
LOOKED_BACK = timedelta(days=30)  # for these
WORKER_S = 0.5


@dataclass(frozen=True, slots=True)
class WaitingCounts:
    disputes: int
    proposals: int
    statements: int
    machines: int

    @property
    def total(self) -> int:
        return self.disputes + self.proposals + self.statements + self.machines


def home_values(desk: Desk) -> dict[str, Any]:
    """Raises IndexUnavailable."""
    workspace = desk.workspace
    timeline = workspace.index.timeline
    yesterday = (datetime.now(UTC).date() - timedelta(days=1)).isoformat()
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
        "health": health(desk),
    }


def waiting(desk: Desk) -> WaitingCounts:
    """What a person is to decide about; statements of the last month. Raises IndexUnavailable."""
    workspace = desk.workspace
    since = in_utc(datetime.now(UTC) - LOOKED_BACK)
    everywhere = ScopeFilter()
    statements = islice(review_candidates(workspace, everywhere, since), COUNTED)
    machines = workspace.machine_trust.machines()
    return WaitingCounts(
        disputes=len(disputes(workspace.index, workspace.store)),
        proposals=sum(1 for _ in held_proposals(workspace, everywhere)),
        statements=sum(1 for _ in statements),
        machines=sum(one.state is MachineState.UNKNOWN for one in machines),
    )


def health(desk: Desk) -> list[tuple[str, str, str]]:
    """Level (ok, note, wrong), what is so, and the next step, "" where there is none to take."""
    workspace = desk.workspace
    found = []
    last = workspace.sync_log.last()
    if last.error:
        found.append(("wrong", f"The last sync failed: {last.error}", last.remedy))
    problems = workspace.index.problems()
    if problems:
        number = len(problems)
        told = f"{number} files are not as they should be"
        if number == 1:
            told = "1 file is not as it should be"
        found.append(("wrong", told, "Run `keeplore lint`"))
    spool = Spool(workspace.places.spool).counts()
    if spool["new"]:
        told = f"{spool['new']} host events wait to be read"
        found.append(("note", told, "`keeplore worker run` reads them"))
    state = workspace.index.state()
    if state.model and state.vectors < state.passages:
        missing = f"{state.passages - state.vectors:,} of {state.passages:,} passages"
        told = f"{missing} are found by their words alone until their vectors are made"
        found.append(("note", told, "The worker makes them"))
    runs = ask(workspace.places.state, "status", timeout_s=WORKER_S) is not None
    if not found:
        worker = "a worker runs" if runs else "no worker is needed just now"
        found.append(("ok", f"All is well; {worker}", ""))
    return found
