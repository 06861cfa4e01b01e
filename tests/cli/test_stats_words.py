"""What ``keeplore stats`` says, word for word: to a program, and to a person on a terminal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import click
import pytest

from keeplore.cli.commands.tidy import stats_
from keeplore.workspace.reading.statistics import Statistics

ONE = Statistics(
    workspace="memory",
    memories=1,
    permanent=1,
    archived=0,
    superseded=1,
    forgotten=0,
    waiting=0,
    open=1,
    chains=1,
    forks=0,
    by_scope={"project": 1},
    by_kind={"note": 1},
    by_category={},
    by_trust={"user": 1},
    by_project={"shop": 1},
    by_month={"2026-02": 1},
    oldest="2026-02-01T10:00:00Z",
    newest="2026-02-01T10:00:00Z",
    uses=1,
    used=1,
    passages=1,
    vectors=1,
    model="small",
    switch="",
    kept_vectors={},
    bytes_text=1,
    bytes_git=1,
    bytes_index=1,
)
MANY = replace(
    ONE,
    memories=1200,
    permanent=1100,
    archived=1300,
    superseded=1400,
    forgotten=1500,
    waiting=2,
    open=3,
    chains=1600,
    forks=1700,
    by_scope={"project": 1000, "workspace": 200},
    by_kind={},
    by_trust={},
    by_project={},
    by_month={},
    newest="2026-12-01T10:00:00Z",
    uses=2200,
    used=2100,
    passages=4000,
    vectors=3900,
    switch="the model large has 3 of 4 vectors",
)


@pytest.fixture
def terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[[], list[str]]:
    """The lines that a person has seen on a terminal, notes last."""
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setattr("_pytest.capture.CaptureIO.isatty", lambda _: True)

    def seen() -> list[str]:
        shown = capsys.readouterr()
        text = click.unstyle(shown.out + shown.err)
        return [line.rstrip() for line in text.splitlines()]

    return seen


def test_a_program_gets_counts_as_lines_with_tabs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    stats_.show_statistics(ONE)
    assert capsys.readouterr().out.splitlines() == [
        "memory: 1 memory, 1 of them permanent",
        "from 2026-02-01 to 2026-02-01; 1 is still being written",
        "0 archived, 1 earlier version, 0 forgotten",
        "1 chain of versions",
        "1 was of use to agents or opened, 1 time in all",
        "1 passage, 1 with a vector; embedding model: small",
        "scope\tproject\t1",
        "kind\tnote\t1",
        "trust\tuser\t1",
        "project\tshop\t1",
        "month\t2026-02\t1",
    ]


def test_a_person_gets_bars_as_long_as_the_counts_and_none_where_nothing_was_counted(
    terminal: Callable[[], list[str]],
) -> None:
    stats_.show_statistics(MANY)
    lines = terminal()
    assert lines == [
        "memory: 1,200 memories, 1,100 of them permanent",
        "from 2026-02-01 to 2026-12-01; 3 are still being written",
        "1,300 archived, 1,400 earlier versions, 1,500 forgotten",
        "1,600 chains of versions, 1,700 of them forked: see `keeplore doctor`",
        lines[4],
        "2,100 were of use to agents or opened, 2,200 times in all",
        "4,000 passages, 3,900 with a vector; embedding model: small",
        "the model large has 3 of 4 vectors",
        "",
        "scope      memories",
        f"project    1,000     {'▇' * 30}",
        f"workspace  200       {'▇' * 6}",
    ]
    assert lines[4].startswith("2 ")


def test_nothing_is_said_of_days_where_there_is_no_memory(
    capsys: pytest.CaptureFixture[str],
) -> None:
    stats_._show_memories(replace(ONE, memories=0, permanent=0))
    assert capsys.readouterr().out == "memory: 0 memories, 0 of them permanent\n"


@pytest.mark.parametrize("price", [0.5, None])
def test_what_was_done_is_counted_with_what_models_cost_and_how_fast_answers_came(
    capsys: pytest.CaptureFixture[str], price: float | None
) -> None:
    answers = {"what": "recall", "answers": 2, "p50_ms": 3, "p95_ms": 4, "p99_ms": 5}
    counts = {"turns": 1, "sessions": 0}
    found = {"since": "2026-02-01", "counts": counts, "answers": [answers]}
    stats_._show_activity({**found, "tokens": 7, "price": price})
    shown = capsys.readouterr()
    cost = [f"price\t{price}"] if price else []
    assert shown.out.splitlines() == [
        "On this machine since 2026-02-01:",
        "turns\t1",
        "sessions\t0",
        "tokens of models\t7",
        *cost,
        "recall\t2\t3\t4\t5",
    ]
    assert shown.err == ""


def test_it_is_told_where_nothing_was_counted_and_what_columns_hold(
    terminal: Callable[[], list[str]],
) -> None:
    answers = {"what": "recall", "answers": 2, "p50_ms": 3, "p95_ms": 4, "p99_ms": 5}
    found = {"since": "2026-02-01", "counts": {"turns": 0}, "answers": [answers]}
    stats_._show_activity({**found, "tokens": 0, "price": 0.0})
    assert terminal() == [
        "On this machine since 2026-02-01:",
        "                  number",
        "turns             0",
        "tokens of models  0",
        "price             0.0",
        "answers  number  50 % within, ms  95 % within, ms  99 % within, ms",
        "recall   2       3                4                5",
        "note: nothing was counted; the worker does so, and writes once a minute",
    ]


def test_sizes_are_told_with_the_vectors_of_each_model(
    capsys: pytest.CaptureFixture[str],
) -> None:
    sizes = replace(
        ONE,
        bytes_text=2_000,
        bytes_git=3_000,
        bytes_index=4_000,
        kept_vectors={"small": 1_000, "large": 5_000_000},
    )
    stats_._show_sizes(sizes, {"bytes_cache": 6_000, "bytes_state": 7_000})
    assert capsys.readouterr().out.splitlines() == [
        "text\t2 kB",
        "git\t3 kB",
        "index\t4 kB",
        "index, vectors by small\t1 kB",
        "index, vectors by large\t5.0 MB",
        "cache, all workspaces\t6 kB",
        "inbox\t7 kB",
    ]
