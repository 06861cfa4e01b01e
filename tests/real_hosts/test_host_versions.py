"""The documentation names the versions in which the tests work."""

from __future__ import annotations

import json
import re
from pathlib import Path

HERE = Path(__file__).parent
NAMES = {
    "@anthropic-ai/claude-code": "Claude Code",
    "@github/copilot": "Copilot CLI",
    "@google/gemini-cli": "Gemini CLI",
    "@openai/codex": "Codex CLI",
    "opencode-ai": "OpenCode",
}


def test_each_host_is_said_to_be_tried_in_the_version_that_is_installed() -> None:
    manifest = json.loads((HERE / "package.json").read_text(encoding="utf-8"))
    page = HERE.parents[1] / "docs" / "hosts" / "README.md"
    rows = re.findall(
        r"^\| ([^|]+) \| [^|]+ \| ([\d.]+) \|",
        page.read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    assert dict(rows) == {
        NAMES[package]: version for package, version in manifest["dependencies"].items()
    }
