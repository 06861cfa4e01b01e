"""Wrong usage: what is wrong, once, and the next step at the end."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import click
import pytest
from ready import Done

from keeplore.cli.parameters import DAY, WHEN
from keeplore.memory import CATEGORIES
from keeplore.text.dates import in_utc

IDS = "`keeplore list` and `keeplore recall` print ids"
NAMES = ", ".join(map(repr, CATEGORIES))
CASES = {
    ("show",): [
        "Usage: keeplore show [OPTIONS] REF",
        "keeplore: missing argument 'REF'",
        f"  → {IDS}; `keeplore show --help` says how it is used",
    ],
    ("forget",): [
        "Usage: keeplore forget [OPTIONS] REF...",
        "keeplore: missing argument 'REF...'",
        f"  → {IDS}; `keeplore forget --help` says how it is used",
    ],
    ("why", "1f0c9a2e"): [
        "Usage: keeplore why [OPTIONS] REF [QUESTION]...",
        "keeplore: of the memory and the question one is missing",
        '  → `keeplore why ID "QUESTION"`; `keeplore recall "QUESTION"` prints ids',
    ],
    ("list", "--since", "soon"): [
        (
            "keeplore: invalid value for '--since': 'soon' is no date such as 2026-01-31, age such as "
            "30d or 8w, or day such as yesterday"
        ),
        "  → `keeplore list --help` says how it is used",
    ],
    ("list", "--category", "decisions"): [
        f"keeplore: invalid value for '--category': 'decisions' is not one of {NAMES}",
        "  → Did you mean architectural-decisions?",
    ],
    ("list", "--category", "gotcha"): [
        f"keeplore: invalid value for '--category': 'gotcha' is not one of {NAMES}",
        "  → Did you mean gotchas?",
    ],
    ("list", "--category", "weather"): [
        f"keeplore: invalid value for '--category': 'weather' is not one of {NAMES}",
        "  → `keeplore list --help` says how it is used",
    ],
    ("import", "foo"): [
        (
            "keeplore: invalid value for 'HOST': 'foo' is not one of 'auto-memory', 'chatgpt', "
            "'claude-ai', 'claude-code', 'codex', 'copilot', 'cursor', 'gemini-cli', 'opencode', "
            "'specstory'"
        ),
        "  → `keeplore import --help` says how it is used",
    ],
    ("config", "look"): [
        "Usage: keeplore config [OPTIONS] [COMMAND] [ARGS]...",
        "keeplore: no such command 'look'",
        "  → `keeplore config --help` says how it is used",
    ],
    ("recal",): [
        "keeplore: there is no command 'recal'",
        "  → Did you mean `keeplore recall`?",
    ],
    ("status",): [
        "keeplore: there is no command 'status'",
        (
            "  → `keeplore doctor` checks that all works, `keeplore whoami` says what applies here, "
            "`keeplore stats` counts"
        ),
    ],
    ("zip",): [
        "keeplore: there is no command 'zip'",
        "  → `keeplore --help` lists the commands",
    ],
}


@pytest.mark.parametrize("arguments", CASES, ids=" ".join)
def test_wrong_usage_says_once_what_is_wrong_and_what_to_do(
    run: Callable[..., Done], memory: Path, arguments: tuple[str, ...]
) -> None:
    done = run(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines() == CASES[arguments]


@pytest.mark.parametrize("arguments", [(), ("worker",)], ids=["keeplore", "worker"])
def test_a_group_without_a_command_prints_its_help(
    run: Callable[..., Done], arguments: tuple[str, ...]
) -> None:
    done = run(*arguments)
    asked = run(*arguments, "--help")
    assert (done.returncode, done.stdout, done.stderr) == (2, "", asked.stdout)


@pytest.mark.usefixtures("within_a_day")
def test_a_day_may_be_given_in_words() -> None:
    today = (
        datetime.now().astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
    )
    yesterday = today - timedelta(days=1)
    assert WHEN.convert("yesterday", None, None) == in_utc(yesterday)
    end = in_utc(today - timedelta(seconds=1))
    assert DAY.convert("yesterday", None, None) == end
    assert WHEN.convert("since yesterday", None, None) == in_utc(yesterday)
    with pytest.raises(click.BadParameter):
        WHEN.convert("yesterday at the lake", None, None)
