"""What the checks of the repository read: its files and its Python sources."""

from __future__ import annotations

import ast
import io
import subprocess
import tokenize
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NO_TEXTS = {
    ROOT / "docs" / "window.png",
    ROOT / "plugin" / "assets" / "icon.png",
    ROOT / "plugin" / "keeplore" / "index" / "embedding" / "model" / "word_vectors.npz",
}
SOURCES = ("hooks", "plugin", "benchmarks", "demo")


@dataclass
class Source:
    """A Python file of ours."""

    path: Path

    @property
    def name(self) -> str:
        return self.path.relative_to(ROOT).as_posix()

    @cached_property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @cached_property
    def nodes(self) -> list[ast.AST]:
        return [*ast.walk(self.tree)]

    @cached_property
    def comments(self) -> dict[int, str]:
        """Line number → the comment on it."""
        tokens = tokenize.generate_tokens(io.StringIO(self.text).readline)
        return {
            token.start[0]: token.string
            for token in tokens
            if token.type == tokenize.COMMENT
        }

    def has_comment_above(self, line: int) -> bool:
        """Does a line of its own above say something?"""
        lines = self.text.splitlines()
        return line > 1 and lines[line - 2].lstrip().startswith("# ")

    def imports(self) -> list[tuple[int, str]]:
        """Line and dotted name of everything that is imported, relative imports left out."""
        found = []
        for node in self.nodes:
            if isinstance(node, ast.Import):
                found += [(node.lineno, alias.name) for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.append((node.lineno, node.module))
        return found


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def sources() -> list[Source]:
    found = [
        Source(path)
        for folder in SOURCES
        for path in sorted((ROOT / folder).rglob("*.py"))
    ]
    assert len(found) > 20
    return found


@pytest.fixture(scope="session")
def product(sources: list[Source]) -> list[Source]:
    """The sources that are shipped."""
    return [
        source for source in sources if source.name.startswith(("hooks/", "plugin/"))
    ]


@pytest.fixture(scope="session")
def files() -> list[Path]:
    """Every file that is or would be committed, but for pictures and vectors."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(
        command, cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split("\0")
    found = sorted({ROOT / name for name in listed if name} - NO_TEXTS)
    return [path for path in found if path.is_file()]
