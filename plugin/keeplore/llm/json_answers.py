"""What a model meant to answer: the JSON in its text, without its reasoning, fences and courtesies.

Nothing is repaired: what is cut off, or not clearly one answer, is an error, because a guess would
be kept as a fact.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import chain
from typing import Any, NoReturn

MAX_TEXT = 1_000_000  # characters
_WORDS = "think|thinking|thought|reasoning|analysis"
_OPENS = re.compile(rf"\s*<({_WORDS})>", re.IGNORECASE)
_ENDS = re.compile(rf"</(?:{_WORDS})>", re.IGNORECASE)
_FENCE = re.compile(
    r"^[ \t]*```[A-Za-z0-9]*[ \t]*\r?\n(.*?)^[ \t]*```[ \t]*\r?$",
    re.DOTALL | re.MULTILINE,
)
_MARK = re.compile(r'\\.|["{}\[\]]', re.DOTALL)


def parse_answer(text: str) -> Any:
    """The one object, or else the one list, that an answer holds. Raises ValueError."""
    if len(text) > MAX_TEXT:
        raise ValueError("the answer is too long")
    text = _without_reasoning(text.lstrip("\ufeff"))
    found = [value for value in _values(text) if isinstance(value, dict | list)]
    for kind in (dict, list):
        answers = [value for value in found if isinstance(value, kind)]
        if any(answer != answers[0] for answer in answers):
            raise ValueError("the answer holds several answers")
        if answers:
            return answers[0]
    raise ValueError("the answer holds no JSON")


def _without_reasoning(text: str) -> str:
    while opening := _OPENS.match(text):
        end = re.compile(f"</{opening[1]}>", re.IGNORECASE).search(text, opening.end())
        if end is None:
            raise ValueError("the answer ends within its reasoning")
        text = text[end.end() :]
    # some servers send a closing mark alone, because the opening one stood in the prompt; one
    # within the answer is text
    ends = [match.end() for match in _ENDS.finditer(text)]
    rest = text[ends[-1] :] if ends else ""
    return text if _whole_json(text) or _next_bracket(rest, 0) < 0 else rest


def _values(text: str) -> list[Any]:
    """Whatever is JSON in a text: all of it, what stands in fences, what stands in brackets."""
    for parts in ([text], _FENCE.findall(text), _in_brackets(text)):
        found = list(chain.from_iterable(map(_whole_json, parts)))
        if found:
            return found
    return []


def _in_brackets(text: str) -> Iterator[str]:
    """Each stretch between brackets that belong together. Raises ValueError for an open end."""
    start = 0
    while (begin := _next_bracket(text, start)) >= 0:
        start = _closing_bracket_end(text, begin)
        if start < 0:
            raise ValueError("the answer is cut off")
        yield text[begin:start]


def _next_bracket(text: str, start: int) -> int:
    found = [place for mark in "{[" if (place := text.find(mark, start)) >= 0]
    return min(found, default=-1)


def _closing_bracket_end(text: str, begin: int) -> int:
    """Where the bracket that opens at ``begin`` is closed, or -1. Brackets in strings do not
    count.
    """
    depth, is_string = 0, False
    for match in _MARK.finditer(text, begin):
        mark = match[0]
        if mark == '"':
            is_string = not is_string
        elif not is_string and mark in "{[":
            depth += 1
        elif not is_string and mark in "}]":
            depth -= 1
            if depth == 0:
                return match.end()
    return -1


def _whole_json(text: str) -> list[Any]:
    """The value of a text that is JSON; none of another."""
    try:
        return [_parse_json(text)]
    except ValueError:
        return []


def _parse_json(text: str) -> Any:
    try:
        value = json.loads(text, parse_constant=_no_constant)
    except RecursionError as e:
        raise ValueError("the answer is nested too deeply") from e
    # half a surrogate pair is valid JSON and could not be written to a file
    return json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")
