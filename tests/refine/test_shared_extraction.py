"""Short talks that share one call: which ones do, what is asked, and what each gets of it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from typing import Any

import pytest
from tests.refine.conftest import ADVICE, ASKED, DECIDED, Desk

from keeplore.errors import LlmRefused
from keeplore.llm.base import tokens
from keeplore.memory.note import NoteDraft
from keeplore.refine.model_client import ModelClient
from keeplore.refine.pending import PendingPart, pending_part
from keeplore.refine.shared_extraction import (
    MOST_TALKS,
    SHORT,
    TOGETHER,
    extracted_together,
    parts_sharing,
)
from keeplore.refine.window import MAX_INPUT, Segment
from keeplore_hooks.contracts import Usage

CACHE = "The sessions of the shop are kept in Redis, which restarts every night at two o'clock."
CHOICE = "The orders service uses PostgreSQL 16 because it needs transactions."
KEPT = "The sessions of the shop are kept in Redis."


@pytest.fixture
def parts(desk: Desk) -> list[PendingPart]:
    """Two talks that nobody was asked about, and a note near the second."""
    for words in (KEPT, "Windows are cleaned on Fridays by the firm below."):
        desk.workspace.notes.write(NoteDraft(words))
    talks = (
        desk.say((ASKED, ADVICE), (DECIDED, "Noted.")),
        desk.say((CACHE, "I see."), day=10),
    )
    return [pending_part(desk.around, talk, {}) for talk in talks]


def answered(*facts: Any, entities: Iterable[Any] = ()) -> dict[str, Any]:
    return {"facts": [*facts], "entities": [*entities]}


def test_each_talk_gets_what_is_its_own_and_its_share_of_the_cost(
    desk: Desk, parts: list[PendingPart], fact: Any
) -> None:
    note = desk.around.search.near(KEPT, desk.around.here("workspace", ""))[0]
    uses = {
        "source": "orders service",
        "relationship": "uses",
        "target": "PostgreSQL 16",
        "confidence": 0.9,
    }
    span = "We go with PostgreSQL 16 for the orders service"
    answer = answered(
        fact(KEPT, "are kept in Redis", talk=2, about=note.label),
        fact(CHOICE, span, talk=1, about=note.label),
        fact(CHOICE, span, talk=2),
        entities=[{**uses, "talk": 1}],
    )
    desk.model.answers = [answer]
    asker = ModelClient(desk.account)
    found = extracted_together(desk.around, asker, parts)

    (question,) = desk.model.questions
    assert question == "\n\n".join(
        (
            f"Known notes:\n{note.line}",
            (
                f"Talk 1:\n[1 user] {ASKED}\n[1 assistant] {ADVICE}\n[2 user] {DECIDED}\n"
                "[2 assistant] Noted."
            ),
            f"Talk 2:\n[1 user] {CACHE}\n[1 assistant] I see.",
        )
    )
    assert [
        (
            one.part,
            [(it.statement, it.about) for it in one.found.facts],
            [triple.target for triple in one.found.triples],
            +one.dropped,
        )
        for one in found
    ] == [
        (
            parts[0],
            [(CHOICE, None)],
            ["PostgreSQL 16"],
            Counter({"facts: about an unknown note": 1}),
        ),
        (
            parts[1],
            [(KEPT, note)],
            [],
            Counter({"facts: span not in the text": 1}),
        ),
    ]
    read = tokens(TOGETHER.text) + tokens(question)
    written = tokens(json.dumps(answer))
    assert asker.usage == Usage(read, written)
    assert [one.usage for one in found] == [
        Usage(read // 2, written // 2),
        Usage((read + 1) // 2, (written + 1) // 2),
    ]


@pytest.mark.parametrize(
    ("talk", "key"),
    [(0, "facts"), (3, "facts"), ("1", "facts"), (None, "facts"), (3, "entities")],
)
def test_an_answer_that_keeps_talks_not_apart_is_none(
    desk: Desk, parts: list[PendingPart], talk: object, key: str
) -> None:
    desk.model.answers = [{**answered(), key: [{"talk": talk}]}]
    with pytest.raises(LlmRefused) as caught:
        extracted_together(desk.around, ModelClient(desk.account), parts)
    assert str(caught.value.message).endswith(
        f"it does not say of which talk its {key} are"
    )


def test_short_talks_share_a_call_as_far_as_there_is_room(
    parts: list[PendingPart],
) -> None:
    def of_size(characters: int) -> PendingPart:
        beginning = "[1 user] "
        text = "x" * (characters - len(beginning))
        said = Segment("t", 1, "user", "user", text, text)
        return PendingPart(parts[0].memory, segments=(said,) if characters else ())

    def sizes(*given: int) -> list[int]:
        shared = parts_sharing(map(of_size, given))
        return [len(part.windows[0].text) for part in shared]

    assert (SHORT, MAX_INPUT, MOST_TALKS) == (3_000, 12_000, 16)
    assert sizes(3_000, 3_001, 0, 200) == [3_000, 200]
    assert sizes(*[2_900] * 4, 401, 400, 1) == [*[2_900] * 4, 400]
    assert sizes(*[100] * 17) == [100] * 16
    assert sizes(500, 3_001) == []
