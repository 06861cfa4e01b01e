"""A person's yes is for one repository: each is looked at by itself, once for each first commit."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from keeplore.workspace.in_repo import code_memories
from keeplore.workspace.in_repo.code_memories import CodeMemories


def test_a_yes_to_one_repository_says_nothing_of_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trees: dict[str, Any] = {}
    for name in ("shop", "till", "bank"):
        (tmp_path / name / ".git").mkdir(parents=True)
        trees[name] = SimpleNamespace(main=tmp_path / name, top=tmp_path / name)
    agreed = {tmp_path / "shop": "c1", tmp_path / "till": "c1"}
    looked: list[tuple[str, str]] = []

    def is_meant(tree: Any, commit: str) -> bool:
        looked.append((tree.main.name, commit))
        return (tree.main.name, commit) == ("shop", "c1")

    def consent(main: Path) -> Any:
        commit = agreed.get(main)
        return SimpleNamespace(first_commit=commit) if commit else None

    monkeypatch.setattr(code_memories, "says_in_repo", lambda _: True)
    monkeypatch.setattr(code_memories, "_is_meant", is_meant)
    memories: Any = SimpleNamespace(_consents=SimpleNamespace(of=consent), _is_meant={})

    def may_open(name: str) -> bool:
        return CodeMemories._may_open(memories, trees[name])

    assert [may_open(name) for name in ("shop", "till", "bank")] == [True, False, False]
    assert may_open("shop")
    assert looked == [("shop", "c1"), ("till", "c1")]
    agreed[tmp_path / "shop"] = "c2"  # another one was put in its place
    assert not may_open("shop")
    assert looked[2:] == [("shop", "c2")]
