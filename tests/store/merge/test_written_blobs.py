"""What another machine changed is written into the work tree, and which sides a conflict has."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from keeplore.errors import RepositoryError
from keeplore.store.git.git_backend import _conflicts
from keeplore.store.git.objects import Blob
from keeplore.store.merge import merge

A, B, C = (Blob(letter * 40, 0o100644) for letter in "abc")
NONE = "000000"


def backend(root: Path, data: bytes) -> Any:
    return SimpleNamespace(root=root, read=lambda blob, path: data)


@pytest.mark.parametrize(
    ("path", "kind", "rights"),
    [
        ("memory/facts/a.md", 0o100644, 0o600),
        ("tools/a.sh", 0o100755, 0o755),
        ("README.md", 0o100644, 0o644),
    ],
)
def test_a_file_of_ours_is_for_its_owner_alone(
    tmp_path: Path, path: str, kind: int, rights: int
) -> None:
    os.umask(0o022)
    (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
    merge._write(backend(tmp_path, b"text"), path, Blob("a" * 40, kind))
    written = tmp_path / path
    assert (written.read_bytes(), written.stat().st_mode & 0o777) == (b"text", rights)


def test_a_link_stays_one(tmp_path: Path) -> None:
    merge._write(backend(tmp_path, b"AGENTS.md"), "CLAUDE.md", Blob("a" * 40, 0o120000))
    assert (tmp_path / "CLAUDE.md").readlink() == Path("AGENTS.md")


def test_what_is_too_large_is_for_a_person(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(merge, "MAX_BLOB", 4)
    merge._write(backend(tmp_path, b"four"), "a.md", A)
    with pytest.raises(RepositoryError) as error:
        merge._write(backend(tmp_path, b"fives"), "b.md", A)
    message = "the other side has b.md with 5 bytes"
    assert (error.value.message, error.value.remedy) == (message, merge._BY_HAND)
    assert not (tmp_path / "b.md").exists()


def test_a_conflict_names_what_each_side_has() -> None:
    entries = [
        (["100644", A.id, "1"], "both.md"),
        (["100644", B.id, "2"], "both.md"),
        (["100644", C.id, "3"], "both.md"),
        (["100644", B.id, "2"], "new.md"),
        (["100644", C.id, "3"], "new.md"),
        (["100644", A.id, "1"], "gone.md"),
        (["100644", C.id, "3"], "gone.md"),
        ([NONE, "0" * 40, "1"], "none.md"),
        (["100644", B.id, "2"], "folder~HEAD"),
    ]
    mine = {"both.md": B, "new.md": B, "none.md": B, "folder": B}
    theirs = {"both.md": C, "new.md": C, "gone.md": C}
    assert _conflicts(SimpleNamespace(entries=entries), mine, theirs) == {
        "both.md": (A, B, C),
        "new.md": (None, B, C),
        "gone.md": (A, None, C),
        "none.md": (None, B, None),
        "folder": (None, B, None),
    }
