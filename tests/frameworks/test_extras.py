"""What somebody is told who has Keeplore without a framework."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from keeplore.config.install_method import install_hint

PYPROJECT = Path(__file__).resolve().parents[2] / "pyproject.toml"
# adapter → its extra, and the package that is imported first
ADAPTERS = {
    "claude_agent_sdk": ("claude-agent-sdk", "claude_agent_sdk"),
    "langgraph": ("langgraph", "langgraph"),
    "openai_agents": ("openai-agents", "agents"),
    "pydantic_ai": ("pydantic-ai", "pydantic_ai"),
}


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_an_adapter_without_its_framework_names_the_extra_to_install(
    adapter: str,
) -> None:
    extra, package = ADAPTERS[adapter]
    program = f"import sys; sys.modules[{package!r}] = None; import keeplore.frameworks.{adapter}"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last.startswith("ImportError: ") and last.endswith(install_hint(extra))
    assert (
        extra
        in tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"][
            "optional-dependencies"
        ]
    )


def test_the_host_itself_needs_none_of_them() -> None:
    program = f"""
import sys
import keeplore.frameworks, keeplore.host
assert not {{package for _, package in {list(ADAPTERS.values())!r}}} & sys.modules.keys()
"""
    subprocess.run([sys.executable, "-c", program], check=True)
