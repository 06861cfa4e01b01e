"""Keys that cursors and file names hold: what an earlier version wrote is found by any later one."""

from __future__ import annotations

import io

import pytest

from keeplore_hooks.hosts.jsonl import (
    digest,
    fingerprint,
    session_digest,
    short_digest,
)

RECORD = bytes(range(256)) * 200


def test_keys_of_texts_and_sessions_are_those_of_all_versions() -> None:
    assert digest("a", "ü") == "49257c9c44368731"
    assert short_digest("ü\ud800") == "fa2dba89328b"
    assert session_digest("codex", "s/1") == "90e0ea25643015adb4558e0dfad59a66"
    assert len({digest("ab", "c"), digest("a", "bc"), digest("abc")}) == 3
    assert session_digest("a", "b") != session_digest("ab", "")


@pytest.mark.parametrize(
    ("length", "mark"),
    [(0, "5feceb66ffc86f38"), (10, "d00c9d76fe9c8574"), (51_200, "95e232a4ce294fe9")],
)
def test_a_record_is_known_by_its_beginning_and_its_end(length: int, mark: str) -> None:
    assert fingerprint(io.BytesIO(RECORD), length) == mark


@pytest.mark.parametrize(
    ("place", "is_seen"),
    [
        (0, True),
        (4_095, True),
        (4_096, False),  # between the two it is not looked
        (51_200 - 257, False),
        (51_200 - 256, True),
        (51_199, True),
    ],
)
def test_of_a_long_record_four_kilobytes_and_the_last_line_are_looked_at(
    place: int, is_seen: bool
) -> None:
    changed = bytearray(RECORD)
    changed[place] ^= 1
    was = fingerprint(io.BytesIO(RECORD), len(RECORD))
    assert (fingerprint(io.BytesIO(changed), len(RECORD)) != was) is is_seen


def test_what_is_written_behind_it_does_not_make_it_another_record() -> None:
    grown = io.BytesIO(RECORD + b"more")
    assert fingerprint(grown, len(RECORD)) == fingerprint(io.BytesIO(RECORD), 51_200)
