"""A question that was asked before and not answered does not stand in the place of its answer."""

from __future__ import annotations

import pytest

from keeplore.index import PassageRow
from keeplore.recall.answer import recall
from keeplore.recall.prepare import RecallDeps
from keeplore.recall.question import parse_question
from keeplore.recall.repeated_questions import is_unanswered, repeats
from keeplore.recall.request import RecallRequest, SearchScope

QUESTION = "Which separator do our CSV exports have?"
NOTHING = "I could not find anything about the separator of CSV exports."


def passage(text: str, kind: str = "exchange", title: str = QUESTION) -> PassageRow:
    return PassageRow(1, "mem_1", "a.md", kind, "t1", "", text, title)


@pytest.mark.parametrize(
    "text",
    [
        f"User: {QUESTION}",
        f"User: {QUESTION}\n\nAssistant: ?",
        f"User: {QUESTION}\n\nAssistant: {NOTHING}",
        f"User: /keeplore-recall {QUESTION}\n\nAssistant: There is no memory of it.",
        (
            "User: what separator do the CSV exports have\n\nAssistant: Nothing was found, so I "
            "cannot "
            "say."
        ),
    ],
)
def test_the_same_question_without_an_answer_is_an_echo(text: str) -> None:
    assert is_unanswered(passage(text), parse_question(QUESTION))


@pytest.mark.parametrize(
    "text",
    [
        f"User: {QUESTION}\n\nAssistant: Semicolons.",
        f"User: {QUESTION}\n\nAssistant: 5433",
        f"User: {QUESTION}\n\nAssistant: {NOTHING} "
        + "The exporter itself writes semicolons since May. " * 10,
        "User: Our CSV exports have a semicolon as separator.",
        "User: CSV exports have our separator.\n\nAssistant: ok",
        "User: Commas or semicolons?\n\nAssistant: Semicolons.",
        f"User: {QUESTION[:-1]}, commas or semicolons?\n\nAssistant: Semicolons.",
        "User: Do our CSV exports have a separator?\n\nAssistant: Yes.",
        "User: Which encoding do the exports have?\n\nAssistant: UTF-8.",
        "Assistant: Which separator do our CSV exports have?",
    ],
)
def test_an_answer_and_a_statement_are_none(text: str) -> None:
    assert not is_unanswered(passage(text), parse_question(QUESTION))


@pytest.mark.parametrize(
    "text",
    [
        "User: Which encoding do the exports have?",
        "User: What did we decide about the encoding?\n\nAssistant: I don't recall that.",
        f"User: {QUESTION}\n\nAssistant: You want the separator of our CSV exports.",
    ],
)
def test_a_question_that_nobody_answered_answers_no_other_one(text: str) -> None:
    assert is_unanswered(passage(text), parse_question(QUESTION))


@pytest.mark.parametrize("speaker", ["Ella", "Mary-Ann O'Neill"])
def test_among_people_with_names_the_next_one_may_answer(speaker: str) -> None:
    asked = f"User: {speaker}: Have you taken UTF-8 for the exports?"
    assert not is_unanswered(passage(asked), parse_question(QUESTION))


def test_a_long_prompt_tells_something_by_itself() -> None:
    prompt = (
        "User: The export job of the nightly batch writes its files with commas and Excel in "
        "Germany shows one column where the decimal commas are, could you look into that?"
    )
    assert not is_unanswered(passage(prompt), parse_question(QUESTION))


def test_a_statement_is_an_echo_where_it_is_the_question() -> None:
    question = parse_question(QUESTION)
    assert is_unanswered(passage(QUESTION, "statement"), question)
    assert not is_unanswered(
        passage("CSV exports have a semicolon as separator.", "statement"), question
    )
    assert not is_unanswered(passage("Semicolons?", "statement"), question)


def test_a_head_is_an_echo_where_it_only_lists_the_question() -> None:
    question = parse_question(QUESTION)
    assert is_unanswered(passage(f"Open questions\n- {QUESTION}", "head"), question)
    assert is_unanswered(passage("", "head"), question)
    assert not is_unanswered(
        passage(
            f"Decision\n- We take semicolons.\nOpen questions\n- {QUESTION}", "head"
        ),
        question,
    )
    assert not is_unanswered(
        passage("", "head", "Semicolons separate CSV exports"), question
    )
    assert not is_unanswered(passage("", "section"), question)


def test_the_note_comes_before_the_questions_and_equal_ones_are_shown_once(
    workspace_of, memory_builders
) -> None:
    answer = (
        "Exports are written with a semicolon as the separator of columns in CSV files."
    )
    asked = [
        memory_builders.conversation(
            f"asked-{day}",
            f"2026-04-{day}",
            QUESTION,
            [(QUESTION, NOTHING)],
            project="kasha-api",
            session=f"s{day}",
        )
        for day in (10, 11, 12)
    ]
    note = memory_builders.note("csv", "2026-01-01", answer, answer, scope="workspace")
    index, store = workspace_of([*asked, note])
    index.refresh()
    hits = recall(
        RecallDeps(index, store), RecallRequest(QUESTION), SearchScope("kasha-api")
    ).hits
    assert hits[0].memory_id == note.id
    assert len(hits) <= 2


@pytest.mark.parametrize("has_vectors", [True, False])
def test_an_answer_comes_before_thirty_prompts_that_were_never_answered(
    workspace_of, memory_builders, embedder, has_vectors: bool
) -> None:
    forms = (
        "Which separator do our CSV exports have?",
        "what separator do the CSV exports have",
        "/ask which separator do our CSV exports have?",
    )
    asked = [
        memory_builders.conversation(
            f"asked-{n}",
            f"2026-04-{n % 28 + 1:02}",
            forms[n % 3],
            [(forms[n % 3], "")],
            project="kasha-api",
            session=f"s{n}",
        )
        for n in range(33)
    ]
    answer = memory_builders.conversation(
        "answer",
        "2026-02-01",
        "Excel in Germany",
        [
            (
                "Excel opens the export in one column",
                "CSV exports are written with a semicolon now.",
            )
        ],
        project="kasha-api",
    )
    model = embedder if has_vectors else None
    index, store = workspace_of([*asked, answer], model)
    index.refresh()
    if model:
        index.embed_pending()
    deps = RecallDeps(index, store, model)
    found = recall(deps, RecallRequest(QUESTION), SearchScope("kasha-api"))
    assert [hit.memory_id for hit in found.hits][:1] == [answer.id]
    assert not any(hit.score > 0.5 for hit in found.hits[1:])


def test_questions_alone_are_no_answer(workspace_of, memory_builders) -> None:
    asked = memory_builders.conversation(
        "asked", "2026-04-10", QUESTION, [(QUESTION, "")], project="kasha-api"
    )
    index, store = workspace_of([asked])
    index.refresh()
    found = recall(
        RecallDeps(index, store), RecallRequest(QUESTION), SearchScope("kasha-api")
    )
    assert (found.status, found.hits) == ("nothing", ())


def test_a_path_in_a_question_is_no_command_that_asks_it() -> None:
    asked = parse_question("Where do they go at night?")
    assert not repeats("Where do /exports go at night?", asked)
    assert repeats("/recall Where do they go at night?", asked)
