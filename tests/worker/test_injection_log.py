"""What a session was shown is the same after the worker was started anew."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest

from keeplore.recall.unasked.dedup import words_in
from keeplore.recall.unasked.workspace_view import InjectionHistory
from keeplore.worker.usage import injection_log
from keeplore.worker.usage.injection_log import Injection, InjectionKind, InjectionLog
from keeplore_hooks.events import Origin

BRIEF, _PART, _LATE, PROMPT, ASKED = InjectionKind
SESSION, OTHER = (Origin("claude-code", id_, "/code/api") for id_ in ("s-1", "s-2"))
ID = "mem_3f0c9a2e-6f0b-4d55-9c5e-0f5f6a1b2c3d"
TEXT = "- “Prices are kept in cents, never as floats.”"


def reread(log: InjectionLog, path: Path) -> InjectionLog:
    log.save()
    return InjectionLog(path)


def test_what_was_shown_is_read_again_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "shown.json"
    log = InjectionLog(path)
    log.add(SESSION, (TEXT, (ID,)), BRIEF)
    log.add(OTHER, (TEXT, (ID,)), PROMPT)
    briefed, prompted = log.history_of(SESSION), log.history_of(OTHER)
    assert (briefed.since, briefed.answers) == (briefed.shown[ID], frozenset())
    assert (prompted.since, prompted.answers) == ("", frozenset({ID}))
    assert briefed.words == prompted.words == words_in(TEXT)
    again = reread(log, path)
    assert (again.history_of(SESSION), again.history_of(OTHER)) == (briefed, prompted)
    assert not (again.has_lost(SESSION) or again.has_lost(OTHER))


def test_that_a_host_has_shortened_its_context_is_known_after_a_restart(
    tmp_path: Path,
) -> None:
    path = tmp_path / "shown.json"
    log = InjectionLog(path)
    log.add(SESSION, (TEXT, (ID,)), PROMPT)
    log.mark_lost(SESSION)
    again = reread(log, path)
    assert (again.has_lost(SESSION), again.has_lost(OTHER)) == (True, False)
    assert again.history_of(SESSION) == InjectionHistory()
    again.forget(SESSION)
    assert not reread(again, path).has_lost(SESSION)


def test_of_what_a_host_has_lost_its_standing_brief_is_no_part(tmp_path: Path) -> None:
    path = tmp_path / "shown.json"
    log = InjectionLog(path)
    session = Origin("opencode", "ses_1", "/code/api")
    log.add(session, (TEXT, (ID,)), BRIEF)
    briefed = log.history_of(session)
    log.add(session, ("- “Beside a prompt.”", ("mem_2",)), PROMPT)
    for added in ("the first", "the second"):
        log.mark_lost(session)
        log = reread(log, path)
        assert (log.history_of(session), log.has_lost(session)) == (briefed, True)
        log.add(session, (added, ()), BRIEF)
        log = reread(log, path)
        assert log.brief(session) == f"{TEXT}\n{added}"


def test_what_was_given_is_taken_once_and_the_oldest_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(injection_log, "MAX_GIVEN", 2)
    monkeypatch.setattr(injection_log, "now", lambda: "2026-06-01T00:00:00Z")
    log = InjectionLog(tmp_path / "shown.json")
    for way in (BRIEF, PROMPT, ASKED):
        log.add(SESSION, (TEXT, (ID,)), way)
    log.add(SESSION, ("no memory", ()), PROMPT)
    assert log.taken() == [
        Injection(SESSION, TEXT, (ID,), way, "2026-06-01T00:00:00Z")
        for way in (PROMPT, ASKED)
    ]
    assert log.taken() == []


def test_the_sessions_and_sentences_that_are_kept_are_the_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(injection_log, "MAX_SESSIONS", 2)
    monkeypatch.setattr(injection_log, "MAX_WORDS", 1)
    log = InjectionLog(tmp_path / "shown.json")
    third = Origin("claude-code", "s-3", "/code/api")
    for session in (SESSION, OTHER, SESSION, third):
        log.add(session, (TEXT, (ID,)), PROMPT)
    assert [bool(log.history_of(one).shown) for one in (SESSION, OTHER, third)] == [
        True,
        False,
        True,
    ]
    log.add(third, ("- “Deploys happen on Tuesdays.”", (ID,)), PROMPT)
    assert log.history_of(third).words == words_in("- “Deploys happen on Tuesdays.”")


def test_a_message_that_is_asked_about_again_within_seconds_is_no_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moments = iter([0.0, 1.0, 2.0, 7.0, 12.5, 12.5, 12.5, 12.5])
    monkeypatch.setattr(
        injection_log, "time", SimpleNamespace(monotonic=lambda: next(moments))
    )
    monkeypatch.setattr(injection_log, "MAX_ASKED", 2)
    log = InjectionLog(tmp_path / "shown.json")
    asked = [
        (SESSION, "a", True),
        (OTHER, "a", True),
        (SESSION, "a", False),
        (SESSION, "a", False),
        (SESSION, "a", True),
        (SESSION, "b", True),
        (SESSION, "c", True),
        (SESSION, "a", True),
    ]
    assert [log.note_asked(origin, message) for origin, message, _ in asked] == [
        is_first for _, _, is_first in asked
    ]


def test_a_fork_has_what_the_last_session_of_its_directory_was_given(
    tmp_path: Path,
) -> None:
    log = InjectionLog(tmp_path / "shown.json")
    log.add(SESSION, (TEXT, (ID,)), BRIEF)
    fork = Origin("claude-code", "fork", "/code/api")
    elsewhere = Origin("claude-code", "x", "/code/web")
    other_host = Origin("codex", "y", "/code/api")
    for session in (fork, elsewhere, other_host):
        log.inherit(session)
    assert log.history_of(fork) == log.history_of(SESSION)
    assert log.history_of(elsewhere) == log.history_of(other_host) == InjectionHistory()
    log.add(fork, ("- “More.”", (ID[:-1] + "0",)), PROMPT)
    assert set(log.history_of(SESSION).shown) == {ID}
    before = log.history_of(fork)
    log.inherit(fork)
    assert log.history_of(fork) == before
    again = reread(log, tmp_path / "shown.json")
    second = Origin("claude-code", "another fork", "/code/api")
    again.inherit(second)
    assert again.history_of(second) == before


def test_of_several_answers_that_nobody_heard_each_is_taken_back(
    tmp_path: Path,
) -> None:
    """Two are in the making while the client tells the brief from the disk, and a third is heard."""
    log = InjectionLog(tmp_path / "shown.json")
    session = Origin("opencode", "s-1", "/code/api")
    first, second, heard = (ThreadPoolExecutor(1) for _ in range(3))

    def tell(text: str) -> None:
        log.forget(session)
        log.add(session, (text, (ID,)), BRIEF)

    for answer in (first, second):
        answer.submit(log.begin).result()
    first.submit(tell, "the first answer").result()
    with log.lasting():
        log.forget(session)
        log.add(session, ("from the disk", ()), BRIEF)
    second.submit(tell, "the second answer").result()
    assert log.brief(session) == "the second answer"
    heard.submit(log.begin).result()
    heard.submit(log.add, session, ("- “Beside.”", ("mem_2",)), PROMPT).result()
    for answer in (second, first):
        answer.submit(log.take_back, session).result()
        assert log.brief(session) == "from the disk"
    assert set(log.history_of(session).shown) == {"mem_2"}
    for answer in (first, second, heard):
        answer.shutdown()


def test_what_lasts_or_is_of_an_earlier_answer_is_not_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(injection_log, "MAX_STEPS", 2)
    log = InjectionLog(tmp_path / "shown.json")
    log.add(SESSION, (TEXT, ("mem_1",)), PROMPT)
    log.take_back(SESSION)
    log.begin()
    log.add(SESSION, (TEXT, ("mem_2",)), PROMPT)
    log.begin()
    with log.lasting():
        log.add(SESSION, (TEXT, ("mem_3",)), PROMPT)
    log.add(SESSION, (TEXT, ("mem_4",)), PROMPT)
    assert set(log.history_of(SESSION).shown) == {"mem_1", "mem_2", "mem_3", "mem_4"}
    log.take_back(SESSION)
    assert set(log.history_of(SESSION).shown) == {"mem_1", "mem_2", "mem_3"}
    log.take_back(OTHER)
    assert log.history_of(OTHER) == InjectionHistory()


def test_what_was_taken_back_is_not_told_to_who_counts_what_was_of_use(
    tmp_path: Path,
) -> None:
    log = InjectionLog(tmp_path / "shown.json")
    log.begin()
    log.add(SESSION, (TEXT, ("mem_1",)), PROMPT)
    log.begin()
    log.add(SESSION, (TEXT, ("mem_2",)), PROMPT)
    log.take_back(SESSION)
    assert [given.ids for given in log.taken()] == [("mem_1",)]
