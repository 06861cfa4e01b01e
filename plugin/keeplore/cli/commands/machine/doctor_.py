"""``keeplore doctor``."""

from __future__ import annotations

import sys
from collections import Counter
from typing import TYPE_CHECKING

import click

from keeplore.cli.output import attributes_of, emit_json, plain, say
from keeplore.cli.parameters import json_option
from keeplore.cli.progress import bar
from keeplore.config.places import Places
from keeplore.text.counts import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from keeplore.cli.doctor import DoctorFinding

# by level
_MARKS = {"wrong": ("!!", "red"), "note": ("--", "yellow"), "ok": ("ok", "green")}

_NEED_NOBODY = {"note": "for your information", "ok": "in order"}


@click.command(short_help="Check that everything works, and say what does not.")
@click.option(
    "--deep",
    is_flag=True,
    help="Read every file again and prove that the index equals the text.",
)
@click.option(
    "--fix",
    is_flag=True,
    help="Mend what can be mended without touching the text of a memory.",
)
@json_option
@click.pass_obj
def doctor_command(places: Places, *, deep: bool, fix: bool, as_json: bool) -> None:
    """Look at every part and print what it found, worst first, with the next step for what is
    wrong.

    What is on disk is committed and the index brought up to date on the way; nothing else is
    changed without --fix. With --deep the remote is asked too whether it answers.

    \b
    keeplore doctor
    keeplore doctor --deep --fix

    Exit status: 0 all well, 1 something needs you.
    """
    # heavy: everything that is examined
    from keeplore.cli.connect_dialog import surroundings
    from keeplore.cli.doctor import DoctorOptions, examine

    with bar("Reading files again") as progress:
        findings = examine(
            places, DoctorOptions(surroundings(places), deep, fix, progress)
        )
    if as_json:
        emit_json(
            [
                attributes_of(finding, "part", "level", "message", "remedy")
                for finding in findings
            ]
        )
    else:
        show_findings(findings)
    sys.exit(1 if any(finding.level == "wrong" for finding in findings) else 0)


def show_findings(findings: Sequence[DoctorFinding], *, is_brief: bool = False) -> None:
    """Print findings and their number; ``is_brief`` leaves out what is well."""
    for finding in findings:
        if is_brief and finding.level == "ok":
            continue
        _show_finding(finding)
    count = Counter(str(finding.level) for finding in findings)
    needs = "nothing needs you"
    if count["wrong"]:
        needs = counted(count["wrong"], "finding needs you", "findings need you")
    rest = [
        counted(count[level], f"is {words}", f"are {words}")
        for level, words in _NEED_NOBODY.items()
        if count[level]
    ]
    say()
    say(", ".join((needs, *rest)))


def _show_finding(finding: DoctorFinding) -> None:
    mark, colour = _MARKS[finding.level]
    message = f"{plain(finding.part)}: {plain(finding.message)}"
    click.echo(f"{click.style(mark, fg=colour)}  {message}")
    if finding.remedy:
        say(f"      → {finding.remedy}")
