"""What an agent found out becomes a finding: how things are, readable alone, and no report of
work.
"""

from __future__ import annotations

import time

import pytest

from keeplore.capture.notes.findings import MOST, MOST_SURE, findings
from keeplore.memory import Exchange

GOTCHA = (
    "The issue is that go-git doesn't read the global gitignore unless `--global` is given, it "
    "only reads `.gitignore` in the repository, so `Status()` reports ignored files as untracked."
)
STATED = (
    "go-git doesn't read the global gitignore unless `--global` is given, it only reads "
    "`.gitignore` in the repository, so `Status()` reports ignored files as untracked."
)
EXITS = (
    "`jq` exits with 0 when the filter finds nothing, so `set -e` doesn't stop the script; only "
    "`jq -e` does."
)
# of these nothing lasts: work, plans, guesses, what is seen now, questions, the agent itself
OF_THE_WORK = [
    "Added a `--dry-run` flag to `deploy.sh` and updated the tests.",
    "All tests pass now and `make lint` is clean.",
    "`parser.go` — renamed `parseLine` to `readLine`",
    "The test is failing because `db.py` isn't mocked.",
    "Update `config.yaml` so that it uses port 8080.",
    "I think `nginx` probably drops the header.",
    "Let me check why `nginx` only drops the header when it is empty.",
    "Does `nginx` only drop the header when it is empty?",
    "`README.md` is now updated with the new command.",
]
LEANING = (
    "It takes `--json` only, so any other flag such as `--all` is read as a path and `graph "
    "commit` doesn't complain."
)


def talk(*turns: tuple[str, str]) -> list[Exchange]:
    return [
        Exchange(f"turn-{n}", "2026-02-09T14:00:00Z", user, (reply,))
        for n, (user, reply) in enumerate(turns)
    ]


def test_a_trap_with_its_cause_is_told_without_the_steps_around_it() -> None:
    reply = f"Let me look.\n\n{GOTCHA} I'll switch to the command line."
    (found,) = findings(talk(("Why is the file reported?", reply)))
    assert (found.text, found.said, found.turn, found.is_sure) == (
        STATED,
        GOTCHA,
        "turn-0",
        True,
    )


def test_how_it_was_found_out_is_left_out_and_so_is_emphasis() -> None:
    told = EXITS.replace("only", "**only**")
    said = f"The reviewer went through the scripts and found one thing: {told}"
    (found,) = findings(talk(("Why does it go on?", said)))
    assert (found.text, found.said) == (EXITS, said)


def test_what_the_agent_does_about_it_is_cut_off() -> None:
    said = f"{EXITS[:-1]}, so I'm using that in the script."
    (found,) = findings(talk(("Why does it go on?", said)))
    assert found.text == EXITS[:-1]


@pytest.mark.parametrize("said", OF_THE_WORK)
def test_what_is_done_planned_or_guessed_is_no_finding(said: str) -> None:
    assert findings(talk(("How is it?", said))) == []


def test_a_sentence_that_leans_on_another_takes_it_along() -> None:
    named = "The subcommand is called `graph commit`."
    (alone,) = findings(talk(("How?", f"{named} {LEANING}")))
    assert alone.text == f"{named} {LEANING}"
    assert not alone.is_sure
    assert findings(talk(("How?", LEANING))) == []


def test_a_sentence_that_leans_on_nothing_but_its_heading_takes_that_along() -> None:
    said = (
        "It takes `--json` only, so any other flag such as `--all` is read as a path and `jq` "
        "exits with 0."
    )
    headed = f"Two things.\n\n## The `graph commit` command :\n\n{said}"
    (found,) = findings(talk(("How?", headed)))
    assert (found.text, found.said) == (f"The `graph commit` command: {said}", said)


def test_a_sentence_that_names_its_cause_first_leans_on_nothing() -> None:
    said = (
        "Because `--global` is never read, `jq` exits with 0 only when the filter finds nothing, so "
        "`set -e` doesn't stop the script."
    )
    reply = f"Two things.\n\n## `jq` argues for `set -e`\n\n{said}"
    assert [found.text for found in findings(talk(("Why?", reply)))] == [said]


def test_a_finding_takes_along_what_its_paragraph_says_of_it() -> None:
    follows = "The exit code of the last command counts there."
    said = f"{EXITS} {follows} I'll fix that.\n\nThe page has a header."
    (found,) = findings(talk(("Why does it go on?", said)))
    assert (found.text, found.said) == (f"{EXITS} {follows}", EXITS)


def test_work_that_was_done_is_never_sure() -> None:
    said = "Fixed `jq`, which exits with 0 when the filter finds nothing, not `set -e`."
    assert not any(f.is_sure for f in findings(talk(("Why?", said))))


@pytest.mark.parametrize(
    "told",
    [
        f"{EXITS} The script either has no `set -e`, or the filter is empty.",
        f"The honest answer is: {EXITS}",
    ],
)
def test_a_cause_that_is_not_settled_and_an_opinion_are_never_sure(told: str) -> None:
    found = findings(talk(("Why does it go on?", told)))
    assert [finding.is_sure for finding in found] == [False]


@pytest.mark.parametrize(
    "told",
    [
        (
            "`graph diff` accepts only `--json`, so any other flag is read as a path and yields the "
            "misleading error `at most one revision`, not a word about the flag."
        ),
        (
            "`jq` exits with 0 when there is no match, so `set -e` doesn't stop the script; only "
            "`jq -e` does."
        ),
    ],
)
def test_an_error_that_is_always_so_and_a_condition_are_nothing_of_the_moment(
    told: str,
) -> None:
    assert [
        (found.text, found.is_sure) for found in findings(talk(("Why?", told)))
    ] == [(told, True)]


def test_what_only_counts_what_follows_is_no_part_of_a_finding() -> None:
    told = (
        "The one uncached path: queries of `graph` can't be kept when there are edits in the "
        "`worktree`, only `--head` is cached."
    )
    assert [found.text for found in findings(talk(("Why?", told)))] == [
        (
            "Queries of `graph` can't be kept when there are edits in the `worktree`, only `--head` "
            "is cached."
        )
    ]


def test_a_ruling_of_the_agent_is_offered_and_never_sure() -> None:
    said = "`PaymentClient` must always be closed by the caller, because it holds a socket."
    (found,) = findings(talk(("Why does it leak?", said)))
    assert not found.is_sure


@pytest.mark.parametrize("answer", ["No, that is wrong.", "nope, still untracked"])
def test_what_the_person_rejects_is_not_sure(answer: str) -> None:
    talked = talk(("Why is the file reported?", GOTCHA), (answer, "Hm."))
    (found,) = findings(talked)
    assert not found.is_sure


def test_what_is_said_again_is_told_once() -> None:
    again = GOTCHA.replace("The issue is that ", "As said, ")
    told = findings(talk(("Why is it reported?", GOTCHA), ("And now?", again)))
    assert [found.is_sure for found in told] == [True]


def test_of_many_findings_the_likeliest_are_sure_and_some_are_offered() -> None:
    many = "\n\n".join(
        f"`tool{n}` exits with {n} when its `input{n}` names nothing, so `set{n} -e` doesn't "
        f"stop `script{n}.sh`; only `run{n} -e` does."
        for n in range(30)
    )
    told = findings(talk(("Why does it go on?", many)))
    assert len(told) == MOST
    assert sum(found.is_sure for found in told) == MOST_SURE


def test_a_pasted_document_in_an_answer_is_not_read() -> None:
    assert findings(talk(("Write the page", f"# Traps\n\n{GOTCHA}"))) == []


@pytest.mark.parametrize(
    "said", ["", "。", "`" * 9000, "so " * 9000, "**" * 9000, ". " * 9000, "a: " * 9000]
)
def test_any_text_can_be_read(said: str) -> None:
    assert findings(talk((said, said), (said, said))) == []


def test_time_grows_with_the_length_of_the_talk() -> None:
    def seconds(turns: int) -> float:
        talked = talk(*((f"Why {n}?", f"{GOTCHA} {n} `a{n}`.") for n in range(turns)))
        start = time.process_time()
        findings(talked)
        return time.process_time() - start

    seconds(20)
    assert seconds(800) < 12 * max(seconds(200), 0.02)


@pytest.mark.parametrize(
    "following",
    [
        ("No, it still fails with an empty filter.", "Let me look again."),
        ("Why is the file reported?", "Let me look again."),  # asked again: rewound
        ("What now?", "That was not the cause: the mount is read-only."),
    ],
)
def test_what_was_sent_back_is_not_sure(following: tuple[str, str]) -> None:
    asked = ("Why is the file reported?", GOTCHA)
    (found,) = [f for f in findings(talk(asked, following)) if f.turn == "turn-0"]
    assert (found.text, found.is_sure) == (STATED, False)


def test_what_was_handed_over_to_be_looked_at_is_not_sure() -> None:
    told = EXITS.replace("; only", ", so you can compare both; only")
    found = findings(talk(("Why does it go on?", told)))
    assert [one.is_sure for one in found] == [False]


@pytest.mark.parametrize(
    ("lead", "expected"),
    [
        ("The job calls `jq` with `set -e`.", True),
        ("The job was started by `cron` with `set -e`.", False),
    ],
)
def test_a_finding_behind_a_tale_of_how_things_were_is_not_sure(
    lead: str, expected: bool
) -> None:
    found = findings(talk(("Why does it go on?", f"{lead} {EXITS}")))
    assert [one.is_sure for one in found if EXITS in one.text] == [expected]
