"""What the client keeps where there is no room for an event, and how it reads what it is told."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from keeplore.client import contact

STAMP = r"\d{8}T\d{6}Z\.\d{9}\.\d+-[0-9a-f]{8}(?:-[0-9a-f]{8}-\d+)?\.0\."


def names(folder: Path) -> list[str]:
    """Every file below a folder, without what is drawn of its name."""
    paths = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return sorted(re.sub(STAMP, "N.", str(path)) for path in paths)


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Two more disks."""
    found = tmp_path / "run", tmp_path / "tmp"
    for place, variable in zip(found, ("XDG_RUNTIME_DIR", "TMPDIR"), strict=True):
        place.mkdir(mode=0o700)
        monkeypatch.setenv(variable, str(place))
    return found


def test_an_event_without_room_is_kept_on_another_disk(
    tmp_path: Path, places: tuple[Path, Path]
) -> None:
    state = str(tmp_path / "state")
    below = f"{contact.second_places(state)[0]}/spool/new".removeprefix(f"{places[0]}/")
    contact.keep_elsewhere(state, "codex", "Stop", b"payload")
    assert names(places[0]) == [f"{below}/N.codex.Stop"]
    (kept,) = (path for path in places[0].rglob("*") if path.is_file())
    assert (kept.read_bytes(), kept.stat().st_mode & 0o777) == (b"payload", 0o600)
    assert names(places[1]) == [] and not Path(state).exists()


def test_where_no_disk_has_room_an_empty_file_tells_of_the_loss(
    tmp_path: Path, places: tuple[Path, Path]
) -> None:
    state = tmp_path / "state"
    state.mkdir()
    for place in contact.second_places(str(state)):
        Path(place).mkdir()
        (Path(place) / "spool").write_text("in the way")
    contact.keep_elsewhere(str(state), "codex", "Stop", b"payload")
    assert names(state) == ["dropped-N.codex.Stop"]
    state.rename(tmp_path / "away")
    contact.keep_elsewhere(str(state), "codex", "Stop", b"payload")
    first, second = contact.second_places(str(state))
    assert names(Path(first)) == ["dropped-N.codex.Stop", "spool"]
    assert names(Path(second)) == ["spool"]


def test_a_folder_that_others_could_have_laid_is_not_used(
    tmp_path: Path, places: tuple[Path, Path]
) -> None:
    state = str(tmp_path / "state")
    own = [Path(place).parent for place in contact.second_places(state)]
    own[0].chmod(0o750)
    assert [Path(one).parent for one in contact.second_places(state)] == own[1:]
    own[0].rmdir()
    own[0].symlink_to(own[1])
    places[1].chmod(0o777)
    assert contact.second_places(state) == []
    places[1].chmod(0o1777)
    assert [Path(one).parent for one in contact.second_places(state)] == own[1:]


def test_what_is_no_whole_object_is_no_reply() -> None:
    replies = (b"2\n{}", b"3\n{}", b"2\n[]", b"4\n{} x", b"x\n{}", b"", b"7\n{\n}\n{}x")
    assert [contact.object_in(reply) for reply in replies] == [
        *(b"{}", None, b"", b"", None, None, b"")
    ]


def test_the_words_of_a_name_are_plain() -> None:
    words = ("claude-code", "../Stop", "", "é", "x" * 64, "x" * 65, "x" * 1000)
    assert [contact.file_name_part(one) for one in words] == [
        *("claude-code", "Stop", "unknown", "unknown", "x" * 64, "unknown", "unknown")
    ]
