"""Which sessions are owed a brief."""

from __future__ import annotations

from keeplore.recall.unasked.workspace_view import InjectionHistory
from keeplore.worker.context.owed_briefs import OwedBriefs
from keeplore.workspace.change_counter import ChangeCounter
from keeplore_hooks.events import Origin


def session(number: int, host: str = "codex") -> Origin:
    return Origin(host, f"s-{number}")


def test_of_many_sessions_the_hundred_that_started_last_are_known() -> None:
    owed = OwedBriefs()
    for number in (*range(100), 0, 100):
        owed.note_start(session(number), "startup")
    known = [number for number in range(101) if owed.has(session(number))]
    assert known == [0, *range(2, 101)]


def test_a_brief_is_given_once_and_owed_again_where_there_was_no_time() -> None:
    owed, changes, known = OwedBriefs(), ChangeCounter(), InjectionHistory()
    owed.note_start(session(1), "resume")
    owed.note_start(session(2), "resume")
    owed.drop(session(2))
    taken = [owed.take(session(n), changes, known) for n in (1, 1, 2)]
    assert taken == ["resume", "", ""]
    owed.give_back(session(1), "resume", changes)
    assert owed.take(session(1), changes, known) == "resume"


def test_a_host_that_takes_none_at_its_start_is_briefed_with_its_first_prompt() -> None:
    owed, changes = OwedBriefs(), ChangeCounter()
    gemini = session(1, "gemini-cli")
    assert owed.take(gemini, changes, InjectionHistory()) == "startup"
    assert owed.take(gemini, changes, InjectionHistory("2026-02-09")) == ""


def test_after_a_compaction_hosts_that_do_not_ask_are_briefed_with_a_prompt() -> None:
    owed, changes = OwedBriefs(), ChangeCounter()
    for host, expected in (("copilot", "shortened"), ("claude-code", "")):
        origin = session(1, host)
        changes.shorten(origin)
        told = owed.take(origin, changes, InjectionHistory("2026-02-09"))
        assert told == expected
        owed.give_back(origin, "shortened", changes)
        assert owed.take(origin, changes, InjectionHistory("2026-02-09")) == expected
