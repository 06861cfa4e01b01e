"""Titles that a person would have chosen."""

from __future__ import annotations

import pytest
from example_count import LONG, examples
from hypothesis import given, settings
from hypothesis import strategies as st

from keeplore.capture.distill.distiller import distill
from keeplore.capture.message_filter import clean
from keeplore.capture.titles.key_phrases import profile
from keeplore.capture.titles.title_candidates import error_wording
from keeplore.capture.titles.title_cutting import MAX_TITLE, fit_title
from keeplore.capture.titles.title_wording import report_as_order, short_statement
from keeplore.capture.titles.title_words import _with_ending, looseness
from keeplore.capture.titles.titles import FALLBACK, title_of
from keeplore.memory import AgentQuestion, Exchange, Quote
from keeplore.text.sentences import Sentence
from keeplore_hooks.events import Work


def talk(*said: str) -> list[Exchange]:
    return [
        Exchange(f"t{n}", "2026-03-01T10:00:00Z", user, (answer,) if answer else ())
        for n, (user, answer) in enumerate(
            zip(said[::2], [*said[1::2], ""], strict=False)
        )
    ]


def title(*said: str) -> str:
    exchanges = talk(*said)
    return title_of(exchanges, distill(exchanges))


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        (
            "Hey Claude, can you please add tests for the cache version check?",
            "Add tests for the cache version check",
        ),
        (
            "ok so could you fix the flaky login test? It fails every second run.",
            "Fix the flaky login test",
        ),
        ("Explain what this function does", "Explain what this function does"),
        ("Now I need add add rooms to the database", "Add rooms to the database"),
        (
            "Find out why the build is slow and what it does",
            "Find out why the build is slow",
        ),
        (
            "I'd like your help with refactoring the timeline filter",
            "Refactor the timeline filter",
        ),
        (
            "we need to split the billing module into packages",
            "Split the billing module into packages",
        ),
        (
            "what are the pros and cons of build files over a makefile?",
            "What are the pros and cons of build files over a makefile?",
        ),
        (
            "make me a skill for the release checklist please",
            "Make a skill for the release checklist",
        ),
        (
            "how do I rotate the signing keys of our package index?",
            "How to rotate the signing keys of our package index",
        ),
        (
            "Please update src/app/routes/session_nav.html to show the project",
            "Update session_nav.html to show the project",
        ),
        (
            "let's rename parseThing to parseInvoice, then push",
            "Rename parseThing to parseInvoice",
        ),
        (
            "do we have rate limiting on the login endpoint?",
            "Rate limiting on the login endpoint",
        ),
        (
            "I don't understand why the cache isn't emptied when a file is renamed",
            "Why the cache isn't emptied when a file is renamed",
        ),
        ("How does the cache index work?", "How does the cache index work?"),
        (
            "Is there a reason we log the ledgers?",
            "Is there a reason we log the ledgers?",
        ),
        (
            "When the ledger export ends, show the totals of each ledger. How would you do it?",
            "Show the totals of each ledger",
        ),
        (
            "the bookkeeper wants an export of the year as csv",
            "Export of the year as csv",
        ),
        (
            "quick one: which python do we pin? ci says 3.13",
            "Which python do we pin?",
        ),
        (
            "is there a place where the proxy keeps old answers?",
            "Is there a place where the proxy keeps old answers?",
        ),
        (
            "hero picture is 4mb lol",
            "Hero picture is 4mb",
        ),
        (
            "super. und der lauf soll um 1 uhr starten, nicht um 3",
            "Der lauf soll um 1 uhr starten",
        ),
        (
            "Why is the nightly job red on arm64?",
            "Why is the nightly job red on arm64?",
        ),
        (
            "I'm seeing a weird flicker in the invoice table",
            "Weird flicker in the invoice table",
        ),
        (
            "the chart in the new test blows up on CI, for now can we skip its check?",
            "Chart in the new test blows up on CI",
        ),
        (
            "The import of the ledger fails since noon, can you find out why?",
            "Import of the ledger fails",
        ),
        (
            "I wonder how we could consolidate the hook types of agents.",
            "How to consolidate the hook types of agents",
        ),
        (
            "Can you clean this up by removing the unused StageFiles function?",
            "Clean this up by removing the unused StageFiles function",
        ),
        (
            "The session list doesn't display checkpoints AFAIK.",
            "Session list doesn't display checkpoints",
        ),
        (
            "let's leave git out since it's only one host",
            "Leave git out since it's only one host",
        ),
        (
            "drop the prefix index, let's do lazy snippets",
            "Drop the prefix index",
        ),
        (
            "now explore also having the run command share that new queue watcher",
            "Explore having the run command share that new queue watcher",
        ),
        (
            "We did a big refactoring, and a lot of browser tests are failing.",
            "Browser tests are failing",
        ),
        (
            "Right now `queue resume` supports an optional third argument, the target.",
            "Queue resume supports an optional third argument",
        ),
        (
            "I wonder if there's a way to codify the hook bindings",
            "Codify the hook bindings",
        ),
        (
            "i have serve.sh and stop.sh to manage the app. the login page is not shown",
            "Login page is not shown",
        ),
        (
            "Fix: 2. The loader in parse_invoice is needlessly complex\nLines 3-9 could go",
            "Loader in parse_invoice is needlessly complex",
        ),
        (
            "keep in mind that we need a backup of the ledger export",
            "Backup of the ledger export",
        ),
        (
            "please load the ledger backend .env file from vault",
            "Load the ledger backend .env file from vault",
        ),
        (
            "参考local目录下的Dockerfile和docker-compose.yml,给当前项目制作Dockerfile和部署脚本，尽可能周全。",
            "给当前项目制作Dockerfile和部署脚本，尽可能周全",
        ),
        (
            "ok, assuming so, search results should be in reverse order",
            "Search results should be in reverse order",
        ),
        (
            "good catch. waitlist on old phones is empty",
            "Waitlist on old phones is empty",
        ),
        (
            "Read every report in docs/tides/ again",
            "Read every report in tides again",
        ),
        ("fix the stations w/ no name", "Fix the stations with no name"),
        (
            "The second one concerns the visit window in the protocol.",
            "Visit window in the protocol",
        ),
        (
            "That was a simple animated sticker, make sure the bot understands all media",
            "Make sure the bot understands all media",
        ),
        (
            "the tests are red on CI, fix the import of dates",
            "Fix the import of dates",
        ),
    ],
)
def test_a_request_loses_its_wrapping(request_: str, expected: str) -> None:
    assert title(request_, "Sure.") == expected


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (
            (
                "Implement the following plan:\n\n# Plan: Publish the CLI to Homebrew\n\n## "
                "Context\n\nText."
            ),
            "Publish the CLI to Homebrew",
        ),
        ("# Release checklist skill\n\nDo this and that.", "Release checklist skill"),
        (
            "# Plan\n\n## Context\n\n## Move invoices to the new ledger\n\nText.",
            "Move invoices to the new ledger",
        ),
        (
            "# Plan: Show totals in the overview + fix the first row\n\nText.",
            "Show totals in the overview + fix the first row",
        ),
    ],
)
def test_a_pasted_plan_lends_its_heading(message: str, expected: str) -> None:
    assert title(message, "I'll start.") == expected


@pytest.mark.parametrize(
    ("more", "expected"),
    [(28, "Ledger moves to Postgres"), (29, "Rounding of invoices")],
)
def test_a_message_of_more_than_thirty_sentences_is_a_document(
    more: int, expected: str
) -> None:
    lines = " ".join(f"Line {number} is rounded once." for number in range(more))
    message = f"The ledger moves to Postgres.\n\n## Rounding of invoices\n\n{lines}"
    assert title(message, "I'll start.") == expected


def test_the_report_that_takes_up_the_verb_of_the_request_comes_first() -> None:
    asked = "I didn't find those links helpful, can you replace them, please?"
    done = "I've added a style for the transcript link. I've replaced the session links by a list."
    assert title(asked, done) == "Replace the session links by a list"


def test_the_decision_gives_the_name_where_there_is_one() -> None:
    said = (
        "our redis queue loses jobs on restart. what could we do about the queue?",
        "We could turn on persistence for Redis, or keep the queue in Postgres.",
        "I decided to drop Redis in favour of a Postgres queue.",
        "Good: a jobs table with SKIP LOCKED.",
    )
    assert title(*said) == "Drop Redis in favour of a Postgres queue"


def test_a_name_that_was_given_up_gives_no_title() -> None:
    before = ("hmm maybe tides.db makes more sense than harbour.db", "")
    asked = "Which do you want — `gauge.db`, `tides.db`, or stick with `harbour.db`?"
    said = (before[0], f"Fair point. {asked}", "let's go with gauge.db")
    done = "Done: renamed the file to `gauge.db`, its package and its document."
    assert title(*before) == "tides.db makes more sense than harbour.db"
    assert title(*said, done) == "Rename the file to gauge.db"


def test_a_short_answer_is_led_by_what_was_asked() -> None:
    asked = AgentQuestion(
        "Which database should the job queue use?", "Postgres", ("Postgres", "Redis")
    )
    exchanges = [
        Exchange(
            "a",
            "2026-03-01T10:00:00Z",
            "go",
            ("Two ways for the job queue.", asked, "The job queue is set up."),
        )
    ]
    found = title_of(exchanges, distill(exchanges))
    assert "Postgres" in found and "queue" in found.lower()


def test_a_bare_go_ahead_is_named_by_what_was_done() -> None:
    assert (
        title("yes", "Replaced the polling loop with a file watcher.")
        == "Replace the polling loop with a file watcher"
    )


@pytest.mark.parametrize(
    ("message", "answer", "expected"),
    [
        (
            "hi",
            "I've moved the retry logic to retry.py.",
            "Move the retry logic to retry.py",
        ),
        (
            "hi",
            "Great, so I've moved the retry logic to retry.py.",
            "Move the retry logic to retry.py",
        ),
        (
            "Nah let's roll back",
            "Reverted the migration to schema v12.",
            "Revert the migration to schema v12",
        ),
        (
            "What was the commit that introduced this behaviour?",
            "Reverted the migration to schema v12.",
            "Revert the migration to schema v12",
        ),
        (
            "[Image #1]",
            "The sidebar overlaps the header. I've fixed the sidebar overlap with a z-index.",
            "Fix the sidebar overlap with a z-index",
        ),
        (
            'Traceback (most recent call last):\n  File "app.py", line 3\nKeyError: 1',
            "I'll pin setuptools in the build image. Then the tests.",
            "Pin setuptools in the build image",
        ),
        (
            "Base directory for this skill: ~/pr\n\n# PR review\n\nARGUMENTS: 12",
            "# Token refresh in the login page\n\nThe refresh runs twice.",
            "Token refresh in the login page",
        ),
        (
            "#terminalLastCommand",
            "# Bot is Running Correctly\n\nAll is well.\n\n# Trigger pattern of the bot\n\nIt has 7.",
            "Trigger pattern of the bot",
        ),
        (
            "/review\n\nReview the commits of this branch.",
            "# Code Review — `ledger-export`\n\nThe export leaks.\n\n## Findings\n\nTwo.",
            "Code Review: ledger-export",
        ),
        (
            "## Context\n\n- Pull request: title:\tExport ledgers as CSV\nstate:\tOPEN",
            "I'll start by reading the diff.",
            "Export ledgers as CSV",
        ),
        (
            "can you add https://example.org/ann/ledger-export as a new remote?",
            "Done.",
            "Add ledger-export as a new remote",
        ),
        (
            (
                "This session is being continued from a previous conversation.\n\n"
                "The user wanted to export invoices as CSV."
            ),
            "I'll go on.",
            "Export invoices as CSV",
        ),
    ],
)
def test_a_message_that_says_nothing_is_named_by_the_substance(
    message: str, answer: str, expected: str
) -> None:
    assert title(message, answer) == expected


@pytest.mark.parametrize(
    ("phrase", "expected"),
    [
        ("This new error in the export", 1),
        ("Scenario B: keep the counter", 1),
        ("Fix the race in this project", 0),
        ("A plain file for this should be fine", 1),
        ("Move the counter to option a", 0),
    ],
)
def test_what_points_to_the_talk_is_loose(phrase: str, expected: int) -> None:
    assert looseness(phrase) == expected


def test_an_offer_that_is_agreed_to_names_the_talk() -> None:
    said = (
        "hm",
        "The export is slow. Want me to add an index to the ledger table?",
        "yes please",
        "Done.",
    )
    assert title(*said) == "Add an index to the ledger table"


def test_a_pull_request_names_what_its_commits_do_in_parts() -> None:
    work = Work(
        commands=('gh pr create --title "feat: export invoices as CSV" --body x',),
        commits=(
            "0a0a0a1 Add a writer for rows",
            "0a0a0a2 Quote cells",
            "0a0a0a3 Stream exports",
        ),
    )
    assert title_with(work, "go", "The export is done.") == "Export invoices as CSV"


def test_the_last_resort_is_what_the_talk_is_about() -> None:
    said = ("hm, the job queue", "The job queue holds its jobs in Redis.")
    assert title(*said) == "Job queue"
    assert title("Refactor.", "What?") == "Refactor"


def test_neighbours_of_one_project_have_titles_of_their_own() -> None:
    things = (
        "login page",
        "invoice export",
        "search index",
        "mail queue",
        "audit log",
        "backup job",
        "release script",
        "icon font",
    )
    titles = {
        title(f"can you look into why the {thing} is slow on Mondays?", "Let me see.")
        for thing in things
    }
    assert len(titles) == len(things)


@pytest.mark.parametrize(
    "words", ["please", "can you", "could you", "http", "```", "**", "/home/", "hey "]
)
def test_no_wrapping_address_or_marker_is_left(words: str) -> None:
    said = (
        "hey, can you please check /home/ann/work/server.py and https://example.org/a?b=c for "
        "the **memory leak**?"
    )
    assert words not in title(said, "I will.").lower()


@pytest.mark.parametrize(
    "message",
    ["", "?", "yes", "...", "```\ncode\n```", "a", "\x00", "# ", "👍👍", "- "],
)
def test_there_is_always_a_title(message: str) -> None:
    assert title(message) in (FALLBACK, title(message))
    assert title(message).strip() and "\n" not in title(message)


def test_a_title_that_is_cut_ends_with_no_adjective_without_its_noun() -> None:
    said = "Move the nightly export of invoices off the primary onto the existing replica of it"
    assert title(said, "Done.") == "Move the nightly export of invoices off the primary"


def test_no_exchange_gives_the_fallback() -> None:
    assert title_of([], distill([])) == FALLBACK


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(st.text(max_size=200), max_size=6))
def test_any_talk_has_one_short_line_for_a_title_and_always_the_same(
    said: list[str],
) -> None:
    found = title(*said)
    assert (
        0 < len(found) <= MAX_TITLE
        and len(found.splitlines()) == 1
        and found == found.strip()
    )
    assert found == title(*said)


@pytest.mark.parametrize(
    "unit",
    [
        "word ",
        "ok ",
        "the ",
        "# a\n",
        "x/y/",
        "(",
        "can you ",
        "a_b.",
        "[x](",
        "<a",
        "0",
    ],
)
@LONG
def test_a_message_of_a_megabyte_gets_its_title_in_its_stride(
    unit: str, size: int
) -> None:
    message = unit * (size // len(unit))
    assert len(title(message, message)) <= MAX_TITLE


def worked(*commits: str) -> Work:
    return Work(commits=commits)


def title_with(work: Work, *said: str) -> str:
    exchanges = talk(*said)
    return title_of(exchanges, distill(exchanges), work)


@pytest.mark.parametrize(
    ("commit", "expected"),
    [
        (
            "7e00b6e feat(session): add closing timestamp to sessions",
            "Add closing timestamp to sessions",
        ),
        (
            "7e00b6e Round VAT once per rate, half up, on Decimal (#12)",
            "Round VAT once per rate, half up, on Decimal",
        ),
    ],
)
def test_the_subject_of_the_one_commit_sums_up_the_talk(
    commit: str, expected: str
) -> None:
    assert (
        title_with(
            worked(commit),
            "the total is one cent off, can you look?",
            "Fixed.",
            "commit it",
            "Done.",
        )
        == expected
    )


@pytest.mark.parametrize(
    "commit",
    [
        "7e00b6e wip",
        "7e00b6e init",
        "7e00b6e style: use fmt in builders",
        "7e00b6e fix tests",
    ],
)
def test_a_commit_that_names_nothing_names_no_talk(commit: str) -> None:
    said = ("Please add a retry to the mail sender", "Added.")
    assert (
        title_with(worked(commit), *said)
        == title(*said)
        == "Add a retry to the mail sender"
    )


def test_a_decision_that_the_commit_does_not_name_comes_first() -> None:
    said = (
        "No, actually keep the retries at 5, not 3. The provider was down for 40 minutes in March.",
        "Changed: five attempts.",
        "Good. Commit it.",
        "Committed.",
    )
    assert (
        title_with(worked("4f2c9aa Send invoices through a job queue"), *said)
        == "Keep the retries at 5, not 3"
    )


def test_a_choice_says_what_it_is_for() -> None:
    said = (
        "Sending an invoice blocks the request. We need a job queue. What would you use?",
        "A job queue in Redis, or a job queue in Postgres.",
        "Then let's go with Postgres and SKIP LOCKED.",
        "Agreed.",
    )
    assert title(*said) == "Go with Postgres and SKIP LOCKED for the job queue"


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("loans table: soft delete or hard", "Loans table: soft delete or hard"),
        ("rare species: blur them?", "Rare species: blur them?"),
        (
            "names: we match against what now? I see two lists in the code",
            "Names: we match against what now?",
        ),
        (
            "georef: many labels say '3 km N of Tartu'. compute or leave?",
            "Georef: many labels say '3 km N of Tartu'",
        ),
    ],
)
def test_a_subject_that_was_named_in_front_leads_the_title(
    message: str, expected: str
) -> None:
    reply = (
        "A soft delete keeps the rows. I'd remove the rows of old loans from the table."
    )
    assert title(message, reply, "ok, 25 km then", "Done.") == expected


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (
            (
                "npm ERR! code ERESOLVE\nnpm ERR! ERESOLVE unable to resolve dependency tree\n\n"
                "what do i do"
            ),
            "ERESOLVE unable to resolve dependency tree",
        ),
        (
            "src/page.tsx(3,20): error TS2307: Cannot find module 'ledger' or its types.\n\nhuh",
            "Cannot find module 'ledger' or its types",
        ),
        (
            (
                "Auto-merging yarn.lock\nCONFLICT (content): Merge conflict in yarn.lock\n"
                "Automatic merge failed; fix conflicts.\n\nagain. every single time"
            ),
            "Merge conflict in yarn.lock",
        ),
        (
            "$ docker ps\npermission denied while trying to reach the daemon\n\nI am in the group?",
            "Permission denied while trying to reach the daemon",
        ),
    ],
)
def test_the_error_in_a_pasted_log_names_a_talk_that_begins_with_it(
    message: str, expected: str
) -> None:
    said = (message, "Two ways.", "override for now, we migrate in spring", "Done.")
    assert title(*said) == expected


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (
            "ok so i left the ledger server running over the weekend and it was at 3gb",
            "I left the ledger server running over the weekend",
        ),
        (
            "i ran the wrong migration on staging, how do i undo it",
            "I ran the wrong migration on staging",
        ),
        (
            "i want a 'was this helpful' box at the bottom of each page",
            "'was this helpful' box at the bottom of each page",
        ),
        ("can u set up renovate? no majors without me", "Set up renovate"),
        (
            "look at this:\n\n```\nSELECT 1\n```\n\nthe ledger list does this for every row",
            "The ledger list does this for every row",
        ),
    ],
)
def test_what_somebody_tells_of_himself_begins_a_title(
    message: str, expected: str
) -> None:
    assert title(message, "Two ways.", "lol. fix pls", "Done.") == expected


def test_the_question_that_was_decided_names_the_talk() -> None:
    question = "what should the record id be in the archive?"
    exchanges = talk(question, "The barcode or a uuid.", "uuid", "Agreed.")
    decision = Quote(f"{question} → uuid", "user", "t1")
    assert (
        title_of(exchanges, {"decision": (decision,)})
        == "What should the record id be in the archive?"
    )


def test_a_statement_about_something_else_does_not_name_the_talk() -> None:
    exchanges = talk(
        "password rules are annoying",
        "Length alone is safe.",
        "12 min, nothing else, and the leak check",
        "Done.",
    )
    decision = Quote("12 min, nothing else, and the leak check", "user", "t1")
    assert (
        title_of(exchanges, {"decision": (decision,)}) == "Password rules are annoying"
    )


def test_a_later_request_about_something_else_does_not_name_the_talk() -> None:
    said = (
        "saves get lost when the battery of the handheld dies",
        "Two ways: write at each checkpoint, or set `flush_on_write` on the store.",
        "flush on write, what does that cost",
        "Some 3 ms for each write; flush on write is safe with the journal.",
        "ok use that then",
        "Set `flush_on_write`; the journal stays.",
    )
    assert title(*said) == "Saves get lost when the battery of the handheld dies"


@pytest.mark.parametrize("line", ["\n", "#\n", "Error: \n", ": ", "cannot ", "x"])
def test_no_error_is_read_out_of_a_long_message_that_has_none(line: str) -> None:
    """A search that tried each place with each length would take half a minute."""
    assert error_wording("see the log\n\n" + line * (19_000 // len(line))) is None


def test_small_talk_does_not_name_the_talk() -> None:
    said = (
        "quick one before lunch",
        "Sure, go ahead.",
        "dragging rows doesnt work in safari",
        "I added an empty string to the drag data.",
    )
    assert title(*said) == "Dragging rows doesn't work in safari"


def test_a_statement_in_front_of_a_request_is_left_out() -> None:
    assert (
        title(
            "the importer is slow on Mondays, could you add an index to the ledger table?",
            "Done.",
        )
        == "Add an index to the ledger table"
    )


def test_of_two_spellings_alike_every_process_takes_the_same() -> None:
    said = "The job queue stalls at night. The Job queue stalls at noon."
    assert profile(talk(said, "I see.")).phrases[0].startswith("Job queue")


def test_a_title_has_no_marker_of_a_secret() -> None:
    said = (
        "my token is [REDACTED:github-token:486a24], can you test whether it has the packages "
        "scope"
    )
    assert "REDACTED" not in title(said, "It has the repo scope only, no packages.")


def test_a_marker_of_a_secret_is_no_subject() -> None:
    said = (
        "Can you see on staging whether jobs are stuck? The database is "
        "postgresql://ledgerly:[REDACTED:url-credentials:060add]@staging.example:5432/ledgerly"
    )
    assert set(profile(talk(said, "Nothing is stuck.")).phrases) == {
        *("database", "jobs", "ledgerly", "postgresql", "staging", "stuck"),
    }
    assert (
        title(said, "Nothing is stuck.")
        == "Can you see on staging whether jobs are stuck?"
    )


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        (
            "add a helper function to the invoice importer package that can be called from other places",
            "Add a helper function to the invoice importer package",
        ),
        (
            "instrument the live invoice import with file logging to see exactly what happens",
            "Instrument the live invoice import with file logging",
        ),
        (
            "add a serialization test of the ledger to the nightly checks before running the whole suite",
            "Add a serialization test of the ledger to the nightly checks",
        ),
        (
            "benchmark the new ledger index by date against the old one against the real database",
            "Benchmark the new ledger index by date against the old one",
        ),
        (
            "solve the ledger import as a generalized 'solve for desktop' scenario that runs for every app",
            "Solve the ledger import",
        ),
    ],
)
def test_no_title_ends_within_a_clause(request_: str, expected: str) -> None:
    assert title(request_, "Sure.") == expected


def test_a_bare_command_is_named_by_the_heading_of_its_answer() -> None:
    answer = "**Ledger Style Review**\n\nExported names that need doc comments: none."
    assert title("/house-style", answer) == "Ledger Style Review"


def test_an_order_without_a_subject_gives_way_to_one_that_has_it() -> None:
    said = (
        "log a linear improvement",
        "Added the ledger index corruption to the known limits. The ledger index corruption is known.",
    )
    assert title(*said) == "Add the ledger index corruption to the known limits"


def test_an_arrow_of_the_agents_is_no_answer() -> None:
    decision = "The hot path parses each ledger: `load(id)` → `Ledger` → flatten body + count rows."
    exchanges = talk("Make the ledger import faster", "Sure.")
    parts = {"decision": (Quote(decision, "assistant", "t0"),)}
    assert title_of(exchanges, parts) == "Make the ledger import faster"


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Combined ledgers: full navigation kept.", ""),
        ("Reverted (by me): removed the dead ledger export.", ""),
        ("Restored the ledger check.", "restore the ledger check"),
    ],
)
def test_only_work_is_told_as_an_order(answer: str, expected: str) -> None:
    assert report_as_order(Sentence(answer)) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            "Our ledger search index becomes stale (see the log).",
            "ledger search index becomes stale",
        ),
        (
            "The catch: the ledger search index becomes stale.",
            "ledger search index becomes stale",
        ),
        ("This makes the ledger index stale at once.", ""),
        ("If the ledger index becomes stale, nothing is found.", ""),
        ("The digest went from 48f554e4aa to bfb70aa9bb during the import.", ""),
        ("Ledger → index update → stale search results.", ""),
        ("Or the ledger search index becomes stale.", ""),
        ("Done.", ""),
        ("…", ""),
        (
            "The ledger index becomes stale whenever somebody imports invoices while a long export of the year runs.",
            "",
        ),
    ],
)
def test_a_line_of_the_head_stands_alone_as_a_title_or_is_none(
    line: str, expected: str
) -> None:
    assert short_statement(line) == expected


def test_what_came_of_a_talk_goes_before_its_key_phrases() -> None:
    exchanges = talk(
        "hm, that looks weird. 09ea3c1e2b76 is the one we just made?",
        "Found it. The ledger base commit becomes stale (it is set once).",
    )
    line = Quote(
        "The ledger base commit becomes stale (it is set once).", "assistant", "t0"
    )
    assert (
        title_of(exchanges, {"outcome": (line,)}) == "Ledger base commit becomes stale"
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('Rename "Save as" to “Export”', 'Rename "Save as" to “Export”'),
        ('"Rename Save as"', "Rename Save as"),
        ('Rename "Save as to Export', "Rename Save as to Export"),
        ("Move the queue (in Redis", "Move the queue"),
        ("Fix the map [of ports", "Fix the map"),
        ("Set {name} and {place to a default", "Set {name}"),
        ("Set {name} to the", "Set {name}"),
    ],
)
def test_a_title_has_no_quotation_or_bracket_that_is_open(
    text: str, expected: str
) -> None:
    assert fit_title(text) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (
            "What did we decide about money amounts?",
            "What did we decide about money amounts?",
        ),
        ("Which generator do we use?", "Which generator do we use?"),
        ("What did you change in parser.py?", "What did you change in parser.py?"),
        ("How do we store money amounts?", "How to store money amounts"),
        ("What should we use for the queue?", "What to use for the queue"),
    ],
)
def test_a_question_stays_a_question(question: str, expected: str) -> None:
    assert title_of(talk(question, "Answer."), {}) == expected


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        (
            "can we bump the archive to dwc-dp while we're at it?",
            "Bump the archive to dwc-dp",
        ),
        (
            "scan bench wont start: `gphoto2: *** Error: Could not claim the device`",
            "Scan bench won't start: gphoto2: Error: Could not claim the device",
        ),
    ],
)
def test_a_title_ends_with_a_word_and_has_no_stars(
    request_: str, expected: str
) -> None:
    assert title(request_, "Ok.") == expected


@pytest.mark.parametrize(
    ("verb", "ending", "forms"),
    [
        ("add", "ed", ["added", "added", "addded"]),
        ("cache", "ing", ["cacheing", "caching", "cacheeing"]),
        ("drop", "ing", ["droping", "droping", "dropping"]),
        ("copy", "ed", ["copyed", "copyed", "copyyed", "copied"]),
        ("copy", "ing", ["copying", "copying", "copyying"]),
    ],
)
def test_how_a_form_of_a_verb_may_be_written(
    verb: str, ending: str, forms: list[str]
) -> None:
    assert list(_with_ending(verb, ending)) == forms


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (
            ("Let's take Redis for the queue instead", "Ok."),
            "Let's take Redis for the queue",
        ),
        (("Let's drop Postgres.", "Ok."), "Drop Postgres"),
        (("add a health check", "Ok."), "Use Postgres for the queue"),
    ],
)
def test_what_holds_no_more_is_no_title(said: tuple[str, str], expected: str) -> None:
    asked = ("Where do we queue?", "Postgres or Redis would do.")
    assert title(*asked, "Let's use Postgres for the queue.", "Ok.", *said) == expected


def test_a_value_that_was_changed_leaves_the_title_its_matter() -> None:
    kept = ("Let's keep done jobs for 14 days", "Set to 14 days.")
    assert title(*kept, "make it 30 days", "Set.") == "Keep done jobs for 14 days"


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (
            (
                "Before you touch the parser it will be important to also update the fixtures "
                "used to check and update the grammar - to give the reader clear examples."
            ),
            "Update the fixtures used to check and update the grammar",
        ),
        (
            (
                "What do you think about updating the way the cache is filled so that there are "
                "2 layers: 1) a frozen one 2) a live one"
            ),
            "Update the way the cache is filled",
        ),
        (
            "OK. Let's focus on the way the loader fills the cache.",
            "How the loader fills the cache",
        ),
    ],
)
def test_the_main_request_is_the_title_and_not_a_part_of_its_sentence(
    asked: str, expected: str
) -> None:
    assert title(asked, "It can be done.") == expected


def test_what_follows_from_what_works_may_be_the_title() -> None:
    said = "anyway the checksum works, so get rid of the second pass"
    assert title(said, "It is gone.") == "Get rid of the second pass"


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("maybe we can just rerun the importer when a file is moved?", False),
        ("rerun the importer when a file is moved", True),
    ],
)
def test_a_way_that_is_only_thought_of_is_no_title(said: str, expected: bool) -> None:
    before = ("compare the checksum", "The importer compares it for each file now.")
    found = title(*before, said, "The importer is slow when each file is moved.")
    assert (found == "Rerun the importer when a file is moved") is expected


FURNITURE = (
    "[399961 lines left out]",
    "[image]",
    "[image/png left out: 12 KB]",
    "[base64 data left out: 33 KB]",
    "[data left out: 1 KB]",
    "[REDACTED]",
    "[REDACTED:api-key:ab12cd]",
)


@pytest.mark.parametrize("mark", FURNITURE)
@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (("{}", ""), FALLBACK),
        (("{}", "The loader fails."), "The loader fails"),
        (("Rows:\n{}\nof rows", ""), "Rows"),
        (("{}\n\nWhy does the loader fail?", ""), "Why does the loader fail?"),
        (("Why does the loader fail? {}", ""), "Why does the loader fail?"),
    ],
)
def test_what_stands_for_something_left_out_is_no_title(
    mark: str, said: tuple[str, str], expected: str
) -> None:
    told = title(*(text.format(mark) for text in said))
    assert told == expected


@pytest.mark.parametrize(
    ("line", "count"), [("row", 9_000), ("z" * 9_000, 90), ("A" * 9_000, 90)]
)
def test_a_paste_that_was_cut_gives_a_title_and_a_head_without_the_mark(
    line: str, count: int
) -> None:
    encoded = f"data:image/png;base64,{line * 9}"
    for paste in (f"{line}\n" * count, line, encoded):
        exchanges = talk(clean(paste), "We keep the loader, because it is fast.")
        parts = distill(exchanges)
        told = [quote.text for part in parts.values() for quote in part]
        assert "left out" not in "\n".join((title_of(exchanges, parts), *told))


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (
            ("To start, create a file of notes for the second term.", "Done."),
            "Create a file of notes for the second term",
        ),
        (
            (
                "I have a scene at kitchen.tscn. I am trying to spawn three cooks.",
                "The cooks are never added to the tree.",
            ),
            "Spawn three cooks",
        ),
        (
            (
                "the print queue of the till loses bills",
                "The queue runs in a container.",
                "are you able to access the docker container where the print queue runs?",
                "No.",
            ),
            "Print queue of the till loses bills",
        ),
        (
            (
                "I'm trying to figure out an issue, likely a problem with the print queue.",
                "I will propose a change to the queue.",
            ),
            "Problem with the print queue",
        ),
        (
            ("line 124, the bill of the till is not printed", "It is now."),
            "Bill of the till is not printed",
        ),
    ],
)
def test_neither_lead_nor_material_nor_means_is_the_task(
    said: tuple[str, ...], expected: str
) -> None:
    assert title(*said) == expected


def test_a_clause_that_says_only_when_is_no_title() -> None:
    said = "When the requested bills are not valid, the till should say so."
    assert not title(said, "Yes.").startswith("When")
