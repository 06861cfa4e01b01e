"""``keeplore``: finds the command's module, and turns every error into one line with its
next step.
"""

from __future__ import annotations

import importlib
import os
import platform
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path

import click

from keeplore import __version__
from keeplore.config.places import Places
from keeplore.errors import ConfigError, KeeploreError, disk_message
from keeplore_hooks import durable

EXPECTED, OUR_BUG, INTERRUPTED = 1, 3, 130
# in the order in which a newcomer needs them
SECTIONS: Mapping[str, Mapping[str, str]] = {
    "Start": {
        "init": "Set up a workspace, or register one that is already there.",
        "clone": "Restore a workspace on this machine from its git remote.",
        "import": "Read the sessions that a host has already recorded.",
        "connect": "Let the agents on this machine report to Keeplore, and ask it.",
    },
    "Ask": {
        "open": "Look through memory in the browser, and correct it.",
        "recall": "Ask what was said and decided.",
        "why": "Explain why a question finds a memory, or does not.",
        "graph": "Show who and what memory is about, and what ties them.",
        "brief": "Print what an agent is told when it begins here.",
        "list": "List memories, newest first.",
        "show": "Show one memory, and where it comes from.",
        "history": "Show how a memory changed, from its first version on.",
    },
    "Write": {
        "remember": "Write something down for good.",
        "ingest": "Keep files and web pages as documents.",
        "refine": "Let a language model make notes of your conversations.",
        "review": "Decide what contradicts, and what of your conversations becomes a note.",
        "edit": "Change a memory in your editor; it becomes a new version.",
        "entity": "Say who and what there is, and by which names.",
        "pin": "Make memories permanent: never archived, ranked first.",
        "unpin": "Make memories permanent no more.",
    },
    "Keep in order": {
        "forget": "Take a memory away, with all its versions; it can be restored.",
        "restore": "Bring back what was forgotten.",
        "archive": "Put old memories aside; they are still found, with a lower rank.",
        "tidy": "Make digests of conversations, and keep notes in order.",
        "stats": "Count what memory holds, and what it takes.",
        "export": "Write memory out as one document, or as JSON lines.",
        "sync": "Commit, fetch, merge and push the workspace now.",
        "audit": "Show what a language model proposed, and what became of it.",
        "cost": "Show what language models have cost, and what may still be spent.",
        "lint": "Say what is wrong in memory files, by line.",
    },
    "This machine": {
        "exclude": "Leave a project or a directory out of memory.",
        "include": "Let a project or a directory into memory again.",
        "pause": "Capture nothing on this machine for a while.",
        "whoami": "Show which workspace, project and scopes apply here, and why.",
        "projects": "List, add, clone and reassign the workspace's projects.",
        "machines": "Say whose machines write here, and which of them are believed.",
        "workspaces": "List, choose, rename and unregister this machine's workspaces.",
        "config": "Show and change settings, of the workspace or this machine.",
        "embedding": "Show or change the model that finds memories by meaning.",
        "engine": "Show what searches the memories: this machine, or a server.",
        "doctor": "Check that everything works, and say what does not.",
        "worker": "Show or stop the background worker.",
        "mcp": "Serve memory to a host over the Model Context Protocol.",
        "emit": "Take events of an agent in any language, as JSON lines.",
        "upgrade": "Say how this installation is upgraded, and what that changes.",
        "completion": "Print what makes your shell complete commands, ids and titles.",
        "disconnect": "Take Keeplore's entries out of the agents' files again.",
        "uninstall": "Remove what Keeplore keeps on this machine beside the workspaces.",
    },
}
# a command NAME is `NAME_command` of keeplore/cli/commands/PACKAGE/NAME_.py
PACKAGES = {
    "Start": "start",
    "Ask": "ask",
    "Write": "write",
    "Keep in order": "tidy",
    "This machine": "machine",
}
COMMANDS: Mapping[str, str] = {
    name: text for section in SECTIONS.values() for name, text in section.items()
}
_TOGETHER = {"unpin": "pin", "include": "exclude"}  # commands in the module of another


class LazyGroup(click.Group):
    """Loads a command's module when it is asked for: a recall must not wait for imports that only
    sync needs.
    """

    def list_commands(self, _context: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, _context: click.Context, name: str) -> click.Command | None:
        for section, commands in SECTIONS.items():
            if name in commands:
                package = f"{__package__}.commands.{PACKAGES[section]}"
                module = importlib.import_module(
                    f"{package}.{_TOGETHER.get(name, name)}_"
                )
                command: click.Command = getattr(module, f"{name}_command")
                return command
        return None

    def resolve_command(
        self, context: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        is_option = args[0].startswith("-")
        if is_option or context.resilient_parsing or self.get_command(context, args[0]):
            return super().resolve_command(context, args)
        # loaded for an error alone
        from keeplore.cli.usage_errors import unknown_command

        raise unknown_command(args[0], list(COMMANDS))

    def format_commands(
        self, _context: click.Context, formatter: click.HelpFormatter
    ) -> None:
        width = max(map(len, COMMANDS))  # one column for all sections
        for title, commands in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl(
                    [(name.ljust(width), text) for name, text in commands.items()]
                )


@click.command(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="keeplore")
@click.pass_context
def cli(context: click.Context) -> None:
    """Memory for coding agents that lives in a git repository.

    Start with `keeplore init ~/memory` and `keeplore connect`; `keeplore import --all` reads
    earlier sessions. Then ask: `keeplore recall "why did we drop Redis"`.
    """
    if os.environ.get("NO_COLOR"):  # https://no-color.org; rich looks for itself
        context.color = False
    try:
        Path.cwd()
    except FileNotFoundError:
        raise ConfigError(
            "the directory that you are in no longer exists",
            "Go to another one with `cd`",
        ) from None
    context.obj = Places.from_environment(os.environ)


def main() -> None:
    """Run the command line and exit: 0 done, 1 an error that says what to do, 2 wrong usage, 3 a
    bug of ours.
    """
    _open_streams()
    try:
        sys.exit(cli.main(prog_name="keeplore", standalone_mode=False) or 0)
    except (click.exceptions.Abort, KeyboardInterrupt):
        sys.exit(INTERRUPTED)
    except click.UsageError as e:
        # loaded for an error alone
        from keeplore.cli.usage_errors import say_usage_error

        say_usage_error(e)
        sys.exit(e.exit_code)
    except click.ClickException as e:
        e.show()
        sys.exit(e.exit_code)
    except KeeploreError as e:
        sys.exit(_say_error(e.message, e.remedy))
    except BrokenPipeError:
        # the reader has seen enough; what is still buffered must not raise again at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(EXPECTED)
    except OSError as e:
        # loaded for an error alone
        from keeplore.cli.disk_errors import disk_remedy

        sys.exit(_say_error(disk_message(e), disk_remedy(e)))
    except Exception as e:  # noqa: BLE001  # what nobody foresaw is written down and named as ours
        sys.exit(_report(e))


def _open_streams() -> None:
    """Open what this process was started without, as a daemon may start it: a file that is opened
    next would get its number, and then what is printed.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            null = open(os.devnull, mode, encoding="utf-8")  # noqa: SIM115, PTH123  # it stays open
            setattr(sys, name, null)


def _say_error(message: str, remedy: str) -> int:
    # loaded for an error alone; what it names may come from a file, and a terminal obeys what it is
    # sent
    from keeplore.cli.output import say

    say(f"keeplore: {message}", err=True)
    if remedy:
        say(f"  → {remedy}", err=True)
    return EXPECTED


def _report(error: Exception) -> int:
    # here, because its rules cost as much as a whole command
    from keeplore.redact import redact

    text = redact("".join(traceback.format_exception(error)))
    versions = f"keeplore {__version__}, Python {platform.python_version()}, {platform.platform()}"
    log = Places.from_environment(os.environ).state / "crash.log"
    is_written = _write_log(log, f"{versions}\n\n{text}")
    where = f"the details are in {log}" if is_written else text
    what = redact(f"{type(error).__name__}: {error}")
    click.echo(f"keeplore: an error of keeplore itself: {what}\n  → {where}", err=True)
    return OUR_BUG


def _write_log(log: Path, text: str) -> bool:
    try:
        durable.make_private(log.parent)
        log.write_text(text, encoding="utf-8")
    except OSError:
        return False
    return True
