"""Days and times as a person reads them: by the clocks of this place. Programs get UTC."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from ready import Done

from keeplore.config.places import Places
from keeplore.memory import Conversation, Exchange, Memory, new_meta
from keeplore.workspace.registry import Registry

Run = Callable[..., Done]
ID = "mem_3f0c9a2e-6f0b-4d55-9c5e-0f5f6a1b2c3d"
# eight hours behind UTC: there it was the evening of the day before
PLACE = {"TZ": "PST8"}
AT = "2026-02-09T03:30:11Z"


@pytest.fixture
def talk(memory: Path) -> Memory:
    said = Exchange(
        "turn-0001", AT, "Which queue do we take?", ("The Postgres queue.",)
    )
    meta = new_meta(
        id=ID,
        kind="conversation",
        title="The Postgres queue",
        created_at=AT,
        updated_at=AT,
        scope="workspace",
        trust="user",
    )
    talk = Memory(meta, Conversation("The Postgres queue", (said,)).to_markdown())
    with Registry(Places.from_environment(os.environ)).named("memory") as workspace:
        workspace.store.save(talk)
    return talk


def test_a_person_reads_local_times(talk: Memory, run: Run) -> None:
    shown = run("show", ID, **PLACE).stdout
    assert "when:  2026-02-08 19:30\n" in shown
    assert "1\t2026-02-08 19:30\tturn-0001\tWhich queue do we take?\n" in shown
    listed = run("list", **PLACE).stdout
    assert listed.startswith("2026-02-08\tconversation\t")
    assert "2026-02-08 19:30, user" in run("history", ID, **PLACE).stdout
    recalled = run("recall", "which queue", "--text", **PLACE).stdout
    assert "   2026-02-08 19:30 · " in recalled


def test_what_is_written_out_has_local_days(talk: Memory, run: Run) -> None:
    exported = run("export", **PLACE).stdout
    assert "1 memory, from 2026-02-08 to 2026-02-08. Written on " in exported
    assert (
        "- [The Postgres queue](#m-3f0c9a2e-6f0b-4d55-9c5e-0f5f6a1b2c3d) · 2026-02-08\n"
        in exported
    )
    assert "\n\n2026-02-08 · trust: user · file: " in exported


def test_statistics_and_the_graph_tell_local_days(talk: Memory, run: Run) -> None:
    assert "\nfrom 2026-02-08 to 2026-02-08; " in run("stats", **PLACE).stdout
    run("entity", "add", "Postgres", **PLACE)
    tree = run("graph", "Postgres", **PLACE).stdout
    assert "2026-02-08  The Postgres queue  3f0c9a2e" in tree
    graph = json.loads(run("graph", "Postgres", "--format", "json", **PLACE).stdout)
    assert graph["memories"] == {ID: {"title": "The Postgres queue", "at": AT}}


def test_a_program_gets_utc(talk: Memory, run: Run) -> None:
    answer = json.loads(run("recall", "queue", "--text", "--json", **PLACE).stdout)
    assert [(hit["at"], hit["changed_at"]) for hit in answer["hits"]] == [(AT, AT)]
    counted = json.loads(run("stats", "--json", **PLACE).stdout)
    assert (counted["oldest"], counted["newest"]) == (AT, AT)
    (version,) = json.loads(run("history", ID, "--json", **PLACE).stdout)
    assert version["created_at"] == AT


@pytest.mark.parametrize(
    ("asked", "is_found"),
    [
        ("what did we do on 8 February 2026?", True),
        ("what did we do on 8 February 2026 in the evening?", True),
        ("what did we do on 9 February 2026?", False),
    ],
)
def test_days_of_a_question_are_those_that_are_shown(
    talk: Memory, run: Run, asked: str, is_found: bool
) -> None:
    assert (run("recall", asked, "--text", **PLACE).returncode == 0) is is_found
