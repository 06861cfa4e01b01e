"""What a message shows as code right behind the sentence that leads up to it: "To run the tests:"
and a block with ``make test`` answer how the tests are run, and neither does alone.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping

from keeplore.text.code_fences import code_spans
from keeplore.text.sentences import sentences

MOST_LINES = 2  # of code; a longer block is a program to be read where it stands
MOST_CHARS = 160  # of its lines together
LEAD_CHARS = 600  # before a block in which is looked for its lead


@functools.lru_cache(maxsize=64)  # asked for each sentence that leads up to something
def shown_commands(message: str) -> Mapping[str, str]:
    """Each sentence that leads up to a short block of code → itself with that code."""
    return {
        lead: f"{lead} {', '.join(f'`{line}`' for line in lines)}"
        for lead, lines in _led_blocks(message)
    }


def _led_blocks(message: str) -> Iterator[tuple[str, list[str]]]:
    for start, end in code_spans(message):
        before = (
            message[max(0, start - LEAD_CHARS) : start].rstrip().rpartition("\n")[2]
        )
        leads = [s.text for s in sentences(before) if s.text.endswith(":")]
        lines = _code_lines(message[start:end])
        is_short = 0 < len(lines) <= MOST_LINES and sum(map(len, lines)) <= MOST_CHARS
        if leads and is_short:
            yield leads[-1], lines


def _code_lines(block: str) -> list[str]:
    """The lines between the fences without prompts and comments; none where one has a backtick."""
    lines = (line.strip().removeprefix("$ ") for line in block.splitlines()[1:-1])
    kept = [line for line in lines if line and not line.startswith("#")]
    return [] if any("`" in line for line in kept) else kept
