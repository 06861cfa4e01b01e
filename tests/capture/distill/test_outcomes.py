"""What came of a talk, what it left, and which orders of a person's count as settled."""

from __future__ import annotations

import pytest

from keeplore.capture.distill.distiller import distill
from keeplore.memory import AgentQuestion, Exchange


def talk(*said: str) -> list[Exchange]:
    turns = [said[n : n + 2] for n in range(0, len(said), 2)]
    return [
        Exchange(
            f"t{n}", "2026-03-01T10:00:00Z", turn[0], tuple(filter(None, turn[1:]))
        )
        for n, turn in enumerate(turns)
    ]


def part(name: str, *said: str) -> list[str]:
    return [quote.text for quote in distill(talk(*said))[name]]


REPORT = """I'll look at the loader first.

Let me run the tests.

Found it. The root cause was an index that the collector had pruned.

## Summary
- Rebuilt the index with `git read-tree HEAD`
- **`loader.py`**: retries are now limited to three
- Check the other machine as well
- Verify that CI is green

All 41 tests of the loader pass. Maybe the cache should be cleared too. Want me to push?"""


def test_what_was_found_and_done_is_kept_and_not_the_steps_on_the_way() -> None:
    assert part("reasoning", "git status fails, why?", REPORT) == [
        "The root cause was an index that the collector had pruned.",
    ]
    assert part("outcome", "git status fails, why?", REPORT) == [
        "Rebuilt the index with `git read-tree HEAD`",
        "`loader.py`: retries are now limited to three",
        "All 41 tests of the loader pass.",
    ]


def test_what_a_list_in_a_list_tells_is_told_with_the_item_that_introduces_it() -> None:
    reply = """I mended both scripts.

## Summary
- **In `start.sh`**:
  - fixed the wait for the server, which is limited to 30 seconds. The page waits too.
- Those that were there before, for all who start them by hand at night:
  - removed two servers that nobody had stopped on `:3001`"""
    assert part("outcome", "the scripts do not start, why?", reply) == [
        "In `start.sh`: fixed the wait for the server, which is limited to 30 seconds.",
        "removed two servers that nobody had stopped on `:3001`",
    ]


@pytest.mark.parametrize(
    "objection",
    [
        "no, it still fails",
        "But the header is missing now",
        "that's not what I meant",
        "still broken",
    ],
)
def test_what_the_person_sends_back_is_no_outcome(objection: str) -> None:
    first = "Fixed the timeout of the upload client in `upload.py`."
    second = "Removed the second retry loop from `client.py`."
    assert part("outcome", "uploads hang", first, objection, second) == [second]
    assert part("outcome", "uploads hang", first, "thanks, now the docs", second) == [
        first,
        second,
    ]


def test_a_plan_is_no_outcome() -> None:
    plan = (
        "# Plan: Move the queue\n\n## Verification\n- Run `make test`\n- Create a tag\n\nI'll "
        "start with the schema."
    )
    assert part("outcome", "move the queue to Postgres", plan) == []


def test_a_question_that_nobody_answered_stays_open() -> None:
    said = (
        "does the importer write to the global config?",
        "",
        "is the retry limit read per host?",
        "Yes, per host.",
    )
    assert part("open_questions", *said) == [
        "does the importer write to the global config?"
    ]


def test_a_question_that_a_later_answer_covers_is_not_open() -> None:
    said = (
        "I'm not sure whether the importer writes to the global config.",
        "Let me look.",
        "go on",
        "The importer never writes to the global config.",
    )
    assert part("open_questions", *said) == []


def test_what_was_asked_in_prose_and_then_in_form_is_answered() -> None:
    asked = AgentQuestion(
        "Which database should hold the queue?", "Postgres", ("Postgres", "SQLite")
    )
    exchange = Exchange(
        "t0",
        "",
        "plan the queue",
        ("Should the queue live in Postgres or in SQLite?", asked),
    )
    assert distill([exchange])["open_questions"] == ()


def test_what_a_report_leaves_undone_is_open() -> None:
    report = (
        "Fixed the parser.\n\n- The exporter is not yet migrated to the new schema\n- Revisit "
        "the retry limits in May"
    )
    assert part("open_questions", "fix the parser", report) == [
        "The exporter is not yet migrated to the new schema",
        "Revisit the retry limits in May",
    ]


@pytest.mark.parametrize(
    "order",
    ["let's not make this change", "remove it", "then use that instead", "keep this"],
)
def test_a_decision_about_this_and_that_is_left_out(order: str) -> None:
    said = ("look at the parser", "I changed the parser.", order, "Done.")
    assert part("decision", *said) == part("also_decided", *said) == []


@pytest.mark.parametrize(
    "order",
    [
        "let's count exchanges and drop the byte sizes",
        "just have two categories, prompts and activity",
        "do not solve the slow snapshot by ignoring directories",
        "please follow the release pattern of the sdk repository",
        "you can set group.visible with the vis library, which is less work",
    ],
)
def test_an_order_on_how_the_result_shall_be_is_decided(order: str) -> None:
    said = ("the output is noisy", "I see four ways to go on.", order, "Done.")
    assert order in part("decision", *said) + part("also_decided", *said)


@pytest.mark.parametrize(
    "task",
    [
        "let's run the tests of the parser module",
        "let's write the docs for the exporter",
    ],
)
def test_a_task_is_not_decided(task: str) -> None:
    said = ("look at the parser", "I changed the parser.", task, "Done.")
    assert part("decision", *said) == part("also_decided", *said) == []


def test_a_number_that_answers_which_one_is_a_pick() -> None:
    asked = (
        "1. Reset the index\n2. Clear the cache alone\n\nWhich approach do you prefer?"
    )
    assert part(
        "decision",
        "git status fails",
        asked,
        "1 this has happened twice now just fyi",
        "On it.",
    ) == ["git status fails → Reset the index"]


def test_agreement_before_a_further_question_counts() -> None:
    said = (
        "how are results sorted?",
        "My recommendation: newest first.",
        "yup... and can we make it fast?",
        "Yes.",
    )
    assert part("decision", *said) == ["My recommendation: newest first."]


def test_a_question_that_names_its_answers_gives_the_options() -> None:
    asked = "The name is a leftover. Which do you want: `resume.db`, `sessions.db`, or `index.db`?"
    assert part("options", "rename the db", asked) == [
        "Which do you want: `resume.db`, `sessions.db`, or `index.db`?"
    ]


def test_what_a_program_printed_is_no_context() -> None:
    said = (
        "ci fails since the upgrade\n\nConfiguration hints knip.json Remove ignoreDependencies "
        "prisma knip.json biome"
    )
    assert part("context", said, "Let me look.") == ["ci fails since the upgrade"]


@pytest.mark.parametrize(
    "said",
    [
        "Previously it returned an error saying that sorting is not supported yet.",
        "The ticket remains open until merge.",
        "The regex has no idea whether it is inside of a block.",
        "The section on fill levels is marked as unresolved.",
        "The distinction is: has the transcript grown at all?",
        "There are no unresolved threads on the pull request.",
        "Nothing is left unfixed in the parser.",
        "import sys; raise SystemExit('this is not implemented yet')",
    ],
)
def test_what_is_told_of_something_else_is_not_open(said: str) -> None:
    assert part("open_questions", "review the branch", said) == []


def test_a_question_that_was_sent_again_is_answered_with_the_second() -> None:
    asked = "I like the key bindings, but where is the preview of a session?"
    exchanges = [
        Exchange("a", "2026-03-01T10:00:00Z", asked),
        Exchange(
            "b",
            "2026-03-01T10:01:00Z",
            f"{asked} It belongs to stage one.",
            ("It ships with the list.",),
        ),
    ]
    assert distill(exchanges)["open_questions"] == ()


def test_changes_that_are_needed_are_no_outcome() -> None:
    design = (
        "## Changes needed\n\n1. **`state.go`** - Add an `EndedAt` field\n2. **`hooks.go`** - "
        "Register the handler"
    )
    assert part("outcome", "add session end hooks", design) == []
    assert (
        part(
            "outcome",
            "add session end hooks",
            design.replace("## Changes needed", "## Changes"),
        )
        != []
    )


def test_a_tale_of_how_things_happen_is_no_outcome() -> None:
    tale = (
        "The flow:\n\n1. The user commits `main`\n2. The session of `main` is now empty and "
        "falls back to all\n"
    )
    assert part("outcome", "how does it happen?", tale) == []
    assert (
        part(
            "outcome",
            "how does it happen?",
            f"Fixed the fallback in `main.go`.\n\n{tale}",
        )
        != []
    )


@pytest.mark.parametrize(
    "answer",
    ["hm, stripe shows one delivery, so that's a dead end too", "we ruled that out"],
)
def test_a_cause_that_turned_out_wrong_is_no_reason(answer: str) -> None:
    cause = "The root cause is a retry of the payment task by the broker."
    assert part(
        "reasoning", "why are webhooks handled twice?", cause, "I see", "Anything else?"
    ) == [cause]
    assert (
        part(
            "reasoning",
            "why are webhooks handled twice?",
            cause,
            answer,
            "Then I look further.",
        )
        == []
    )


def test_a_cause_that_the_agent_takes_back_is_no_reason() -> None:
    cause = "The root cause is a retry of the payment task by the broker."
    back = "That is not it. There were three retries in the whole day."
    assert (
        part(
            "reasoning",
            "why are webhooks handled twice?",
            cause,
            "have a look at the log",
            back,
        )
        == []
    )


def test_advice_that_was_not_taken_gives_no_reason() -> None:
    advice = (
        "My recommendation is the sequence number, because it survives a bad network of the "
        "scanners."
    )
    ask = "scanners send a code twice"
    refused = "The firmware is not ours. Let's use a time window on the server for the scanners."
    assert advice not in part("reasoning", ask, advice, refused)
    assert part("decision", ask, f"{advice} Shall I?", "yes please") == [advice]


@pytest.mark.parametrize(
    "remark",
    [
        "Analytics can wait, I have to ask Tomasz whether he uses the funnel",
        "there is a problem with the file list, but let's leave that for later",
        "HEIC 的问题先放着,等下周拿到测试机再说。",
    ],
)
def test_what_a_person_puts_off_stays_open_though_the_talk_goes_on(remark: str) -> None:
    assert part(
        "open_questions",
        "upload photos",
        "Which formats?",
        remark,
        "Fine.",
        "now the docs",
        "Done.",
    ) == [remark]


def test_a_question_that_was_asked_again_and_answered_is_not_open() -> None:
    options = ("Pre-built binaries", "Build from source")
    first = AgentQuestion(
        "Do you want people to install binaries, or to build them?", "", options
    )
    again = AgentQuestion(
        "Which installation method shall the formula have?", options[0], options
    )
    talked = [
        Exchange("t0", "", "add a formula", (first,)),
        Exchange("t1", "", "explain first", (again,)),
    ]
    assert distill(talked)["open_questions"] == ()
    assert [q.text for q in distill(talked[:1])["open_questions"]] == [first.question]


@pytest.mark.parametrize(
    ("sentence", "is_left"),
    [
        (
            "Background downloads aren't done on iOS, since they need a native plugin.",
            True,
        ),
        ("The library hasn't migrated to the new domain of its makers.", False),
    ],
)
def test_what_the_agent_left_undone_is_open_and_not_what_others_did(
    sentence: str, is_left: bool
) -> None:
    assert part("open_questions", "add downloads", sentence) == (
        [sentence] if is_left else []
    )


def test_an_answer_that_was_rewound_is_no_outcome() -> None:
    first, second = (
        "Added a page on the inner workings of `bucket.go`.",
        "Added `docs/limits.md` with the three headers.",
    )
    asked = "write a page on limits for customers"
    assert part("outcome", asked, first, f"{asked}. only what they see", second) == [
        second
    ]
    assert part("outcome", asked, first, "now list the headers as well", second) == [
        first,
        second,
    ]


@pytest.mark.parametrize(
    "said",
    [
        "Streaming tests can be added in a separate effort.",
        "Validation of types can be enhanced if issues arise.",
        "The branch with the parser stays unmerged.",
    ],
)
def test_what_is_left_for_another_time_is_open(said: str) -> None:
    assert part("open_questions", "review the branch", said) == [said]


def test_of_a_dialogue_in_one_message_what_was_answered_in_it_is_not_decided() -> None:
    said = (
        "Ben: please keep the retries of the queue at five.\n"
        "Anna: I'd say three.\n"
        "Ben: fine, let's use three retries for the queue."
    )
    assert part("decision", said, "Retries are three now.") == [
        "Ben: fine, let's use three retries for the queue."
    ]


def test_who_introduces_the_speakers_of_a_dialogue_decides_nothing_by_that() -> None:
    said = (
        "You are talking with Ben and Anna.\n\n"
        "Ben: let's use Redis for the cache.\n"
        "Anna: no, memcached is simpler.\n"
        "Ben: fine, let's use three memcached nodes for the cache."
    )
    assert part("decision", said, "I have noted it.") == [
        "Ben: fine, let's use three memcached nodes for the cache."
    ]


def test_what_the_person_does_not_want_to_lose_was_sent_back() -> None:
    done = "Removed the settings of each shop in favour of one file."
    kept = "fine, but I do not want to lose the settings of each shop"
    first = ("Tidy up the settings.", done)
    assert part("outcome", *first) == [done]
    restored = "Restored the settings of each shop in `shops/`, as they were before."
    assert part("outcome", *first, kept, restored) == [restored]


WORKED = "Orders are now sorted by their number, and the page shows 40 of them."
ASKED_BEFORE = talk(
    *("Where is the list of all orders made?", "In `orders.py`, by `Listing.rows`.") * 4
)


@pytest.mark.parametrize(
    "on_the_way",
    [
        "I can see that the template currently checks for sessions and renders links.",
        "I notice that `rotate` is assigned here but stands in no module of ours.",
        "Good, the `Rooms` context is in line with the query of the bookings.",
    ],
)
def test_what_is_only_seen_on_the_way_is_no_outcome(on_the_way: str) -> None:
    said = (on_the_way, "The sorting used a string, so 10 came before 9.", WORKED)
    exchange = Exchange(
        "t0", "2026-03-01T10:00:00Z", "Orders are in a wrong order.", said
    )
    told = [q.text for q in distill([*ASKED_BEFORE, exchange])["outcome"]]
    assert on_the_way not in told
    assert WORKED in told


def test_the_trouble_that_is_seen_on_the_way_is_told() -> None:
    seen = "I see the issue - the query still reads the old table `orders_2019`."
    said = (seen, "Let me fix it.", WORKED)
    exchange = Exchange("t0", "2026-03-01T10:00:00Z", "Orders are missing.", said)
    told = [q.text for q in distill([*ASKED_BEFORE, exchange])["outcome"]]
    assert seen in told


@pytest.mark.parametrize(
    "idle",
    [
        "You're all set to contribute to the project with your own branch.",
        "If you don't have Postgres running, you can use a free hosted database.",
        "Fork the repo on GitHub, by the button at the top of its page.",
    ],
)
def test_what_the_reader_may_do_is_no_outcome(idle: str) -> None:
    said = talk("Can I work on this?", f"{WORKED} {idle}", "thanks", "Welcome.")
    told = [q.text for q in distill([*ASKED_BEFORE, *said])["outcome"]]
    assert idle not in told


def test_a_report_ends_where_its_figure_is_set_anew() -> None:
    report = (
        "The report job moved to 04:30. The report now takes `orders` before `stock`."
    )
    told = part("outcome", "fix the deadlock", report, "why 4:30? make it 5", "Done.")
    assert told == ["The report now takes `orders` before `stock`."]


def test_ways_in_a_row_are_no_outcome() -> None:
    ways = "Options: the toolkit (the team knows it), the small store (tiny, hooks)."
    built = "Set up `zustand` 4.5 with its undo middleware."
    assert part("outcome", "which store?", ways, "the small store", built) == [built]


def test_a_wish_of_the_agent_is_no_outcome_and_an_id_is_no_wish() -> None:
    wish = "I'd detect the notation by its last separator in the row."
    told = "The checkpoint ID links a commit to the data of the session."
    said = ["1.234 is what?", wish, "no guessing", "Removed it.", "and the ID?", told]
    filler = [word for n in range(4) for word in (f"note {n}", f"Item {n} is listed.")]
    found = part("outcome", *said, *filler)
    assert wish not in found
    assert told in found


@pytest.mark.parametrize(
    "advice",
    [
        "The best approach is to declare `scale` at the top of `draw.js`.",
        "The fix is about 20 lines: stat the path in `log.go` and compare.",
        "最简单的方式是先试第 1 步 Reload Window，大部分情况下能解决。",
    ],
)
def test_what_would_be_best_is_no_outcome(advice: str) -> None:
    done = "Moved `path` into `log.go`, which reloads by itself."
    assert part("outcome", "why is it empty?", advice, "do it", done) == [done]
