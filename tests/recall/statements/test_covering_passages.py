"""Which passage of a memory stands for it, and whose words it is."""

from __future__ import annotations

import pytest
from sample_note import note

from keeplore.memory import Conversation, Exchange, Memory, Quote
from keeplore.recall.question import parse_question
from keeplore.recall.statements.memory_hit import _most_covering, _trust_of

TALK = Conversation(
    "Talk",
    (
        Exchange("t1", "", "Which zoo has zebras?", ("None here.",)),
        Exchange("t2", "", "Which queue do we take?", ("Postgres.",)),
    ),
)


@pytest.mark.parametrize(
    ("asked", "turn", "words"),
    [
        ("which queue do we take", "t2", "Which queue"),
        ("which zoo has zebras", "t1", "zebras"),
    ],
)
def test_the_text_with_most_of_the_questions_words_stands_for_the_memory(
    asked: str, turn: str, words: str
) -> None:
    meta = {"kind": "conversation", "title": "Talk", "created_at": ""}
    memory = Memory(meta, TALK.to_markdown())
    text, found = _most_covering(memory, parse_question(asked))
    assert found == turn
    assert words in text


def test_a_note_has_no_turn() -> None:
    memory = note("Ports", "# Ports\n\nStaging is on 5433.\n")
    text, turn = _most_covering(memory, parse_question("staging"))
    assert ("5433" in text, turn) == (True, "")


def conversation(user: str, *quotes: Quote) -> Conversation:
    return Conversation("Talk", (Exchange("t1", "", user),), decision=quotes)


OWN = Quote("Use Postgres for the queue.", "user", "t1")
THEIRS = Quote("Use Redis for the queue.", "assistant", "t1")


@pytest.mark.parametrize(
    ("trust", "talk", "shown", "expected"),
    [
        ("assistant", None, OWN.text, "assistant"),
        ("document", conversation("Hi", OWN), OWN.text, "document"),
        ("assistant", conversation("Hi", OWN), OWN.text, "user"),
        ("assistant", conversation("Hi", THEIRS), THEIRS.text, "assistant"),
        ("assistant", conversation("Hi", OWN), "Something else.", "assistant"),
    ],
    ids=["a note", "foreign", "their own", "the agent's", "another"],
)
def test_a_passage_of_the_persons_own_words_is_theirs(
    trust: str, talk: Conversation | None, shown: str, expected: str
) -> None:
    assert _trust_of(trust, shown, talk) == expected
