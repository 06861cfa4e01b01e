"""The picture in the README shows what the commands print, and asks nobody for anything."""

from __future__ import annotations

from html import unescape
from xml.etree import ElementTree

import pytest
from demo import recording
from demo.recording import PICTURE, TYPED, draw, record
from quick_machine import QuickMachine


def test_the_picture_shows_the_commands_that_the_script_runs() -> None:
    shown = unescape(PICTURE.read_text(encoding="utf-8"))
    assert [command for _, command in TYPED if f">{command}</tspan>" not in shown] == []


def test_the_picture_holds_no_program_and_asks_for_no_other_file() -> None:
    text = PICTURE.read_text(encoding="utf-8")
    names = {
        element.tag.rpartition("}")[2]
        for element in ElementTree.fromstring(text).iter()
    }
    assert names == {"svg", "title", "style", "rect", "text", "tspan", "g"}
    assert [
        word for word in ("href", "url(", "@import", "onload") if word in text
    ] == []


def test_a_picture_keeps_marks_of_xml_apart_from_text() -> None:
    picture = draw([("~", 'keeplore recall "a < b"', "  1. <b> & more\n\n  end")])
    lines = [
        "".join(text.itertext())
        for text in ElementTree.fromstring(picture).iter(
            "{http://www.w3.org/2000/svg}text"
        )
    ]
    assert lines == ['~ $ keeplore recall "a < b"', "  1. <b> & more", "  end"]


def test_the_picture_is_what_the_commands_print_today(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(recording, "Machine", QuickMachine)
    assert draw(list(record())) == PICTURE.read_text(encoding="utf-8")


def test_the_readme_shows_what_the_picture_shows() -> None:
    readme = (PICTURE.parents[1] / "README.md").read_text(encoding="utf-8")
    shown = readme.split("```console\n")[1].split("```")[0].splitlines()
    texts = ElementTree.parse(PICTURE).iter("{http://www.w3.org/2000/svg}text")
    lines = [
        "".join(text.itertext()).removeprefix("~/code/ledgerly ") for text in texts
    ]
    at = lines.index(shown[0])
    assert lines[at : at + len(shown)] == shown
