"""The text that a person gets to edit, and what is made of what they saved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import pytest
from sample_note import note

from keeplore.cli.memory_editor import Edited, changes, in_editor, read_back
from keeplore.errors import Corrupt, KeeploreError
from keeplore.memory import Memory, new_id

LINK = {"id": new_id("Carts"), "relationship": "refines"}
OLD = note("Use pnpm", "# Use pnpm\n\nIt is quick.\n", related=[LINK])
TEXT = f"""---
title: Use pnpm
category: gotchas
permanent: false
related:
- id: {LINK["id"]}
  relationship: refines
---

# Use pnpm

It is quick.
"""


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that editors showed: the last one is saved in their place."""
    texts: list[str] = []

    def edit(filename: str, extension: str) -> None:
        file = Path(filename)
        texts.append(f"{extension} {file.read_text(encoding='utf-8')}")
        file.write_text(TEXT, encoding="utf-8")

    monkeypatch.setattr(click, "edit", edit)
    monkeypatch.setenv("EDITOR", "true")
    return texts


@pytest.mark.parametrize(
    ("before", "after", "edited"),
    [
        ("", "", Edited()),
        ("\n", "\r\n", Edited()),
        ("quick.\n", "quick.\n\n\n", Edited()),
        ("It is quick.", "It is slow.  ", Edited("# Use pnpm\n\nIt is slow.\n")),
        (
            "title: Use pnpm",
            "title: Use   npm",
            Edited("# Use npm\n\nIt is quick.\n", {"title": "Use npm"}),
        ),
        (
            "# Use pnpm",
            "#  Use npm",
            Edited("#  Use npm\n\nIt is quick.\n", {"title": "Use npm"}),
        ),
        ("# Use pnpm\n\n", "", Edited("It is quick.\n")),
        (
            (
                "permanent: false\nrelated:\n"
                f"- id: {LINK['id']}\n  relationship: refines\n"
            ),
            "permanent: true\n",
            Edited(None, {"permanent": True, "related": None}),
        ),
        ("category: gotchas\n", "", Edited(None, {"category": None})),
    ],
)
def test_what_differs_is_what_was_changed(
    before: str, after: str, edited: Edited
) -> None:
    text = TEXT.replace(before, after) if before else TEXT
    assert read_back(text, OLD, is_cut=False) == edited


@pytest.mark.parametrize(
    ("before", "after", "message", "line"),
    [
        ("---\ntitle", "title", "no front matter", 1),
        ("title: Use pnpm", "scope: user\ntitle: Use pnpm", "`scope` cannot be", 2),
        ("category: gotchas", "category: odd", "category", 3),
        ("title: Use pnpm", "title: ''", "title", 2),
        ("title: Use pnpm\n", "", "`title` is missing", 1),
    ],
)
def test_what_is_not_sound_is_refused_with_its_line(
    before: str, after: str, message: str, line: int
) -> None:
    with pytest.raises(Corrupt, match=message) as caught:
        read_back(TEXT.replace(before, after, 1), OLD, is_cut=False)
    assert caught.value.line == line
    assert "or empty the file to change nothing" in caught.value.remedy


def test_the_other_versions_stand_below_and_are_cut_off(
    tmp_path: Path, shown: list[str]
) -> None:
    others = [note("Use npm", "# Use npm\n\nNo.\n"), note("Yarn", "\nYes.\n")]
    with in_editor(tmp_path, OLD) as edited:
        assert edited is None
    with in_editor(tmp_path, OLD, others) as edited:
        assert edited == Edited()
    rest = (
        "\n------------------------ >8 ------------------------\n"
        "This memory was changed on two machines. What you save joins them. The other "
        "version, to take from:\n\n"
        "Use npm\n\n# Use npm\n\nNo.\n\nYarn\n\nYes.\n"
    )
    assert shown == [f".md {TEXT}", f".md {TEXT}{rest}"]
    cut = TEXT.replace("quick", "slow") + rest
    body = "# Use pnpm\n\nIt is slow.\n"
    assert read_back(cut, OLD, is_cut=True) == Edited(body)
    assert [*(tmp_path / "edits").iterdir()] == []


def test_what_was_typed_is_kept_where_it_comes_to_nothing(
    tmp_path: Path, shown: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(OSError, match="full"), in_editor(tmp_path, note("Another")):
        raise OSError("full")
    (kept,) = (tmp_path / "edits").iterdir()
    assert kept.read_text(encoding="utf-8") == TEXT
    assert capsys.readouterr().err == f"note: your text is in {kept}\n"
    with pytest.raises(OSError, match="full"), in_editor(tmp_path, OLD):
        raise OSError("full")
    assert [*(tmp_path / "edits").iterdir()] == [kept]


@pytest.mark.usefixtures("shown")
def test_where_nobody_can_be_asked_a_text_that_is_not_sound_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    odd = TEXT.replace("title:", "scope: user\ntitle:")
    monkeypatch.setattr(
        click, "edit", lambda filename, **_: Path(filename).write_text(odd)
    )
    said = "`scope` cannot be changed here"
    with pytest.raises(KeeploreError) as caught:
        in_editor(tmp_path, OLD).__enter__()
    (kept,) = (tmp_path / "edits").iterdir()
    assert caught.value.message == f"nothing was changed: {said}"
    assert capsys.readouterr().err == (
        f"line 2: {said}\n  | scope: user\nnote: your text is in {kept}\n"
    )


def test_without_an_editor_or_a_terminal_nothing_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("VISUAL", "EDITOR"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(KeeploreError, match="no editor can open"):
        in_editor(tmp_path, OLD).__enter__()


@pytest.mark.parametrize(
    ("edited", "made"),
    [
        (Edited(), {"body": None}),
        (Edited("b\n"), {"body": "b\n", "trust": "user"}),
        (
            Edited(None, {"title": "T"}),
            {"body": None, "title": "T", "trust": "user"},
        ),
    ],
)
def test_what_a_person_changed_is_theirs(edited: Edited, made: dict[str, Any]) -> None:
    assert changes(OLD, edited) == made
    talk = Memory({**OLD.meta, "kind": "conversation"}, OLD.body)
    assert "trust" not in changes(talk, edited)
