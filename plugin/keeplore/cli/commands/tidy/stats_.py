"""``keeplore stats``."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from keeplore.cli.output import emit_json, plain, say, table
from keeplore.config.places import Places
from keeplore_hooks.spool import Spool

if TYPE_CHECKING:
    from keeplore.workspace.reading.statistics import Statistics

BAR = 30  # characters of the longest bar


@click.command(short_help="Count what memory holds, and what it takes.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
@click.pass_obj
def command(places: Places, *, as_json: bool) -> None:
    """Count the memories of this directory's workspace by scope, kind, category, trust, project and
    month.

    Counted are the newest versions that are not archived; archived, superseded and forgotten ones
    are counted apart.

    \b
    keeplore stats
    keeplore stats --json | jq .by_category
    """
    # heavy: git and the index are needed here, not for --help
    from keeplore.workspace.reading.statistics import size_of, statistics
    from keeplore.workspace.registry import Registry

    with Registry(places) as registry:
        counted = statistics(registry.for_directory(Path.cwd()))
    spool = Spool(places.spool).counts()
    machine = {"bytes_cache": size_of(places.cache), "bytes_state": size_of(places.state)}
    if as_json:
        emit_json({**asdict(counted), **machine, "spool": spool})
        return
    _show(counted)
    say()
    takes = {"text": counted.bytes_text, "git": counted.bytes_git, "index": counted.bytes_index}
    takes |= {f"index, vectors by {model}": size for model, size in counted.kept_vectors.items()}
    takes |= {"cache, all workspaces": machine["bytes_cache"], "inbox": machine["bytes_state"]}
    table(("takes", "MB"), [(name, f"{size / 1e6:.1f}") for name, size in takes.items()])
    say(f"\n{spool['new'] + spool['claimed']} host events wait, {spool['dead']} could not be read")


def _show(counted: Statistics) -> None:
    say(
        f"{plain(counted.workspace)}: {counted.memories} memories, {counted.permanent} of them "
        f"permanent",
        bold=True,
    )
    if counted.memories:
        say(
            f"from {plain(counted.oldest)} to {plain(counted.newest)}; {counted.open} are still "
            f"being written"
        )
    say(
        f"{counted.archived} archived, {counted.superseded} earlier versions, {counted.forgotten} "
        f"forgotten"
    )
    forks = f", {counted.forks} of them forked: see `keeplore doctor`" if counted.forks else ""
    say(f"{counted.chains} chains of versions{forks}")
    say(f"{counted.used} were of use to agents or opened, {counted.uses} times in all")
    say(
        f"{counted.passages} passages, {counted.vectors} with a vector; embedding model: "
        f"{plain(counted.model)}"
    )
    if counted.switch:
        say(plain(counted.switch))
    for heading, counts in (
        ("scope", counted.by_scope),
        ("kind", counted.by_kind),
        ("category", counted.by_category),
        ("trust", counted.by_trust),
        ("project", counted.by_project),
        ("month", counted.by_month),
    ):
        _bars(heading, counts)


def _bars(heading: str, counts: Mapping[str, int]) -> None:
    if not sys.stdout.isatty():  # for a program there is no heading above a table
        table((), [(heading, name, number) for name, number in counts.items()])
    elif counts:
        say()
        most = max(counts.values())
        table(
            (heading, "memories", ""),
            [(name, n, "▇" * -(-BAR * n // most)) for name, n in counts.items()],
        )
