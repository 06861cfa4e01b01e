"""What a conversation answers with: its statements, the best one first, or what was said."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest

from keeplore.index import Embedder, Index, embedder_for
from keeplore.index.passages import STATEMENTS as STATEMENT_KINDS
from keeplore.index.rows import PassageRow
from keeplore.memory import Memory
from keeplore.recall.answer import recall
from keeplore.recall.prepare import RecallDeps
from keeplore.recall.request import RecallHit, RecallRequest, SearchScope
from keeplore.recall.statements.head_statements import _lines_within
from keeplore.store import Store

HERE = SearchScope("shop")
NOW = datetime(2026, 4, 1, tzinfo=UTC)
TALK = (
    ("How shall invoices be sent?", "By a queue in Postgres, with SKIP LOCKED."),
    ("And what about failed mails?", "They are tried again after ten minutes."),
    (
        "The printer on the third floor hums. What is that?",
        "The humming comes from a worn fan; oil on its bearing keeps it silent for long.",
    ),
    ("Where do the templates live?", "Templates live in src/mail/templates."),
)
STATEMENTS = (
    "By a queue in Postgres, with SKIP LOCKED.",
    "They are tried again after ten minutes.",
    "Templates live in src/mail/templates.",
)
Built = Callable[..., tuple[Index, Store]]


@pytest.fixture(params=["vectors", "text"])
def asked(
    request: pytest.FixtureRequest,
    workspace_of: Built,
    memory_builders: SimpleNamespace,
    tmp_path: Path,
) -> Callable[..., RecallHit]:
    """The first hit for a question about one conversation, with vectors and without."""
    embedder: Embedder | None = None
    if request.param == "vectors":
        embedder = embedder_for("packaged", tmp_path)
    index, store = workspace_of([_talk(memory_builders)], embedder)
    index.refresh()
    if embedder:
        assert index.embed_pending() == 0

    def ask(query: str, **options: bool) -> RecallHit:
        wanted = RecallRequest(query, **options)  # type: ignore[arg-type]
        deps = RecallDeps(index, store, embedder)
        return recall(deps, wanted, HERE, now=NOW).hits[0]

    return ask


def _talk(build: SimpleNamespace) -> Memory:
    lines = (
        f"- {text} — assistant, turn mails-turn-{turn}"
        for text, turn in zip(STATEMENTS, (0, 1, 3), strict=True)
    )
    return _headed(build, "## Outcome", *lines)


def _headed(build: SimpleNamespace, heading: str, *lines: str) -> Memory:
    memory: Memory = build.conversation(
        "mails", "2026-03-01", "Invoice mails", TALK, project="shop"
    )
    mark = "\n## Exchanges\n"
    assert mark in memory.body
    head = "\n".join((heading, "", *lines))
    return replace(memory, body=memory.body.replace(mark, f"\n{head}\n{mark}"))


@pytest.mark.parametrize(
    ("query", "first", "turn"),
    [
        ("when is a failed mail tried again", STATEMENTS[1], "mails-turn-1"),
        ("where do the mail templates live", STATEMENTS[2], "mails-turn-3"),
        ("is the queue for invoices in Postgres", STATEMENTS[0], "mails-turn-0"),
    ],
)
def test_the_statement_that_answers_comes_first_with_its_turn(
    asked: Callable[..., RecallHit], query: str, first: str, turn: str
) -> None:
    hit = asked(query)
    assert (hit.passage.split("\n")[0], hit.turn) == (first, turn)


def test_each_line_has_the_turn_that_it_is_from(
    asked: Callable[..., RecallHit],
) -> None:
    hit = asked(
        "which mails are sent by the queue and tried again, from which templates"
    )
    said = dict(zip(STATEMENTS, ("0", "1", "3"), strict=True))
    lines = hit.passage.split("\n")
    assert len(lines) == len(hit.turns) and len({*lines} & {*STATEMENTS}) > 1
    for line, turn in zip(lines, hit.turns, strict=True):
        if line in said:
            assert turn == f"mails-turn-{said[line]}"
        elif line:
            spoken = TALK[int(turn[-1])]
            assert line.removeprefix("User: ").removeprefix("Assistant: ") in spoken


def test_what_was_said_comes_first_where_no_statement_is_nearly_as_likely(
    asked: Callable[..., RecallHit],
) -> None:
    hit = asked("what keeps the humming fan of the printer silent, oil on its bearing")
    said = "User: {}\n\nAssistant: {}".format(*TALK[2])
    assert (hit.passage[: len(said)], hit.turn) == (said, "mails-turn-2")
    assert set(hit.passage[len(said) :].split("\n")) <= {"", *STATEMENTS}


def test_a_question_in_the_head_is_shown_with_its_reply(
    workspace_of: Built, memory_builders: SimpleNamespace
) -> None:
    asked, replied = TALK[1]
    line = f"- {asked} — user, turn mails-turn-1"
    memory = _headed(memory_builders, "## Context", line)
    index, store = workspace_of([memory])
    index.refresh()
    [row] = index.passages_of(memory.id, STATEMENT_KINDS)
    query = "and what about mails that failed at night"
    hit = recall(RecallDeps(index, store), RecallRequest(query), HERE, now=NOW).hits[0]
    assert (hit.passage, hit.turn) == (f"{asked}\n{replied}", row.turn)


def test_asked_for_exchanges_no_statement_is_shown(
    asked: Callable[..., RecallHit],
) -> None:
    hit = asked("when is a failed mail tried again", by_exchange=True)
    assert hit.passage.startswith("User: And what about failed mails?")


def test_a_passage_has_no_cosine_of_a_model_that_made_none(
    workspace_of: Built, memory_builders: SimpleNamespace, embedder: Embedder
) -> None:
    memory = _talk(memory_builders)
    index, _ = workspace_of([memory], embedder)
    index.refresh()
    index.embed_pending()
    rows = index.passages_of(memory.id, STATEMENT_KINDS)
    assert [row.text for row in rows] == list(STATEMENTS)
    ids, vector = [row.id for row in rows], embedder.embed(["failed mails"])[0]
    cosines = index.cosines(vector, [*ids, 10_000], model=embedder.fingerprint)
    assert (
        cosines.keys() == set(ids) and max(cosines, key=cosines.__getitem__) == ids[1]
    )
    assert index.cosines(vector, ids, model="another") == {}
    assert index.cosines(vector[:3], ids, model=embedder.fingerprint) == {}
    assert (
        index.passages_of("mem_00000000-0000-4000-8000-000000000000", STATEMENT_KINDS)
        == []
    )


def test_the_best_statements_are_taken_that_fit() -> None:
    rows = [
        PassageRow(number, "m", "p", "statement", f"t-{number}", "", "x" * size, "")
        for number, size in enumerate((10, 50, 20, 5))
    ]
    taken = {}
    for room in range(90):
        lines = _lines_within(room, rows)
        taken.setdefault("".join(turn[-1] for _, turn in lines), room)
    assert taken == {
        "": 0,
        "3": 6,
        "0": 11,
        "03": 17,
        "02": 32,
        "023": 38,
        "01": 62,
        "013": 68,
        "012": 83,
        "0123": 89,
    }
