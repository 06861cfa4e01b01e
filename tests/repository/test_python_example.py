"""The agent's loop in docs/python.md is run as it stands there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import keeplore.conversation
from keeplore.memory import Conversation, parse

PAGE = Path(__file__).resolve().parents[2] / "docs" / "python.md"


def test_the_loop_keeps_a_history_and_leaves_turns_in_the_workspace(workspace_dir: Path, tmp_path: Path) -> None:
    example = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)[0]
    project = tmp_path / "billing"
    project.mkdir()

    def run(*arguments: str) -> list[str]:
        command = [sys.executable, *arguments]
        done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    run("-m", "keeplore.cli", "init", str(workspace_dir))
    expected = [f"(an answer to {count} messages)" for count in (2, 4, 6)]
    assert run("-c", example) == expected
    (path,) = (workspace_dir / "projects" / "billing").rglob("*.md")
    talk = Conversation.from_markdown(parse(path.read_text(encoding="utf-8")).body)
    said = [(exchange.user, exchange.assistant) for exchange in talk.exchanges]
    prompts = ["Why did we drop Redis?", "Use Postgres then.", "How many retries?"]
    assert said == list(zip(prompts, expected, strict=True))


def test_every_method_of_the_history_is_in_the_table() -> None:
    public = [name for name in vars(keeplore.conversation.MessageHistory) if not name.startswith("_")]
    page = PAGE.read_text(encoding="utf-8")
    assert len(public) == 6
    assert [name for name in public if f"| `{name}(" not in page] == []
