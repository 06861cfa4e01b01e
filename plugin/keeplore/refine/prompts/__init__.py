"""What a model is told: one file a prompt, whose first line is its version, which every audit line
names.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True, slots=True)
class RefinePrompt:
    """A prompt with its version; ``table`` are the lines below the text of which only some are
    shown.
    """

    name: str
    version: int
    text: str
    table: tuple[str, ...]

    @property
    def label(self) -> str:
        """The name in the audit: ``extract-2``."""
        return f"{self.name}-{self.version}"


@cache
def prompt(name: str) -> RefinePrompt:
    """The prompt of a stage: ``extract``, ``decide`` or ``aspects``."""
    first, _, rest = (
        (Path(__file__).parent / f"{name}.md")
        .read_text(encoding="utf-8")
        .partition("\n")
    )
    text, _, table = rest.partition("\n---\n")
    return RefinePrompt(
        name,
        int(first.removeprefix("version: ")),
        text.strip(),
        tuple(table.splitlines()),
    )
