"""What a code repository says to Keeplore, and what a person has allowed it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from keeplore.config.code_consent import CodeConsent, CodeConsents
from keeplore.config.project_file import (
    MAX_FILE,
    UnreadableProjectFile,
    code_memory_folder,
    load_project_file,
    project_file,
    says_in_repo,
)


def test_the_file_lies_in_a_folder_where_that_is_one(tmp_path: Path) -> None:
    assert project_file(tmp_path) == tmp_path / ".keeplore"
    (tmp_path / ".keeplore").mkdir()
    assert project_file(tmp_path) == tmp_path / ".keeplore" / "project.yaml"
    assert load_project_file(tmp_path) == {}
    project_file(tmp_path).write_text("memory: in-repo\n", encoding="utf-8")
    assert load_project_file(tmp_path) == {"memory": "in-repo"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("capture: off\n", {"capture": False}),
        ("# nothing yet\n", {}),
        ("", {}),
        ("memory: in-repo\nmore: [1]\n", {"memory": "in-repo", "more": [1]}),
        (f"a: {'x' * (MAX_FILE - 3)}", {"a": "x" * (MAX_FILE - 3)}),
    ],
)
def test_it_says_what_its_keys_say(
    tmp_path: Path, text: str, expected: dict[str, object]
) -> None:
    (tmp_path / ".keeplore").write_text(text, encoding="utf-8")
    assert load_project_file(tmp_path) == expected
    assert says_in_repo(tmp_path) is (expected.get("memory") == "in-repo")


@pytest.mark.parametrize(
    ("text", "flaw"),
    [
        (b"- a list", "it is no mapping"),
        (b"a: 'x", "while scanning"),
        (b"a: " + b"x" * MAX_FILE, f"it is larger than {MAX_FILE} bytes"),
        (b"a: \xff", "unacceptable character"),
    ],
)
def test_one_that_cannot_be_read_is_an_error(
    tmp_path: Path, text: bytes, flaw: str
) -> None:
    (tmp_path / ".keeplore").write_bytes(text)
    with pytest.raises(UnreadableProjectFile, match=flaw):
        load_project_file(tmp_path)
    assert not says_in_repo(tmp_path)


def test_what_is_no_file_says_nothing(tmp_path: Path) -> None:
    (tmp_path / ".keeplore").symlink_to(tmp_path / "nowhere")
    assert load_project_file(tmp_path) == {}
    (tmp_path / ".keeplore").unlink()
    os.mkfifo(tmp_path / ".keeplore")
    with pytest.raises(UnreadableProjectFile):
        load_project_file(tmp_path)


def test_the_nearest_repository_says_whether_it_keeps_memory(tmp_path: Path) -> None:
    inner = tmp_path / "code" / "src"
    inner.mkdir(parents=True)
    place = tmp_path / "code" / ".keeplore"
    assert code_memory_folder(inner) is None
    place.write_text("memory: in-repo\n", encoding="utf-8")
    assert code_memory_folder(inner) is None  # no repository
    (tmp_path / "code" / ".git").mkdir()
    assert code_memory_folder(inner) == code_memory_folder(tmp_path / "code") == place
    (inner / ".git").write_text("gitdir: elsewhere\n", encoding="utf-8")
    assert code_memory_folder(inner) is None
    (inner / ".git").unlink()
    place.rename(tmp_path / "other")
    place.symlink_to(tmp_path / "other")
    assert code_memory_folder(inner) is None  # it would lead out of the repository


def test_consents_are_written_down_one_for_each_repository(tmp_path: Path) -> None:
    consents = CodeConsents(tmp_path / "state")
    shop, web = Path("/code/shop"), Path("/code/wéb")
    assert (consents.all(), consents.of(shop), consents.withdraw(shop)) == (
        [],
        None,
        False,
    )
    assert not consents.file.exists()
    for first_commit in ("", "abc"):
        consents.accept(shop, first_commit)
    consents.accept(web, "")
    known = [CodeConsent("/code/shop", "abc"), CodeConsent("/code/wéb")]
    assert consents.all() == known
    assert (consents.of(web), consents.of(Path("/code"))) == (known[1], None)
    text = consents.file.read_text(encoding="utf-8")
    assert json.loads(text) == {
        "schema": 1,
        "repositories": [
            {"main": "/code/shop", "first_commit": "abc"},
            {"main": "/code/wéb", "first_commit": ""},
        ],
    }
    assert "wéb" in text
    assert text.endswith("}\n")
    assert (consents.file.parent.stat().st_mode & 0o777) == 0o700
    assert consents.withdraw(shop)
    assert consents.all() == known[1:]


@pytest.mark.parametrize(
    "text", ["", "[]", '{"repositories": 1}', '{"repositories": [{"main": "/a"}]}']
)
def test_consents_that_cannot_be_read_allow_nothing(tmp_path: Path, text: str) -> None:
    consents = CodeConsents(tmp_path)
    consents.file.write_text(text, encoding="utf-8")
    assert consents.all() == []
