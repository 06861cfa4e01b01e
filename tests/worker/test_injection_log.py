"""What a session was shown is the same after the worker was started anew."""

from __future__ import annotations

from pathlib import Path

from keeplore.recall.brief import InjectionHistory
from keeplore.recall.dedup import words_in
from keeplore.worker.usage.injection_log import BRIEF, PROMPT, InjectionLog
from keeplore_hooks.events import Origin

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
    briefed, prompted = log.told(SESSION), log.told(OTHER)
    assert (briefed.since, briefed.answers) == (briefed.shown[ID], frozenset())
    assert (prompted.since, prompted.answers) == ("", frozenset({ID}))
    assert briefed.words == prompted.words == words_in(TEXT)
    again = reread(log, path)
    assert (again.told(SESSION), again.told(OTHER)) == (briefed, prompted)
    assert not (again.has_lost(SESSION) or again.has_lost(OTHER))


def test_that_a_host_has_shortened_its_context_is_known_after_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "shown.json"
    log = InjectionLog(path)
    log.add(SESSION, (TEXT, (ID,)), PROMPT)
    log.lost(SESSION)
    again = reread(log, path)
    assert (again.has_lost(SESSION), again.has_lost(OTHER)) == (True, False)
    assert again.told(SESSION) == InjectionHistory()
    again.forget(SESSION)
    assert not reread(again, path).has_lost(SESSION)
