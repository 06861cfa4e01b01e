"""What is taken out of a talk, and above all what is not."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pytest
from example_count import LONG, examples
from hypothesis import given, settings
from hypothesis import strategies as st

from keeplore.capture.distill.distiller import CAPS, distill
from keeplore.capture.distill.extracts import MAX_RANKED
from keeplore.capture.notes.note_candidates import candidates
from keeplore.memory import AgentQuestion, Exchange, Quote
from keeplore.memory.conversation_body import PARTS
from keeplore.text.sentences import MAX_QUOTE, bare, clip, sentences


def talk(*said: str | AgentQuestion) -> list[Exchange]:
    """Exchanges from what the person and the agent said in turns; a question belongs to the agent's
    side.
    """
    exchanges: list[Exchange] = []
    for n, words in enumerate(said):
        if n % 2 == 0:
            assert isinstance(words, str)
            exchanges.append(Exchange(f"turn-{n // 2}", "2026-03-01T10:00:00Z", words))
        else:
            last = exchanges.pop()
            exchanges.append(Exchange(last.id, last.at, last.user, (words,)))
    return exchanges


def texts(exchanges: Sequence[Exchange], *parts: str) -> list[str]:
    found = distill(exchanges)
    return [quote.text for part in parts for quote in found[part]]


def decided(*said: str | AgentQuestion) -> list[str]:
    return texts(talk(*said), "decision", "also_decided")


def left_open(*said: str) -> list[str]:
    return texts(talk(*said), "open_questions")


PROPOSAL = (
    "We could keep Redis or move to Postgres. I'd recommend a Postgres queue with SKIP "
    "LOCKED. Shall I go on?"
)


@pytest.mark.parametrize(
    "sentence",
    [
        "Let's use Postgres for the queue.",
        "Let us use Postgres for the queue.",
        "We stay with Postgres until the release.",
        "ok. let's go with sqlite, it is fast enough",
        "We'll store the vectors next to the text.",
        "I decided to drop Redis.",
        "Decision: markdown files are the truth.",
        "we've agreed on weekly releases",
        "use ruff instead of flake8",
        "no, keep the old parser rather than rewriting it",
        "Never log the customer's address.",
        "don't mock our own code in tests",
        "I'd rather have one binary than a plugin system.",
        "the import has to be idempotent",
        "let’s not cache the totals at all",
        "instead read the totals from the index",
        "try a queue in Postgres instead of Redis",
        "ok, we can shrink the batches by half",
        "You're right the totals are read from the index and not from the table",
        "confirming that the archive only holds paid invoices",
        "it doesn't make sense to archive a column",
        "there will always be long flags as well",
        "no new setting needed for the retry limit",
        "once again, one table seems like the way to go",
        "please make sure you use the connection pool for all queries",
    ],
)
def test_what_the_person_settles_is_a_decision(sentence: str) -> None:
    found = distill(talk("Where do we stand?", PROPOSAL, sentence, "Done."))
    assert Quote(sentence, "user", "turn-1") in (
        *found["decision"],
        *found["also_decided"],
    )


@pytest.mark.parametrize(
    "sentence",
    [
        "Should we use Postgres for the queue?",
        "what if we go with sqlite",
        "could we drop redis",
        "Maybe we should use Kafka.",
        "I'm not sure whether we should use Kafka.",
        "I wonder if we'll store the vectors in git",
        "We haven't decided on a database yet.",
        "If we use Kafka, we need a cluster.",
        "The docs say we should use Kafka.",
        "We used to use Kafka.",
        "One option is to use Kafka.",
        "Let's see what Kafka can do.",
        "Let us know what Kafka can do.",
        "let's commit this and move on",
        "make sure the tests pass",
        "you're right, but the import still fails",
        "For context as we move ahead, it is mostly black with some colors in it",
        "I have three pictures that we can use for the page",
        "instead of Kafka show me the docs",
        "instead of the topic it shows an error",
        "please run the tests again",
        "before we decide, let's discuss Kafka",
        "I want to know how Kafka stores its logs.",
        "yes, but first show me the numbers",
        "can you use Kafka here?",
        "we don't need to push yet",
    ],
)
def test_a_question_a_doubt_a_report_and_a_next_step_decide_nothing(
    sentence: str,
) -> None:
    assert (
        decided(
            "Where do we stand?",
            "There are three brokers to look at.",
            sentence,
            "I see.",
        )
        == []
    )


def test_a_proposal_alone_decides_nothing() -> None:
    assert decided("Where should jobs live?", PROPOSAL) == []
    assert (
        decided(
            "Where should jobs live?",
            PROPOSAL,
            "How does SKIP LOCKED work?",
            "Each worker locks a row.",
        )
        == []
    )


@pytest.mark.parametrize(
    "answer",
    [
        "yes",
        "Sounds good, thanks.",
        "go ahead",
        "ok do it",
        "perfect!",
        "All right.",
        "alright, do that",
        "That's fine.",
        "deal",
        "I'm happy with that.",
        "Certainly.",
    ],
)
def test_a_proposal_that_the_person_agrees_to_is_a_decision(answer: str) -> None:
    found = distill(talk("Where should jobs live?", PROPOSAL, answer, "On it."))
    assert found["decision"] == (
        Quote(
            "I'd recommend a Postgres queue with SKIP LOCKED.", "assistant", "turn-0"
        ),
    )


@pytest.mark.parametrize(
    "answer",
    [
        "no",
        "yes, but not Postgres",
        "ok, what about Kafka?",
        "hm, wait",
        "ok, use a plain file instead",
        "Good question, I do not know.",
        "good to know",
        "right now I can't say",
        "certainly not",
        "that's not right",
    ],
)
def test_an_answer_with_a_but_agrees_to_nothing(answer: str) -> None:
    assert "I'd recommend a Postgres queue with SKIP LOCKED." not in decided(
        "Where should jobs live?", PROPOSAL, answer, "I see."
    )


LISTED = """There are three options:

A) Keep Redis and turn persistence on
B) Move the queue into Postgres
C) Use a managed broker

Which one do you prefer?"""


@pytest.mark.parametrize(
    ("answer", "chosen"),
    [
        ("B", "Move the queue into Postgres"),
        ("option C please", "Use a managed broker"),
        ("let's go with the first one", "Keep Redis and turn persistence on"),
        ("b)", "Move the queue into Postgres"),
        ("the last one", "Use a managed broker"),
    ],
)
def test_a_pick_is_read_from_the_list_it_answers(answer: str, chosen: str) -> None:
    found = distill(talk("Where should jobs live?", LISTED, answer, "Done."))
    line = f"Where should jobs live? → {chosen}"
    assert Quote(line, "user", "turn-1") in found["decision"]


@pytest.mark.parametrize(
    ("suggested", "answer", "line"),
    [
        (
            "do we even need the retry queue then?",
            "You're absolutely right! We don't need the retry queue at all.",
            "do we even need the retry queue then? → We don't need the retry queue at all.",
        ),
        (
            "the nightly export should just read the replica, right?",
            "Exactly. Nobody else reads it at night.",
            "the nightly export should just read the replica, right? → Nobody else reads it at night.",
        ),
        (
            "the nightly export should just read the replica, right?",
            "Good catch. Nobody else reads it at night.",
            "the nightly export should just read the replica, right? → Nobody else reads it at night.",
        ),
        (
            "sollten wir die Exporte nachts laufen lassen?",
            "Du hast recht, nachts ist Platz.",
            "sollten wir die Exporte nachts laufen lassen? → Du hast recht, nachts ist Platz.",
        ),
        (
            "I'm not sure a replica for exports is a good idea.",
            "Agreed, the primary is enough.",
            "I'm not sure a replica for exports is a good idea. → Agreed, the primary is enough.",
        ),
        ("I'm not sure a replica for exports is a good idea.", "It reads it.", ""),
        (
            "I would suggest a table of function pointers for the primitives.",
            "Agreed. The table has a row for each primitive.",
            (
                "I would suggest a table of function pointers for the primitives. → "
                "The table has a row for each primitive."
            ),
        ),
        (
            "Perhaps the first segment holds the whole dictionary.",
            "That makes it large.",
            "",
        ),
        (
            "do we even need the retry queue then?",
            "Yes, the importer fills it.",
            "",
        ),
        (
            "the nightly export should just read the replica, right?",
            "Good point, but the replica lags by an hour.",
            "",
        ),
        ("which replica does the nightly export read?", "Exactly one: the third.", ""),
        ("how can we export with an empty replica?", "Good point, we should not.", ""),
    ],
)
def test_a_way_that_the_agent_finds_right_is_a_decision(
    suggested: str, answer: str, line: str
) -> None:
    found = decided("The export is slow.", "It reads the primary.", suggested, answer)
    assert found == ([line] if line else [])


@pytest.mark.parametrize(
    ("offered", "answer", "line"),
    [
        (
            "Should I remove the unused `copy_rows` function?",
            "yes",
            "Should I remove the unused `copy_rows` function? → yes",
        ),
        (
            "I can add a `REPLICA_URL` variable for the second host. Want me to add that?",
            "sure, go on",
            "I can add a `REPLICA_URL` variable for the second host.",
        ),
        ("Want me to look into the slow rows?", "yes", ""),
        ("Should I push the branch of the export?", "yes", ""),
        ("Should I remove the unused `copy_rows` function?", "yes, but later", ""),
        (
            "Should I remove the unused `copy_rows` function?",
            "yes and then show me all the rows that the export has written since Monday",
            "",
        ),
    ],
)
def test_an_offer_that_was_accepted_is_a_decision_that_names_its_thing(
    offered: str, answer: str, line: str
) -> None:
    found = decided("The export is slow.", f"It copies rows. {offered}", answer, "Ok.")
    assert found == ([line] if line else [])


def test_of_a_design_that_was_agreed_to_each_part_says_one_thing() -> None:
    design = (
        "Here is the design.\n\n## Storage\n\nOne table of jobs with a claimed-by column. "
        "Rows stay for a week.\n\n## Workers\n\n- Three processes poll with SKIP LOCKED\n\n"
        "## Rollout\n\nBehind a flag for the first customer.\n\nDoes this look right?"
    )
    said = ("Make a queue for our invoices.", design)
    agreed_to = [
        "One table of jobs with a claimed-by column.",
        "Three processes poll with SKIP LOCKED",
    ]
    assert decided(*said, "yep, let's do it", "Done.") == agreed_to
    assert decided(*said, "yes, but the flag is not needed", "Done.") == []


STORED = (
    *("orders", "invoices", "customers", "addresses", "prices", "taxes"),
    *("returns", "vouchers", "stocks", "suppliers", "reviews", "images"),
)
POINTS = (
    "Before I build it:\n\n1. **Scope** of the search is all projects, or one?\n"
    "2. The reader shows plain text\n3. Where is the index?"
)


def test_answers_by_number_are_decisions_with_their_points() -> None:
    answers = "1. all of them\n2. yup\n3. the index lives in the cache"
    assert decided("We need a search.", POINTS, answers, "I'll build it.") == [
        "Scope of the search is all projects, or one? → all of them",
        "The reader shows plain text → yup",
        "the index lives in the cache",
    ]


@pytest.mark.parametrize(
    "answers",
    [
        "1. all of them",
        "1. why not both?\n2. not sure yet",
        "\n".join(f"{n}. the import is slow" for n in range(1, 6)),
        "\n".join(f"{n}. The import took very long." for n in range(1, 40)),
    ],
)
def test_a_number_alone_a_doubt_and_another_list_answer_no_points(answers: str) -> None:
    assert decided("We need a search.", POINTS, answers, "Ok.") == []


def test_of_many_answers_those_that_choose_come_first() -> None:
    points = "\n".join(
        f"{n}. Which store do {name} go to?" for n, name in enumerate(STORED, 1)
    )
    asked = f"{points}\n13. What does the shop sell?\n14. Why was it built?"
    answers = [f"{n}. the {name} table" for n, name in enumerate(STORED, 1)]
    told = "\n".join((*answers, "13. books and maps", "14. for the fair"))
    found = decided("Plan the shop.", asked, told, "Good.")
    assert found == [
        f"Which store do {name} go to? → the {name} table" for name in STORED
    ]


def test_a_pick_says_over_of_a_number_and_drops_nothing_by_it() -> None:
    asked = "For the list, should spots over 30 minutes:\n\n1. Stay visible\n2. Go?"
    said = ("Show spots.", "How far?", "Use 30 minutes, not 60.", asked, "1", "Done.")
    picked = "For the list, should spots over 30 minutes → Stay visible"
    assert decided(*said) == ["Use 30 minutes, not 60.", picked]


def test_points_that_nobody_asked_about_are_not_answered() -> None:
    report = "Done:\n\n1. The parser reads dates\n2. The index is smaller"
    findings = "1. the date is wrong\n2. it has grown here"
    assert decided("Shrink the index.", report, findings, "I see.") == []


def test_a_pick_of_what_was_not_offered_is_nothing() -> None:
    assert decided("Where should jobs live?", LISTED, "E", "There is no E.") == []


def test_labelled_options_can_be_picked_too() -> None:
    answer = (
        "**Option 1: Remove the fallback** (smallest)\n\n**Option 2: Check the age** "
        "first\n\nWhat do you think?"
    )
    assert decided("how big is the fix?", answer, "option 2", "Ok.") == [
        "Option 2: Check the age first"
    ]


def test_an_answered_question_is_a_decision_and_a_declined_one_is_open() -> None:
    asked = AgentQuestion(
        "Where should the diagrams go?",
        "docs/generated",
        ("docs/generated", "build output"),
    )
    assert distill(talk("make diagrams", asked))["decision"] == (
        Quote("Where should the diagrams go? → docs/generated", "user", "turn-0"),
    )
    declined = distill(
        talk("make diagrams", AgentQuestion("Where should the diagrams go?", ""))
    )
    assert declined["decision"] == () and [
        q.text for q in declined["open_questions"]
    ] == ["Where should the diagrams go?"]


@pytest.mark.parametrize(
    "correction",
    [
        "no, actually use SQLite for the queue instead of Postgres",
        "scratch that. let's use SQLite for the queue",
        "I changed my mind: we'll use SQLite for the queue",
        "hm, wait. let's go with SQLite instead of Postgres",
    ],
)
def test_a_correction_takes_back_what_was_decided(correction: str) -> None:
    found = decided(
        "Let's use Postgres for the queue.",
        "Ok.",
        "And what about leases?",
        "A column will do.",
        correction,
        "Fine.",
    )
    assert "Let's use Postgres for the queue." not in found
    assert any("SQLite" in text for text in found)


QUEUE = "Let's use Postgres for the queue."


@pytest.mark.parametrize(
    "later",
    [
        "Let's take Redis instead.",
        "let's go with Redis instead, it is one service less",
        "We'll use Redis after all.",
        "I'd rather use Redis.",
        "Let's switch to Redis",
    ],
)
def test_what_is_taken_instead_stands_behind_what_it_replaces(later: str) -> None:
    talked = (
        *("We need a queue.", "Postgres or Redis would do."),
        *(QUEUE, "Done, and tested with SKIP LOCKED."),
        *("add a health check", "Added."),
    )
    assert decided(*talked, later, "Moved.") == [f"{QUEUE} → {later}"]
    of_matter = later.replace("Redis", "Redis for the queue")
    assert decided(*talked, of_matter, "Moved.") == [of_matter]
    notes = [note.text for note in candidates(talk(*talked, later, "Moved."))]
    assert QUEUE not in notes


@pytest.mark.parametrize(
    "later",
    [
        "Let's drop Postgres.",
        "Replace Postgres with Redis",
        "We use Redis rather than Postgres for the queue",
        "Let's not use Postgres after all.",
    ],
)
def test_what_is_rejected_later_is_decided_no_more(later: str) -> None:
    kept = "Let's keep done jobs for 14 days."
    talked = (QUEUE, "Done.", kept, "Set to 14 days.", later, "Ok.")
    assert decided(*talked) == [kept, later]


def test_a_question_whether_to_switch_is_no_decision_of_what() -> None:
    limits = "With Postgres we hit limits. Should I switch?"
    assert decided("The queue is slow.", limits, "yes", "Switched to Redis.") == []


def test_what_is_taken_instead_may_be_taken_back() -> None:
    talked = (QUEUE, "Ok.", "Let's take Redis instead.", "Ok.")
    back = "Let's take Postgres after all."
    assert decided(*talked, back, "Ok.") == [f"{QUEUE} → {back}"]


@pytest.mark.parametrize(
    ("reply", "later"),
    [
        ("Done. I took psycopg as the driver.", "Let's use asyncpg instead"),
        ("Done.", "let's use nginx for the proxy instead"),
        ("Done.", "Let's use the blue button instead"),
        ("Done.", "Should we use Redis instead?"),
        ("Done.", "maybe we use Redis instead"),
        ("Done.", "let's switch to dark mode"),
        ("Done.", "Always use Redis in the tests."),
        ("Done.", "Drop the queue table and run the migration again."),
        ("Done.", "Let's not use Redis after all."),
        ("Done.", "Replace the queue icon with a bell"),
    ],
)
def test_what_may_be_taken_in_the_place_of_something_else_replaces_nothing(
    reply: str, later: str
) -> None:
    assert QUEUE in decided(QUEUE, reply, later, "Ok.")


def test_a_decision_taken_back_without_another_leaves_none() -> None:
    assert (
        decided(
            "Let's use Postgres for the queue.",
            "Ok.",
            "scratch that, I need to think",
            "Sure.",
        )
        == []
    )


def test_a_correction_leaves_decisions_on_other_matters_alone() -> None:
    found = decided(
        "Always write dates in UTC.",
        "Ok.",
        "Let's use Postgres for the queue.",
        "Ok.",
        "no, use SQLite for the queue",
        "Fine.",
    )
    assert "Always write dates in UTC." in found
    assert "Let's use Postgres for the queue." not in found


def test_the_person_outranks_the_agent() -> None:
    found = distill(
        talk(
            "Look at the brokers.",
            "I decided to use a thread pool for the importer.",
            "Let's use Postgres for the queue.",
            "I chose to split the tables by month.",
        )
    )
    assert [quote.text for quote in found["decision"]] == [
        "Let's use Postgres for the queue."
    ]
    assert {quote.speaker for quote in found["also_decided"]} == {"assistant"}


def test_what_the_agent_decided_falls_with_an_objection() -> None:
    assert (
        decided(
            "Import the files.",
            "I decided to use a thread pool.",
            "no, that is wrong",
            "Sorry.",
        )
        == []
    )


@pytest.mark.parametrize(
    "message",
    [
        "```sh\n# let's use Kafka\n```",
        "~~~\nDecision: use Kafka\n~~~",
        "> let's use Kafka",
        "$ ./deploy.sh\nlet's use Kafka",
        "| decision | let's use Kafka |",
        "text first\n\n    let's use Kafka\n",
        "2026-03-01 10:00:00 INFO let's use Kafka",
        "```\nlet's use Kafka",
    ],
)
def test_code_quoted_text_and_program_output_are_not_quoted(message: str) -> None:
    assert [
        q
        for part in distill(talk(message, message)).values()
        for q in part
        if "Kafka" in q.text
    ] == []


def test_options_are_listed_in_the_order_in_which_they_were_put() -> None:
    assert texts(talk("Where should jobs live?", LISTED), "options") == [
        "Keep Redis and turn persistence on",
        "Move the queue into Postgres",
        "Use a managed broker",
    ]


def test_an_option_that_a_colon_ends_is_listed_and_picked_without_it() -> None:
    ways = (
        "You have a few options:\n\n1. **Shared package** (the usual one):\nEach site imports it."
        "\n\n2. **Icon service**:\nSites load icons over HTTP.\n\nWhich approach fits?"
    )
    said = talk("Where do the icons of all sites live?", ways, "2", "It runs.")
    assert texts(said, "options") == ["Shared package (the usual one)", "Icon service"]
    assert texts(said, "decision") == [
        "Where do the icons of all sites live? → Icon service"
    ]


def test_what_one_can_do_now_is_no_option() -> None:
    steps = "It is set up.\n\nNow you can:\n1. Run the site build\n2. Add more sites"
    assert texts(talk("Set up the icons.", steps), "options") == []


def test_a_question_whose_mark_is_lost_gives_no_reason() -> None:
    asked = (
        "What do you think about changing how the icons are loaded so that there are 2 sets: "
        "1) a plain set for print 2) a round set that can be edited"
    )
    start = ("Please start with the icons for print.", "Changed the icons for print.")
    said = talk(asked, "Both sets work.", *start)
    assert texts(said, "reasoning") == []


def test_what_follows_in_an_item_of_a_list_is_no_option() -> None:
    answer = (
        "There are two options:\n\n1. Keep Redis and turn persistence on. It loses nothing "
        "then.\n2. Move the queue into Postgres.\n\nBoth are slow."
    )
    assert texts(talk("Where should jobs live?", answer), "options") == [
        "Keep Redis and turn persistence on.",
        "Move the queue into Postgres.",
    ]


def test_a_list_of_something_else_is_no_list_of_options() -> None:
    answer = (
        "I changed three files:\n\n- the parser\n- the lexer\n- the tests\n\n## Steps\n\n1. "
        "build\n2. deploy"
    )
    assert texts(talk("what did you do?", answer), "options") == []


def test_a_reason_belongs_to_a_decision() -> None:
    found = texts(
        talk(
            "Let's use Postgres for the queue, because the queue must survive a restart.",
            "Postgres also avoids a second service to run. The moon is round because of gravity.",
        ),
        "decision",
        "reasoning",
    )
    assert any("survive a restart" in text for text in found)
    assert "Postgres also avoids a second service to run." in found
    assert not any("moon" in text for text in found)


def test_context_is_what_the_person_told_first() -> None:
    said = (
        "Our importer currently holds every row in memory. It crashes on files over two "
        "gigabytes. Can you help?"
    )
    assert texts(talk(said, "Yes."), "context") == [
        "Our importer currently holds every row in memory.",
        "It crashes on files over two gigabytes.",
    ]


def test_open_questions_are_those_nobody_answered() -> None:
    found = texts(
        talk(
            "We still need to decide who may delete a workspace.",
            "Noted. Which regions must the backup cover? Want me to write that down?",
        ),
        "open_questions",
    )
    assert found == [
        "We still need to decide who may delete a workspace.",
        "Which regions must the backup cover?",
    ]


@pytest.mark.parametrize(
    ("before", "question", "told"),
    [
        (
            "The path could hold an id. Or one file stores a list of sessions.",
            "Which approach would you prefer?",
            ["Or one file stores a list of sessions. Which approach would you prefer?"],
        ),
        (
            "There are two ways:\n\n1. Store a list\n2. Give each session a path\n\n",
            "Which approach do you prefer?",
            ["Which approach do you prefer? Store a list / Give each session a path"],
        ),
        (
            "I read:\n\n- the path\n- the list\n\nDone.",
            "Which approach do you prefer?",
            ["Which approach do you prefer?"],
        ),
        (
            "Both copies are kept for a year.",
            "Which regions must the backup cover?",
            ["Which regions must the backup cover?"],
        ),
    ],
)
def test_an_open_choice_names_its_ways(
    before: str, question: str, told: list[str]
) -> None:
    said = ("Two sessions share a checkpoint.", f"{before} {question}")
    assert texts(talk(*said), "open_questions") == told


def test_what_looks_up_a_decision_is_not_open_where_the_talk_breaks_off() -> None:
    asked = "What did we decide about the retention of audit logs?"
    assert (
        left_open(asked),
        left_open("Who may delete the audit logs of a tenant?"),
    ) == (
        [],
        ["Who may delete the audit logs of a tenant?"],
    )


def test_what_the_last_report_leaves_to_the_person_is_open() -> None:
    report = (
        "The release job publishes the formula.\n\n## Required setup\n\n"
        "1. Create an app in the organisation with write access to contents. It takes a minute "
        "or two of your time.\n"
        "2. `APP_ID` is the number of the app\n3. Add these secrets:\n\n"
        "## Verification\n\n1. Verify that the formula reaches the tap repository"
    )
    left = ["Create an app in the organisation with write access to contents."]
    said = ("Publish a formula with every release.", report)
    assert texts(talk(*said), "open_questions") == left
    assert texts(talk(*said, "The app exists now.", "Good."), "open_questions") == []


@pytest.mark.parametrize(
    "finding",
    [
        "Gap: nothing pins the version of the symbol ids.",
        "Address the trim order before merging.",
        "The hot loop is a good follow-up and no blocker.",
        "Deferred (noted in the doc): marks inside the reader.",
    ],
)
def test_what_a_review_finds_missing_is_open(finding: str) -> None:
    report = f"It reads well. The names are clear.\n\n{finding}"
    assert left_open("Review the branch, please.", report) == [finding]


def test_points_that_were_answered_by_number_are_not_open() -> None:
    points = POINTS.replace("Before I build it:", "## Open questions")
    answers = "1. all of them\n2. yup\n3. in the cache, with the vectors"
    assert left_open("We need a search.", points) != []
    assert left_open("We need a search.", points, answers, "I'll build it.") == []


def test_a_question_that_was_taken_up_is_not_open() -> None:
    found = texts(
        talk(
            "Plan the backup.", "Which regions must it cover?", "Only Europe.", "Noted."
        ),
        "open_questions",
    )
    assert found == []


def test_small_talk_leaves_every_part_empty() -> None:
    found = distill(talk("hi", "Hello! How can I help?", "thanks", "You're welcome."))
    assert found == dict.fromkeys(PARTS, ())


def test_every_part_keeps_to_its_cap_in_the_order_of_the_talk() -> None:
    words = (
        "parser",
        "lexer",
        "cache",
        "router",
        "mailer",
        "logger",
        "worker",
        "editor",
        "viewer",
        "loader",
        "linker",
        "packer",
        "sorter",
    )
    said = [
        line
        for word in words
        for line in (f"Let's use {word}kit, because {word}s are slow to build.", "Ok.")
    ]
    exchanges = talk(*said)
    found = distill(exchanges)
    assert {
        part: len(quotes) <= CAPS[part] for part, quotes in found.items()
    } == dict.fromkeys(PARTS, True)
    assert (
        len(found["decision"]) == CAPS["decision"]
        and len(found["also_decided"]) == CAPS["also_decided"]
    )
    order = [exchange.id for exchange in exchanges]
    for quotes in found.values():
        assert [order.index(q.turn) for q in quotes] == sorted(
            order.index(q.turn) for q in quotes
        )


def test_the_model_is_asked_only_where_there_is_a_choice() -> None:
    asked: list[int] = []

    def embed(batch: Sequence[str]) -> Any:
        asked.append(len(batch))
        return np.eye(len(batch), 30, dtype=np.float32)

    distill(talk("Let's use Postgres for the queue.", "Ok."), embed)
    assert asked == []
    said = [
        line
        for n in range(30)
        for line in (f"Let's use store{n} for module{n}.", "Ok.")
    ]
    distill(talk(*said), embed)
    assert asked and max(asked) <= MAX_RANKED
    assert distill(talk(*said), lambda _: None) == distill(
        talk(*said)
    )  # no model can be had: words are compared


def folded(text: str) -> str:
    return " ".join(text.replace("\\", " ").replace("**", "").split())


def is_in(quote: Quote, exchanges: Iterable[Exchange]) -> bool:
    spoken = []
    for exchange in exchanges:
        spoken.append(exchange.user)
        for reply in exchange.replies:
            if isinstance(reply, AgentQuestion):
                spoken += [reply.question, reply.answer, *reply.options]
            else:
                spoken.append(reply)
    return all(
        any(folded(part) in folded(words) for words in spoken)
        for part in quote.text.split(" → ")
    )


CUES = (
    "let's use ",
    "no, ",
    "actually",
    "instead of",
    "because ",
    "we decided to ",
    "I'd recommend ",
    "yes",
    "currently ",
)
MARKS = (
    "\n",
    "\n\n",
    "- ",
    "1. ",
    "A) ",
    "**",
    "`",
    "```\n",
    "# ",
    "Options:",
    "Option B: ",
    "?",
    ". ",
    "> ",
    "|",
    "\\\n",
)
WORDS = (
    "Postgres",
    "Redis",
    "B",
    "not",
    "e.g. ",
    "a/b.py",
    "https://x.y/z",
    "    ",
    "\t",
    "…",
    "é",
    "\u2028",
    "\x00",
    "TODO: ",
)
PIECES = st.sampled_from((*CUES, *MARKS, *WORDS))
MESSAGES = st.lists(PIECES, max_size=25).map("".join) | st.text(max_size=120)
REPLIES = MESSAGES | st.builds(
    AgentQuestion, MESSAGES, MESSAGES, st.lists(MESSAGES, max_size=3).map(tuple)
)
EXCHANGES = st.lists(
    st.tuples(MESSAGES, st.lists(REPLIES, max_size=3)).map(
        lambda x: Exchange("", "2026-03-01T10:00:00Z", x[0], tuple(x[1]))
    ),
    max_size=5,
).map(
    lambda found: [
        Exchange(f"t{n}", e.at, e.user, e.replies) for n, e in enumerate(found)
    ]
)


@settings(max_examples=examples(150), deadline=None)
@given(EXCHANGES)
def test_whatever_is_said_every_quotation_is_somebodys_words(
    exchanges: list[Exchange],
) -> None:
    found = distill(exchanges)
    places = {exchange.id: place for place, exchange in enumerate(exchanges, 1)}
    assert list(found) == list(PARTS)
    for quote in itertools.chain(*found.values()):
        # what is picked has the words in which the agent offered it before
        assert is_in(quote, exchanges[: places[quote.turn]])
        assert 0 < len(quote.text) <= MAX_QUOTE and "\n" not in quote.text
        assert quote.speaker in ("user", "assistant")
    assert found == distill(exchanges)


@pytest.mark.parametrize(
    "unit",
    [
        "word ",
        "`",
        "- a\n",
        "We use x. ",
        "*",
        "a.",
        "let's ",
        "(",
        "# h\n",
        "ok ",
        "Option A: b\n",
        "if we\t",
        "\\\n",
    ],
)
@LONG
def test_a_message_of_a_megabyte_is_read_in_its_stride(unit: str, size: int) -> None:
    message = unit * (size // len(unit))
    found = distill([Exchange("t", "2026-03-01T10:00:00Z", message, (message,))])
    assert sum(map(len, found.values())) <= sum(CAPS.values())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("**Use Postgres.**", "Use Postgres."),
        ("**Option A** - keep it", "**Option A** - keep it"),
        ("keep it**", "keep it"),
        ("✅ Done", "Done"),
        ("- [link](a)", "[link](a)"),
        ("", ""),
    ],
)
def test_markers_come_off_the_ends_alone(text: str, expected: str) -> None:
    assert expected == bare(text)


def test_a_long_sentence_is_cut_at_a_clause() -> None:
    text = "We keep the queue in Postgres because " + "it is there, " * 40
    assert clip(text).endswith("it is there") and len(clip(text)) <= MAX_QUOTE
    assert clip("x" * 400) == "x" * MAX_QUOTE


def test_items_know_their_label_lead_and_heading() -> None:
    found = {
        s.text: s
        for s in sentences(
            "## Storage\n\nWe could:\n\n1. keep Redis\n2. use Postgres\n\nThat is all."
        )
    }
    assert (
        found["use Postgres"].label,
        found["use Postgres"].lead,
        found["use Postgres"].heading,
    ) == (
        "2",
        "We could:",
        "Storage",
    )
    assert (found["That is all."].label, found["That is all."].lead) == ("", "")


def asking(*asked: AgentQuestion) -> Exchange:
    return Exchange(
        "turn-q", "2026-03-01T10:00:00Z", "What do you need to know?", tuple(asked)
    )


def test_what_the_person_settles_outranks_what_they_answered() -> None:
    exchanges = [
        *talk("Where should jobs live?", LISTED),
        asking(
            AgentQuestion(
                "What happens to a job whose worker dies?",
                "Another worker takes it",
                ("Another worker takes it",),
            )
        ),
        *talk(
            "Then let's go with Postgres and SKIP LOCKED. Redis is out because a restart loses "
            "jobs.",
            "Agreed.",
        ),
    ]
    found = distill(exchanges)
    assert [q.text for q in found["decision"]] == [
        "Then let's go with Postgres and SKIP LOCKED."
    ]
    assert [q.text for q in found["also_decided"]] == [
        "What happens to a job whose worker dies? → Another worker takes it"
    ]
    assert [q.text for q in found["reasoning"]] == [
        "Redis is out because a restart loses jobs."
    ]


def test_answers_alone_are_the_decision() -> None:
    found = distill(
        [
            asking(
                AgentQuestion(
                    "Which database should the queue use?",
                    "Postgres",
                    ("Postgres", "Redis"),
                )
            )
        ]
    )
    assert [q.text for q in found["decision"]] == [
        "Which database should the queue use? → Postgres"
    ]


def test_labels_of_a_question_are_options_only_where_nothing_else_was_weighed_up() -> (
    None
):
    asked = AgentQuestion(
        "How often may a mail be sent twice?",
        "Never at all",
        ("Never at all", "Rarely is fine"),
    )
    assert [q.text for q in distill([asking(asked)])["options"]] == [
        "Never at all",
        "Rarely is fine",
    ]
    with_list = distill([*talk("Where should jobs live?", LISTED), asking(asked)])[
        "options"
    ]
    assert [q.text for q in with_list][:1] == [
        "Keep Redis and turn persistence on"
    ] and len(with_list) == 3


@pytest.mark.parametrize(
    ("question", "answer", "decided"),
    [
        (
            "Allow Edit src/hooks.py?",
            "let's not touch the public API in this branch",
            True,
        ),
        ("Allow Edit src/hooks.py?", "is the bug really still a problem?", False),
        ("Allow Bash git push?", "I tried to run it from the other worktree", False),
        (
            "Proceed with this plan?",
            "no, keep the old name instead of the new one",
            True,
        ),
        ("Ready to push the branch?", "Yes, push", False),
    ],
)
def test_of_an_objection_only_the_words_that_settle_something_are_quoted(
    question: str, answer: str, decided: bool
) -> None:
    found = distill([asking(AgentQuestion(question, answer, ("Yes, push", "No")))])
    quoted = [q.text for part in ("decision", "also_decided") for q in found[part]]
    assert quoted == ([answer] if decided else [])


def test_what_is_said_in_place_of_a_leave_stands_without_the_name_of_the_step() -> None:
    asked = AgentQuestion(
        'Allow Bash git add hooks.go && git commit -m "$(cat?',
        "I think we should separate the hook types for clarity.",
    )
    found = distill(talk("Our sessions end without any hook, which loses data.", asked))
    lines = [quote.text for part in found.values() for quote in part]
    assert lines == [
        "Our sessions end without any hook, which loses data.",
        "I think we should separate the hook types for clarity.",
    ]


def test_the_persons_own_reasons_come_first() -> None:
    said = (
        "Let's use Postgres with SKIP LOCKED for the queue.",
        "Postgres avoids a second service, because the queue lives with the data.",
        "Postgres it is, because two people are on call and cannot back up another thing.",
        "Right.",
    )
    found = distill(talk(*said))["reasoning"]
    assert [q.speaker for q in found] == ["user", "assistant"]


def test_a_choice_that_follows_from_the_talk_is_a_decision() -> None:
    said = (
        "Which one do ERPs use?",
        "Once for each rate.",
        "Then we round once for each rate, on the sum.",
        "Done.",
    )
    assert decided(*said) == ["Then we round once for each rate, on the sum."]


def test_the_model_is_not_asked_where_weights_alone_decide() -> None:
    def embed(batch: Sequence[str]) -> Any:
        raise AssertionError(batch)

    strong = [
        line
        for n in range(2)
        for line in (f"We decided to use store{n} for module{n}.", "Ok.")
    ]
    weak = [
        line
        for n in range(6)
        for line in (f"The thing{n} should be kept in cellar{n}.", "Ok.")
    ]
    assert len(distill(talk(*strong, *weak), embed)["decision"]) == CAPS["decision"]


PLAN = """# Plan: Move the queue

## Context
Jobs are lost when Redis restarts.

## Approach
Keep jobs in a Postgres table and take them with SKIP LOCKED. Nothing else changes.

## Steps
1. Add the table"""


def test_of_a_plan_that_the_person_agreed_to_the_approach_is_decided() -> None:
    def with_plan(answer: str) -> list[str]:
        asked = AgentQuestion("Proceed with this plan?", answer)
        return [
            q.text
            for q in distill(
                [Exchange("t", "2026-03-01T10:00:00Z", "jobs get lost", (PLAN, asked))]
            )["decision"]
        ]

    approach = "Keep jobs in a Postgres table and take them with SKIP LOCKED."
    assert with_plan("Yes") == [approach]
    assert with_plan("") == []
    assert with_plan("what about Kafka") == []
    handed_over = distill(talk(f"Implement the following plan:\n\n{PLAN}", "On it."))[
        "decision"
    ]
    assert handed_over == (Quote(approach, "user", "turn-0"),)


def test_the_way_that_the_agent_found_and_took_is_decided() -> None:
    found = "The simplest fix is to read the lock file before the cache."
    assert decided(
        "the import is slow", f"{found}\n\nI changed `loader.py` accordingly."
    ) == [found]
    assert decided("the import is slow", found) == []
    assert (
        decided(
            "the import is slow",
            f"{found}\n\nI changed `loader.py`.",
            "no, revert that",
            "Done.",
        )
        == []
    )


@pytest.mark.parametrize(
    "words",
    [
        "`sessions.db` it is, and the old name is gone.",
        "I'll keep the output schemas of the other integrations.",
        "I used `sessionindex` rather than `sessions`, which exists already.",
        "I'll move the table to `names.py`, since it's read by all three parsers.",
        "I'll export the types so that both readers can use them.",
        "I'll replace `scan` with a look-up instead of a loop over all names.",
    ],
)
def test_what_the_agent_says_of_its_choice_is_decided(words: str) -> None:
    assert decided("rename the package", words) == [words]


@pytest.mark.parametrize(
    "words",
    [
        "There it is.",
        "I'll use the search tool.",
        "I'll start with the tests.",
        "I'll add a log line so that the next run tells more.",
        "I'll move the file first.",
    ],
)
def test_a_step_of_the_agent_is_no_choice(words: str) -> None:
    assert decided("rename the package", words) == []


@pytest.mark.parametrize(
    ("reply", "lines"),
    [
        (
            "Live bars for each source it is — the richest of them.",
            ["Live bars for each source it is — the richest of them."],
        ),
        (
            "Decisions locked: two indexes in the shared layer.",
            ["Decisions locked: two indexes in the shared layer."],
        ),
        (
            "The decisions are clear:\n- Phrases for split words\n- No prefix search",
            ["Phrases for split words", "No prefix search"],
        ),
        ("As slow as it is, the import works.", []),
        ("Here it is: the list of sources.", []),
    ],
)
def test_what_the_agent_takes_up_as_chosen_is_decided(
    reply: str, lines: list[str]
) -> None:
    assert decided("which one did we mean?", reply) == lines


def test_all_that_was_decided_is_the_main_decision_however_small() -> None:
    found = distill(
        talk(
            "show the totals",
            "Done.",
            "just have one column for all monthly totals",
            "Done.",
        )
    )
    assert [q.text for q in found["decision"]] == [
        "just have one column for all monthly totals"
    ]
    assert found["also_decided"] == ()


def test_a_command_that_was_typed_is_no_context() -> None:
    assert (
        texts(talk("/review /simplify", "The loader reads each file twice."), "context")
        == []
    )


@pytest.mark.parametrize(
    "order",
    [
        "Commit please, then push and open a PR.",
        "Give me a commit message for these changes.",
        "ok cool, let's get this committed",
    ],
)
def test_an_order_of_the_moment_is_no_context(order: str) -> None:
    told = "Our billing service runs on two servers behind nginx."
    found = distill(talk(order, "Done.", told, "I see."))
    assert [quote.text for quote in found["context"]] == [told]


def test_what_leads_into_a_pasted_log_is_context() -> None:
    error = "I'm currently getting this error in the billing service:\n\n```\nboom\n```"
    assert texts(talk(error, "I see."), "context") == [
        "I'm currently getting this error in the billing service:"
    ]


def test_a_cause_is_a_reason_and_is_not_told_twice() -> None:
    cause = "The root cause was a lock that nobody released."
    found = distill(talk("the import hangs", f"{cause} Fixed the lock in `loader.py`."))
    assert [q.text for q in found["reasoning"]] == [cause]
    assert [q.text for q in found["outcome"]] == ["Fixed the lock in `loader.py`."]


def test_code_that_a_sentence_mentions_does_not_make_it_code() -> None:
    reply = (
        "The options are:\n\n1. **Option A: Remove the fallback** - link nothing\n"
        "2. **Option B: Check ancestry** - instead of exact `base == HEAD && clean`, ask for "
        "descendants\n"
        "3. **Option C: Its own file (or folder, with a key); nobody else writes there**"
    )
    options = texts(talk("fix it", reply, "B then"), "options")
    assert [text.strip("*")[:8] for text in options] == [
        "Option A",
        "Option B",
        "Option C",
    ]
    assert [
        s.text for s in sentences("if (a == b) { stop(); }\nfoo(bar); baz()\n")
    ] == []


SKILL = (
    "# Release\n\nYou are the release manager. Always bump the minor version. Never publish on "
    "Fridays.\n\n"
    "## Steps\n1. Tag"
)


@pytest.mark.parametrize(
    "pasted",
    [
        f"Base directory for this skill: ~/skills/release\n\n{SKILL}",
        f"---\nname: release\ndescription: how we release\n---\n\n{SKILL}",
        f"{SKILL}\n2. Publish",
    ],
)
def test_the_rules_of_a_skill_are_not_the_persons_words(pasted: str) -> None:
    found = distill(talk(pasted, "I need a version."))
    assert {name: quotes for name, quotes in found.items() if quotes} == {}
    assert texts(talk("Always bump the minor version.", "Fine."), "decision") == [
        "Always bump the minor version."
    ]


@pytest.mark.parametrize(
    ("answer", "is_decision"),
    [
        ("So: C, a database of its own for each customer who pays", True),
        ("only on failure, otherwise we store gigabytes", True),
        ("no Redis please", True),
        ("raise the limit to 50 per gateway", True),
        ("Kein Redis bitte, wir betreiben sonst nirgends eins.", True),
        ("Wir machen Variante zwei, mit Zeitfenster aus der Konfiguration.", True),
        ("压缩和并发都做,并发数用 3。", True),
        ("commit looks good.", False),
        ("the tests are fine", False),
    ],
)
def test_a_terse_answer_decides_and_praise_does_not(
    answer: str, is_decision: bool
) -> None:
    found = decided(
        "how do we isolate the tenants?",
        "There are several ways to do it.",
        answer,
        "Understood.",
    )
    assert found == ([answer] if is_decision else [])


def test_of_a_plan_its_approach_is_the_decision_and_its_goal_only_without_one() -> None:
    goal, way = (
        "Hikers see the map without a signal.",
        "Store each region as one file and serve it from disk.",
    )
    plan = f"# Regions\n\n## Goal\n{goal}\n\n## Approach\n{way}\n\n## Steps\n1. Write the store\n"
    assert decided(plan, "I begin.") == [way]
    assert decided(plan.replace("## Approach", "## Notes"), "I begin.") == [goal]


def test_an_option_that_is_a_name_alone_is_told_with_its_question() -> None:
    found = texts(
        talk(
            "Which database?",
            "1. Postgres\n2. SQLite\n\nWhich one do you want?",
            "2",
            "I take SQLite.",
        ),
        "decision",
    )
    assert found == ["Which database? → SQLite"]


def test_a_correction_of_something_else_leaves_a_decision_as_it_is() -> None:
    found = texts(
        talk(
            "What shall we use for the queue?",
            "Option 1: Redis with RQ.\n\nOption 2: Postgres with SKIP LOCKED.",
            "Let's go with Postgres, option 2, because it is already there.",
            "Fine.",
            "No, use pnpm, not npm",
            "Switched to pnpm.",
        ),
        "decision",
    )
    assert found == [
        "Let's go with Postgres, option 2, because it is already there.",
        "No, use pnpm, not npm",
    ]


def test_an_offer_that_ends_the_talk_and_names_its_work_is_open() -> None:
    offer = "If you want, I can also make the status wait longer before it prints."
    said = ("why does it say that it is down?", f"It asks too early. {offer}")
    assert left_open(*said) == [offer]
    assert left_open(*said, "no, it is fine", "Good.") == []
    vague = "If you want, I can do it."
    assert left_open("is it slow?", f"It is. {vague}") == []


def test_what_the_person_answered_is_context_with_the_question() -> None:
    asked = "What is the timeout of the payment provider?"
    told = texts(
        talk("Set up the payment retry", asked, "40s", "I retry after 45 s."), "context"
    )
    assert told == ["Set up the payment retry", f"{asked} → 40s"]
    spoken = "end of march, the auditors come then"
    deadline = "What's the deadline for this?"
    told = texts(talk("Prepare the audit", deadline, spoken, "Noted."), "context")
    assert f"{deadline} → {spoken}" in told
    assert spoken not in told


def test_an_answer_that_decides_is_no_context_too() -> None:
    said = ("Add a queue", "Should it be Postgres or Redis?", "Postgres", "Done.")
    found = distill(talk(*said))
    assert [q.text for q in found["decision"]] == [f"{said[1]} → Postgres"]
    assert not any("Postgres" in quote.text for quote in found["context"])
