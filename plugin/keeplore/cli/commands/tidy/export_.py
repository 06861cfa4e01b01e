"""``keeplore export``."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from keeplore.cli.memory_options import kind_option
from keeplore.cli.output import note, refuse_to_replace, write_file
from keeplore.cli.parameters import (
    all_versions_option,
    output_option,
    pass_registry,
    since_option,
)
from keeplore.text.counts import counted

if TYPE_CHECKING:
    from keeplore.workspace.registry import Registry

# in the first lines of a document, and in the first JSON line
MARKS = (" by Keeplore.\n", '", "is_archived": ')


@click.command(short_help="Write memory out as one document, or as JSON lines.")
@click.option(
    "-f",
    "--format",
    "form",
    default="markdown",
    show_default=True,
    type=click.Choice(["markdown", "jsonl"]),
    help="A document, or one JSON object a line.",
)
@output_option
@click.option("-p", "--project", default="", help="Only of this project.")
@kind_option("-k", "--kind")
@since_option("Only what was changed since: 2026-01-31, 30d, 8w.")
@all_versions_option
@click.option(
    "--full",
    is_flag=True,
    help="The words of conversations too; JSON lines always have them.",
)
@pass_registry
def export_command(
    registry: Registry,
    *,
    form: str,
    output: Path | None,
    project: str,
    kind: str | None,
    since: str | None,
    all_versions: bool,
    full: bool,
) -> None:
    """Write the memories of this directory's workspace, archived ones too, into one file; then the
    notes that the code repository here keeps.

    The document has a table of contents by project and category, and each memory with its date,
    trust and source; of conversations it has what came of them. A JSON line holds front matter,
    body and path of a memory.

    \b
    keeplore export --output memory.md
    keeplore export --project ledgerly --since 30d
    keeplore export --format jsonl | jq -r .meta.title
    """
    # heavy: git and the index are needed here, not for --help
    from keeplore.workspace.reading.export import (
        ExportFilter,
        as_json_lines,
        as_markdown,
        chosen_rows,
    )

    if output:
        refuse_to_replace(output, "export", MARKS)
    chosen = ExportFilter(project, kind or "", since or "", all_versions, full)
    here = Path.cwd()
    code = registry.code_memory(here)
    pieces: list[Iterable[str]] = []
    count = 0
    for workspace in (registry.for_directory(here), *([code] if code else [])):
        rows = chosen_rows(workspace, chosen)
        count += len(rows)
        if form == "jsonl":
            pieces.append(as_json_lines(workspace, rows, note))
        elif rows or not pieces:
            pieces.append(as_markdown(workspace, rows, chosen, note))
    _write(output, itertools.chain.from_iterable(pieces), count)


def _write(output: Path | None, pieces: Iterable[str], count: int) -> None:
    if output is None:
        for piece in pieces:
            click.echo(piece, nl=False)
    else:
        write_file(output, pieces)
        memories = counted(count, "memory is", "memories are")
        note(f"{memories} in {output}")
