"""``keeplore pause``."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import click

from keeplore.cli.output import say
from keeplore.cli.parameters import TextValue
from keeplore.config.places import Places

_SPAN = re.compile(r"(\d{1,4})\s*([mhdw])")
_SECONDS = {"m": 60, "h": 3600, "d": 86_400, "w": 604_800}


def _span_of(text: str) -> timedelta | None:
    match = _SPAN.fullmatch(text)
    if match is None or not int(match[1]):
        return None
    return timedelta(seconds=int(match[1]) * _SECONDS[match[2]])


SPAN = TextValue("span", _span_of, "no span such as 30m, 2h or 1d")


@click.command(short_help="Capture nothing on this machine for a while.")
@click.option("span", "--for", type=SPAN, help="How long: 30m, 2h, 1d.")
@click.option("is_end", "--end", is_flag=True, help="End the pause.")
@click.pass_obj
def pause_command(places: Places, *, span: timedelta | None, is_end: bool) -> None:
    """Keep nothing of what is said on this machine from now on, for a while or until `--end`.

    What is said in a pause is never captured, also not when its session is read or imported later.
    Agents are still told what memory holds.

    \b
    keeplore pause --for 2h
    keeplore pause --end
    """
    # heavy: the workspace is needed here, not for --help
    from keeplore.text.dates import in_utc
    from keeplore.workspace.writing.person_choice import end_pause, pause

    if is_end and span:
        raise click.UsageError("give --for or --end, not both")
    if is_end:
        say("Capturing again." if end_pause(places) else "There was no pause.")
        return
    until = datetime.now(UTC) + span if span else None
    pause(places, in_utc(until))
    end = f" until {until.astimezone():%Y-%m-%d %H:%M}" if until else ""
    say(f"Paused{end}: nothing is captured on this machine.")
    say("`keeplore pause --end` ends it.")
