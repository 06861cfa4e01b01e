"""Talks about what goes wrong: a remedy that did not help is no outcome, the one that did is told
with what was found.
"""

from __future__ import annotations

import pytest

from keeplore.capture.discourse.standing import sent_back
from keeplore.capture.distill.distiller import distill
from keeplore.capture.notes.note_candidates import AUTOMATIC, candidates
from keeplore.memory import Exchange

AT = "2026-03-01T10:00:00Z"
FIRST = (
    "The time-outs come from the cache: its pool of connections is used up under load. I raised the "
    "pool to 50 in `config/cache.yml`."
)
SECOND = (
    "All requests that fail take 30 s, and that is the read timeout of nginx; the provider takes up "
    "to 40 s. I raised the timeout to 60 s in `deploy/nginx.conf`."
)


def talk(*said: tuple[str, str]) -> list[Exchange]:
    return [
        Exchange(f"t{n}", AT, user, (reply,)) for n, (user, reply) in enumerate(said)
    ]


def outcome(*said: tuple[str, str]) -> list[str]:
    return [quote.text for quote in distill(talk(*said))["outcome"]]


def is_sent_back(message: str, reply: str = "I look.") -> bool:
    return 0 in sent_back(talk(("checkout times out, why?", FIRST), (message, reply)))


def test_only_the_remedy_that_helped_is_told_and_what_was_found_before_it() -> None:
    assert outcome(
        ("checkout times out for 2% of the orders. why?", FIRST),
        ("deployed, still times out", SECOND),
        ("yes, gone now", "Good."),
    ) == [
        SECOND.partition(" I raised")[0],
        "I raised the timeout to 60 s in `deploy/nginx.conf`.",
    ]


def test_where_nothing_was_wrong_the_work_alone_is_told() -> None:
    told = outcome(("split the config by service", SECOND), ("thanks", "Good."))
    assert told == ["I raised the timeout to 60 s in `deploy/nginx.conf`."]


@pytest.mark.parametrize(
    "trouble",
    [
        "the api grows until the pod gets killed",
        "our mails land in spam",
        "the worker hangs after an hour",
        "the logo is not shown on my phone",
    ],
)
def test_a_symptom_is_trouble_so_that_what_was_found_is_told(trouble: str) -> None:
    found = "The tracer keeps each finished span until it is exported."
    remedy = "I set `OTEL_EXPORTER_OTLP_ENDPOINT` for the pod."

    assert outcome((trouble, f"{found} {remedy}"), ("thanks", "Good.")) == [
        found,
        remedy,
    ]


@pytest.mark.parametrize(
    "guess",
    [
        "My guess is the cache of connections of the shop.",
        "Perhaps the cache is too small.",
    ],
)
def test_a_guess_before_a_remedy_is_no_finding(guess: str) -> None:
    reply = f"{guess} I raised the pool to 50 in `config/cache.yml`."
    told = outcome(("checkout is slow", reply), ("thanks", "Good."))
    assert told == ["I raised the pool to 50 in `config/cache.yml`."]


@pytest.mark.parametrize(
    "message",
    [
        "this seems to not solve anything. lets start again",
        "doesn't seem to help",
        "the problem is not the cache, but the provider",
        "the cause isn't the pool",
        "Similar error, other page:",
        "Got this error:",
        "i get a similar error",
        "deployed, still times out",
        "still the same",
        "same problem",
        "it happened again",
        "it's back",
        "it came back this morning",
        "that didn't help",
        "did nothing",
        "nothing changed",
        "I see no difference",
        "no luck",
        "locally yes, CI is still at 13 minutes",
        "they still come twice, and we answer in 100 ms",
        "it wasn't the cache, it was the proxy",
        "that can't be, it worked last week",
        "now I get a different error: 502",
        "worse now",
        "now it's even slower",
        "that broke the login",
        "the problem persists",
        "one customer reported it again today",
        "tests are still red",
        "thanks, but the time-outs are still there",
        "please undo that",
        "it's been two hours, still spam",
        "still nothing",
        "never mind, i undid your changes",
        "I've reverted that, look at the log first",
        "Still no answer from the server",
        "still 404",
        "I still get the old value",
        "hm the job still hangs at 90%",
        "still on my phone it is cut off",
        "deployed, still ugly",
    ],
)
def test_who_says_that_it_goes_on_sends_the_answer_back(message: str) -> None:
    assert is_sent_back(message)


@pytest.mark.parametrize(
    "message",
    [
        "the problem is solved, thanks",
        "a similar page has the same button",
        "yes, gone now",
        "that was it",
        "memory is flat since then",
        "no more errors since yesterday",
        "no errors any more",
        "no problem",
        "not bad!",
        "not a single timeout today",
        "still, let's add an alert",
        "we still need the migration",
        "are you still there?",
        "still thinking about it",
        "Still undecided, let's do the docs first",
        "still no preference, take what you like",
        "still in a meeting, go ahead without me",
        "Still waiting for the design team",
        "I still have to ask Ben about the price",
        "still impressed how fast that was",
        "do we still need the pool?",
        "is it still on 50?",
        "do the same thing for staging",
        "it's fast again",
        "login works again",
        "plus a unique key so it cant happen again",
        "the site is back up, thanks",
        "commit it",
        "yes still valid",
        "still works, thanks",
        "what is still missing",
        "the question is still open",
        "i am still unsure",
    ],
)
def test_who_goes_on_lets_the_answer_stand(message: str) -> None:
    assert not is_sent_back(message)


@pytest.mark.parametrize(
    "reply",
    [
        "Then I was wrong about the cache. It is nginx.",
        "My mistake: I read the log of staging.",
        "I misread the log.",
        "So the pool was not the problem. It is nginx.",
        "Hm, so it isn't the cache. I looked at nginx.",
        "That rules out the cache. I looked at nginx.",
        "I stand corrected.",
    ],
)
def test_what_the_agent_takes_back_stands_no_longer(reply: str) -> None:
    assert is_sent_back("here is the log", reply)


@pytest.mark.parametrize(
    "reply",
    ["Thanks, I read the log.", "Right, that is the price of it.", "It is nginx."],
)
def test_what_only_goes_on_takes_nothing_back(reply: str) -> None:
    assert not is_sent_back("here is the log", reply)


def decided(*said: tuple[str, str]) -> list[str]:
    parts = distill(talk(*said))
    return [quote.text for quote in (*parts["decision"], *parts["also_decided"])]


def test_who_is_right_proposes_nothing() -> None:
    reply = "You are right, same site. The cookie has lost `Secure` since the upgrade."
    told = decided(("login loops on safari", reply), ("confirmed, works now", "Good."))
    assert told == []


def test_a_question_without_its_mark_rules_nothing() -> None:
    asked = (
        "how many orders do we have in the table, can we do a full scan in the report"
    )
    assert decided((asked, "I can't reach production. Shall I look in staging?")) == []


def notes(*said: tuple[str, str]) -> list[str]:
    return [c.text for c in candidates(talk(*said)) if c.speaker == "user"]


REPAIRED = "The price cache has no limit. I replaced it by one with 5,000 entries."


def test_the_trouble_that_a_talk_begins_with_is_no_note_once_it_was_worked_on() -> None:
    trouble = "the container gets killed every couple of hours."
    assert notes((f"{trouble} memory leak?", REPAIRED)) == []
    kept = ["The container gets killed every couple of hours."]
    assert notes((trouble, "I will look at it.")) == kept  # nothing was done
    assert notes((f"fyi {trouble}", REPAIRED)) == kept  # told to be known
    assert notes(("look at the log", "I did."), (trouble, REPAIRED)) == kept


def test_how_a_thing_is_since_a_moment_is_no_note() -> None:
    (said,) = candidates(talk(("memory is flat since then", "Good.")))
    assert said.confidence < AUTOMATIC
