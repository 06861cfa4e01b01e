"""Which statements of a conversation answer a question, and how many of them are told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from keeplore.capture.distill.held_statements import held_statements
from keeplore.index import Embedder, Index, embedder_for
from keeplore.recall.answer import recall
from keeplore.recall.prepare import RecallDeps
from keeplore.recall.prompt_context import for_prompt
from keeplore.recall.question import parse_question
from keeplore.recall.request import (
    HeldStatement,
    RecallRequest,
    SearchScope,
)
from keeplore.recall.statements.told_statements import (
    CHARS_A_LINE,
    FEATURE_WEIGHTS,
    _fitting,
    answer_features,
    answer_odds,
    best_lines,
)
from keeplore.recall.weights import EXCERPT_CHARS, WEIGHTS
from keeplore.store import Store

HERE = SearchScope("shop")
TALK = (
    ("How shall invoices be sent?", "By a queue in Postgres, with SKIP LOCKED."),
    (
        "The printer on the third floor hums. What is that?",
        "The humming comes from a worn fan. Oil on its bearing keeps the fan silent for long.",
    ),
    ("Where do the templates live?", "Templates live in src/mail/templates."),
)
QUEUE = HeldStatement("Invoices go through a queue in Postgres.", "a", 0, 0.0)
REASON = HeldStatement("It locks no rows of other workers.", "a", 0, 0.0)
MAILS = HeldStatement("Failed mails are tried again after ten minutes.", "b", 1, 0.0)
Built = Callable[..., tuple[Index, Store]]


@pytest.mark.parametrize("model", ["packaged", None])
def test_what_answers_comes_first_also_where_the_head_does_not_have_it(
    model: str | None,
    workspace_of: Built,
    memory_builders: SimpleNamespace,
    tmp_path: Path,
) -> None:
    embedder: Embedder | None = embedder_for(model, tmp_path) if model else None
    memory = memory_builders.conversation(
        "mails", "2026-03-01", "Invoice mails", TALK, project="shop"
    )
    head = "## Outcome\n\n- Templates live in src/mail/templates. — assistant, turn mails-turn-2\n"
    body = memory.body.replace("\n## Exchanges\n", f"\n{head}\n## Exchanges\n")
    index, store = workspace_of([replace(memory, body=body)], embedder)
    index.refresh()
    if embedder:
        index.embed_pending()
    deps = RecallDeps(index, store, embedder, held=held_statements)
    asked = RecallRequest("what keeps the fan of the printer silent")
    hit = recall(deps, asked, HERE).hits[0]
    assert (hit.passage.split("\n")[0], hit.turn) == (
        "Oil on its bearing keeps the fan silent for long.",
        "mails-turn-1",
    )
    assert len(hit.passage) <= EXCERPT_CHARS
    by_exchange = recall(deps, replace(asked, by_exchange=True), HERE).hits[0]
    assert by_exchange.passage.startswith("User: The printer on the third floor hums.")
    beside = for_prompt(0.0, already=())
    unasked = replace(asked, filter=beside)
    told = recall(deps, unasked, HERE).hits[0]
    assert (told.passage, told.turn) == (hit.passage, hit.turn)
    seen = replace(beside, is_shown=lambda text: text == hit.passage)
    other = recall(deps, replace(asked, filter=seen), HERE).hits[0]
    assert other.memory_id == hit.memory_id and other.passage != hit.passage
    quick = replace(deps, held=None)
    assert other.passage == recall(quick, unasked, HERE).hits[0].passage


def test_a_statement_gains_by_rare_words_of_the_question_and_by_its_neighbours() -> (
    None
):
    question = parse_question("which queue do invoices go through")
    held = (QUEUE, REASON, MAILS)
    features = [
        dict(row) for row in answer_features(held, question, {"a": 0.5, "b": 0.1})
    ]
    assert [round(row["asked"], 1) for row in features] == [1.0, 0.0, 0.0]
    assert [round(row["asked beside"], 1) for row in features] == [0.0, 1.0, 0.0]
    assert [round(row["behind"], 2) for row in features] == [0.0, 0.0, -0.4]
    scores = answer_odds(held, question, {"a": 0.5, "b": 0.1})
    assert scores[0] > scores[1] > scores[2]


def test_a_statement_in_other_words_than_the_question_comes_before_others() -> None:
    question = parse_question("how was the crash at startup repaired?")
    fix = replace(
        MAILS, text="The failure on launch is fixed by taking the lock first."
    )
    held = (QUEUE, REASON, MAILS, fix)
    scores = answer_odds(held, question, {})
    assert max(scores) == scores[3]


@pytest.mark.parametrize(
    ("change", "feature", "value"),
    [
        ({"is_decision": True}, "decided", 1.0),
        ({"is_pasted": True}, "pasted", 1.0),
        ({"text": "Postgres."}, "few words", 1.0),
        ({"text": "words " * 50}, "long", 1.0),
        ({"salience": -0.5}, "salience", -0.5),
    ],
)
def test_each_mark_of_a_statement_has_its_weight(
    change: dict[str, object], feature: str, value: float
) -> None:
    changed = replace(QUEUE, **change)  # type: ignore[arg-type]
    [row] = answer_features([changed], parse_question("the queue"), {})
    assert dict(row)[feature] == value and feature in FEATURE_WEIGHTS


def test_as_many_lines_are_told_as_there_is_room_for_without_the_unlikely_and_the_slight() -> (
    None
):
    long = replace(MAILS, text="x" * EXCERPT_CHARS)
    slight = replace(MAILS, text="Ready for merge!")
    empty = replace(MAILS, text="Does this look right?")
    held = (slight, empty, QUEUE, QUEUE, long, REASON, MAILS)
    far = 5.0 - WEIGHTS.beside_best - 0.1
    scores = [4.0, 4.0, 5.0, 2.0, 4.5, 3.0, far]
    assert best_lines([*zip(held, scores, strict=True)], WEIGHTS, EXCERPT_CHARS) == [
        (QUEUE.text, "a"),
        (REASON.text, "a"),
    ]
    assert best_lines([(slight, 0.0)], WEIGHTS, EXCERPT_CHARS) == [(slight.text, "b")]
    assert best_lines([], WEIGHTS, EXCERPT_CHARS) == []


def test_a_short_line_stands_behind_what_was_said_before_it_in_its_message() -> None:
    named = replace(QUEUE, text="RabbitMQ or a table in Postgres would do.")
    short = replace(QUEUE, text="Let's take something simple, boring and proven.")
    of_other = replace(MAILS, text="Retries are shown in red.")
    told = [(named, 1.0), (short, 5.0), (MAILS, 1.1), (of_other, 4.0), (REASON, 2.0)]
    lines = best_lines(told, WEIGHTS, EXCERPT_CHARS)
    assert [text for text, _ in lines][:4] == [
        named.text,
        short.text,
        MAILS.text,
        of_other.text,
    ]
    alone = [(named, 1.0), (replace(short, message=1), 5.0)]
    assert best_lines(alone, WEIGHTS, EXCERPT_CHARS)[0][0] == short.text


def test_a_line_that_points_back_stands_behind_what_was_said_before_it() -> None:
    commit = replace(QUEUE, text="`6d61daaa` finds commits in the middle of a session.")
    text = "That's the commit which rewrites the worktree's index beside every hook."
    pointing = replace(QUEUE, text=text)
    lines = best_lines([(commit, -9.0), (pointing, 5.0)], WEIGHTS, EXCERPT_CHARS)
    assert [text for text, _ in lines] == [pointing.text]
    pointing = replace(pointing, points_back=True)
    lines = best_lines([(commit, -9.0), (pointing, 5.0)], WEIGHTS, EXCERPT_CHARS)
    assert [text for text, _ in lines] == [commit.text, pointing.text]


def test_a_short_item_stands_behind_the_line_that_introduces_its_list() -> None:
    lead = "The hook names cannot be merged because:"
    items = [
        replace(QUEUE, text="Agents name one action differently.", lead=lead),
        replace(QUEUE, text="Each settings file expects its own.", lead=lead),
    ]
    told = [(REASON, -9.0), (items[0], 5.0), (items[1], 4.0)]
    lines = best_lines(told, WEIGHTS, EXCERPT_CHARS)
    assert lines == [(text, "a") for text in (lead, items[0].text, items[1].text)]
    bare = [(replace(one, lead="Why:"), odds) for one, odds in told[1:]]
    lines = best_lines([told[0], *bare], WEIGHTS, EXCERPT_CHARS)
    assert [text for text, _ in lines] == [
        REASON.text,
        items[0].text,
        items[1].text,
    ]


def test_of_many_short_lines_some_are_told() -> None:
    held = [
        replace(QUEUE, text=f"Queue {name} holds paid invoices.") for name in "ABCDEFGH"
    ]
    lines = best_lines([(one, 1.0) for one in held], WEIGHTS, EXCERPT_CHARS)
    assert lines == [
        (one.text, one.turn) for one in held[: EXCERPT_CHARS // CHARS_A_LINE]
    ]


def test_a_question_that_code_alone_answers_is_told_with_the_code(
    workspace_of: Built, memory_builders: SimpleNamespace
) -> None:
    code = '```json\n{\n  "summarize": {"enabled": true}\n}\n```'
    asked = "Which setting switches the nightly summaries on?"
    talk = ((asked, f"In `.nightly.json`:\n\n{code}"),)
    memory = memory_builders.conversation(
        "summaries", "2026-03-01", "Switch summaries on", talk, project="shop"
    )
    index, store = workspace_of([memory], None)
    index.refresh()
    deps = RecallDeps(index, store, None, held=held_statements)
    for limit in (1, 5):
        request = RecallRequest("How do I enable summaries every night?", limit=limit)
        [hit] = recall(deps, request, HERE).hits
        assert asked in hit.passage and hit.passage.endswith(code)


ASKED = HeldStatement("Where are paid invoices queued?", "a", 0, 0.0)
ANSWERED = HeldStatement("In Postgres.", "a", 1, 0.0)
MORE = HeldStatement("The table is called invoice_jobs in there.", "a", 1, 0.0)


def test_a_question_at_the_beginning_has_the_likeliest_of_its_answer_behind_it() -> (
    None
):
    far = -WEIGHTS.beside_best - 1.0
    told = [(ASKED, 0.0), (MAILS, -1.0), (ANSWERED, far - 1.0), (MORE, far)]
    lines = best_lines(told, WEIGHTS, EXCERPT_CHARS)
    assert lines == [(one.text, one.turn) for one in (ASKED, MORE, MAILS)]


def test_a_question_whose_answer_is_told_anyway_gets_no_more() -> None:
    told = [(ASKED, 0.0), (MAILS, -1.0), (MORE, -2.0), (QUEUE, -9.0)]
    lines = best_lines(told, WEIGHTS, EXCERPT_CHARS)
    assert lines == [(one.text, one.turn) for one in (ASKED, MAILS, MORE)]


def test_a_question_has_what_the_person_decided_on_it_in_the_next_message_behind_it() -> (
    None
):
    settled = HeldStatement(
        "We stay with the old table.", "b", 2, 0.0, is_decision=True
    )
    unrelated = HeldStatement("Let's ship on Friday.", "c", 4, 0.0, is_decision=True)
    far = -WEIGHTS.beside_best - 1.0
    told = [(ASKED, 0.0), (MORE, -1.0), (settled, far), (unrelated, far)]
    lines = best_lines(told, WEIGHTS, EXCERPT_CHARS)
    assert lines == [(one.text, one.turn) for one in (ASKED, settled, MORE)]
    # a statement that is no question has none
    told = [(QUEUE, 0.0), (replace(settled, message=2), far)]
    assert best_lines(told, WEIGHTS, EXCERPT_CHARS) == [(QUEUE.text, QUEUE.turn)]


def test_a_line_that_another_one_holds_is_not_told_again() -> None:
    pick = replace(MAILS, text=f"{ASKED.text} → Postgres, with SKIP LOCKED")
    told = [(pick, 0.0), (ASKED, -1.0), (REASON, -2.0)]
    lines = best_lines(told, WEIGHTS, EXCERPT_CHARS)
    assert lines == [(one.text, one.turn) for one in (pick, REASON)]


def test_what_answers_the_same_question_is_told_without_the_question(
    workspace_of: Built, memory_builders: SimpleNamespace
) -> None:
    talk = [("Where are sessions stored?", "Let me look. In Postgres, user_sessions.")]
    memory = memory_builders.conversation(
        "sessions", "2026-03-01", "Sessions", talk, project="shop"
    )
    index, store = workspace_of([memory])
    index.refresh()
    deps = RecallDeps(index, store, held=held_statements)
    hit = recall(deps, RecallRequest("where are sessions stored"), HERE).hits[0]
    assert hit.passage == "In Postgres, user_sessions."


RANKED = {
    "a": "Deploys to the shop happen on Tuesdays after the tests are green.",
    "b": "Does this look right?",
    "c": "Deploys to the shop happen on Tuesdays",
    "d": "Invoices are rounded once for each line of them.",
    "e": "Redis went away.",
}


def test_what_fits_is_told_once_and_nothing_slight_behind_it() -> None:
    ranked = [HeldStatement(text, name, 0, 0.0) for name, text in RANKED.items()]
    fitting = {}
    for room in range(400):
        told = "".join(one.turn for one in _fitting(ranked, room))
        fitting.setdefault(told, room)
    slight_first = [one.turn for one in _fitting(ranked[1::-1], 400)]
    assert fitting == {"": 0, "b": 60, "a": 66, "ad": 120}
    assert slight_first == ["b", "a"]


def test_a_sentence_that_leads_to_a_command_is_told_with_it(
    workspace_of: Built, memory_builders: SimpleNamespace
) -> None:
    reply = (
        "To install the tools again, clear the state of the scripts:\n\n"
        "```bash\n# once\n$ dots state clear\ndots apply\n```\n\n"
        "Let me look at the file:\n\n```bash\ncat tools.toml\n```"
    )
    talk = (("the tools are gone, how do I get them back?", reply),)
    memory = memory_builders.conversation(
        "tools", "2026-03-01", "Install the tools again", talk, project="shop"
    )
    index, store = workspace_of([memory], None)
    index.refresh()
    deps = RecallDeps(index, store, None, held=held_statements)
    request = RecallRequest("How are the tools installed again?", limit=1)
    [hit] = recall(deps, request, HERE).hits
    assert hit.passage.splitlines()[0] == (
        "To install the tools again, clear the state of the scripts: "
        "`dots state clear`, `dots apply`"
    )
    assert "cat tools.toml" not in hit.passage
