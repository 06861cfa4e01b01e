from __future__ import annotations

import json
from typing import Any

import pytest
from example_count import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refused

from keeplore.llm.json_answers import MAX_TEXT, parse_answer

WANTED = {
    "facts": [
        {"content": "Postgres {with} [SKIP LOCKED]", "quote": 'he said "no" \\ ok'}
    ]
}
JSON = json.dumps(WANTED)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


@pytest.mark.parametrize(
    "text",
    [
        JSON,
        f"\ufeff  {JSON}\n",
        f"```json\n{json.dumps(WANTED, indent=2)}\n```",
        f"```\n{JSON}\n```\nLet me know if you need more!",
        f"Here are the facts:\r\n\r\n```JSON\r\n{JSON}\r\n```\r\n",
        f"Sure: {JSON} I hope that [1] this {{helps}}.",
        f'<think>\nMaybe {{"facts": [1]}}? No.\n</think>\n\n{JSON}',
        f"<THINKING>a</THINKING><reasoning>[b</reasoning>\n{JSON}",
        f'I looked at {{"facts": [9]}} first.\n</think>\n{JSON}',
        f"```json\n{JSON}",
        f"{JSON}\n\nAs I said:\n{JSON}",
    ],
)
def test_the_answer_is_found_whatever_stands_around_it(text: str) -> None:
    assert parse_answer(text) == WANTED


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "holds no JSON"),
        ("I cannot help with that.", "holds no JSON"),
        ('"facts"', "holds no JSON"),
        ("42", "holds no JSON"),
        ('{"facts": [{"content": "a"}, {"content": "b', "is cut off"),
        ('Sure: {"facts": [{"content": "a"}, {"content": "b"', "is cut off"),
        ('```json\n{"facts": [{"content": "a"},\n```', "is cut off"),
        ('<think>{"facts": []}', "ends within its reasoning"),
        ('{"facts": [1]}\nor rather\n{"facts": [2]}', "holds several answers"),
        (
            '```json\n{"facts": [1]}\n```\n```json\n{"facts": [2]}\n```',
            "holds several answers",
        ),
        ("{'facts': []}", "holds no JSON"),
        ('{"facts": NaN}', "holds no JSON"),
        ('{"facts": [1,]}', "holds no JSON"),
        ("[" * 100_000, "is cut off"),
        ("[" * 100_000 + "]" * 100_000, "holds no JSON"),
        ('{"a":' * 50_000 + "1" + "}" * 50_000, "holds no JSON"),
        (JSON + " " * MAX_TEXT, "is too long"),
    ],
    ids=lambda text: text[:40],
)
def test_what_is_not_clearly_one_answer_is_an_error(text: str, said: str) -> None:
    with refused(ValueError, f"the answer {said}"):
        parse_answer(text)


def test_a_mark_of_reasoning_within_the_answer_belongs_to_it() -> None:
    answer = '{"quote": "we strip </think> marks"}'
    assert (
        parse_answer(answer)
        == parse_answer(f"Sure: {answer}")
        == {"quote": "we strip </think> marks"}
    )


def test_half_a_character_cannot_reach_a_file() -> None:
    assert parse_answer('{"a": "x\\ud83d", "b": "\\ud83d\\ude00"}') == {
        "a": "x?",
        "b": "😀",
    }


@settings(max_examples=examples(30))
@given(
    st.dictionaries(st.text(max_size=5), VALUES, min_size=1, max_size=3), st.booleans()
)
def test_any_object_is_read_back_and_no_beginning_of_one_is(
    value: dict[str, Any], is_ascii: bool
) -> None:
    text = json.dumps(value, ensure_ascii=is_ascii)
    assert parse_answer(f"<think>hm</think>\n```json\n{text}\n```") == value
    for end in range(1, len(text)):
        with pytest.raises(ValueError, match="answer"):
            parse_answer(f"The facts: {text[:end]}")
