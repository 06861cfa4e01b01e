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
