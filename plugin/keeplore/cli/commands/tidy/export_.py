"""``keeplore export``."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import click

from keeplore.cli.output import note, write_file
from keeplore.cli.values import When
from keeplore.config.places import Places
from keeplore.memory.model import KINDS
from keeplore.text.dates import in_utc


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
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The file; stdout if not given.",
)
@click.option("-p", "--project", default="", help="Only of this project.")
@click.option("-k", "--kind", type=click.Choice(KINDS), help="Only of this kind.")
@click.option("--since", type=When(), help="Only what was changed since: 2026-01-31, 30d, 8w.")
@click.option("--all-versions", is_flag=True, help="Earlier versions too.")
@click.option(
    "--full", is_flag=True, help="The words of conversations too; JSON lines always have them."
)
@click.pass_obj
def command(
    places: Places,
    *,
    form: str,
    output: Path | None,
    project: str,
    kind: str | None,
    since: datetime | None,
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
    from keeplore.workspace.registry import Registry  # heavy, as above

    chosen = ExportFilter(project, kind or "", in_utc(since), all_versions, full)
    with Registry(places) as registry:
        workspace = registry.for_directory(Path.cwd())
        rows = chosen_rows(workspace, chosen)
        document = as_markdown(workspace, rows, chosen, note)
        pieces = as_json_lines(workspace, rows, note) if form == "jsonl" else document
        if output is None:
            for piece in pieces:
                click.echo(piece, nl=False)
        else:
            write_file(output, pieces)
            note(f"{len(rows)} memories are in {output}")
