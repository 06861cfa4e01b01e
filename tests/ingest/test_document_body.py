"""What is kept of a source, as a whole."""

from __future__ import annotations

import pytest

from keeplore.errors import SourceRefused
from keeplore.ingest.document_body import (
    LINE_CHARS,
    MAX_TEXT,
    MAX_TITLE,
    Extracted,
    body_for,
    document_hash,
    tidied_extract,
)


@pytest.mark.parametrize(
    ("title", "text", "tidied"),
    [
        ("", "# Kilns ##\n\nThey are hot.", ("Kilns", "# Kilns ##\n\nThey are hot.")),
        ("Kilns", "They are hot.", ("Kilns", "They are hot.")),
        ("", "They are hot.", ("kilns.md", "They are hot.")),
        ("A \n  B", "# \nC", ("A B", "#\nC")),
        ("", "\n\na \t\nb  \n\n\n\n\nc\n\n", ("kilns.md", "a\nb\n\n\nc")),
        (
            "",
            "a\n<<<<<<< ours\n<<<<<<<\n<<<<<<",
            ("kilns.md", "a\n <<<<<<< ours\n <<<<<<<\n<<<<<<"),
        ),
    ],
)
def test_a_text_is_kept_without_what_its_readers_stumble_over(
    title: str, text: str, tidied: tuple[str, str]
) -> None:
    assert tidied_extract(Extracted(title, text), "kilns.md") == Extracted(*tidied)


def test_long_lines_are_broken_at_blanks_and_long_titles_shortened() -> None:
    words = ("kiln " * LINE_CHARS).strip()
    whole = "k" * (LINE_CHARS + 1)
    found = tidied_extract(Extracted("t" * 300, f"{words}\n{whole}"), "x")
    lines = found.text.split("\n")
    assert " ".join(lines[:-2]) == words
    assert max(map(len, lines)) == LINE_CHARS
    assert lines[-2:] == ["k" * LINE_CHARS, "k"]
    assert len(found.title) <= MAX_TITLE


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("* _ *\n", "there is no text in it"),
        ("k" * (MAX_TEXT + 1), "its text is longer than 10 MB"),
    ],
)
def test_what_is_no_text_or_too_long_is_refused(text: str, message: str) -> None:
    with pytest.raises(SourceRefused) as raised:
        tidied_extract(Extracted("", text), "x")
    assert raised.value.message == message


def test_a_heading_that_is_the_title_stands_once() -> None:
    named, other = (
        Extracted("Kilns", "# Kilns\n\nHot."),
        Extracted("Log", "# Kilns\n\nHot."),
    )
    assert body_for(named) == "# Kilns\n\nHot.\n"
    assert body_for(other) == "# Log\n\n# Kilns\n\nHot.\n"


def test_a_hash_tells_text_and_title_apart_and_no_line_ends() -> None:
    one = document_hash("Kilns", "Hot.\nVery.")
    assert one == document_hash("Kilns", "Hot.\r\nVery.\n")
    others = {
        document_hash("Kilns", "hot.\nVery."),
        document_hash("kilns", "Hot.\nVery."),
        document_hash("Kilns\x1fHot.", "Very."),
    }
    assert one not in others
    assert len(others) == 3
