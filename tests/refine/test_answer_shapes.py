"""Which items of a model's answer are sound, and what is counted of the others."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from keeplore.refine.answers.answer_schema import (
    AspectItem,
    ChoiceItem,
    FactItem,
    LineItem,
    TripleItem,
    items,
    list_in,
    schema_of,
)

TRIPLE = {"source": "shop", "relationship": "uses", "target": "Postgres"}
FACT = {
    "content": "The shop uses Postgres.",
    "span": "we use Postgres",
    "type": "decision",
    "confidence": 0.9,
}
CHOICE = {"fact": 1, "action": "ADD", "confidence": 1, "reason": "it is new"}
LINE = {
    "talk": 1,
    "part": "open",
    "content": "Who pays for it?",
    "span": "who pays",
    "confidence": 0.5,
}
ASPECT = {"fact": 1, "name": "ledger", "aspect": "storage", "kind": "constraint"}


@pytest.mark.parametrize(
    ("answer", "key", "listed"),
    [
        ({"facts": [1, 2]}, "facts", [1, 2]),
        ({"facts": []}, "facts", []),
        ({"facts": [1]}, "entities", []),
        ({"entities": [1]}, "entities", [1]),
        # the list alone, which is that of facts
        ([{"content": "x"}], "facts", [{"content": "x"}]),
        (["a word", {"content": "x"}], "facts", ["a word", {"content": "x"}]),
        ([{"content": "x"}], "entities", []),
    ],
)
def test_an_answer_may_be_its_list_alone_and_lack_entities(
    answer: Any, key: str, listed: list[Any]
) -> None:
    assert list_in(answer, key) == listed


@pytest.mark.parametrize(
    ("answer", "key"),
    [
        ({}, "facts"),
        ({"facts": None}, "facts"),
        ({"facts": {}}, "facts"),
        ({"entities": "none"}, "entities"),
        ([], "facts"),
        (["a word"], "facts"),
        ("facts", "facts"),
        (None, "entities"),
    ],
)
def test_an_answer_without_its_list_is_none(answer: Any, key: str) -> None:
    with pytest.raises(ValueError, match=f"^the answer has no list of {key}$"):
        list_in(answer, key)


@pytest.mark.parametrize(
    ("kind", "base", "field", "good", "bad"),
    [
        (FactItem, FACT, "content", ("x" * 10,), ("x" * 9,)),
        (FactItem, FACT, "confidence", (0, 1, 0.5), (-0.1, 1.1)),
        (FactItem, FACT, "lasting", (0, 1), (-0.1, 1.1)),
        (FactItem, FACT, "span", ("x",), ("", " ", None)),
        (FactItem, FACT, "ends", ("", "x" * 10_000), ("x" * 10_001, 7)),
        (FactItem, FACT, "answers", ("x" * 10_000,), ("x" * 10_001,)),
        (TripleItem, TRIPLE, "source", ("x", "x" * 80), ("", " ", "x" * 81)),
        (TripleItem, TRIPLE, "target", ("x" * 80,), ("", "x" * 81)),
        (TripleItem, TRIPLE, "relationship", ("x" * 80,), ("", "x" * 81)),
        (TripleItem, TRIPLE, "confidence", (0, 1), (2, "much")),
        (ChoiceItem, CHOICE, "action", ("UPDATE", "DELETE", "NONE"), ("MERGE",)),
        (ChoiceItem, CHOICE, "fact", (7,), ("one", None, 1.5)),
        (LineItem, LINE, "part", ("decided", "outcome"), ("other",)),
        (LineItem, LINE, "content", ("x" * 10,), ("x" * 9,)),
        (AspectItem, ASPECT, "kind", ("attribute",), ("other",)),
        (AspectItem, ASPECT, "aspect", ("x" * 80,), ("", "x" * 81)),
    ],
)
def test_an_item_with_a_field_that_cannot_be_is_left_out_and_counted(
    kind: Any,
    base: dict[str, Any],
    field: str,
    good: tuple[Any, ...],
    bad: tuple[Any, ...],
) -> None:
    dropped: Counter[str] = Counter()
    given = [base | {field: value} for value in (*good, *bad)]
    found = items({"all": given}, "all", kind, 99, dropped)
    assert [getattr(item, field) for item in found] == list(good)
    assert dropped == {"all: wrong shape": len(bad)}


def test_what_is_put_right_what_is_too_much_and_what_is_none_is_counted() -> None:
    dropped: Counter[str] = Counter()
    given = [
        TRIPLE,
        TRIPLE | {"source": " shop "},  # spaces are no repair
        FACT | {"more": "is passed over"},
        "a word",
        TRIPLE,
    ]
    found = items({"entities": given}, "entities", TripleItem, 2, dropped)
    assert [item.source for item in found] == ["shop", "shop"]
    assert dropped == {"entities: wrong shape": 2, "entities: too many": 1}
    dropped.clear()
    facts = [FACT, FACT | {"confidence": "90 %"}, FACT | {"type": "nonsense"}]
    assert len(items({"facts": facts}, "facts", FactItem, 9, dropped)) == 3
    assert dropped == {"facts: put right": 2}


def test_what_an_item_need_not_say_has_a_value() -> None:
    dropped: Counter[str] = Counter()
    [fact] = items([FACT], "facts", FactItem, 9, dropped)
    assert fact.model_dump() == FACT | {
        "scope": "", "category": "", "lasting": 0.0, "about": "", "answers": "", "ends": "",
    }  # fmt: skip
    [triple] = items({"entities": [TRIPLE]}, "entities", TripleItem, 9, dropped)
    assert triple.confidence == 1.0
    [choice] = items([CHOICE], "decisions", ChoiceItem, 9, dropped)
    assert (choice.target, choice.content) == ("", "")
    [line] = items([LINE], "lines", LineItem, 9, dropped)
    assert line.instead == ""
    [aspect] = items([ASPECT], "aspects", AspectItem, 9, dropped)
    assert aspect.type == ""


def test_a_schema_for_servers_asks_for_every_field_without_limits() -> None:
    schema = schema_of(aspects=AspectItem)
    assert schema == {
        "type": "object",
        "properties": {
            "aspects": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "fact": {"type": "integer"},
                        "name": {"type": "string"},
                        "type": {"type": "string"},
                        "aspect": {"type": "string"},
                        "kind": {"type": "string", "enum": ["attribute", "constraint"]},
                    },
                    "required": ["fact", "name", "type", "aspect", "kind"],
                    "additionalProperties": False,
                },
            }
        },
        "required": ["aspects"],
        "additionalProperties": False,
    }
