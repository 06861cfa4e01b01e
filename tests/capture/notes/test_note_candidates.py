"""Which sentences become notes: what is settled or stated for good, and none of what only looks
like it.
"""

from __future__ import annotations

import pytest

from keeplore.capture.notes.note_candidates import (
    AUTOMATIC,
    NoteCandidate,
    candidates,
    category_in,
    category_of,
    orders,
)
from keeplore.memory import CATEGORIES, AgentQuestion, Exchange

ORDERS = [
    (
        "Remember that the staging database lives on port 5433.",
        "infrastructure",
        "remember",
    ),
    (
        "Please remember: our API keys are kept in Vault, never in the repo.",
        "security",
        "remember",
    ),
    (
        "Can you remember that I prefer British spelling?",
        "coding-preferences",
        "remember",
    ),
    (
        "ok, don't forget that the nightly build needs Java 21",
        "architectural-decisions",
        "remember",
    ),
    (
        "Add this to your memory: invoices are numbered per year.",
        "architectural-decisions",
        "remember",
    ),
    (
        "Keep in mind that the CI runners have only 4 GB of memory.",
        "infrastructure",
        "note",
    ),
    ("Note that the nightly build needs Java 21.", "architectural-decisions", "note"),
    (
        "From now on, write commit messages in the imperative.",
        "project-conventions",
        "rule",
    ),
    ("Always run the linter before you commit.", "project-conventions", "rule"),
    ("never push to main without a pull request", "project-conventions", "rule"),
    ("Don't commit anything unless I ask.", "project-conventions", "rule"),
    (
        "Also our runners need 8 GB because the thumbnailer is hungry, remember that.",
        "infrastructure",
        "remember",
    ),
    (
        "Nightly builds need Java 21 - please don't forget this!",
        "architectural-decisions",
        "remember",
    ),
    (
        "Lembre-se: o banco de produção fica em Frankfurt.",
        "architectural-decisions",
        "remember",
    ),
    ("记住：生产数据库在法兰克福。", "architectural-decisions", "remember"),
    ("Merk dir, dass die Tests nur mit Postgres laufen.", "infrastructure", "remember"),
]
STATED = [
    ("I prefer small functions over long ones.", "coding-preferences"),
    ("I don't want any comments that repeat the code.", "coding-preferences"),
    ("We use pnpm in this repo, not npm.", "project-conventions"),
    ("In this project we never mock the database.", "project-conventions"),
    ("Every public function must have a docstring.", "project-conventions"),
    (
        "Let's go with Postgres instead of MySQL because we need row locks.",
        "architectural-decisions",
    ),
    ("We decided to keep the queue in Redis.", "architectural-decisions"),
    (
        "ok so we'll use SKIP LOCKED rather than advisory locks",
        "architectural-decisions",
    ),
    ("The retry limit should be five by default.", "architectural-decisions"),
    ("No, the port is 8443, not 443.", "corrections"),
    ("Actually, the staging server runs on Debian, not Ubuntu.", "corrections"),
    ("The staging server runs on Hetzner behind nginx.", "infrastructure"),
    ("Our production cluster is deployed with Terraform.", "infrastructure"),
    ("Passwords must never be logged.", "security"),
    (
        "The gotcha here is that the driver silently truncates strings over 255 bytes.",
        "gotchas",
    ),
    ("It turns out the SDK keeps its answers for an hour.", "gotchas"),
    ("I'm a data engineer based in Lisbon.", "user-facts"),
    ("My editor is Helix.", "user-facts"),
    ("we use conventional commits", "project-conventions"),
    ("Every endpoint needs a rate limit.", "project-conventions"),
    ("the staging database is on db7, not db3", "corrections"),
    ("The API rate limit is 100 requests per minute, not 1000.", "corrections"),
    ("Tests live next to the code, not in a tests folder.", "corrections"),
    ("No comments inside function bodies", "project-conventions"),
    ("Please don't use abbreviations in variable names, ever.", "project-conventions"),
    ("Invoice numbers are sequential, gaps are not allowed.", "project-conventions"),
    ("Timestamps are stored in UTC everywhere.", "project-conventions"),
    ("I like short answers.", "coding-preferences"),
    ("npm ci fails on Node 22 because sharp has no prebuilt binary.", "gotchas"),
    ("The macOS build needs Xcode 15, otherwise linking fails.", "gotchas"),
    ("Redis is only used for caching, never for sessions.", "infrastructure"),
    ("Billing is owned by the payments team.", "infrastructure"),
    ("Our customers are mostly on Windows.", "infrastructure"),
    ("We are on Python 3.9 in production.", "infrastructure"),
    ("The export is exposed as an API to our partners.", "patterns"),
]
QUESTIONS = [
    "Should we use Redis or Postgres?",
    "What if we used SQLite instead?",
    "Do you remember what we decided?",
    "remember the bug from yesterday?",
    "Why does the server run on port 80?",
    "Is it a rule that every module must have a test?",
]
HYPOTHETICAL = [
    "Maybe we could use Redis.",
    "If we used Kafka, the queue would be durable.",
    "I think we might want to use Rust.",
    "One option is to use a queue instead of a table.",
    "I've been thinking about using GraphQL instead of REST.",
    "I don't remember that we agreed on Redis.",
]
QUOTED = [
    '"Always use tabs," says the old guide.',
    "> Remember that the port is 80.",
    "They prefer tabs over spaces.",
    "The linter says imports must be sorted.",
    "The docs say you must never call it twice.",
    "```\nremember that x = 1\n```",
]
OF_THE_MOMENT = [
    "Let's create all the pages of the shop from scratch.",
    "The problem is not the naming, but the fact that the page is included twice.",
    "delete that file",
    "run the tests again",
    "let's commit and push",
    "We need to fix the login page first.",
    "Let's look at the parser next.",
    "Remember to push when you're done.",
    "don't forget to run the tests",
    "this must be fixed before the release",
    "For now, let's use the mock instead of the server.",
    "Please update the README.",
    "Add a button to the settings page.",
    "make sure the tests pass",
    "Use the first one instead of the second.",
    "ok, then we can close the issue",
    "Add a rule that every module must have a test.",
    "write a test that checks that passwords must never be logged",
    "the tests need to pass",
    "Let's use a smaller font here.",
    "We need a job queue for invoices",
    "We need to send emails when an invoice is overdue.",
    "use blue for the button instead of red",
    "all the tests should pass before you commit",
    "The modal should close when I press escape",
    "this is for the demo tomorrow, not for production",
]
DANGLING = [
    "Let's not make this change in this branch.",
    "Let's use that.",
    "It should be red.",
    "use it instead of the other one",
    "let's put it there",
    "I don't like it.",
    "That should be enough.",
    "Let's go with option 2.",
]
TROUBLE = [
    "The server is running on port 3000 but I get a 502 error.",
    "The build fails on CI, why?",
    "I never saw this error before",
    "Always the same error...",
    "never mind",
    "The domain is not resolving.",
    "My terminal is frozen.",
    "turns out I was on the wrong branch",
    "we support .zip, but I've seen an archive with a .7z in the uploads",
    "the tests are failing on CI, not locally",
    "the error is in the parser, not the lexer",
    "ah. the issue is the formatter, not the generator, I think.",
    "the file you created is empty, not 3 KB",
    "Your working tree is clean because the changes are stored in the shadow branch.",
    "The tests should pass now.",
    "The stats reported hits: 0, so ranking used titles only.",
]


def talk(*turns: str | tuple[str, str | AgentQuestion]) -> tuple[Exchange, ...]:
    pairs = [(turn, "") if isinstance(turn, str) else turn for turn in turns]
    return tuple(
        Exchange(f"turn-{n}", "2026-02-09T14:00:00Z", user, (reply,) if reply else ())
        for n, (user, reply) in enumerate(pairs)
    )


def written(*turns: str | tuple[str, str | AgentQuestion]) -> list[NoteCandidate]:
    return [c for c in candidates(talk(*turns)) if c.confidence >= AUTOMATIC]


@pytest.mark.parametrize(("said", "category", "order"), ORDERS)
def test_what_the_person_orders_to_be_kept_is_explicit(
    said: str, category: str, order: str
) -> None:
    (candidate,) = orders(talk(said)[0])
    assert (candidate.category, candidate.order, candidate.speaker) == (
        category,
        order,
        "user",
    )
    assert candidate.is_explicit and candidate.confidence > 0.95
    assert candidates(talk(said)) == (candidate,)


def test_an_order_is_kept_without_the_words_that_order_it() -> None:
    (candidate,) = orders(
        talk("hey, please remember that the invoices are numbered per year.")[0]
    )
    assert candidate.text == "The invoices are numbered per year."
    assert (
        candidate.quote.text
        == "hey, please remember that the invoices are numbered per year."
    )
    assert candidate.turn == "turn-0"


def test_a_list_behind_an_order_is_kept_item_by_item() -> None:
    found = orders(
        talk(
            "Remember the following:\n- invoices are numbered per year\n- refunds need two "
            "approvals\n"
        )[0]
    )
    assert [c.text for c in found] == [
        "Invoices are numbered per year",
        "Refunds need two approvals",
    ]


@pytest.mark.parametrize(("said", "category"), STATED)
def test_what_is_stated_for_good_is_written(said: str, category: str) -> None:
    (candidate,) = written(said)
    assert candidate.category == category
    assert not candidate.is_explicit and candidate.confidence < 0.97


@pytest.mark.parametrize(
    "said", [*QUESTIONS, *HYPOTHETICAL, *QUOTED, *OF_THE_MOMENT, *DANGLING, *TROUBLE]
)
def test_what_only_looks_like_a_statement_is_not_written(said: str) -> None:
    assert written(said) == []
    assert orders(talk(said)[0]) == ()


def test_an_answer_says_what_was_asked() -> None:
    asked = AgentQuestion(
        "Which queue do we take?",
        "Postgres (Recommended)",
        ("Postgres (Recommended)", "Redis"),
    )
    (candidate,) = written(("Make jobs durable", asked))
    assert candidate.text == "Which queue do we take? → Postgres"
    assert (candidate.speaker, candidate.category) == (
        "user",
        "architectural-decisions",
    )


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Allow Bash rm -rf build?", "Yes"),
        ("Should I commit this now?", "Yes, commit"),
        ("Which issue should I work on next?", "The login page"),
        ("Which queue do we take?", ""),
        ("Which queue do we take?", "What is the difference?"),
        ("Which queue do we take?", "you decide"),
        ("Which queue do we take?", "not sure yet"),
    ],
)
def test_an_answer_that_settles_nothing_is_not_written(
    question: str, answer: str
) -> None:
    assert (
        written(("Make jobs durable", AgentQuestion(question, answer, ("Yes", "No"))))
        == []
    )


def test_a_short_item_under_a_number_answers_what_was_asked_and_is_not_written() -> (
    None
):
    rule = "DON'T match versions."
    assert [c.text for c in written(rule)] == [rule]
    assert written(f"1. {rule}\n2. ok") == []


@pytest.mark.parametrize(
    "question",
    ["Which workflows should the skill(s) cover?", "One command or several?"],
)
def test_an_answer_about_the_piece_of_work_is_offered_and_not_written(
    question: str,
) -> None:
    asked = AgentQuestion(question, "All four", ("All four", "The first"))
    said = ("Write it down", asked)
    assert written(said) == []
    assert [c.text for c in candidates(talk(said))] == [f"{question} → All four"]


def test_words_of_a_person_who_refuses_leave_are_read_as_their_own() -> None:
    asked = AgentQuestion("Allow Bash npm install?", "no, we use pnpm in this repo", ())
    assert [c.text for c in written(("Add the parser", asked))] == [
        "We use pnpm in this repo"
    ]


def test_a_proposal_counts_only_where_the_person_agrees_and_then_as_the_agents() -> (
    None
):
    proposal = "I'd recommend a Postgres table with SKIP LOCKED for the jobs."
    (agreed,) = written(("Where do jobs wait?", proposal), "yes, do it")
    assert (agreed.speaker, agreed.turn) == ("assistant", "turn-0")
    assert agreed.text == "A Postgres table with SKIP LOCKED for the jobs."
    assert written(("Where do jobs wait?", proposal)) == []
    assert written(("Where do jobs wait?", proposal), "hm, but what about Redis?") == []
    assert written(("Where do jobs wait?", proposal), "no, not a table") == []


def test_no_statement_loses_the_word_that_turns_it_around() -> None:
    (candidate,) = written(
        "No migration may be merged without a reviewed rollback plan."
    )
    assert (
        candidate.text == "No migration may be merged without a reviewed rollback plan."
    )


def test_what_the_agent_says_by_itself_is_not_written() -> None:
    said = (
        "We decided to use Redis. Always run the linter. The server runs on Hetzner behind "
        "nginx."
    )
    assert written(("Look around", said), "What does the parser do?") == []


def test_what_the_agent_found_out_is_written_as_the_agents() -> None:
    trap = (
        "`jq` exits with 0 when the filter finds nothing, so `set -e` doesn't stop the script; "
        "only `jq -e` does."
    )
    (found,) = written(("Why does the script go on?", f"Let me look. {trap}"))
    assert (found.text, found.speaker, found.category, found.turn) == (
        trap,
        "assistant",
        "gotchas",
        "turn-0",
    )
    doubted = talk(("Why does the script go on?", trap), "no, that is wrong")
    assert all(c.confidence < AUTOMATIC for c in candidates(doubted))


def test_what_is_taken_back_in_the_same_talk_is_not_written() -> None:
    first = "Let's go with Postgres instead of MySQL."
    assert written(first, "Scratch that, what would SQLite cost us?") == []
    later = written(first, "On second thought, let's use SQLite instead of Postgres.")
    assert [c.text for c in later] == ["Let's use SQLite instead of Postgres."]


@pytest.mark.parametrize(
    ("first", "later"),
    [
        # a report that names the library is no objection to it
        ("We use pygit2 in this repo, not a checkout.",
         "Stop for a second, the issue was that an ignore file hid it, that was not seen by `pygit2`."),
        # a choice drops decisions, no correction that shares a word with it
        ("The stop event is not correct, that comes at the end of the agent's turn.",
         "Let's not leave all the tests to the very end."),
    ],
)  # fmt: skip
def test_what_tells_how_things_are_takes_nothing_back_nor_is_taken_back(
    first: str, later: str
) -> None:
    alone = [one.quote for one in written(first)]
    assert alone and alone[0] in [one.quote for one in written(first, later)]


def test_a_statement_that_is_repeated_is_one_candidate() -> None:
    assert (
        len(
            written(
                "We use pnpm in this repo, not npm.",
                "We use pnpm in this repo, not npm!",
            )
        )
        == 1
    )


def test_of_a_specification_in_one_message_four_statements_are_written() -> None:
    said = (
        "Every public function must have a docstring. All invoices must carry a number. Each "
        "migration needs to be "
        "reversible. Tests go in the folder of their package. Error messages must name the next "
        "step. "
        "Branch names start with the ticket."
    )
    assert len(written(said)) == 4
    assert len(candidates(talk(said))) > 4


def test_a_pasted_document_states_nothing_in_the_persons_name() -> None:
    plan = (
        "Implement the following plan:\n\nWe use pnpm in this repo, not npm. Remember that the "
        "port is 5433."
    )
    assert candidates(talk(plan)) == ()
    page = "# Rules\n\n" + "Every public function must have a docstring.\n\n" * 3
    assert candidates(talk(page)) == ()


@pytest.mark.parametrize(
    ("more", "expected"), [(39, ["Always use pnpm, never npm."]), (40, [])]
)
def test_a_message_of_more_than_forty_sentences_is_a_document(
    more: int, expected: list[str]
) -> None:
    lines = " ".join(f"Line {number} is rounded once." for number in range(more))
    found = candidates(talk(f"Always use pnpm, never npm. {lines}"))
    assert [candidate.text for candidate in found] == expected


@pytest.mark.parametrize(
    "said",
    [
        "",
        "。",
        "今天天气怎么样？我们用什么数据库",
        "データベースはどこですか",
        "🎉🎉",
        "\x00\x07",
        "a" * 100_000,
        "remember that " * 3000,
    ],
)
def test_any_text_can_be_read(said: str) -> None:
    assert all(
        c.category in CATEGORIES
        for c in candidates(
            talk(said, (said, said), ("yes", AgentQuestion(said, said)))
        )
    )


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("Session cookies are signed with the rotating private key", "security"),
        ("The nightly backup goes to the Frankfurt bucket", "infrastructure"),
        ("User prefers short answers", "coding-preferences"),
        ("Branch names start with the ticket", "project-conventions"),
        ("Rule for this repo: migrations are never edited", "project-conventions"),
        ("The rule engine lives in rules.toml", "architectural-decisions"),
        ("We picked an event log over a queue", "architectural-decisions"),
        ("Beware: the date parser ignores time zones", "gotchas"),
        ("My daughter is called Ada", "user-facts"),
        ("I live in Graz", "user-facts"),
        ("Prices are integers in cents", "architectural-decisions"),
        ("I think one index is enough", "architectural-decisions"),
        ("Text search should be easy and obvious", "architectural-decisions"),
    ],
)
def test_a_text_is_guessed_to_be_of_a_category(text: str, category: str) -> None:
    assert category_of(text) == category


@pytest.mark.parametrize(
    ("text", "of_project", "of_person"),
    [
        ("Coffee at nine", "patterns", "user-facts"),
        ("Kaffee um neun", "patterns", "user-facts"),
        ("One index is enough", "architectural-decisions", "user-facts"),
        ("Use pnpm", "architectural-decisions", "user-facts"),
        ("Ask before each push", "architectural-decisions", "user-facts"),
        ("Prices as integers in cents", "architectural-decisions", "user-facts"),
        ("Coffee on port 9000", "infrastructure", "infrastructure"),
    ],
)
def test_what_no_word_tells_claims_little(
    text: str, of_project: str, of_person: str
) -> None:
    found = [category_in(scope, text) for scope in ("project", "user")]
    assert found == [of_project, of_person]


def test_the_rules_of_a_pasted_skill_are_no_notes() -> None:
    rules = "# Release\n\nAlways bump the minor version. Never publish on Fridays."
    pasted = Exchange(
        "t0",
        "2026-03-01T10:00:00Z",
        f"Base directory for this skill: ~/skills/release\n\n{rules}",
    )
    typed = Exchange("t0", "2026-03-01T10:00:00Z", "Never publish on Fridays.")
    assert (orders(pasted), candidates([pasted])) == ((), ())
    assert [c.text for c in orders(typed)] == ["Never publish on Fridays."]


def test_what_the_person_stated_is_not_noted_again_as_a_finding() -> None:
    asked = "Why is the listing wrong?"
    stated = "Note that `--porcelain` does not read the global `.gitignore`."
    found = (
        "The `--porcelain` flag does not read the global `.gitignore`, so `git status` only lists "
        "tracked files."
    )
    speakers = [
        [candidate.speaker for candidate in written((said, found))]
        for said in (asked, f"{stated} {asked}")
    ]
    assert speakers == [["assistant"], ["user"]]


def test_what_was_the_matter_leaves_it_to_the_agent_to_say_how_things_are() -> None:
    found = (
        "The `--porcelain` flag does not read the global `.gitignore`, so `git status` only lists "
        "tracked files."
    )
    summed_up = (
        "so the issue was that the global `.gitignore` was not read by `--porcelain`, "
        "which ignored our files"
    )
    notes = written(("Why is the listing wrong?", found), (summed_up, "Yes."))
    assert [(note.speaker, note.category) for note in notes] == [
        ("user", "gotchas"),
        ("assistant", "gotchas"),
    ]


@pytest.mark.parametrize(
    ("rest", "category"),
    [("", "patterns"), (", because nobody set another", "gotchas")],
)
def test_a_finding_without_a_trap_tells_how_a_thing_works(
    rest: str, category: str
) -> None:
    found = (
        f"The `Store.load()` method reads the `--path` option from `config.yaml`{rest}."
    )
    (candidate,) = candidates(talk(("How is it read?", found)))
    assert (candidate.text, candidate.category) == (found, category)


@pytest.mark.parametrize(
    ("found", "category"),
    [
        (
            (
                "The `--porcelain` flag does not read the global `.gitignore`, so `git status` only "
                "lists tracked files."
            ),
            "gotchas",
        ),
        (
            (
                "`deploy.sh` does not read the password of `.netrc` unless `--login` is given, so "
                "`curl` only lists public files."
            ),
            "security",
        ),
        (
            (
                "`redis-cli` does not read port 6380 from `redis.conf` unless `-p` is given, so "
                "`ping` only reaches the default one."
            ),
            "infrastructure",
        ),
        # what only a person can decide
        (
            (
                "`push` does not call the API unless `--sync` is given, so `status` only lists what is "
                "in the queue."
            ),
            "gotchas",
        ),
    ],
)
def test_a_finding_is_a_trap_where_it_is_not_about_systems(
    found: str, category: str
) -> None:
    [candidate] = written(("Why is it so?", found))
    assert (candidate.text, candidate.category, candidate.speaker) == (
        found,
        category,
        "assistant",
    )
