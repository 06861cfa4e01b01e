"""Questions that are only a time, through real files and the index."""

from dataclasses import replace
from datetime import UTC, date, datetime

import pytest

from keeplore.recall.answer import recall
from keeplore.recall.prepare import RecallDeps
from keeplore.recall.request import RecallRequest, ResultFilter, SearchScope
from keeplore.recall.time_questions import period_of

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)  # a Saturday
HERE = SearchScope("api")
LAST_WEEK = "what did we do last week?"


@pytest.fixture
def ask(workspace_of, memory_builders):
    note, talk = memory_builders.note, memory_builders.conversation
    said = [("Shall we look at the queue?", "It holds forty jobs.")]
    prices = [("How long do we keep prices?", "We keep prices for a minute.")]
    memories = [
        talk("queue", "2026-11-12", "Length of the queue", said, project="api"),
        talk("cache", "2026-11-11", "Cache of "
                                    "prices", prices, project="api", decided="We keep prices for a minute."),
        note("lint", "2026-11-10", "Lint runs before each commit", "We agreed on "
                                                                   "lint.", project="api"),
        note(
            "sql", "2026-11-09", "Plain SQL, no ORM", "We write plain SQL.",
            project="api", category="architectural-decisions",
        ),
        note("old", "2026-11-08", "Logs are JSON", "Logs are JSON.", project="api"),
        note("web", "2026-11-12", "Buttons are round", "Buttons are round.", project="web"),
        note("all", "2026-11-13", "Answer in English", "Answer in English.", scope="workspace"),
        talk("later", "2026-11-18", "A word on deploys", said, project="api", session="second"),
        talk("moved", "2026-11-19", "Menus move", [("Where to?", "To the left.")], project="web", session="third"),
        note("web2", "2026-06-03", "Menus are flat", "Menus are flat.", project="web"),
    ]  # fmt: skip
    index, store = workspace_of(memories)

    def answer(query: str, **how: object):
        now = how.pop("now", NOW)
        return recall(
            RecallDeps(index, store), RecallRequest(query, **how), HERE, now=now
        )

    return answer


def titles(answer) -> list[str]:
    return [hit.title for hit in answer.hits]


def test_a_time_alone_is_answered_with_what_is_from_then_decisions_and_notes_first(
    ask,
) -> None:
    found = ask(LAST_WEEK)
    assert titles(found) == [
        "Lint runs before each commit", "Plain SQL, no ORM", "Answer in English", "Cache of prices",
        "Length of the queue",
    ]  # fmt: skip
    assert (found.status, found.legs) == ("found", ("text",))
    assert found.notes == (
        "asked for a time alone: what is from 2026-11-09 to 2026-11-15, decisions and notes first",
    )
    shorter = ask("and on 12 November?", limit=1)
    assert titles(shorter) == ["Length of the queue"]


def test_decisions_of_a_time_are_shown_by_what_was_decided(ask) -> None:
    found = ask("what did we decide on 2026-11-11")
    assert titles(found) == ["Cache of prices"]
    assert "We keep prices for a minute." in found.hits[0].passage


@pytest.fixture
def built(memory_builders):
    """A conversation with a decision at its end and something left open."""
    said = [
        ("Which queue for jobs?", "A list or a table."),
        ("A table.", "It is made."),
    ]
    return memory_builders.conversation(
        "queue", "2026-11-12", "Queue of jobs", said,
        project="api", decided="A table.", open_questions=["Who empties it at night?"],
    )  # fmt: skip


def asked_of(workspace, query: str) -> list[str]:
    """What is shown of conversations."""
    deps = RecallDeps(*workspace)
    hits = recall(deps, RecallRequest(query), HERE, now=NOW).hits
    return [hit.passage for hit in hits if hit.kind == "conversation"]


def test_a_conversation_of_a_time_is_shown_by_what_came_of_it(
    workspace_of, memory_builders, built
) -> None:
    workspace = workspace_of([built])
    assert asked_of(workspace, LAST_WEEK) == ["A table.\nWho empties it at night?"]
    assert asked_of(workspace, "what did we decide last week?") == ["A table."]


def test_what_a_note_beside_it_states_is_not_shown_of_a_conversation(
    workspace_of, memory_builders, built
) -> None:
    note = memory_builders.note(
        "table", "2026-11-12", "Where jobs wait", "A table.", project="api"
    )
    decided = "- A table. — assistant, turn queue-turn-1\n"
    both = decided + decided.replace("A table", "Two clerks read jobs in turn")
    assert decided in built.body
    talk = replace(built, body=built.body.replace(decided, both))
    assert asked_of(workspace_of([talk, note]), LAST_WEEK) == [
        "Two clerks read jobs in turn.\nWho empties it at night?"
    ]


def test_of_a_longer_conversation_only_what_came_of_it_in_the_time_is_shown(
    workspace_of, built
) -> None:
    later = replace(built, body=built.body.replace("12T10:07", "20T10:07"))
    said = (
        "## Context\n\n- Which queue for jobs? — user, turn queue-turn-0\n\n## Decision"
    )
    later = replace(later, body=later.body.replace("## Decision", said))
    workspace = workspace_of([later])
    assert asked_of(workspace, LAST_WEEK) == ["Which queue for jobs?"]


def test_more_than_fits_is_told_with_the_command_that_lists_it(ask) -> None:
    assert (
        ask(LAST_WEEK, limit=2)
        .notes[0]
        .endswith("; 3 others: `keeplore list --since 2026-11-09 --before 2026-11-16`")
    )


def test_a_time_without_memory_is_told_and_other_projects_are_asked_as_ever(
    ask,
) -> None:
    nothing = ask("what happened yesterday?")
    assert (nothing.hits, nothing.status) == ((), "nothing")
    assert nothing.notes == ("nothing in memory is from 2026-11-20",)
    widened = ask("what did we do in June?")
    assert titles(widened) == ["Menus are flat"]
    assert (
        widened.notes[1]
        == "little was found here, so the other projects were asked too"
    )


def test_every_exchange_of_a_time_is_given_where_exchanges_are_asked_for(ask) -> None:
    assert [hit.turn for hit in ask("what did we talk about last week", by_exchange=True).hits] == [
        "cache-turn-0", "queue-turn-0",
    ]  # fmt: skip


def test_a_session_is_a_time(ask) -> None:
    assert "A word on deploys" in titles(ask("what did we do in our last session?"))
    assert titles(ask("what happened in the 99th session?")) == []
    everywhere = ask("what did we do in our last session?", wide=True)
    assert titles(everywhere) == ["Menus move"]


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("what did we do 2 sessions ago?", {"Length of the queue"}),
        ("the last two sessions", {"A word on deploys"}),
        ("sessions 1 through 2", {"Cache of prices", "Length of the queue"}),
        # as many of them as there are
        ("the last nine sessions", {"Cache of prices", "A word on deploys"}),
        ("sessions 2 to 99", {"A word on deploys"}),
        ("sessions 98 to 99", set()),
    ],
)
def test_sessions_are_counted_from_either_end(ask, asked: str, found: set[str]) -> None:
    # the newest and the one before it say the same, which is told once
    talks = {"Cache of prices", "Length of the queue", "A word on deploys"}
    assert talks & set(titles(ask(asked, limit=20))) == found


def test_words_for_a_time_alone_bring_nothing_unasked(ask) -> None:
    assert (
        ask(LAST_WEEK, filter=ResultFilter(0.1, is_unasked=True), at_once=True).hits
        == ()
    )


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("what did we work on between 3 July and 5 July", "2026-07-03 to 2026-07-05"),
        ("what did we do from 3 July until 5 July?", "2026-07-03 to 2026-07-05"),
        ("what have we been doing lately", "2026-11-07 to 2026-11-21"),
        ("what did we do on Monday", "2026-11-16"),
        ("and Tuesday?", "2026-11-17"),
        ("summarize the last 3 days", "2026-11-18 to 2026-11-21"),
        ("what was decided a couple of days ago", "2026-11-19"),
        ("what did we do before 3 July", "the beginning to 2026-07-02"),
        ("what did we do last weekend", "2026-11-14 to 2026-11-15"),
        ("what's new since yesterday", "2026-11-20 to 2026-11-21"),
        ("what did Marek and I do yesterday?", "2026-11-20"),
    ],
)
def test_a_question_of_everything_is_one_of_its_time(asked: str, told: str) -> None:
    assert str(period_of(asked, None, date(2026, 11, 21))) == told


@pytest.mark.parametrize(
    "asked",
    [
        "what did we decide about Redis last week",
        "when did we meet in May",
        "what did Tim do in May",
        "fix the bug from yesterday",
        "what now?",
    ],
)
def test_a_question_with_words_of_its_own_or_without_a_time_is_none(asked: str) -> None:
    assert period_of(asked, None, date(2026, 11, 21)) is None


@pytest.mark.parametrize(
    ("query", "found"),
    [
        (
            "what have we decided since the lint?",
            "A word on deploys; Answer in English; Cache of prices; Lint runs before each commit",
        ),
        (
            "what happened in the day after we agreed on lint?",
            "Cache of prices; Lint runs before each commit",
        ),
        (
            "what did we agree on before the lint?",
            "Lint runs before each commit; Logs are JSON; Plain SQL, no ORM",
        ),
    ],
)
def test_a_time_is_also_named_by_what_happened_then(
    ask, query: str, found: str
) -> None:
    assert "; ".join(sorted(titles(ask(query)))) == found


@pytest.mark.parametrize(
    "query",
    [
        "what have we decided since the moon landing?",
        "what did we use before the lint?",
    ],
)
def test_an_event_that_nobody_spoke_of_names_no_time(ask, query: str) -> None:
    assert not any("asked for a time alone" in note for note in ask(query).notes)
