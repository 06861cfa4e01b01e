"""Messages in which several people speak."""

from __future__ import annotations

import pytest

from keeplore.capture.discourse.dialogue import last_word


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (
            "Anna: Redis for the queue?\nBen: no, Postgres.\nAnna: fine.\nPostgres then.",
            "Anna: fine.\nPostgres then.",
        ),
        (
            "[Ben] five retries\n[Anna] three\n[Ben] right\n[Ben] three it is",
            "[Ben] right\n[Ben] three it is",
        ),
        ("J.: Go.\nM. Berg: no, Python.\nJ.: Python then.", "J.: Python then."),
        ("Note: use Postgres.\nName: jobs", "Note: use Postgres.\nName: jobs"),
        ("Name: jobs\nHost: db7\nPort: five", "Name: jobs\nHost: db7\nPort: five"),
        ("Anna: a\nAnna: b\nAnna: c", "Anna: a\nAnna: b\nAnna: c"),
        (
            "see what they say:\nAnna: a\nBen: b\nAnna: c",
            "see what they say:\nAnna: a\nBen: b\nAnna: c",
        ),
        (
            "You talk with Anna and Ben.\n\nAnna: a\nBen: b\nAnna: c",
            "You talk with Anna and Ben.\n\nAnna: c",
        ),
        ("Ask Ann.\nAnn: a\nBen: b\nAnn: c", "Ask Ann.\nAnn: a\nBen: b\nAnn: c"),
        ("", ""),
    ],
)
def test_of_a_dialogue_the_last_speaker_has_the_last_word(
    message: str, expected: str
) -> None:
    assert last_word(message) == expected
