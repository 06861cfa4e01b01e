"""``keeplore ingest SOURCE…``."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from keeplore.cli.memory_options import check_place, project_option, scope_option
from keeplore.cli.output import emit_json, near, note, say, table
from keeplore.cli.parameters import json_option, pass_registry
from keeplore.cli.progress import fill_vectors, lines
from keeplore.cli.writing import note_if_ignored, settle
from keeplore.errors import KeeploreError
from keeplore.memory.names import short_id
from keeplore.text.agent_scope import long_place
from keeplore.text.counts import counted
from keeplore.text.dates import minute_of

if TYPE_CHECKING:
    from keeplore.workspace.registry import Registry
    from keeplore.workspace.writing.ingest_jobs import IngestQueue, IngestStatus
    from keeplore.workspace.writing.remember import NoteTarget

SHOWN = 30  # sources whose end is listed
TRY_AGAIN_S = 0.2  # while another process has the source, or a page is tried again
INTERRUPTED = (
    "Interrupted. What is left is ingested when the worker next runs, or at the next "
    "ingest."
)
SAID = {"new": "Ingested", "updated": "Updated", "unchanged": "Unchanged"}


@click.command(short_help="Keep files and web pages as documents.")
@click.argument("sources", metavar="SOURCE...", nargs=-1)
@scope_option("Who inherits it; the project here if not given.")
@project_option("Keep it for this project instead of the one of this directory.")
@click.option(
    "--status",
    "is_status",
    is_flag=True,
    help="Say what became of the sources that were given so far.",
)
@json_option
@pass_registry
def ingest_command(
    registry: Registry,
    /,
    *,
    sources: tuple[str, ...],
    scope: str | None,
    project: str | None,
    is_status: bool,
    as_json: bool,
) -> None:
    """Keep the text of each SOURCE, a file or the URL of a page, as a document, so that recall
    finds it.

    Text, markdown and JSON are read, with the extra `pages` also HTML, XML and web pages, with
    `pdf` PDF; 10 MB at most. The same source again brings the document up to date. It is found
    when you ask, and never shown to an agent unasked.

    \b
    keeplore ingest docs/runbook.md https://example.com/guide
    keeplore ingest --scope workspace handbook.pdf
    keeplore ingest --status
    """
    if is_status and (sources or scope or project):
        raise click.UsageError("--status stands alone")
    if not sources and not is_status:
        raise click.UsageError("name a file or a URL, or use --status")
    if is_status:
        _show_all(registry, as_json=as_json)
        return
    check_place(scope, project)
    from keeplore.workspace.writing.remember import target_of  # heavy, as the registry

    target = target_of(registry, Path.cwd(), scope=scope or "", project=project or "")
    done = _ingest(registry, target, list(dict.fromkeys(sources)))
    _commit_documents(registry, done)
    if as_json:
        emit_json([asdict(status) for status in done])
    else:
        for status in done:
            _tell_status(registry, status)
    if any(status.state == "failed" for status in done):
        sys.exit(1)


def _place_project(target: NoteTarget) -> None:
    """Note the directory as one of the project. Raises KeeploreError where it is left out."""
    from keeplore_hooks.events import Origin  # heavy, as the registry is

    workspace, cwd = target.workspace, str(Path.cwd())
    workspace.check_not_frozen()
    decision = workspace.capture_policy.decide(cwd)
    if not decision.may:
        raise KeeploreError(
            f"{target.project} is left out of memory: {decision.reason}",
            "`keeplore include` lets it in; `--scope workspace` keeps this for all projects",
        )
    workspace.identities.place(Origin("", "", cwd))


def _ingest(
    registry: Registry, target: NoteTarget, sources: Sequence[str]
) -> list[IngestStatus]:
    # heavy, as the registry is
    from keeplore.workspace.writing.ingest_jobs import IngestQueue

    if target.is_here and target.project:
        _place_project(target)
    latest: dict[str, IngestStatus] = {}
    with lines() as show:

        def follow(status: IngestStatus) -> None:
            latest[status.key] = status
            parts = (status.state, status.title, status.reason)
            show(status.source, ", ".join(filter(None, parts)))

        ingesting = IngestQueue(registry, follow)
        added = [
            _queue_source(registry, ingesting, target, source) for source in sources
        ]
        try:
            _process_until_over(ingesting, latest, [status.key for status in added])
        except KeyboardInterrupt:
            say(INTERRUPTED, err=True)
            raise
        return [latest[status.key] for status in added]


def _queue_source(
    registry: Registry, ingesting: IngestQueue, target: NoteTarget, source: str
) -> IngestStatus:
    """Queue a source; one that names nothing gets a status that says so, and the others go on."""
    # heavy, as above
    from keeplore.store import without_credentials
    from keeplore.text.dates import now
    from keeplore.workspace.writing.ingest_jobs import (
        IngestState,
        IngestStatus,
        source_named,
    )

    place = (target.workspace.name, target.scope, target.project)
    try:
        origin = source_named(registry, source, Path.cwd(), Path.home())
        return ingesting.add(origin, *place)
    except KeeploreError as e:
        shown_source = without_credentials(source)
        status = IngestStatus(
            shown_source, "://" in shown_source, *place, IngestState.QUEUED, now()
        )
        return ingesting.note_refused(status, e)


def _process_until_over(
    ingesting: IngestQueue, latest: dict[str, IngestStatus], keys: Iterable[str]
) -> None:
    """Take what waits until these are at their end; a source that another process has is waited
    for.
    """
    while waiting := [key for key in keys if not latest[key].is_over]:
        if ingesting.step() is not None:
            continue
        time.sleep(TRY_AGAIN_S)
        for key in waiting:
            if status := ingesting.status(key):
                latest[key] = status


def _commit_documents(registry: Registry, statuses: Sequence[IngestStatus]) -> None:
    """Commit, and make the vectors where no worker does."""
    written = [status for status in statuses if status.what in ("new", "updated")]
    for name in dict.fromkeys(status.workspace for status in written):
        workspace = registry.named(name)
        counted = "a document" if len(written) == 1 else f"{len(written)} documents"
        if not settle(workspace, f"Ingest {counted}"):
            fill_vectors(workspace)


def _tell_status(registry: Registry, status: IngestStatus) -> None:
    if status.state == "failed":
        say(f"keeplore: {status.source}: {status.reason}", err=True)
        return
    where = long_place(status.scope, status.project)
    pieces = counted(status.pieces, "passage")
    say(f"{SAID[status.what]}: {status.title}", bold=True)
    say(f"  {where}, {pieces}")
    file = registry.named(status.workspace).root / status.path
    say(f"  {near(file)}", fg="cyan")
    say(f"  {status.id}: {_next_step(status)}")
    note_if_ignored(file)


def _next_step(status: IngestStatus) -> str:
    digits = short_id(status.id)
    steps = {
        "new": f"`keeplore forget {digits}` takes it away",
        "updated": f"`keeplore history {digits}` shows what it replaced",
        "unchanged": "its source says what it said",
    }
    return steps[status.what]


def _show_all(registry: Registry, *, as_json: bool) -> None:
    from keeplore.workspace.writing.ingest_jobs import IngestQueue  # heavy, as above

    newest = list(reversed(IngestQueue(registry).all()))
    if as_json:
        emit_json([asdict(status) for status in newest])
        return
    if not newest:
        note("nothing was ingested yet; `keeplore ingest FILE` keeps a file")
        return
    shown = [
        status
        for number, status in enumerate(newest)
        if number < SHOWN or not status.is_over
    ]
    table(
        ("state", "when", "what", "source", "memory"),
        map(_cells, shown),
        wide=("source",),
    )
    if len(shown) < len(newest):
        note(f"{len(shown)} of {len(newest)}; --json prints all")


def _cells(status: IngestStatus) -> tuple[object, ...]:
    about = status.reason or status.what
    return status.state, minute_of(status.at), about, status.source, short_id(status.id)
