"""Questions that name nothing, through real files and the index: the newest memories answer."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from keeplore.recall.answer import recall
from keeplore.recall.latest import LOOKED_AT, Aspect, asked_of_latest
from keeplore.recall.prepare import RecallDeps
from keeplore.recall.question import parse_question
from keeplore.recall.request import AnswerStatus, RecallRequest, SearchScope

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
TELLING = {
    Aspect.DECISIONS: [
        "what did we decide?",
        "which decisions did we make",
        "what were our last decisions?",
        "recent decisions",
        "was haben wir entschieden?",
        "qu'avons-nous décidé ?",
        "¿qué decidimos?",
        "o que decidimos?",
        "show me the latest decisions",
        "list all decisions",
        "quelles décisions avons-nous prises ?",
    ],
    Aspect.OPEN: [
        "what is still open?",
        "open questions",
        "what's left to do?",
        "what remains?",
        "was ist noch offen?",
        "what should I do next?",
        "what should we work on next?",
        "what's next?",
        "next steps",
        "what are we waiting for?",
        "what's on my todo list?",
        "are there any open questions?",
        "qu'est-ce qui reste ouvert ?",
        "¿qué queda pendiente?",
        "which bugs are open?",
        "what's left for today?",
        "what's on my plate?",
        "what's undecided?",
        "what do we still have to decide?",
        "what needs to be decided?",
        "what have we postponed?",
        "what did we put off?",
        "any unanswered questions?",
        "what must be done?",
        "welche Entscheidungen sind noch offen?",
        "was ist noch zu tun?",
        "qu'est-ce qui reste à faire ?",
        "¿qué queda por hacer?",
        "o que falta fazer?",
    ],
    Aspect.WORK: [
        "where did we leave off",
        "where did we stop",
        "what was I working on?",
        "what did we do last",
        "what's the status",
        "what did you change last time",
        "woran habe ich zuletzt gearbeitet?",
        "o que fizemos?",
        "what's going on?",
        "what's new?",
        "what have we been up to?",
        "where are we?",
        "wo waren wir?",
        "how far did we get?",
        "catch me up",
        "give me a summary",
        "let's continue where we left off",
        "what changed while I was away?",
        "what were we in the middle of?",
        "what came out of the last session?",
        "remind me where we were",
    ],
    Aspect.RULES: [
        "what are our rules?",
        "which rules apply here?",
        "do we have any conventions?",
        "what are we not allowed to do?",
        "what must I never do here?",
        "which conventions do we follow?",
        "welche Regeln gelten hier?",
    ],
    Aspect.PITFALLS: [
        "any gotchas I should know about?",
        "any pitfalls?",
        "what are the known issues?",
        "what should I avoid in this project?",
        "what mistakes did we make?",
        "list gotchas",
    ],
    Aspect.NOTED: [
        "what is this project about?",
        "what did I ask you to remember?",
        "what did we learn?",
        "what do you know about me?",
        "what do you know about this project?",
        "what do we know about us",
        "what do you remember?",
        "what should I know?",
        "tell me about this project",
        "lessons learned?",
        "anything I should know before I start?",
    ],
}


@pytest.mark.parametrize(
    ("question", "aspect"),
    [(text, aspect) for aspect, texts in TELLING.items() for text in texts],
)
def test_a_question_that_names_nothing_asks_for_the_latest(
    question: str, aspect: Aspect
) -> None:
    assert asked_of_latest(parse_question(question)) is aspect


@pytest.mark.parametrize(
    "question",
    [
        "what did we decide about the cache",
        "why did we decide",
        "who decided",
        "when did we stop",
        "what is the plan",
        "what's next to the menu?",
        "what are the rules for migrations?",
        "which naming conventions do we use?",
        "how do we name the next release?",
        "is Redis open source?",
        "what happened to Redis?",
        "what changed in the parser",
        "what do we use",
        "how do we work",
        "is it done?",
        "decision table",
        "what is open source",
        "what do you know about the cache?",
        "what did we decide today?",
        "what is the bug?",
        "what was the problem?",
        "why do we avoid this?",
        "who is allowed to deploy?",
        "what are the traps in the parser?",
        "what never changes?",
        "what do I need?",
        "what's broken?",
        "what do we know about this project's queue?",
        "work",
        "open",
        "continue",
        "",
    ],
)
def test_any_other_question_is_searched_for(question: str) -> None:
    assert asked_of_latest(parse_question(question)) is None


@pytest.fixture
def ask(workspace_of, memory_builders):
    note, talk = memory_builders.note, memory_builders.conversation
    prices = [("How long do we keep prices?", "We keep prices for a minute.")]
    queue = [("Which queue?", "A table.")]
    memories = [
        talk(
            "cache", "2026-11-11", "Cache of prices", prices,
            project="api", decided="We keep prices for a minute.",
        ),
        talk(
            "queue", "2026-11-12", "Queue of jobs", queue,
            project="api", decided="The queue is a table.",
        ),
        talk("deploys", "2026-11-18", "A word on deploys", queue, project="api"),
        note(
            "sql", "2026-11-09", "Plain SQL, no ORM", "We write plain SQL.",
            project="api", category="architectural-decisions",
        ),
        note(
            "lint", "2026-11-13", "Lint runs first", "Lint runs first.",
            project="api", category="project-conventions",
        ),
        note(
            "english", "2026-11-08", "Answer in English", "We answer in English.",
            scope="workspace", permanent=True,
        ),
        talk(
            "web", "2026-11-19", "Menus move", queue,
            project="web", decided="The menu goes to the left.",
        ),
    ]  # fmt: skip
    index, store = workspace_of(memories)

    def answer(query: str, project: str = "api", **how: object):
        scope = SearchScope(project)
        return recall(
            RecallDeps(index, store), RecallRequest(query, **how), scope, now=NOW
        )

    return answer


def test_what_was_decided_last_is_told_the_newest_first(ask) -> None:
    found = ask("what did we decide?")

    assert [(hit.title, hit.passage) for hit in found.hits] == [
        ("Queue of jobs", "The queue is a table."),
        ("Cache of prices", "We keep prices for a minute."),
        ("Plain SQL, no ORM", "We write plain SQL."),
    ]
    assert found.status is AnswerStatus.FOUND
    assert found.notes == (
        "the question names nothing: what was decided last; `keeplore list` lists all",
    )


def test_recently_is_no_reason_to_find_nothing(ask) -> None:
    titles = [hit.title for hit in ask("what did we decide recently?").hits]

    assert titles[:2] == ["Queue of jobs", "Cache of prices"]


def test_other_projects_are_asked_where_this_one_has_nothing(ask) -> None:
    found = ask("what did we decide?", "docs")

    assert found.hits[0].title == "Menus move"
    assert "so the other projects were asked too" in found.notes[-1]


def test_where_nothing_is_open_that_is_said(ask) -> None:
    found = ask("what is still open?")

    assert not found.hits
    assert found.notes[0] == ("the newest memories tell of nothing that was left open")


def test_more_are_told_where_more_are_asked_for(ask) -> None:
    assert len(ask("what did we decide?", wide=True, limit=8).hits) == 4


def test_what_is_known_are_the_notes_permanent_ones_first(ask) -> None:
    found = ask("what do you know about this project?")

    assert [(hit.title, hit.passage) for hit in found.hits] == [
        ("Answer in English", "We answer in English."),
        ("Lint runs first", "Lint runs first."),
        ("Plain SQL, no ORM", "We write plain SQL."),
    ]


def test_what_the_asking_session_did_itself_comes_behind_what_others_did(ask) -> None:
    def told(**how: object) -> list[str]:
        return [hit.title for hit in ask("where did we leave off?", **how).hits]

    assert told()[0] == "Queue of jobs"
    assert told(session="session-queue") == ["Cache of prices", "Queue of jobs"]


def test_rules_are_the_notes_of_what_is_usual(ask) -> None:
    found = ask("what are our rules?")

    assert [hit.title for hit in found.hits] == ["Lint runs first"]
    assert found.notes[0].startswith(
        "the question names nothing: what was noted as a rule"
    )


def test_traps_are_the_notes_of_gotchas(workspace_of, memory_builders) -> None:
    note = memory_builders.note
    memories = [
        note(
            "lock",
            "2026-11-12",
            "Migrations lock the table",
            "Migrations lock the table.",
            project="api",
            category="gotchas",
        ),
        note(
            "sql",
            "2026-11-13",
            "Plain SQL",
            "We write plain SQL.",
            project="api",
            category="project-conventions",
        ),
    ]
    deps = RecallDeps(*workspace_of(memories))
    asked = RecallRequest("any gotchas I should know about?")
    found = recall(deps, asked, SearchScope("api"), now=NOW)
    assert [hit.title for hit in found.hits] == ["Migrations lock the table"]


def test_where_no_note_answers_words_are_looked_for(
    workspace_of, memory_builders
) -> None:
    said = [("The rule is that nothing is merged on Fridays.", "I see to that.")]
    talk = memory_builders.conversation(
        "merge", "2026-11-12", "Merging", said, project="api"
    )
    deps = RecallDeps(*workspace_of([talk]))
    found = recall(
        deps, RecallRequest("what are our rules?"), SearchScope("api"), now=NOW
    )
    assert [hit.title for hit in found.hits] == ["Merging"]


def test_an_old_permanent_note_is_told_however_many_are_newer(
    workspace_of, memory_builders
) -> None:
    note = memory_builders.note
    old = note("old", "2026-01-02", "Speak plainly", "Speak plainly.", project="api", permanent=True)  # fmt: skip
    newer = [
        note(f"n{n}", "2026-11-12", f"Fact {n}", f"Fact {n}.", project="api")
        for n in range(LOOKED_AT)
    ]
    deps = RecallDeps(*workspace_of([old, *newer]))
    asked = RecallRequest("what do you know about this project?")
    found = recall(deps, asked, SearchScope("api"), now=NOW)
    assert found.hits[0].title == "Speak plainly"
