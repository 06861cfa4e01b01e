"""Two versions of one memory before a person who decides which of them stands: what differs, and
the question.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from keeplore.cli.editor import changes, in_editor
from keeplore.cli.output import note, plain, say, table
from keeplore.cli.references import short
from keeplore.config.places import Places
from keeplore.errors import KeeploreError
from keeplore.text.dates import minute_of

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


def decide(places: Places, workspace: Workspace, dispute: Dispute) -> str:
    """Show a dispute and do what the person answers; the letter of the answer, "s" where it could
    not be done.
    """
    # heavy: git and the index
    from keeplore.workspace.writing.disputes import JOINED, settle

    _show(dispute)
    try:
        choice = _choice()
        if choice in DECISIONS:
            settle(workspace, dispute, DECISIONS[choice])
        elif choice == "e":
            with in_editor(places.state, dispute.first.memory, [dispute.other.memory]) as edited:
                if edited is None:
                    say("  Nothing changed, so it is left for later.")
                    return "s"
                settle(workspace, dispute, JOINED, changes(dispute.first.memory, edited))
    except (KeeploreError, OSError) as e:
        note(f"left for later: {e}")
        return "s"
    return choice


def columns(dispute: Dispute) -> tuple[object, ...]:
    """As the statements that are offered have them: when, what, how sure, where, words, id."""
    row = dispute.other.row
    return (
        row.updated_at[:10],
        "contradiction",
        "-",
        row.project or row.scope,
        row.title,
        short(row.id),
    )


def as_json(dispute: Dispute) -> dict[str, Any]:
    return {
        "what": "contradiction",
        "first": _side_json(dispute.first),
        "other": _side_json(dispute.other),
    }


def parted(first: Sequence[str], other: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The lines that differ, side by side; "" where one side has none."""
    matcher = difflib.SequenceMatcher(None, first, other, autojunk=False)
    for tag, one, one_end, two, two_end in matcher.get_opcodes():
        if tag == "equal":
            continue
        left, right = first[one:one_end], other[two:two_end]
        for number in range(max(len(left), len(right))):
            yield _cut(
                left[number] if number < len(left) else "",
                right[number] if number < len(right) else "",
            )


def _cut(left: str, right: str) -> tuple[str, str]:
    """Two lines from shortly before they part, so that a paragraph in one line shows what is
    different in it.
    """
    shared = next(
        (at for at, (one, other) in enumerate(zip(left, right, strict=False)) if one != other), 0
    )
    start = left.rfind(" ", 0, shared - BEFORE) + 1 if left and right and shared > 2 * BEFORE else 0
    cut = (f"{'…' if start else ''}{line[start:]}" for line in (left, right))
    one, other = (line if len(line) <= LINE_CHARS else f"{line[:LINE_CHARS]}…" for line in cut)
    return one, other


def _show(dispute: Dispute) -> None:
    first, other = dispute.first, dispute.other
    say(f"Changed on two machines: {plain(first.row.title)}", bold=True)
    heads = [f"{what}, {minute_of(side.row.updated_at)}, {short(side.row.id)}"
             for what, side in (("stands now", first), ("the other", other))]  # fmt: skip
    rows = [*parted(_lines(first), _lines(other))]
    table(heads, rows[:SHOWN] or [("they say the same", "they say the same")], wide=heads)
    if len(rows) > SHOWN:
        say(
            f"  … and {len(rows) - SHOWN} more; `keeplore show {short(other.row.id)}` shows the "
            f"other whole",
            dim=True,
        )


def _lines(side: DisputeSide) -> list[str]:
    values = [(key, side.memory.meta.get(key)) for key in FIELDS]
    lines = [line for line in side.memory.body.splitlines() if line.strip()]
    return [
        *(f"{key}: {plain(value)}" for key, value in values if value not in (None, False)),
        *lines,
    ]


def _choice() -> str:
    while True:
        key = (
            click.prompt(f"  Which? [{'/'.join(CHOICES)}]", default="s", show_default=False)
            .strip()
            .lower()[:1]
        )
        if key in CHOICES:
            return key
        say(f"  {', '.join(f'{key} {meaning}' for key, meaning in CHOICES.items())}")


def _side_json(side: DisputeSide) -> dict[str, Any]:
    row = side.row
    facts = {
        key: getattr(row, key) for key in ("id", "title", "path", "scope", "project", "updated_at")
    }
    return {**facts, "machine": side.memory.source.get("machine", ""), "body": side.memory.body}
