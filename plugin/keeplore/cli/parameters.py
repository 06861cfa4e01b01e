"""What commands take: shared options, the argument REF, values such as ages, and what a command
works on.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.shell_completion import CompletionItem

from keeplore.cli.output import note, plain
from keeplore.config.places import Places
from keeplore.memory.names import short_id
from keeplore.text.dates import age_of, in_utc, moment_of

if TYPE_CHECKING:
    from keeplore.workspace.registry import Registry

OFFERED = 40  # memories that a shell offers
DATE = len("2026-01-31")
LEAST_PART = 3  # letters of a name by which it is meant
_BYTES = {"": 1, "b": 1, "k": 1000, "kb": 1000, "m": 1_000_000, "mb": 1_000_000}

T = TypeVar("T")
Command = Callable[..., Any]
Option = Callable[[Command], Command]


def pass_registry(command: Command) -> Command:
    """Give a command the registry of this machine, and close it afterwards."""

    @click.pass_obj
    @functools.wraps(command)
    def with_registry(places: Places, /, **chosen: Any) -> Any:
        # heavy: git and the index are needed here, not for --help
        from keeplore.workspace.registry import Registry

        with Registry(places) as registry:
            result = command(registry, **chosen)
            for workspace in registry.searched():
                if workspace.index.behind:
                    note(workspace.index.behind)
            return result

    return with_registry


def pass_workspace(command: Command) -> Command:
    """Give a command the workspace of this directory, and close it afterwards."""

    @functools.wraps(command)
    def with_workspace(registry: Registry, /, **chosen: Any) -> Any:
        return command(registry.for_directory(Path.cwd()), **chosen)

    return pass_registry(with_workspace)


class WrongValue(click.BadParameter):
    """``remedy`` is the next step."""

    def __init__(
        self,
        message: str,
        remedy: str,
        context: click.Context | None,
        param: click.Parameter | None,
    ) -> None:
        super().__init__(message, context, param)
        self.remedy = remedy


class NamedChoice(click.Choice[str]):
    """One of some names; a wrong one is told with those that are like it."""

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as e:
            near = _names_like(str(value), [*self.choices])
            if not near:
                raise
            raise WrongValue(
                e.message, f"Did you mean {' or '.join(near)}?", ctx, param
            ) from e


def _names_like(text: str, names: Sequence[str]) -> list[str]:
    """The names of which a text is a part, else those that are spelt nearly so."""
    # here, because a name that is known needs none of it
    from difflib import get_close_matches

    typed = text.strip().lower()
    having = [name for name in names if len(typed) >= LEAST_PART and typed in name]
    return having or get_close_matches(typed, names)


class TextValue(click.ParamType[T]):
    """What ``read`` makes of a text, which gives None for ``flaw``."""

    def __init__(self, name: str, read: Callable[[str], T | None], flaw: str) -> None:
        self.name = name
        self._read = read
        self._flaw = flaw

    def convert(
        self,
        value: object,
        param: click.Parameter | None,
        context: click.Context | None,
    ) -> T:
        found = self._read(str(value))
        if found is None:
            self.fail(f"{value!r} is {self._flaw}", param, context)
        return found


def _utc_time(value: str) -> str | None:
    moment = moment_of(value) or moment_of(_day_in_words(value, is_last=False))
    return in_utc(moment) or None


def _day_in_words(value: str, *, is_last: bool) -> str:
    """The first or last day of what a text such as "yesterday" or "last week" names; "" for a text
    that says anything else.
    """
    # here, because hardly any time is given in words
    from keeplore.text.times.time_expressions import apart_from_times

    rest, spans = apart_from_times(value, datetime.now().astimezone().date())
    if rest.strip() or len(spans) != 1:
        return ""
    span = spans[0]
    return (span.last if is_last else span.first)[:DATE]


def _end_of_day(value: str) -> str | None:
    if moment_of(value) is None:
        value = _day_in_words(value, is_last=True)
    moment = _utc_time(value)
    if moment is None or len(value.strip()) > DATE or age_of(value) is not None:
        return moment
    return in_utc(datetime.fromisoformat(moment) + timedelta(days=1, seconds=-1))


def _bytes_of(value: str) -> int | None:
    match = re.fullmatch(r"(\d{1,12})\s*(b|kb?|mb?|)", value.lower())
    return int(match[1]) * _BYTES[match[2]] if match else None


_NO_DATE = "no date such as 2026-01-31, age such as 30d or 8w, or day such as yesterday"
AGE = TextValue("age", age_of, "no age such as 180d, 8w or 1y")
# as RFC 3339 in UTC
WHEN = TextValue("date or age", _utc_time, _NO_DATE)
# the same, but a date is the end of that day
DAY = TextValue("date or age", _end_of_day, _NO_DATE)
SIZE = TextValue("size", _bytes_of, "no size such as 50kB")


class Reference(click.ParamType[str]):
    """An id, four or more digits of one, a path, or a file's name; words of a title complete to an
    id.
    """

    name = "ref"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        # a shell asks without running the command, so there is no context of ours
        del (ctx, param)
        # whatever goes wrong, a person who presses the tabulator wants no error
        with contextlib.suppress(Exception):
            return _completions(incomplete)
        return []


def reference(name: str = "reference", *, many: bool = False) -> Option:
    """The argument of a command that is about memories."""
    metavar = "REF..." if many else "REF"
    return click.argument(
        name, metavar=metavar, nargs=-1 if many else 1, required=True, type=Reference()
    )


directory_argument: Option = click.argument(
    "directory", required=False, type=click.Path(file_okay=False, path_type=Path)
)

json_option: Option = click.option(
    "--json", "as_json", is_flag=True, help="Print JSON for programs."
)
yes_option: Option = click.option(
    "-y", "--yes", is_flag=True, help="Do not ask; needed where nobody can be asked."
)
dry_run_option: Option = click.option(
    "--dry-run", is_flag=True, help="Print every change as a unified diff, and stop."
)
all_versions_option: Option = click.option(
    "--all-versions", is_flag=True, help="Earlier versions too."
)
output_option: Option = click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The file; stdout if not given.",
)


def since_option(text: str) -> Option:
    return click.option("--since", type=WHEN, help=text)


def limit_option(
    shown: int, text: str, least: int = 0, most: int | None = None
) -> Option:
    return click.option(
        "-n",
        "--limit",
        default=shown,
        show_default=True,
        type=click.IntRange(least, most),
        help=text,
    )


def _completions(beginning: str) -> list[CompletionItem]:
    # heavy: the index is needed for this alone
    from keeplore.config.machine import Machine
    from keeplore.index.memory_queries import complete_reference

    places = Places.from_environment(os.environ)
    found: list[tuple[str, str]] = []
    for name in Machine.load(places).workspaces:
        found += complete_reference(places.cache / "index" / name, beginning, OFFERED)
    return [
        CompletionItem(short_id(id_), help=plain(title))
        for id_, title in found[:OFFERED]
    ]
