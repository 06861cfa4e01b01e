"""``keeplore doctor``."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict

import click

from keeplore.config.places import Places


@click.command(short_help="Check that everything works, and say what does not.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
@click.pass_obj
def command(places: Places, *, as_json: bool) -> None:
    """Look at every part and print what it found, with the next step for what is wrong.

    What is on disk is committed and the index brought up to date on the way; nothing else is changed.

    Exit status: 0 all well, 1 something needs you.
    """
    # heavy: everything that is examined
    from keeplore.cli.examine import examine

    findings = examine(places)
    if as_json:
        click.echo(json.dumps([asdict(finding) for finding in findings], ensure_ascii=False, indent=2))
    else:
        marks = {True: click.style("ok", fg="green"), False: click.style("!!", fg="red")}
        for finding in findings:
            click.echo(f"{marks[finding.is_well]}  {finding.part}: {finding.message}")
            if finding.remedy:
                click.echo(f"      → {finding.remedy}")
    sys.exit(0 if all(finding.is_well for finding in findings) else 1)
