"""What git has that tells of a memory beside its own text."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from keeplore.store.delete.mentions import (
    contents,
    files_containing,
    messages,
    objects_containing,
    without_mentions,
)

Git = Callable[..., str]
ONE, OTHER = (f"mem_{sign * 8}-0000-4000-8000-000000000000" for sign in "ab")
STONE = '{"schema": 1, "id": "ONE", "path": "memory/one.md"}\n'
FILES = {
    f"forgotten/{ONE}.json": STONE.replace("ONE", ONE),
    f"forgotten/{OTHER}.json": STONE.replace("ONE", OTHER),
    "audit/vm/2026-02.jsonl": f'{{"id": "{ONE}"}}\n{{"id": "{OTHER}"}}\n',
    "audit/vm/2026-01.jsonl": f'{{"id": "{OTHER}"}}\n',
    f"memory/{ONE}.md": f"{ONE}\n",
    "notes/plain.txt": "one secret word\n",
}


@pytest.fixture
def root(tmp_path: Path, git: Git) -> Path:
    git("init", "-q", cwd=tmp_path)
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    git("add", "-A", cwd=tmp_path)
    git("commit", "-q", "-m", "Add a secret", cwd=tmp_path)
    return tmp_path


@pytest.fixture
def blobs(root: Path, git: Git) -> dict[str, str]:
    """Path → blob."""
    listed = git("ls-tree", "-r", "HEAD", cwd=root).splitlines()
    return {line.split("\t")[1]: line.split()[2] for line in listed}


def test_tombstones_and_audit_lines_of_a_memory_are_taken_out(
    root: Path, blobs: dict[str, str]
) -> None:
    places = [(blob, path) for path, blob in blobs.items()]
    tombstone, lines = f"forgotten/{ONE}.json", "audit/vm/2026-02.jsonl"
    assert without_mentions(root, places, {ONE}) == {
        (blobs[tombstone], tombstone): b"",
        (blobs[lines], lines): f'{{"id": "{OTHER}"}}\n'.encode(),
    }
    assert without_mentions(root, places, ()) == {}
    assert without_mentions(root, (), {ONE}) == {}


def test_every_object_with_a_word_is_found(
    root: Path, blobs: dict[str, str], git: Git
) -> None:
    head, folder = (git("rev-parse", name, cwd=root) for name in ("HEAD", "HEAD:notes"))
    assert objects_containing(root, ["secret word", "plain.txt"]) == {
        blobs["notes/plain.txt"]: "blob",
        folder: "tree",
    }
    assert objects_containing(root, ["Add a secret"]) == {head: "commit"}
    assert objects_containing(root, []) == {}


def test_files_and_messages_that_say_a_word_are_counted(root: Path) -> None:
    assert files_containing(root, [ONE, "secret"]) == (
        "audit/vm/2026-02.jsonl",
        f"forgotten/{ONE}.json",
        f"memory/{ONE}.md",
        "notes/plain.txt",
    )
    assert (files_containing(root, ["s.cret"]), files_containing(root, [])) == ((), ())
    assert [messages(root, words) for words in (["a secret"], ["a s.cret"], [])] == [
        1,
        0,
        0,
    ]


def test_objects_are_given_with_their_bytes(root: Path, blobs: dict[str, str]) -> None:
    plain, missing = blobs["notes/plain.txt"], "0" * 40
    assert dict(contents(root, [plain, missing, plain])) == {
        plain: b"one secret word\n"
    }
