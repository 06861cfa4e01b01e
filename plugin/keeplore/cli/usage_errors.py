"""Wrong usage, told with its next step."""

from __future__ import annotations

import click

from keeplore.cli.output import say
from keeplore.cli.parameters import Reference, WrongValue

IDS = "`keeplore list` and `keeplore recall` print ids"
ASKED_FOR = {
    "status": "`keeplore doctor` checks that all works, `keeplore whoami` says what applies here, "
    "`keeplore stats` counts"
}


class WrongUsage(click.UsageError):
    """``remedy`` is the next step."""

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(message)
        self.remedy = remedy


def unknown_command(name: str, commands: list[str]) -> WrongUsage:
    """The error that names the commands with nearly that name, or that do what it asks for."""
    # here, because a command that is known needs none of it
    from difflib import get_close_matches

    near = " or ".join(
        f"`keeplore {command}`" for command in get_close_matches(name, commands)
    )
    meant = ASKED_FOR.get(name) or (near and f"Did you mean {near}?")
    remedy = meant or "`keeplore --help` lists the commands"
    return WrongUsage(f"there is no command {name!r}", remedy)


def say_usage_error(error: click.UsageError) -> None:
    """Print how the command is used, what is wrong, and what to do."""
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        error.show()  # the help
        return
    is_missing = isinstance(error, click.MissingParameter)
    if isinstance(error, click.BadParameter):
        _name_argument(error)
    # where one value is wrong, the usage says nothing about it
    if error.ctx and (is_missing or not isinstance(error, click.BadParameter)):
        click.echo(error.ctx.get_usage(), err=True)
    message = error.format_message()
    say(f"keeplore: {message[:1].lower()}{message[1:].removesuffix('.')}", err=True)
    say(f"  → {_remedy(error)}", err=True)


def _name_argument(error: click.BadParameter) -> None:
    """Show the argument by its name alone: click would list all choices, and the message does so
    already.
    """
    if isinstance(error.param, click.Argument) and error.param_hint is None:
        error.param_hint = repr(error.param.human_readable_name)


def _remedy(error: click.UsageError) -> str:
    if isinstance(error, WrongUsage | WrongValue):
        return error.remedy
    path = error.ctx.command_path if error.ctx else "keeplore"
    usage = f"`{path} --help` says how it is used"
    if not isinstance(error, click.MissingParameter) or error.param is None:
        return usage
    if isinstance(error.param.type, Reference):
        return f"{IDS}; {usage}"
    if isinstance(error.param, click.Option):
        metavar = error.param.metavar or error.param.human_readable_name.upper()
        return f"Add {error.param.opts[-1]} {metavar}; {usage}"
    return usage
