"""The example in the documents is run as it stands there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).resolve().parents[2] / "docs" / "own_host.py"


def test_the_example_emits_turns_and_gets_them_back(
    workspace_dir: Path, tmp_path: Path
) -> None:
    example = EXAMPLE.read_text(encoding="utf-8")
    assert len([line for line in example.splitlines() if line.strip()]) <= 22
    project = tmp_path / "my-agent"
    project.mkdir()

    def run(*arguments: str) -> str:
        command = [sys.executable, *arguments]
        done = subprocess.run(
            command, cwd=project, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    run("-m", "keeplore.cli", "init", str(workspace_dir))
    first = run("-c", example).splitlines()
    assert any(
        "because the mail provider was once away for 40 minutes" in line
        for line in first
    )
    assert (workspace_dir / first[-1]).is_file()
    # the second run emits the same turns: no second memory is made of them
    assert run("-c", example).splitlines()[-1] == first[-1]
    assert len(list((workspace_dir / "projects").rglob("*.md"))) == 1
