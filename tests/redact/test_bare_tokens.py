"""From which length on a random string of nobody's known format counts as a token."""

from __future__ import annotations

import pytest

from keeplore.redact.bare_tokens import is_token

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
