"""Which decisions of imported sessions are shown first."""

from __future__ import annotations

from types import SimpleNamespace

from sample_note import note

from keeplore.memory import Conversation, Exchange, Quote
from keeplore.workspace.importing.session_import import SHOWN, known_decisions

LONG = "The kiln log goes to a table in Postgres, with a row for each firing."
TURN = Exchange("t", "2026-03-01T10:00:00Z", "Kiln?", ("Hot.",))
WHY = Quote("Postgres is there.", "assistant", "t")


def decided(text: str, speaker: str = "assistant", **parts: object) -> Conversation:
    return Conversation("Kiln", (TURN,), decision=(Quote(text, speaker, "t"),), **parts)  # type: ignore[arg-type]


TALKS = {
    "pick": decided(f"Which? → {LONG}", "user"),
    "vague": decided("Put it there.", "user"),
    "agent": decided(LONG),
    "person": decided(LONG, "user"),
    "argued": decided(
        LONG, reasoning=(WHY,), options=(WHY, Quote("Redis.", "user", "t"))
    ),
    "about this": decided(f"{LONG} Do this today.", "user"),
    "undecided": Conversation("Kiln", (TURN,)),
    "elsewhere": decided(LONG, "user", reasoning=(WHY,)),
}


def found(sessions: list[str], shown: dict[str, str]) -> list[tuple[str, str]]:
    """Title and decision; ``shown`` maps files to the session that they are of."""
    files = {
        path: note(path, TALKS[path].to_markdown(), kind="conversation")
        for path in shown
        if path in TALKS
    }
    rows = [
        SimpleNamespace(
            session=session,
            path=path,
            title=path,
            created_at="2026-03-01T10:00:00Z",
            scope="project",
            project="kiln",
        )
        for path, session in shown.items()
    ]
    workspace = SimpleNamespace(
        index=SimpleNamespace(listed=lambda chosen: rows),
        store=SimpleNamespace(load=files.get),
    )
    known = known_decisions(workspace, sessions)  # type: ignore[arg-type]
    return [(one.title, one.quote) for one in known]


def test_the_best_argued_come_first_then_the_persons_own_and_clear_words() -> None:
    shown = {name: name for name in TALKS} | {"gone": "gone"}
    asked = [name for name in shown if name != "elsewhere"]
    names = [name for name, _ in found(asked, shown)]
    assert names == ["argued", "person", "pick", "agent", "vague"][:SHOWN]
    few = {name: name for name in ("vague", "about this", "pick", "agent")}
    ordered = ["pick", "agent", "vague", "about this"]
    assert [name for name, _ in found([*few], few)] == ordered[:SHOWN]


def test_each_session_shows_its_worthiest() -> None:
    shown = {"vague": "one", "person": "one", "agent": "two"}
    assert found(["one", "two"], shown) == [("person", LONG), ("agent", LONG)]
