"""Events that a program hands over as they are: what each asks for, and what it is answered."""

from __future__ import annotations

from pathlib import Path

from keeplore_hooks.events import Command, Origin, Session, Turn, to_json
from keeplore_hooks.hosts.base import Ask, Cursor, Reading
from keeplore_hooks.hosts.emitted import Emitted

HERE = Origin("my-agent", "s-1", "/code")
AT = "2026-02-09T14:00:00Z"
CURSOR = Cursor(3, "f", "p")
EVENTS = (
    (Session("a", HERE, AT, "started", "resume"), Ask("brief", source="resume")),
    (Session("a", HERE, AT, "started", "sunrise"), Ask("brief", source="startup")),
    (Session("a", HERE, AT, "ended"), None),
    (Turn("b", HERE, AT, "Why?", is_provisional=True), Ask("prompt", "Why?")),
    (Turn("b", HERE, AT, "Why?"), None),
    (Command("c", HERE, AT, "recall", "Redis"), Ask("command", "Redis", "recall")),
    (Command("c", HERE, AT, "keeplore:forget", "x"), Ask("command", "x", "forget")),
    (Command("c", HERE, AT, "review", "x"), None),
)


def test_each_event_is_read_as_it_is_and_asks_for_what_it_begins() -> None:
    host = Emitted()
    for event, ask in EVENTS:
        payload = to_json(event).encode()
        assert host.origin("", payload) == HERE
        assert host.read("", payload, CURSOR, "") == Reading((event,), CURSOR)
        assert host.ask("", payload) == ask
    assert host.origin("", b"{") is host.ask("", b"{") is None
    assert host.read("", b"{", CURSOR, "") == Reading((), CURSOR)


def test_replies_are_of_plain_letters_and_there_is_no_record(tmp_path: Path) -> None:
    host = Emitted()
    assert (
        host.reply("", "déjà\ud800 vu") == b'{"context": "d\\u00e9j\\u00e0\\ufffd vu"}'
    )
    assert host.notice("", "é") == b'{"notice": "\\u00e9"}'
    assert host.read_transcript(tmp_path / "x", CURSOR) == Reading((), CURSOR)
    assert [*host.recorded(tmp_path)] == []
