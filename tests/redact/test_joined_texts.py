"""What is written in several pieces is put together where a name for a secret stands near."""

from __future__ import annotations

import pytest

from keeplore.redact.joined_texts import joined

SEAM = '" + "'


def stretches(text: str) -> list[tuple[int, str, list[int]]]:
    return [
        (at, whole.said.decode(), seams) for at, whole, seams in joined(text.encode())
    ]


def test_the_pieces_are_put_together() -> None:
    assert stretches('key = "ab" + "cd" + "ef"') == [(0, 'key = "abcdef"', [9, 11])]
    assert stretches('text = "ab" + "cd"') == []


@pytest.mark.parametrize(("distance", "is_found"), [(400, True), (401, False)])
def test_the_name_stands_within_400_bytes_of_a_seam(
    distance: int, *, is_found: bool
) -> None:
    assert bool(stretches(f"{'pass':.<{distance}}{SEAM}b")) is is_found


@pytest.mark.parametrize(("gap", "count"), [(400, 1), (401, 2)])
def test_seams_within_400_bytes_of_one_another_are_in_one_stretch(
    gap: int, count: int
) -> None:
    assert len(stretches(f"pass{SEAM}{'key':.>{gap}}{SEAM}")) == count


def test_400_bytes_behind_the_last_seam_belong_to_the_stretch() -> None:
    [(_, text, _)] = stretches(f"pass{SEAM}{'.' * 401}")
    assert text == f"pass{'.' * 400}"
