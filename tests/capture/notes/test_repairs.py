"""A defect is over when the agent says later that it repaired the same thing."""

from __future__ import annotations

import pytest

from keeplore.capture.discourse.statements import statements_of
from keeplore.capture.notes.note_candidates import candidates
from keeplore.capture.notes.repairs import is_repaired, subject_of
from keeplore.memory import Exchange, Quote

DEFECT = (
    "`readTitle` only skips the greeting, not the wrapped commands, so the title of such a session "
    "is always empty."
)
REPAIRS = [
    "**`readTitle` now skips the wrapped commands** as well.",
    "`readTitle` (the title picker) no longer stops there.",
    "Fixed `readTitle` so that the scan goes on.",
    "I've extended `readTitle` with the wrappers.",
    "Fixed: the wrapped commands are skipped and the session has its title.",
]
# another thing, a step to come, a question, and what is only told again
NO_REPAIRS = [
    "`writeTitle` now skips the wrapped commands.",
    "Let me look at what `readTitle` does now.",
    "Should `readTitle` now skip them?",
    "Added a test for `readTitle`.",
    "As said, `readTitle` only skips the greeting.",
]
TRAP = (
    "go-git doesn't read the global gitignore unless `--global` is given, it only reads "
    "`.gitignore` in the repository, so `Status()` reports ignored files as untracked."
)


def talk(*turns: tuple[str, str]) -> list[Exchange]:
    return [
        Exchange(f"turn-{n}", "2026-02-09T14:00:00Z", user, (reply,))
        for n, (user, reply) in enumerate(turns)
    ]


def is_over(later: str) -> bool:
    told = statements_of(talk(("Why is it empty?", DEFECT), ("Go on.", later)))
    return is_repaired(DEFECT, Quote(DEFECT, "assistant", "turn-0"), told)


@pytest.mark.parametrize("later", REPAIRS)
def test_what_was_repaired_later_is_over(later: str) -> None:
    assert is_over(later)


@pytest.mark.parametrize("later", NO_REPAIRS)
def test_nothing_else_ends_a_defect(later: str) -> None:
    assert not is_over(later)


def test_what_was_repaired_before_is_not_what_was_found() -> None:
    told = statements_of(talk(("Fix it.", REPAIRS[0]), ("And now?", DEFECT)))
    assert not is_repaired(DEFECT, Quote(DEFECT, "assistant", "turn-1"), told)


def test_what_is_no_defect_is_not_repaired() -> None:
    fact = "`readTitle` gives the title of a session."
    told = statements_of(talk(("What is it?", fact), ("Go on.", REPAIRS[0])))
    assert not is_repaired(fact, Quote(fact, "assistant", "turn-0"), told)


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        (DEFECT, "readTitle"),
        ("In `app.py` the method `Store.load()` is slow.", "Store.load()"),
        ("`Bash` is not among the tools that are watched.", ""),
        ("The title is empty because `readTitle` stops.", ""),
    ],
)
def test_the_subject_is_the_name_out_of_the_code_before_the_verb(
    text: str, subject: str
) -> None:
    assert subject_of(text) == subject


def test_a_repaired_defect_is_no_candidate_and_a_trap_of_a_tool_stays() -> None:
    found = f"Found it.\n\n{DEFECT}\n\n{TRAP}"
    said = talk(("Why?", found), ("Go on.", f"{REPAIRS[0]} All tests pass."))
    assert [candidate.text for candidate in candidates(said)] == [TRAP]


def test_the_rule_of_a_person_stays_when_it_was_followed() -> None:
    rule = "Access tokens must never be written to the logs."
    said = talk((rule, "Fixed: access tokens are never written to the logs."))
    assert [candidate.text for candidate in candidates(said)] == [rule]


@pytest.mark.parametrize(
    ("lead", "expected"),
    [("I found the issue: ", True), ("I see a bug: ", True), ("", False)],
)
def test_a_defect_that_was_announced_as_found_is_over_with_any_repair(
    lead: str, expected: bool
) -> None:
    defect = "the unit file starts `node` without a path, so it can fail because it isn't found."
    found = lead + defect
    told = statements_of(talk(("Why?", found), ("Go on.", "Fixed. Run it again.")))
    assert is_repaired(defect, Quote(found, "assistant", "turn-0"), told) is expected
