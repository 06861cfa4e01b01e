"""Wrong usage: what is wrong, once, and the next step at the end."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from ready import Done

IDS = "`keeplore list` and `keeplore recall` print ids"
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
            "keeplore: invalid value for '--since': 'soon' is neither a date such as 2026-01-31 nor an "
            "age such as 30d or 8w"
        ),
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
