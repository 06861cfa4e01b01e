"""``claude -p`` played by a script that notes how it was called."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from refusals import refused

from keeplore.config.settings import LlmSettings
from keeplore.errors import LlmUnavailable
from keeplore.llm.base import TransientFailure
from keeplore.llm.claude_cli import ClaudeCli
from keeplore_hooks.contracts import Completion, Usage

USAGE = {
    "input_tokens": 20,
    "cache_creation_input_tokens": 30,
    "cache_read_input_tokens": 50,
    "output_tokens": 9,
}
RESULT = {
    "type": "result",
    "subtype": "success",
    "is_error": False,
    "result": '{"facts": []}',
    "usage": USAGE,
}
SCHEMA = {"type": "object", "required": ["facts"]}


@pytest.fixture
def play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """``play(code)`` puts a `claude` that runs this Python first on the PATH; gives the file with
    its call.
    """

    def put(code: str) -> Path:
        folder, notes = tmp_path / "bin", tmp_path / "called.json"
        folder.mkdir(exist_ok=True)
        script = folder / "claude"
        note = (
            f"open({str(notes)!r}, 'w').write(json.dumps([sys.argv[1:], dict(os.environ), "
            f"os.listdir(), said]))"
        )
        script.write_text(
            f"#!{sys.executable} -IS\nimport json, os, sys\nsaid = "
            f"sys.stdin.read()\n{note}\n{code}\n"
        )
        script.chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
        return notes

    return put


def ask(timeout_s: float = 60.0) -> Completion:
    return ClaudeCli(LlmSettings("claude-cli", "", timeout_s=timeout_s)).complete(
        "Extract facts.", "--help: a talk", SCHEMA
    )


def test_the_program_is_a_plain_model_that_reports_nothing_to_us(
    play: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")
    notes = play(f"print({json.dumps(RESULT)!r})")
    assert ask() == Completion('{"facts": []}', Usage(100, 9, 50), "haiku")
    arguments, environment, files, said = json.loads(notes.read_text())
    options = dict(zip(arguments, [*arguments[1:], ""], strict=True))
    assert said == "--help: a talk" and "--help: a talk" not in arguments
    assert {"-p", "--strict-mcp-config", "--no-session-persistence"} <= {*arguments}
    assert (options["--model"], options["--tools"], options["--setting-sources"]) == (
        "haiku",
        "",
        "",
    )
    assert json.loads(options["--settings"]) == {"disableAllHooks": True}
    assert '"required":["facts"]' in options["--system-prompt"]
    assert environment["KEEPLORE_OFF"] == "1" and "CLAUDECODE" not in environment
    assert files == []


def test_a_call_of_our_own_starts_no_other(
    play: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = play("")
    monkeypatch.setenv("KEEPLORE_OFF", "1")
    said = "KEEPLORE_OFF is set: this is a call of our own. Unset KEEPLORE_OFF"
    with refused(LlmUnavailable, said):
        ask()
    assert not notes.exists()


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("", "gave no result (exit status 0)"),
        ("print('Not logged in')", "gave no result (exit status 0)"),
        ("print('[]')", "gave no result (exit status 0)"),
        ("sys.exit(1)", "gave no result (exit status 1)"),
        (
            (
                "print(json.dumps({'is_error': True, 'result': 'Please run /login', 'usage': "
                "{'input_tokens': 0}}))"
            ),
            "reports an error",
        ),
    ],
)
def test_what_gives_no_result_is_a_matter_of_setup(
    play: Any, code: str, said: str
) -> None:
    play(code)
    said = f"`claude -p` {said}. Run `claude -p hello` and see what it says"
    with refused(LlmUnavailable, said):
        ask()


def test_an_error_after_the_model_spoke_is_paid_for(play: Any) -> None:
    play(f"print({json.dumps({**RESULT, 'is_error': True})!r}); sys.exit(1)")
    completion = ask()
    assert (completion.flaw, completion.usage) == (
        "the program reports an error",
        Usage(100, 9, 50),
    )


def test_one_that_hangs_is_ended_with_what_it_started(
    play: Any, tmp_path: Path
) -> None:
    pipe = tmp_path / "held"
    os.mkfifo(pipe)
    play("")
    (tmp_path / "bin" / "claude").write_text(
        f"#!/bin/sh\nexec 3>'{pipe}'\nsleep 600 &\nsleep 600\n"
    )
    held = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        with pytest.raises(TransientFailure) as caught:
            ask(timeout_s=0.5)
        assert caught.value.message == "`claude` gave no answer within 0.5 s"
        os.set_blocking(held, True)
        assert os.read(held, 1) == b""  # while anybody has it open to write, this waits
    finally:
        os.close(held)
    assert caught.value.is_billed


@pytest.mark.parametrize(
    ("code", "said"), [("print('2.1.0')", ""), ("sys.exit(3)", "fails")]
)
def test_whether_the_program_is_there_costs_nothing(
    play: Any, code: str, said: str
) -> None:
    play(code)
    assert said in ClaudeCli(LlmSettings("claude-cli")).available()


def test_a_program_that_is_missing_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "not on the PATH" in ClaudeCli(LlmSettings("claude-cli")).available()
