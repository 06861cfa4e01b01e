"""``keeplore stats``."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import asdict
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from keeplore.cli.output import emit_json, near, note, say, table
from keeplore.cli.parameters import json_option, pass_registry, since_option
from keeplore.text.counts import counted, size_text
from keeplore.text.dates import day_of
from keeplore_hooks.spool import Spool

if TYPE_CHECKING:
    from keeplore.workspace.reading.statistics import Statistics
    from keeplore.workspace.registry import Registry

BAR = 30  # characters of the longest bar


@click.command(short_help="Count what memory holds, and what it takes.")
@since_option(
    "Show instead what was captured, told and used on this machine since then."
)
@json_option
@pass_registry
def stats_command(registry: Registry, *, since: str | None, as_json: bool) -> None:
    """Count the memories of this directory's workspace by scope, kind, category, trust, project and
    month.

    Counted are the newest versions that are not archived; archived, superseded and forgotten ones
    are counted apart.

    \b
    keeplore stats
    keeplore stats --since 30d
    keeplore stats --json | jq .by_category
    """
    here = Path.cwd()
    workspace = registry.for_directory(here)
    if since:
        # heavy: a database
        from keeplore.workspace.reading.activity_report import activity_report

        activity = activity_report(workspace, day_of(since))
        if as_json:
            emit_json(activity)
        else:
            _show_activity(activity)
        return
    # heavy: git and the index are needed here, not for --help
    from keeplore.workspace.reading.statistics import size_of, statistics

    code = registry.code_memory(here, workspace)
    places, found = workspace.places, statistics(workspace)
    with_code = statistics(code).memories if code else 0
    spool = Spool(places.spool).counts()
    machine = {
        "bytes_cache": size_of(places.cache),
        "bytes_state": size_of(places.state),
    }
    if as_json:
        emit_json(
            {**asdict(found), **machine, "spool": spool, "notes_with_code": with_code}
        )
        return
    show_statistics(found)
    if code:
        notes = counted(with_code, "note is", "notes are")
        say(f"{notes} kept with the code, in {near(code.root)}")
    say()
    _show_sizes(found, machine)
    say()
    waiting = counted(
        spool["new"] + spool["claimed"], "host event waits", "host events wait"
    )
    say(f"{waiting}, {spool['dead']:,} could not be read")


def _show_activity(found: Mapping[str, Any]) -> None:
    say(f"On this machine since {found['since']}:", bold=True)
    spent = {"tokens of models": found["tokens"], "price": found["price"]}
    known = {name: n for name, n in spent.items() if n is not None}
    table(("", "number"), [*found["counts"].items(), *known.items()])
    shares = ("50", "95", "99")
    headings = ("answers", "number", *(f"{share} % within, ms" for share in shares))
    table(headings, [[*one.values()] for one in found["answers"]])
    if not any(found["counts"].values()):
        note("nothing was counted; the worker does so, and writes once a minute")


def show_statistics(statistics: Statistics) -> None:
    """Print what memory holds, without what it takes."""
    _show_memories(statistics)
    _show_versions(statistics)
    used = counted(statistics.used, "was", "were")
    say(f"{used} of use to agents or opened, {counted(statistics.uses, 'time')} in all")
    vectors = (
        f"{statistics.vectors:,} with a vector; embedding model: {statistics.model}"
    )
    say(f"{counted(statistics.passages, 'passage')}, {vectors}")
    if statistics.switch:
        say(str(statistics.switch))
    for heading in ("scope", "kind", "category", "trust", "project", "month"):
        _print_counts(heading, getattr(statistics, f"by_{heading}"))


def _show_memories(statistics: Statistics) -> None:
    permanent = f"{statistics.permanent:,} of them permanent"
    memories = counted(statistics.memories, "memory", "memories")
    say(f"{statistics.workspace}: {memories}, {permanent}", bold=True)
    if statistics.memories:
        written = counted(statistics.open, "is", "are") + " still being written"
        say(
            f"from {day_of(statistics.oldest)} to {day_of(statistics.newest)}; {written}"
        )


def _show_versions(statistics: Statistics) -> None:
    earlier = counted(statistics.superseded, "earlier version")
    say(
        f"{statistics.archived:,} archived, {earlier}, {statistics.forgotten:,} forgotten"
    )
    doctor = f", {statistics.forks:,} of them forked: see `keeplore doctor`"
    chains = counted(statistics.chains, "chain of versions", "chains of versions")
    say(f"{chains}{doctor if statistics.forks else ''}")
    if statistics.waiting:
        # heavy, as above
        from keeplore.recall.unasked.origin import waiting_line

        say(waiting_line(statistics.waiting))


def _print_counts(heading: str, counts: Mapping[str, int]) -> None:
    if not sys.stdout.isatty():  # for a program there is no heading above a table
        table((), [(heading, name, number) for name, number in counts.items()])
    elif counts:
        say()
        most = max(counts.values())
        rows = [
            (name, f"{number:,}", "▇" * ceil(BAR * number / most))
            for name, number in counts.items()
        ]
        table((heading, "memories", ""), rows)


def _show_sizes(statistics: Statistics, machine: Mapping[str, int]) -> None:
    takes = {
        "text": statistics.bytes_text,
        "git": statistics.bytes_git,
        "index": statistics.bytes_index,
    }
    for model, size in statistics.kept_vectors.items():
        takes[f"index, vectors by {model}"] = size
    takes["cache, all workspaces"] = machine["bytes_cache"]
    takes["inbox"] = machine["bytes_state"]
    table(("takes", "size"), [(name, size_text(size)) for name, size in takes.items()])
