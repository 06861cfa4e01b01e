"""All that is made of whole talks, as it is written down: titles, heads, notes and where a topic ends.

To write it anew: WRITE_GOLDEN=1 pytest tests/capture/test_whole_talks.py, then read the difference.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from written_down import written_lines

from keeplore.capture.discourse.conversation_model import ConversationModel
from keeplore.capture.distill.distiller import distill
from keeplore.capture.notes.note_candidates import NoteCandidate, candidates
from keeplore.capture.segmenter import Segmenter, boundary
from keeplore.capture.titles.titles import title_of
from keeplore.memory import Exchange
from keeplore_hooks.events import Origin, Turn, Work

ROOT = Path(__file__).parents[2]
PROJECTS: Mapping[str, Any] = {
    name: project
    for file in ("chat_projects", "project_talks")
    for name, project in yaml.load(
        (ROOT / "benchmarks" / f"{file}.yaml").read_text(encoding="utf-8"),
        yaml.CSafeLoader,
    ).items()
}
HERE = Origin("claude-code", "s-1", "/code")


@pytest.mark.parametrize("project", PROJECTS)
def test_whole_talks(project: str) -> None:
    sessions = PROJECTS[project]["sessions"]
    seen = [line for session in sessions for line in _made_of(session)]
    assert seen == written_lines(f"capture/{project}.txt", seen)


@pytest.mark.parametrize("project", ["trial", "relay"])
def test_how_whole_talks_are_read(project: str) -> None:
    sessions = PROJECTS[project]["sessions"]
    seen = [line for session in sessions for line in _read_as(session)]
    assert seen == written_lines(f"capture/statements/{project}.txt", seen)


def _exchanges(session: Mapping[str, Any]) -> list[Exchange]:
    return [
        Exchange(str(number), session["at"], said["user"], tuple(said["replies"]))
        for number, said in enumerate(session["talk"])
    ]


def _read_as(session: Mapping[str, Any]) -> Iterator[str]:
    """Each statement: where it stands, what it does, how much it tells, and when it ended."""
    model = ConversationModel.of(_exchanges(session))
    telling = {number: weight for weight, number, _ in model.salient_statements()}
    yield f"# {session['name']}: sent back {sorted(model.sent_back)}"
    for number, s in enumerate(model.statements):
        read = s.sentence
        marks = {
            "first": read.is_first,
            "final": s.is_final,
            "leads in": s.leads_in,
            "pasted": s.is_pasted,
            f"ended by {model.ended.get(number)}": number in model.ended,
        }
        place = f"{s.exchange}.{'.'.join(map(str, s.message_place))}.{s.place}/{s.left}"
        told = f"{telling[number]:.3f}" if number in telling else "-"
        named = ", ".join(name for name, is_so in marks.items() if is_so)
        under = f"{read.label}|{read.heading[:20]}|{read.lead[:20]}"
        yield f"{place} {s.speaker} {s.act} {told} ({named}) {under} {s.text[:50]!r}"


def _made_of(session: Mapping[str, Any]) -> Iterator[str]:
    exchanges = _exchanges(session)
    parts = distill(exchanges)
    yield f"# {session['name']}: {title_of(exchanges, parts)}"
    for part, quotes in parts.items():
        yield from (f"{part} {q.turn} {q.speaker}: {q.text!r}" for q in quotes)
    yield from map(_told, candidates(exchanges))
    yield from _ends(exchanges)


def _told(note: NoteCandidate) -> str:
    order = note.order or ("new value" if note.is_new_value else "said")
    said = f"{note.turn} {note.speaker}, {order}, {note.confidence:.3f}"
    return (
        f"note {said}: {note.category}: {note.title!r} {note.text!r} of {note.choice}"
    )


def _ends(exchanges: Sequence[Exchange]) -> Iterator[str]:
    """How far each exchange is from those before it, and why a topic ends there."""
    segmenter = Segmenter(None)
    before: list[Mapping[str, Any]] = []
    for exchange in exchanges:
        said = {"user": exchange.user, "assistant": exchange.assistant}
        turn = Turn(exchange.id, HERE, exchange.at, exchange.user, exchange.replies)
        shift = segmenter.shift_of(before, turn, Work())
        why = boundary(before, turn, shift)
        yield f"shift {exchange.id}: {shift.size:.3f} of {shift.need:.3f}, {why!r}"
        before.append({"id": exchange.id, "at": exchange.at, **said})
