"""The notes that every program is given, and what it is asked of them.

A note is a line of text that begins with its day. The filler is made-up talk of a team; among it
stand facts with a value, of which half are edited in place later and half are said anew in a note
of their own.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from peer_protocol import Hits

Notes = dict[str, str]  # name → text
DAY, LATER_DAY = "2026-03-02", "2026-05-04"
_WHO = ("Ana", "Bo", "Chen", "Dita", "Emil", "Fay", "Goran", "Hana")
_DID = ("reviewed", "rewrote", "measured", "postponed", "merged", "documented", "split")
_WHAT = ("the importer", "the login page", "the nightly job", "the mail queue",
         "the search box", "the price table", "the audit trail", "the upload form",
         "the cache", "the help pages")  # fmt: skip
_WHY = ("a customer in Porto asked for it", "the tests there were slow", "nobody owned it",
        "it failed twice on Monday", "the new phones need it", "the auditors come in autumn",
        "two teams had written it twice", "the old library is no longer kept up")  # fmt: skip
_NEXT = ("next is a list of open questions", "the rest waits for the release",
         "somebody from support joins", "numbers follow on Friday", "we try it on one tenant",
         "the draft lies in the team's folder", "the old way stays for a month")  # fmt: skip


@dataclass(frozen=True, slots=True)
class ChangingFact:
    says: str  # with {} for the value
    anew: str  # the same, as somebody says that it has changed
    question: str
    old: str
    new: str


FACTS = (
    ChangingFact(
        "The staging gateway listens on port {}, behind the load balancer.",
        "The staging gateway moved to port {} because of a clash.",
        "Which port does the staging gateway listen on?",
        "8443", "9117",
    ),
    ChangingFact(
        "A failed payment is tried again {} times before support hears of it.",
        "From now on a failed payment is tried again {} times.",
        "How often is a failed payment tried again?",
        "five", "eleven",
    ),
    ChangingFact(
        "Backups are kept for {} days and then deleted for good.",
        "We keep backups for {} days now, as the auditors asked.",
        "How long are backups kept?",
        "30", "75",
    ),
    ChangingFact(
        "The mobile release is planned for {}, in all countries at once.",
        "The mobile release slipped to {} because of the store's review.",
        "When is the mobile release planned?",
        "12 April", "3 June",
    ),
    ChangingFact(
        "Deploys go out through {}, by whoever is on call.",
        "Since this week deploys go out through {} instead.",
        "What do deploys go out through?",
        "Jenkins", "Buildkite",
    ),
    ChangingFact(
        "The reporting service stores its data in {}, one table a tenant.",
        "The reporting service was moved to {} over the weekend.",
        "Where does the reporting service store its data?",
        "MongoDB", "ClickHouse",
    ),
    ChangingFact(
        "{} answers for the billing code and everything around it.",
        "{} took over the billing code at the start of the month.",
        "Who answers for the billing code?",
        "Ingrid", "Rafael",
    ),
    ChangingFact(
        "Uploads may have {} megabytes at most, attachments included.",
        "The limit for uploads is {} megabytes from now on.",
        "How large may an upload be?",
        "20", "64",
    ),
    ChangingFact(
        "The design review takes place on {}, right after lunch.",
        "From May on the design review takes place on {}.",
        "On which day is the design review?",
        "Tuesday", "Thursday",
    ),
    ChangingFact(
        "Sessions of the web client end after {} minutes without a click.",
        "Sessions of the web client now end after {} minutes.",
        "After how many minutes does a session of the web client end?",
        "15", "45",
    ),
)  # fmt: skip


def fact_notes(prefix: str) -> Notes:
    """Every fact with its first value."""
    return {
        f"{prefix}{number}": f"{DAY}: {fact.says.format(fact.old)}"
        for number, fact in enumerate(FACTS)
    }


def edited(prefix: str) -> Notes:
    """The same notes with the new values."""
    return {
        f"{prefix}{number}": f"{LATER_DAY}: {fact.says.format(fact.new)}"
        for number, fact in enumerate(FACTS)
    }


def said_anew(prefix: str) -> Notes:
    """New notes that say that the values have changed."""
    return {
        f"{prefix}{number}": f"{LATER_DAY}: {fact.anew.format(fact.new)}"
        for number, fact in enumerate(FACTS)
    }


def filler(count: int) -> Notes:
    draw = random.Random(1)
    return {f"filler{number}": _talk(draw, number) for number in range(count)}


def _talk(draw: random.Random, number: int) -> str:
    day = f"2026-0{number % 3 + 1}-{number % 28 + 1:02}"
    who, other = draw.sample(_WHO, 2)
    did, what = draw.choice(_DID), draw.choice(_WHAT)
    ticket = f"ticket {1000 + number}"
    return (
        f"{day}: {who} {did} {what} ({ticket}), because {draw.choice(_WHY)}. "
        f"{other} looked at {draw.choice(_WHAT)} with it; {draw.choice(_NEXT)}."
    )


def is_wrong(fact: ChangingFact, names: Sequence[str], hits: Hits) -> bool:
    """Whether of the notes ``names``, which tell the fact, none is found or the first one that is
    does not tell the new value.
    """
    told = [text for name, text in hits if name in names]
    return not told or fact.new not in told[0]


def numbered(texts: Mapping[str, str]) -> tuple[Notes, dict[str, str]]:
    """Texts under names that any file system takes, and the name of each."""
    names = {key: f"line{number}" for number, key in enumerate(texts)}
    return {names[key]: text for key, text in texts.items()}, names
