"""Two versions of one memory before a person who decides which of them stands: what differs, and
the question.
"""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from keeplore.cli.memory_editor import changes, in_editor
from keeplore.cli.output import attributes_of, choose, note, plain, say, table
from keeplore.errors import KeeploreError
from keeplore.memory.names import short_id
from keeplore.text.agent_scope import short_place
from keeplore.text.dates import day_of, minute_of

if TYPE_CHECKING:
    from keeplore.workspace.workspace import Workspace
    from keeplore.workspace.writing.disputes import Dispute, DisputeSide

CHOICES = {
    "k": "keep what stands, the other is forgotten",
    "o": "take the other one in its place",
    "b": "keep both",
    "e": "edit: make one of the two",
    "s": "decide later",
    "q": "stop",
}
DECISIONS = {"k": "first", "o": "other", "b": "both"}
FIELDS = ("title", "category", "scope", "project", "permanent")
SHOWN = 12  # places that differ
LINE_CHARS = 240
BEFORE = 40  # characters of what two lines share that are shown before they part


def decide_dispute(workspace: Workspace, dispute: Dispute) -> str:
    """Show a dispute and do what the person answers. Returns the letter of the answer, "s" where it
    could not be carried out.
    """
    # heavy: git and the index
    from keeplore.workspace.writing.disputes import settle_dispute

    _show(dispute)
    try:
        choice = choose("Which?", CHOICES)
        if choice in DECISIONS:
            settle_dispute(workspace, dispute, DECISIONS[choice])
        elif choice == "e" and not _join_in_editor(workspace, dispute):
            say("  Nothing changed, so it is left for later.")
            return "s"
    except (KeeploreError, OSError) as e:
        note(f"left for later: {e}")
        return "s"
    return choice


def _join_in_editor(workspace: Workspace, dispute: Dispute) -> bool:
    """Make one of the two in the editor; returns whether the person saved something."""
    # heavy, as above
    from keeplore.workspace.writing.disputes import DisputeDecision, settle_dispute

    state, others = workspace.places.state, [dispute.other.memory]
    with in_editor(state, dispute.first.memory, others) as edited:
        if edited is None:
            return False
        joined = changes(dispute.first.memory, edited)
        settle_dispute(workspace, dispute, DisputeDecision.JOINED, joined)
    return True


def dispute_cells(dispute: Dispute) -> tuple[object, ...]:
    """The columns of a dispute, the same as for other offers: when, what, how sure, where, words,
    id.
    """
    row = dispute.other.row
    return (
        day_of(row.updated_at),
        "contradiction",
        "-",
        short_place(row.scope, row.project),
        row.title,
        short_id(row.id),
    )


def dispute_json(dispute: Dispute) -> dict[str, Any]:
    return {
        "what": "contradiction",
        "first": _side_json(dispute.first),
        "other": _side_json(dispute.other),
    }


def differing_lines(
    first: Sequence[str], other: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """The lines that differ, side by side; "" where one side has none."""
    matcher = difflib.SequenceMatcher(None, first, other, autojunk=False)
    for tag, one, one_end, two, two_end in matcher.get_opcodes():
        if tag != "equal":
            pairs = itertools.zip_longest(
                first[one:one_end], other[two:two_end], fillvalue=""
            )
            yield from itertools.starmap(_cut_to_difference, pairs)


def _cut_to_difference(left: str, right: str) -> tuple[str, str]:
    """Two lines, cut to begin shortly before the place where they differ, so that the difference
    shows even in a paragraph that is one line.
    """
    pairs = enumerate(zip(left, right, strict=False))
    shared = next((at for at, (one, other) in pairs if one != other), 0)
    start = left.rfind(" ", 0, shared - BEFORE) + 1 if shared > 2 * BEFORE else 0
    return _short_line(left, start), _short_line(right, start)


def _short_line(line: str, start: int) -> str:
    shown = f"…{line[start:]}" if start else line
    return shown if len(shown) <= LINE_CHARS else f"{shown[:LINE_CHARS]}…"


def _show(dispute: Dispute) -> None:
    first, other = dispute.first, dispute.other
    say(f"Changed on two machines: {first.row.title}", bold=True)
    heads = [_heading("stands now", first), _heading("the other", other)]
    rows = [*differing_lines(_lines(first), _lines(other))]
    table(
        heads, rows[:SHOWN] or [("they say the same", "they say the same")], wide=heads
    )
    if len(rows) > SHOWN:
        say(
            f"  … and {len(rows) - SHOWN} more; `keeplore show {short_id(other.row.id)}` shows the "
            f"other whole",
            dim=True,
        )


def _heading(what: str, side: DisputeSide) -> str:
    return f"{what}, {minute_of(side.row.updated_at)}, {short_id(side.row.id)}"


def _lines(side: DisputeSide) -> list[str]:
    lines = []
    for key in FIELDS:
        value = side.memory.meta.get(key)
        if value not in (None, False):
            lines.append(f"{key}: {plain(value)}")
    return lines + [line for line in side.memory.body.splitlines() if line.strip()]


def _side_json(side: DisputeSide) -> dict[str, Any]:
    facts = attributes_of(
        side.row, "id", "title", "path", "scope", "project", "updated_at"
    )
    return {
        **facts,
        "machine": side.memory.source.get("machine", ""),
        "body": side.memory.body,
    }
