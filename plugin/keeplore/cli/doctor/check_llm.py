"""What belongs to the language model of a workspace: whether it may be used, answers, and has
something to spend.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from keeplore.cli.doctor.finding import DoctorFinding, note, well, wrong
from keeplore.errors import LlmUnavailable
from keeplore.jobs import JobCount, JobState, counts_in
from keeplore.llm import open_account, terms_of
from keeplore.workspace.workspace import Workspace


def findings(part: str, workspace: Workspace) -> Iterator[DoctorFinding]:
    llm, places = workspace.settings.llm, workspace.places
    try:
        account = open_account(
            llm, workspace.root, places, workspace.plugins.hook.keeplore_llm
        )
    except LlmUnavailable as e:
        yield note(part, e.message, e.remedy)
        return
    problem = account.available() if account else ""
    if problem:
        yield wrong(part, problem, "What waits for it is kept")
    else:
        yield well(part, terms_of(llm))
    for count in counts_in(places.jobs):
        yield from _jobs(part, count)


def _jobs(part: str, count: JobCount) -> Iterator[DoctorFinding]:
    if count.state == JobState.DEAD:
        jobs = count.told("was", "were")
        yield note(
            part,
            f"{jobs} given up, the first because: {count.reason}",
            "`keeplore refine` takes up again what is left",
        )
    elif count.reason and count.due > datetime.now(UTC):
        jobs = count.told("waits", "wait")
        yield note(part, f"{jobs}: {count.reason}", "`keeplore cost` shows more")
