"""How much of a block fits: to the last byte, and to the last token."""

from __future__ import annotations

import math
import re

from keeplore.recall.render import BlockLine, BlockSection, TextBudget, block

SECTIONS = (
    BlockSection("", [BlockLine("Deploys are on Tuesdays.", "mem_a")]),
    BlockSection(
        "Open:", [BlockLine("Who looks at what is parked?", "mem_o")], 1, "{} more"
    ),
    BlockSection(
        "Decided:",
        [
            BlockLine("VAT is rounded once for each line.", "mem_b", also=("mem_a",)),
            BlockLine("SQS goes.", "mem_c", also=("mem_d", "")),
            BlockLine("The gateway listens on port 8443.", "mem_e"),
        ],
        total=9,
        rest="and {} more of these",
    ),
    BlockSection("Nothing:", []),
)
FULL = """\
<keeplore-recall id="ID">
Memory:

- Deploys are on Tuesdays.

Open:
- Who looks at what is parked?

Decided:
- VAT is rounded once for each line.
- SQS goes.
- The gateway listens on port 8443.
- and 6 more of these

More: ask.
</keeplore-recall id="ID">"""
# which memories are shown from how many bytes on, and from how many tokens
BYTES = {
    "": 0,
    "a": 150,
    "a c d": 194,
    "a o": 197,
    "a o c d": 232,
    "a o b": 257,
    "a o b c d": 269,
    "a o b c d e": 305,
}
TOKENS = {
    "": 0,
    "a": 61,
    "a c d": 74,
    "a o": 75,
    "a o c d": 84,
    "a o b": 90,
    "a o b c d": 94,
    "a o b c d e": 103,
}


def shown(room: TextBudget) -> tuple[str, str]:
    """The letters of the memories that a block shows, and its text."""
    text, ids = block(SECTIONS, room, "Memory:", "More: ask.")
    return " ".join(one.removeprefix("mem_") for one in ids), text


def test_what_is_shown_grows_with_the_room() -> None:
    by_size: dict[str, int] = {}
    for size in range(400):
        letters, text = shown(TextBudget(math.inf, size))
        by_size.setdefault(letters, size)
        assert len(text.encode()) <= size
    by_tokens: dict[str, int] = {}
    for tokens in range(200):
        by_tokens.setdefault(shown(TextBudget(tokens, 10_000))[0], tokens)
    assert (by_size, by_tokens) == (BYTES, TOKENS)


def test_all_of_it_has_its_sections_and_says_what_is_left_out() -> None:
    letters, text = shown(TextBudget(math.inf, 10_000))
    assert re.sub('(?<=id=")[0-9a-f]{8}', "ID", text) == FULL
    assert letters == "a o b c d e"
