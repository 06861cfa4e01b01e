"""``keeplore export``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from keeplore.cli.memory_options import kind_option
from keeplore.cli.output import note, write_file
from keeplore.cli.parameters import (
    all_versions_option,
    output_option,
    pass_workspace,
    since_option,
)

if TYPE_CHECKING:
    from keeplore.workspace.workspace import Workspace


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
@pass_workspace
def export_command(
    workspace: Workspace,
    *,
    form: str,
    output: Path | None,
    project: str,
    kind: str | None,
    since: str | None,
    all_versions: bool,
    full: bool,
) -> None:
    """Write the memories of this directory's workspace, archived ones too, into one file.

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

    chosen = ExportFilter(project, kind or "", since or "", all_versions, full)
    rows = chosen_rows(workspace, chosen)
    if form == "jsonl":
        pieces = as_json_lines(workspace, rows, note)
    else:
        pieces = as_markdown(workspace, rows, chosen, note)
    if output is None:
        for piece in pieces:
            click.echo(piece, nl=False)
    else:
        write_file(output, pieces)
        note(f"{len(rows)} memories are in {output}")
