"""Decisions in words that point back are told behind what they point to, and a word in passing
takes back no other decision.
"""

from __future__ import annotations

from keeplore.capture.distill.distiller import distill
from keeplore.memory import Exchange, Quote

AT = "2026-02-09T14:03:11Z"


def decided(*talk: tuple[str, str]) -> list[Quote]:
    """All decisions of a talk, each exchange a message and its reply."""
    exchanges = [
        Exchange(f"t-{n}", AT, said, (reply,)) for n, (said, reply) in enumerate(talk)
    ]
    parts = distill(exchanges, None)
    return [*parts["decision"], *parts["also_decided"]]


def test_a_rule_that_points_back_is_told_behind_the_sentence_before_it() -> None:
    rule = (
        "Altered content under a known number must go to quarantine. It must never be posted "
        "automatically."
    )
    assert decided(
        ("How far is the import?", "It reads the files."), (rule, "Noted.")
    ) == [Quote(rule.replace(". It", ". → It"), "user", "t-1")]


def test_a_proposal_that_points_back_is_told_behind_the_persons_question() -> None:
    asked = "How touchy would the comparison of the screens be?"
    assert decided(
        ("Compare the screens in CI", "They are compared."),
        (asked, "Common is 0.01. I'd put it at 0.002."),
        ("ok, do that", "Done."),
    ) == [Quote(f"{asked} → I'd put it at 0.002.", "assistant", "t-1")]


def test_an_order_that_points_back_is_told_behind_what_was_asked() -> None:
    reply = (
        "**Where to put `markSessionEnded()`:**\n\nBoth handlers call it on the way out.\n\nWhat "
        "do you prefer?"
    )
    assert decided(
        ("Mark the session as ended", reply),
        ("put it in handleSessionEnd", "Got it."),
    ) == [
        Quote(
            "Where to put `markSessionEnded()` → put it in handleSessionEnd",
            "user",
            "t-1",
        )
    ]


def test_what_points_to_nothing_that_was_said_is_no_decision() -> None:
    assert decided(("Hello", "Hi."), ("we never do that", "Fine.")) == []


def test_an_answer_is_told_behind_both_ways_that_were_asked_about() -> None:
    reply = 'It logs as "stop". Should I log it as "session-end" too? Or leave that as a cleanup?'
    question = 'Should I log it as "session-end" too? Or leave that as a cleanup?'
    assert decided(
        ("Why is the log wrong?", reply), ("yeah that should be a session-end", "Done.")
    ) == [Quote(f"{question} → yeah that should be a session-end", "user", "t-1")]


def test_a_word_in_passing_takes_no_decision_back() -> None:
    first = (
        "Let's use Dagster for the pipeline that brings the telemetry of three ground stations "
        "into the warehouse at the end of each pass"
    )
    later = "the path should begin by satellite, not by station"
    kept = decided((first, "Set up."), (later, "Fine."))
    assert [one.text for one in kept] == [first, later]


def test_what_shall_not_be_names_nothing_in_the_place_of_another_thing() -> None:
    kept = decided(
        (
            "Log it as session end",
            "Want me to log the end of the session as its own event?",
        ),
        ("yes", "Done."),
        ("Anything else?", "No."),
        ("And how far are you?", "Half of it is there."),
        ("Fine.", "I go on."),
        ("let's not leave all the tests to the very end", "Right."),
    )
    assert [one.text for one in kept] == [
        "Want me to log the end of the session as its own event? → yes",
        "let's not leave all the tests to the very end",
    ]


def test_what_is_dropped_by_its_name_stands_no_longer() -> None:
    kept = decided(
        ("Let's use Redis for the cache", "Done."),
        ("we go with SQLite, not Redis", "Changed."),
    )
    assert [one.text for one in kept] == ["we go with SQLite, not Redis"]


def test_a_decision_that_answers_the_agent_is_told_with_the_question() -> None:
    asked = "Which identity provider do you have?"
    answer = "okta, but we move to entra in january"
    reply = f"I have looked at the code.\n\n{asked}"
    told = decided(("Add SSO", reply), (answer, "Then it stays generic."))
    assert told == [Quote(f"{asked} → {answer}", "user", "t-1")]
    told = decided(("Add SSO", "It is there."), ("we move to entra in january", "Ok."))
    assert all("→" not in quote.text for quote in told)
