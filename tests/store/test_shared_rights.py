"""Who may read and write the files of a workspace: its owner alone, unless a group shares it."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from keeplore.store import Store
from keeplore.store.checkout_lock import TICKET
from keeplore.store.git.git_locks import OWNER, WRITER
from keeplore.store.shared_rights import shared_file_rights, shared_rights

Git = Callable[..., str]


@pytest.fixture(params=[0o022, 0o077], ids="umask {:03o}".format, autouse=True)
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    """The umask of a person's shell, and that of a worker."""
    before = os.umask(request.param)
    yield request.param
    assert os.umask(before) == request.param


def mode(path: Path) -> str:
    return stat.filemode(path.stat().st_mode)


def modes_below(folder: Path) -> set[str]:
    return {mode(path) for path in (folder, *folder.rglob("*"))}


def written(store: Store, note: Callable[..., Any]) -> Path:
    """A memory's file, which is committed."""
    path = store.root / store.save(note("Tea"))
    store.commit()
    return path


def locks(store: Store) -> set[str]:
    return {mode(store.root / ".git" / name) for name in (OWNER, WRITER, TICKET)}


def test_a_workspace_is_for_its_owner_alone(store: Store, note: Any) -> None:
    path = written(store, note)
    assert (mode(path), mode(path.parent)) == ("-rw-------", "drwx------")
    assert locks(store) == {"-rw-------"}


@pytest.mark.parametrize(
    ("value", "file", "folder"),
    [
        ("group", "-rw-rw----", "drwxrwx---"),
        ("true", "-rw-rw----", "drwxrwx---"),
        ("1", "-rw-rw----", "drwxrwx---"),
        ("everybody", "-rw-rw-r--", "drwxrwxr-x"),
        ("0640", "-rw-r-----", "drwxr-x---"),
        ("umask", "-rw-------", "drwx------"),
        ("0", "-rw-------", "drwx------"),
    ],
)
def test_the_setting_of_git_says_what_others_may(
    store: Store, note: Any, git: Git, value: str, file: str, folder: str
) -> None:
    git("config", "core.sharedRepository", value, cwd=store.root)
    path = written(store, note)
    assert (mode(path), mode(path.parent)) == (file, folder)
    store.write_text("projects/shop/project.json", "{}\n")
    entry = store.root / "projects/shop/project.json"
    assert (mode(entry), mode(entry.parent)) == (file, folder)


def test_a_folder_with_setgid_that_its_group_may_write_is_the_groups(
    store: Store, note: Any, git: Git
) -> None:
    store.root.chmod(0o2770)
    assert mode(written(store, note)) == "-rw-rw----"
    store.root.chmod(0o2750)
    assert mode(store.root / store.save(note("Coffee"))) == "-rw-------"
    store.root.chmod(0o2770)
    git("config", "core.sharedRepository", "false", cwd=store.root)
    assert mode(store.root / store.save(note("Milk"))) == "-rw-------"


def test_what_git_keeps_of_a_shared_workspace_can_be_written_by_its_group(
    store: Store, note: Any, git: Git
) -> None:
    objects = store.root / ".git" / "objects"
    written(store, note)
    assert locks(store) == {"-rw-------"}
    before = {*objects.iterdir()}
    (store.root / ".git").chmod(0o2770)
    git("config", "core.sharedRepository", "group", cwd=store.root)
    for number in range(5):
        store.save(note(f"Cup {number}"))
    store.commit()
    assert locks(store) == {"-rw-rw----"}
    new = [folder for folder in objects.iterdir() if folder not in before]
    assert new and all(folder.stat().st_mode & 0o070 == 0o070 for folder in new)
    files = [file for folder in new for file in folder.iterdir()]
    assert files and all(file.stat().st_mode & 0o040 for file in files)


def test_the_umask_is_the_usual_one_again_after_the_last(
    store: Store, git: Git, umask: int
) -> None:
    git("config", "core.sharedRepository", "group", cwd=store.root)
    assert shared_rights(store.root) == 0o060
    with shared_file_rights(store.root):
        with shared_file_rights(store.root):
            assert os.umask(umask & ~0o070) == umask & ~0o070
        assert os.umask(umask & ~0o070) == umask & ~0o070
    assert os.umask(umask) == umask


def test_what_is_no_repository_is_private(tmp_path: Path) -> None:
    assert shared_rights(tmp_path) == shared_rights(tmp_path / "none") == 0
