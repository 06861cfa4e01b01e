"""A host as the model: ``claude -p`` with the person's own subscription, as a plain model and no
agent.

It must not report the call to Keeplore as a session, which would be refined in turn:
``KEEPLORE_OFF`` silences every entry of ours, and hooks, tools, MCP servers, settings and the
record of the session are off as well.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from keeplore.errors import LlmUnavailable
from keeplore.llm.anthropic_api import billed_tokens
from keeplore.llm.base import CHECK_S, MAX_ANSWER, TransientFailure
from keeplore.llm.sdk_call import mapping, usage_of, with_schema
from keeplore_hooks.contracts import Completion

if TYPE_CHECKING:
    from keeplore.config.settings import LlmSettings

PROGRAM = "claude"
DEFAULT_MODEL = "haiku"
GUARD = "KEEPLORE_OFF"
# what a session tells the programs that it starts; the host refuses to run within itself
OF_A_SESSION = (
    "CLAUDECODE",
    "CLAUDE_CODE_CHILD_SESSION",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_SESSION_ID",
)
OPTIONS = (
    *(
        "-p",
        "--output-format",
        "json",
        "--tools",
        "",
        "--setting-sources",
        "",
        "--strict-mcp-config",
    ),
    *("--no-session-persistence", "--settings", '{"disableAllHooks":true}'),
)
REMEDY = "Run `claude -p hello` and see what it says"


class ClaudeCli:
    def __init__(self, settings: LlmSettings) -> None:
        self.name = settings.model or DEFAULT_MODEL
        self._timeout_s = settings.timeout_s

    def available(self) -> str:
        """Whether a request may be tried: "" or why not, within three seconds."""
        try:
            status, _ = self._run(["--version"], "", CHECK_S)
        except LlmUnavailable as e:
            return str(e)
        return f"`{PROGRAM} --version` fails" if status else ""

    def complete(
        self, system: str, prompt: str, schema: Mapping[str, Any]
    ) -> Completion:
        """One attempt to get an answer. Holding the program to the schema would cost a second turn,
        so the model is told of it.
        """
        system = with_schema(system, schema)
        status, data = self._run_program(system, prompt)
        text, reported = data.get("result"), billed_tokens(data)
        text = text if isinstance(text, str) else ""
        has_failed = bool(status or data.get("is_error"))
        if has_failed and not (reported[0] and reported[1]):
            raise LlmUnavailable(f"`{PROGRAM} -p` reports an error", REMEDY)
        usage = usage_of(reported, system + prompt, text)
        return Completion(
            text, usage, self.name, _answer_problem(text, has_failed=has_failed)
        )

    def _run_program(self, system: str, prompt: str) -> tuple[int, Mapping[str, Any]]:
        """Exit status and result of the program. Raises LlmUnavailable where it gave none."""
        arguments = [*OPTIONS, "--model", self.name, "--system-prompt", system]
        status, output = self._run(arguments, prompt, self._timeout_s)
        data: Mapping[str, Any] = {}
        if len(output) <= MAX_ANSWER:
            with contextlib.suppress(ValueError, RecursionError):
                data = mapping(json.loads(output.decode("utf-8", "replace")))
        if not data:
            raise LlmUnavailable(
                f"`{PROGRAM} -p` gave no result (exit status {status})", REMEDY
            )
        return status, data

    def _run(
        self, arguments: Sequence[str], given: str, timeout_s: float
    ) -> tuple[int, bytes]:
        """Exit status and output; of more than MAX_ANSWER bytes the beginning, one byte longer.

        Raises TransientFailure and LlmUnavailable.
        """
        program = _program()
        # files instead of pipes: a pipe is kept open by whatever the program leaves behind. An
        # empty directory of its own, because the host reads instructions from the one it is started
        # in.
        with (
            tempfile.TemporaryDirectory(prefix="keeplore-") as place,
            tempfile.TemporaryFile() as asked,
            tempfile.TemporaryFile() as answered,
        ):
            asked.write(given.encode("utf-8", "replace"))
            asked.seek(0)
            process = subprocess.Popen(
                [program, *arguments],
                stdin=asked,
                stdout=answered,
                stderr=subprocess.DEVNULL,
                cwd=place,
                env=_environment(),
                start_new_session=True,
            )
            status = _status(process, timeout_s)
            answered.seek(0)
            output = answered.read(MAX_ANSWER + 1)
        return status, output


def _answer_problem(text: str, *, has_failed: bool) -> str:
    """What is wrong with an answer, "" for nothing."""
    if has_failed:
        return "the program reports an error"
    return "" if text.strip() else "the answer is empty"


def _program() -> str:
    """The path of the program. Raises LlmUnavailable where it must not, or cannot, be called."""
    program = shutil.which(PROGRAM)
    if os.environ.get(GUARD):
        raise LlmUnavailable(
            f"{GUARD} is set: this is a call of our own", f"Unset {GUARD}"
        )
    if program is None:
        raise LlmUnavailable(
            f"`{PROGRAM}` is not on the PATH of the worker",
            "Install Claude Code, or set llm.provider",
        )
    return program


def _status(process: subprocess.Popen[bytes], timeout_s: float) -> int:
    """The exit status, once the program and what it started are gone."""
    try:
        return process.wait(timeout_s)
    except subprocess.TimeoutExpired as e:
        raise TransientFailure(
            f"`{PROGRAM}` gave no answer within {timeout_s:g} s", is_billed=True
        ) from e
    finally:
        _end(process)


def _environment() -> dict[str, str]:
    """Ours without what belongs to a session, and with the mark that silences Keeplore."""
    own = {
        name: value for name, value in os.environ.items() if name not in OF_A_SESSION
    }
    return {**own, GUARD: "1"}


def _end(process: subprocess.Popen[bytes]) -> None:
    """End whatever still runs of the program, also what it started itself."""
    if process.poll() is None:
        if os.name == "nt":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
