"""What ``keeplore import`` shows of what it finds, and says where it finds nothing, word for word."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from keeplore.cli.commands.start import import_
from keeplore.errors import KeeploreError


def survey(**more: Any) -> Any:
    known = {
        "source": SimpleNamespace(name="codex"),
        "sessions": ("a", "b"),
        "known": 0,
        "size": 1_500_000,
        "days": ("2026-02-01", "2026-02-09"),
        "directories": ("/code/shop", "/other/shop", "/code/a", "/code/b", "/code/c"),
    }
    return SimpleNamespace(**(known | more))


def file(day: int, size: int, cwd: str) -> Any:
    at = datetime(2026, 2, day, tzinfo=UTC)
    return SimpleNamespace(written_at=at, size=size, cwd=cwd)


def notes(*files: Any, left_out: tuple[Any, ...] = ()) -> Any:
    return SimpleNamespace(files=files, left_out=left_out)


DAYS = (file(9, 1_000_000, "/code/shop"), file(1, 500_000, "/code/shop"))
PROBLEM = (Path("/x"), "name it")


def test_what_is_found_is_a_row_for_each_host_and_one_for_notes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    nothing = survey(sessions=(), known=0)
    known = survey(sessions=(), known=7, directories=())
    size = import_._size(1_500_000)
    import_._show([survey(), nothing, known], notes(*DAYS, left_out=(PROBLEM,)))
    assert [line.split("\t") for line in capsys.readouterr().out.splitlines()] == [
        [
            "codex",
            "2",
            size,
            "2026-02-01",
            "2026-02-09",
            "shop, a, b and 1 more",
            "",
        ],
        [
            "codex",
            "0",
            size,
            "2026-02-01",
            "2026-02-09",
            "",
            "7 known from their host",
        ],
        [
            "auto-memory",
            "2 notes",
            size,
            "2026-02-01",
            "2026-02-09",
            "shop",
            "1 folder",
        ],
    ]


@pytest.mark.parametrize(
    ("found", "rows"),
    [
        (None, 0),
        (notes(), 0),
        (notes(file(1, 1, "/a")), 1),
        (notes(left_out=(PROBLEM, PROBLEM)), 1),
    ],
)
def test_notes_have_a_row_where_there_are_some_or_some_are_left_out(
    capsys: pytest.CaptureFixture[str], found: Any, rows: int
) -> None:
    import_._show([], found)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == rows
    if found and found.left_out:
        cells = ("auto-memory", "0 notes", import_._size(0), "", "", "", "2 folders")
        assert lines == ["\t".join(cells)]


@pytest.mark.parametrize(
    ("host", "words"),
    [
        (None, "No recorded sessions found. If they lie elsewhere, name HOST"),
        (
            "chatgpt",
            "An export lies where you keep it: `keeplore import chatgpt --from FILE`",
        ),
        (
            "codex",
            (
                "No recorded sessions of codex found where it keeps them; `keeplore import codex "
                "--from FOLDER` looks elsewhere."
            ),
        ),
        (
            "specstory",
            "No recorded sessions of specstory found: neither this directory nor a known project",
        ),
    ],
)
def test_where_nothing_is_found_it_is_told_where_else_to_look(
    host: str | None, words: str
) -> None:
    assert import_._nothing_found(host).startswith(words)


def test_without_notes_it_is_told_what_was_left_out_or_where_to_look(
    capsys: pytest.CaptureFixture[str],
) -> None:
    import_._say_no_notes(notes(), None)
    assert capsys.readouterr().out == (
        "No notes of Claude Code found. If they lie elsewhere, name the folder with --from.\n"
    )
    for folder in (None, Path("/y")):
        import_._say_no_notes(notes(left_out=(PROBLEM,)), folder)
        shown = capsys.readouterr()
        assert (shown.out, shown.err) == ("", "  left out: /x: name it\n")
    with pytest.raises(KeeploreError) as caught:
        import_._say_no_notes(notes(), Path("/y"))
    assert caught.value.message == "no notes of Claude Code in /y"
    assert caught.value.remedy == "Name the folder that holds projects/ or the notes"


@pytest.mark.parametrize(
    ("host", "these"),
    [
        (None, "`keeplore import --all` reads them all"),
        ("codex", "`keeplore import codex` reads them"),
    ],
)
def test_a_person_on_a_terminal_is_told_what_comes_next(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    host: str | None,
    these: str,
) -> None:
    import_._say_next(host)
    assert capsys.readouterr().out == ""
    monkeypatch.setattr("_pytest.capture.CaptureIO.isatty", lambda _: True)
    import_._say_next(host)
    assert capsys.readouterr().out == (
        f"\nNothing was read. {these}; `--since 30d` takes the latest alone.\n"
    )


@pytest.mark.parametrize(
    ("count", "told"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1_000, "1.0 kB"),
        (9_949, "9.9 kB"),
        (10_000, "10 kB"),
        (1_500_000, "1.5 MB"),
        (20_000_000_000, "20 GB"),
        (2_000_000_000_000, "2000 GB"),
    ],
)
def test_sizes_have_a_digit_behind_the_point_below_ten(count: int, told: str) -> None:
    assert import_._size(count) == told


@pytest.mark.parametrize("count", [0, 5, 6])
def test_the_first_problems_are_told_and_the_rest_counted(
    capsys: pytest.CaptureFixture[str], count: int
) -> None:
    problems = [(Path(f"/x/{number}.md"), "it is odd") for number in range(count)]
    import_._say_problems(problems, "notes")
    lines = [f"  {number}.md: it is odd" for number in range(min(count, 5))]
    more = ["  … and 1 more notes"] if count > 5 else []
    assert capsys.readouterr().err.splitlines() == [*lines, *more]
