"""What a machine with a wrong clock has written is named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any


def test_memories_dated_in_the_future_are_named_with_their_machine(
    memory: Path, shop: Path, run: Callable[..., Any]
) -> None:
    for text in ("Tea is served at four", "Milk is white"):
        run("remember", text, cwd=shop)
    assert "in the future" not in run("doctor", cwd=shop).stdout
    (path,) = memory.rglob("*tea-is-served*.md")
    written = path.read_text()
    (machine,) = (
        line.split()[1]
        for line in written.splitlines()
        if line.strip().startswith("machine:")
    )
    year = written.partition("updated_at: ")[2][:4]
    path.write_text(written.replace(f"_at: {year}", "_at: 2199"))
    doctor = " ".join(run("doctor", cwd=shop).stdout.split())
    assert (
        f"1 memory of {machine} is dated in the future, the last "
        f"{path.relative_to(memory)} at 2199-"
    ) in doctor
