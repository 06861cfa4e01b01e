"""What a line of a brief says of a note whose title is not the beginning of its text."""

import pytest

from keeplore.memory import Memory
from keeplore.recall.unasked.memory_lines import stated_in


@pytest.mark.parametrize(
    ("title", "line"),
    [
        ("Retries of webhooks", "Retries of webhooks. Three, with jitter."),
        ("Five retries, then none.", "Five retries, then none. Three, with jitter."),
        ("How many retries?", "How many retries? Three, with jitter."),
        ("Three, with jitter", "Three, with jitter."),
    ],
)
def test_a_title_ends_with_one_stop(title: str, line: str) -> None:
    memory = Memory(
        {"kind": "note", "title": title}, f"# {title}\n\nThree, with jitter.\n"
    )
    assert stated_in(memory) == line
