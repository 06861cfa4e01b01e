"""From which length on a random string of nobody's known format counts as a token."""

from __future__ import annotations

import base64
import random
import string

import pytest

from keeplore.redact.bare_tokens import (
    announced_password,
    bare,
    decoded_base64,
    is_token,
)

LOWER = "k3f9zq7x2m5w8r1t6y4v0b7n3c9d5g1h8j2p6s4q"
MIXED = "k3F9zQ7x2M5w8R1t6Y4v0B7n3C9d5G1h8J2p6S4q"


@pytest.mark.parametrize(
    ("text", "least"), [("acme_", 24), ("", 40)], ids=["behind a prefix", "alone"]
)
def test_in_one_case_a_token_is_longer(text: str, least: int) -> None:
    lengths = [n for n in range(10, 41) if is_token(text + LOWER[:n])]
    assert lengths == list(range(least, 41))


@pytest.mark.parametrize(
    ("text", "least"), [("acme_", 20), ("", 32)], ids=["behind a prefix", "alone"]
)
def test_in_both_cases_it_may_be_shorter(text: str, least: int) -> None:
    lengths = [n for n in range(10, 41) if is_token(text + MIXED[:n])]
    assert lengths == list(range(least, 41))


def test_a_key_of_hex_digits_is_no_id_of_fifty() -> None:
    digits = "".join(random.Random(3).choices("0123456789abcdef", k=60))
    lengths = [n for n in range(30, 61) if is_token(f"abc_{digits[:n]}")]
    assert lengths == [n for n in range(32, 61) if n != 50]


def test_what_is_longer_than_280_characters_is_a_files_content() -> None:
    text = "".join(
        random.Random(3).choices(string.ascii_letters + string.digits, k=281)
    )

    def found(length: int) -> list[tuple[int, int]]:
        return bare(f"x {text[:length]} y".encode(), (2, 2 + length), 0)[0]

    assert found(280) == [(2, 282)]
    assert found(281) == []


def test_base64_of_text_may_hold_a_fifth_of_other_bytes() -> None:
    mixed = [bytes([200]) * others + b"a" * (100 - others) for others in (20, 21)]
    told = [decoded_base64(base64.b64encode(plain)) for plain in mixed]
    assert told == [b"\n" * 20 + b"a" * 80, b""]


@pytest.mark.parametrize(
    ("gap", "found"), [(71, [(79, 89)]), (72, [])], ids=["near enough", "too far"]
)
def test_a_password_begins_within_72_bytes_of_its_word(
    gap: int, found: list[tuple[int, int]]
) -> None:
    line = f"password{' ' * gap}Wq7#kd9Lm2 \n".encode()
    assert announced_password(line, (0, 8), 0)[0] == found


def test_of_a_password_eighty_bytes_are_found() -> None:
    line = b"password: Wq7#" + b"kd9L" * 20 + b"\n"
    assert announced_password(line, (0, 8), 0)[0] == [(10, 90)]
