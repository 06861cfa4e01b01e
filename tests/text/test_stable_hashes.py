"""Hashes of texts that files hold: the same for the same words, whatever version made them."""

from __future__ import annotations

from keeplore.text.agent_scope import agent_name
from keeplore.text.similarity import content_hash, text_hash


def test_a_text_is_hashed_as_it_is_and_its_content_without_case_and_spaces() -> None:
    assert text_hash("a") == (
        "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"
    )
    assert content_hash("A  b") == content_hash("a b") == text_hash("a b")


def test_names_of_agents_that_are_cut_or_rewritten_carry_a_sum() -> None:
    assert agent_name("Code Reviewer") == "code-reviewer"
    assert agent_name("Prüferin") == "pruferin-871a0cf3"
    assert agent_name("x" * 41) == f"{'x' * 31}-3164596d"
    assert agent_name("x" * 40) == "x" * 40
