"""Picks, yeses and refusals as people type them in haste, of ways that the agent put."""

from __future__ import annotations

import pytest

from keeplore.capture.distill.decisions import decisions
from keeplore.capture.notes.standing_orders import standing_orders
from keeplore.memory import Exchange
from keeplore.text.sentences import sentences

AT = "2026-02-09T14:03:11Z"
RECOMMENDED = """For the battery:

1. Lead acid 12 V: heavy, cheap
2. Li-ion pack with a charger: light, not below 0 °C
3. Supercap: hours only

The winter is mild there, I'd take the Li-ion pack."""
LETTERS = """Options:

- A: a lock in Postgres
- B: one worker only
- C: idempotent writes

Which one?"""
TOLD = (
    "Firmware over the radio takes 19 hours. Alternatives: a phone from below with another chip, "
    "or a cable down the mast with a plug."
)
OFFERED = "The query scans the table. I can add an index on `customer_id` and drop the old one."
PROPOSED = "Sessions pile up.\n\nProposal: reuse the open session of an order and expire the stale ones."
WAYS = "The column differs. I can fix the SQL, or fall back to a destructive migration."
DONE = "The page loads in 2 s now. All 31 tests pass."
OFFER = "I can add an index on `customer_id` and drop the old one."


def decided(reply: str, message: str) -> list[str]:
    said = [("how should we do this", reply), (message, "Done.")]
    talk = [
        Exchange(f"t-{n}", AT, user, (answer,)) for n, (user, answer) in enumerate(said)
    ]
    return [decision.quote.text for decision in decisions(talk)]


@pytest.mark.parametrize(
    ("reply", "message", "line"),
    [
        # a number or a letter with a dot is no list
        (RECOMMENDED, "1. but its -12 some nights", "Lead acid 12 V: heavy, cheap"),
        (LETTERS, "b. the load is small anyway", "one worker only"),
        # by name, of ways that a sentence lists
        (TOLD, "cable. boring but works", "a cable down the mast with a plug"),
        (RECOMMENDED, "supercap pls", "Supercap: hours only"),
        # a yes to what the agent can do or proposes, without a question
        (OFFERED, "sounds right, do it", OFFER),
        (OFFERED, "go", OFFER),
        (PROPOSED, "do that", PROPOSED.partition("\n\n")[2]),
        # a way that is turned down
        (
            WAYS,
            "no destructive!! they have notes in there",
            f"{WAYS.partition('. ')[2]} → no destructive!! they have notes in there",
        ),
        (
            DONE,
            "and no more bank transfer, too many unpaid",
            "and no more bank transfer, too many unpaid",
        ),
        (
            DONE,
            "pls never mark it paid from the redirect",
            "pls never mark it paid from the redirect",
        ),
    ],
)
def test_what_is_typed_in_haste_decides(reply: str, message: str, line: str) -> None:
    assert line in decided(reply, message)


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (LETTERS, "b. is still broken on the phone"),
        ("1. Renamed the class\n2. Fixed the test", "1. looks odd on the phone"),
        ("I looked at the log. I can see the timeout of the second worker.", "ok"),
        (WAYS, "no luck, it is down again"),
        (DONE, "no more errors, thx"),
        (DONE, "go"),
    ],
)
def test_what_only_reports_decides_nothing(reply: str, message: str) -> None:
    assert decided(reply, message) == []


@pytest.mark.parametrize(
    ("message", "rule"),
    [
        (
            "pls never mark an order paid from the redirect",
            "Never mark an order paid from the redirect",
        ),
        (
            "rule from now on, no new python models in dbt",
            "rule from now on, no new python models in dbt",
        ),
        ("new rule: every chart has a unit", "new rule: every chart has a unit"),
    ],
)
def test_a_rule_in_haste_is_a_standing_order(message: str, rule: str) -> None:
    orders = [order.text for order in standing_orders(sentences(message))]
    assert [text.casefold() for text in orders] == [rule.casefold()]
