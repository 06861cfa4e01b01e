"""The Python programs in docs/ are run as they stand there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from waiting import until

import keeplore.conversation
from keeplore.config.places import Places
from keeplore.memory import Conversation, parse
from keeplore.workspace.lifecycle.setup import initialise

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = DOCS / "python.md"
LOOP = DOCS / "agent_loop.py"
FRAMEWORKS = DOCS / "frameworks.md"
CLAUDE_CODE = DOCS.parent / "tests" / "frameworks" / "claude_cli.py"
MAX_LINES = 20  # with imports and empty lines
ANSWER = "We dropped Redis because it lost jobs twice when it was restarted."
QUESTION = "Why did we drop Redis?"
# models that answer by themselves, put in the place of those on a network; each runs before its
# example
MODELS = {
    "agents": f"""
import agents, agents.models.openai_provider as provider
from openai.types.responses import ResponseOutputMessage, ResponseOutputText
class Model(agents.Model):
    async def get_response(self, *args, **options):
        text = ResponseOutputText(text={ANSWER!r}, type="output_text", annotations=[])
        state = {{"role": "assistant", "status": "completed", "type": "message"}}
        said = ResponseOutputMessage(id="m", content=[text], **state)
        return agents.ModelResponse(output=[said], usage=agents.Usage(), response_id=None)
    def stream_response(self, *args, **options):
        raise NotImplementedError
provider.OpenAIProvider.get_model = lambda *_: Model()
agents.set_tracing_disabled(True)
""",
    "pydantic_ai": f"""
import pydantic_ai.models
from pydantic_ai.models.test import TestModel
pydantic_ai.models.infer_model = lambda *_, **__: TestModel(custom_output_text={ANSWER!r})
import pydantic_ai.agent
""",
    "langgraph": "",
    "claude_agent_sdk": """
import claude_agent_sdk, os
real = claude_agent_sdk.ClaudeAgentOptions
claude_agent_sdk.ClaudeAgentOptions = lambda **given: real(**given, cli_path=os.environ["CLAUDE"])
""",
}

Run = Callable[..., list[str]]


@pytest.fixture
def run(tmp_path: Path, workspace_dir: Path) -> Run:
    """Runs a Python program in a project of a machine with a workspace; the lines that it
    printed.
    """
    project = tmp_path / "billing"
    project.mkdir()

    def run(*arguments: str, **environment: str) -> list[str]:
        command = [sys.executable, *arguments]
        surroundings = {**os.environ, **environment}
        done = subprocess.run(
            command,
            cwd=project,
            env=surroundings,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    initialise(Places.from_environment(os.environ), workspace_dir)
    return run


def examples(page: Path) -> list[str]:
    return re.findall(
        r"^```python\n(.*?)^```",
        page.read_text(encoding="utf-8"),
        re.MULTILINE | re.DOTALL,
    )


def said(root: Path) -> list[tuple[str, str]]:
    files = [
        path.read_text(encoding="utf-8") for path in root.rglob("conversations/**/*.md")
    ]
    talks = [Conversation.from_markdown(parse(text).body) for text in files]
    return [
        (exchange.user, exchange.assistant)
        for talk in talks
        for exchange in talk.exchanges
    ]


def test_the_loop_keeps_a_history_and_leaves_turns_in_the_workspace(
    run: Run, workspace_dir: Path
) -> None:
    expected = [f"(an answer to {count} messages)" for count in (2, 4, 6)]
    assert run(str(LOOP)) == expected
    prompts = [QUESTION, "Use Postgres then.", "How many retries?"]
    assert said(workspace_dir) == list(zip(prompts, expected, strict=True))


def test_each_framework_has_a_short_example() -> None:
    programs = examples(FRAMEWORKS)
    assert len(programs) == len(MODELS)
    for program, framework in zip(
        programs,
        ("agents", "pydantic_ai", "langgraph", "claude_agent_sdk"),
        strict=True,
    ):
        assert f"from {framework}" in program
        assert len(program.splitlines()) <= MAX_LINES, framework


@pytest.mark.parametrize("framework", ["agents", "pydantic_ai"])
def test_an_example_remembers_what_was_said(
    framework: str, run: Run, workspace_dir: Path
) -> None:
    (program,) = (text for text in examples(FRAMEWORKS) if f"from {framework} " in text)
    assert run("-c", MODELS[framework] + program) == [ANSWER]
    assert said(workspace_dir)[0] == (QUESTION, ANSWER)


def test_the_example_for_langgraph_answers_from_what_is_remembered(run: Run) -> None:
    (program,) = (text for text in examples(FRAMEWORKS) if "from langgraph." in text)
    assert run("-c", program) == ["I do not know."]
    tell = f"with PythonHost('x') as host:\n    host.session('y').add({QUESTION!r}, {ANSWER!r})"
    told = run("-c", f"from keeplore.host import PythonHost\n{tell}\n{program}")
    assert "lost jobs twice" in "\n".join(told)


def test_the_example_for_the_claude_agent_sdk_remembers_what_was_said(
    run: Run, workspace_dir: Path, tmp_path: Path
) -> None:
    (program,) = (
        text for text in examples(FRAMEWORKS) if "from claude_agent_sdk " in text
    )
    program_of_claude = tmp_path / "claude"
    program_of_claude.write_text(
        f"#!/bin/sh\nexec {sys.executable} {CLAUDE_CODE}\n", encoding="utf-8"
    )
    program_of_claude.chmod(0o755)
    files = {
        "TRANSCRIPT": str(tmp_path / "t.jsonl"),
        "REPLIES": str(tmp_path / "replies"),
    }
    told = {
        "SESSION": "s-1",
        "ANSWER": ANSWER,
        "CLAUDE": str(program_of_claude),
        **files,
    }
    try:
        printed = run("-c", MODELS["claude_agent_sdk"] + program, **told)
        until(
            lambda: (QUESTION, ANSWER) in said(workspace_dir),
            "the worker that was started has written it",
        )
    finally:
        run("-m", "keeplore.cli", "worker", "stop")
    assert ANSWER in "\n".join(printed)


def test_every_method_of_the_history_is_in_the_table() -> None:
    public = [
        name
        for name in vars(keeplore.conversation.MessageHistory)
        if not name.startswith("_")
    ]
    page = PAGE.read_text(encoding="utf-8")
    assert len(public) == 9
    assert [name for name in public if f"| `{name}(" not in page] == []
