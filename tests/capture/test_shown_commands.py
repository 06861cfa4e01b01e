"""What a message shows as code behind the sentence that leads up to it."""

from __future__ import annotations

import pytest

from keeplore.capture.shown_commands import shown_commands


def shown(block: str, lead: str = "Run the tests:") -> dict[str, str]:
    return shown_commands(f"All is set.\n\n{lead}\n\n{block}\n\nThen push.")


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ("```bash\nmake test\n```", "`make test`"),
        ("```\n# fast\n$ make test\nmake soak\n```", "`make test`, `make soak`"),
        ("~~~sh\n  make test\n~~~", "`make test`"),
    ],
)
def test_a_short_block_is_told_with_its_lead(block: str, expected: str) -> None:
    assert shown(block) == {"Run the tests:": f"Run the tests: {expected}"}


@pytest.mark.parametrize(
    "block",
    [
        "```bash\na\nb\nc\n```",
        "```bash\n# nothing\n```",
        "```bash\necho `date`\n```",
        "```bash\n" + "x" * 161 + "\n```",
        "```bash\nmake test",
    ],
)
def test_a_long_an_empty_and_an_open_block_are_not(block: str) -> None:
    assert shown(block) == {}


def test_what_does_not_lead_up_to_a_block_stands_alone() -> None:
    assert shown("```bash\nmake test\n```", lead="The tests run.") == {}


def test_only_the_last_sentence_of_the_line_leads_up_to_it() -> None:
    assert shown("```\nmake test\n```", lead="It is ready. Run:") == {
        "Run:": "Run: `make test`"
    }


@pytest.mark.timeout(30)  # what grows with the square of the message takes minutes
def test_a_message_of_many_blocks_is_read_in_its_stride() -> None:
    blocks = "".join(f"Run {n}:\n\n```\nmake a{n}\n```\n\n" for n in range(20_000))
    assert shown_commands(blocks)["Run 7:"] == "Run 7: `make a7`"
