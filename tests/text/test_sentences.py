"""What of a message counts as sentences."""

from __future__ import annotations

import pytest

from keeplore.text.sentences import sentences

TAKEN = tuple(f"worker took job {number} from the queue" for number in range(8))


@pytest.mark.parametrize("before", [(), ("We look at the log.",)])
@pytest.mark.parametrize("after", [(), ("It is fine.",)])
def test_eight_lines_that_begin_alike_were_written_by_a_program(
    before: tuple[str, ...], after: tuple[str, ...]
) -> None:
    def told(*lines: str) -> list[str]:
        return [one.text for one in sentences("\n".join((*before, *lines, *after)))]

    assert told(*TAKEN) == [*before, *after]
    assert told(*TAKEN[:7]) == [*before, " ".join(TAKEN[:7]), *after]


@pytest.mark.parametrize(
    ("line", "label", "told"),
    [
        ("**2. Names** - each is kept.", "2", "**Names** - each is kept."),
        ("__2. Names__ are kept.", "2", "__Names__ are kept."),
        ("**2.** Each name is kept.", "2", "Each name is kept."),
        ("2. **Names**: each is kept.", "2", "**Names**: each is kept."),
        ("2.名称：前端解析", "2", "名称：前端解析"),
        ("**3.0 is out** and in use.", "", "**3.0 is out** and in use."),
        ("3.5倍的速度", "", "3.5倍的速度"),
    ],
)
def test_the_number_of_an_item_stands_in_its_emphasis_or_before_it(
    line: str, label: str, told: str
) -> None:
    (found,) = sentences(f"It is done:\n\n{line}")[1:]
    assert (found.label, found.text) == (label, told)
