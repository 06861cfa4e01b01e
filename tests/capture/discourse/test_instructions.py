"""Which messages were written for agents."""

from __future__ import annotations

from keeplore.capture.discourse.instructions import is_instructions

TOLD = "You are a reviewer."
RULE = "- Say what is wrong\n"


def test_an_address_and_three_rules_make_a_prompt_for_agents() -> None:
    assert is_instructions(f"{TOLD}\n{3 * RULE}")
    assert is_instructions(f"{TOLD}\n# Rules\n\n1. Be kind\n<done>\n")
    assert not is_instructions(f"{TOLD}\n{2 * RULE}")
    assert not is_instructions(3 * RULE)


def test_the_head_of_a_skill_is_enough() -> None:
    assert is_instructions("\n---\nname: review\n---\n")


def test_the_address_stands_within_the_first_600_characters() -> None:
    before = 3 * RULE
    gap = "." * (600 - len(f"{before}\nYou are a r"))
    assert is_instructions(f"{before}{gap}\n{TOLD}")
    assert not is_instructions(f"{before}{gap}.\n{TOLD}")


def test_rules_behind_20_000_characters_are_not_counted() -> None:
    page = f"{TOLD}\n{2 * RULE}"
    gap = "." * (20_000 - len(f"{page}\n- S"))
    assert is_instructions(f"{page}{gap}\n{RULE}")
    assert not is_instructions(f"{page}{gap}.\n{RULE}")
