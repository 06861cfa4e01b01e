"""Which stretches of a file somebody said, and which are ids and forms of ours."""

from __future__ import annotations

import pytest

from keeplore.memory.said_parts import is_own, of_body, of_file

MEM = "mem_3f0c9a2e-6f0b-4d55-9c5e-0f5f6a1b2c3d"
CONVERSATION = f"""---
schema: 1
id: {MEM}
title: Two lines
  of a title
related:
- id: {MEM}
  relationship: refines
  note: said
source:
  host: codex
  turns:
  - t-1
  - t-2
  branch: main
  mine: said too
extra:
  - id: not ours
---

# Outbox

**Date**: 2026-02-09 14:03–14:20 UTC
**Session context**: codex session s-1 on branch main, began with /plan it
**Projects involved**: shop

## Decision

- We take it. — user, turn t-1
- free words

## Code references

- command: make test

## Related

- Jobs ({MEM}, relates-to)

## Exchanges

<!-- keeplore:turn t-1 2026-02-09T14:03:11Z -->
### User · 14:03

Hello

<!-- keeplore:assistant -->
### Assistant

Done
<!-- keeplore:question {{"q": 1}} -->
<!-- keeplore:unknown -->
"""
PARTS = [
    ("id", " 1"),
    ("id", f" {MEM}"),
    ("words", "title: Two lines\n  of a title"),
    ("words", "related:"),
    ("id", f" {MEM}"),
    ("id", " refines"),
    ("words", "  note: said"),
    ("words", "source:"),
    ("id", " codex"),
    ("id", ""),
    ("id", "  - t-1"),
    ("id", "  - t-2"),
    ("words", "  branch: main"),
    ("words", "  mine: said too"),
    ("words", "extra:\n  - id: not ours"),
    ("words", "# Outbox"),
    ("id", "s-1"),
    ("words", "main"),
    ("words", "/plan it"),
    ("words", "shop"),
    ("words", "We take it."),
    ("id", "t-1"),
    ("words", "- free words"),
    ("words", "- command: make test"),
    ("words", "Jobs"),
    ("id", MEM),
    ("id", "t-1"),
    ("words", "Hello"),
    ("words", "Done"),
    ("question", '{"q": 1}'),
    ("words", "<!-- keeplore:unknown -->"),
]
NOTE = f"""# Note
> “We take it.” — user, turn t-1
- 2026-02-09 · “Parked” — assistant, {MEM} turn t-2
```json
{{"namespace": ["a", "b"], "key": "k", "value": {{"c": "d", "e": 1}}, "since": "2026"}}
```
"""
NOTE_PARTS = [
    ("words", "# Note"),
    ("words", "We take it."),
    ("id", "t-1"),
    ("words", "Parked"),
    ("id", MEM),
    ("id", "t-2"),
    ("id", '"a", "b"'),
    ("id", '"k"'),
    ("words", '"c": "d"'),
    ("words", '"e"'),
]
JSON = (
    r'{"id": "x\"y", "title": "said", "turns": ["t-1", "t-2"], "blobs": [ ], "at":"z"}'
)
JSON_PARTS = [
    ("words", "{"),
    ("id", r"x\"y"),
    ("words", ', "title": "said", '),
    ("id", '"t-1", "t-2"'),
    ("words", ", "),
    ("id", ""),
    ("words", ", "),
    ("id", "z"),
    ("words", "}"),
]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (CONVERSATION, PARTS),
        (NOTE, NOTE_PARTS),
        (JSON, JSON_PARTS),
        (
            '{\n  "schema": 1,\n  "name": "shop",\n  "path": "~/shop"\n}\n',
            [
                ("words", '{\n  "schema": 1,'),
                ("id", "shop"),
                ("words", '  "path": "~/shop"\n}'),
            ],
        ),
        ("", []),
        ("---\nid: 1\n", [("words", "---\nid: 1")]),
        ("\ufeff---\r\nid: 1\r\n---\r\nsaid", [("id", " 1"), ("words", "said")]),
    ],
    ids=["conversation", "note", "json", "project", "nothing", "unclosed", "windows"],
)
def test_each_part_of_a_file_is_said_or_ours(
    text: str, expected: list[tuple[str, str]]
) -> None:
    data = text.encode()
    found = [
        (part.kind, data[part.start : part.end].decode().strip("\r\n"))
        for part in of_file(data)
    ]
    assert found == expected


def test_the_parts_of_a_body_begin_where_it_does() -> None:
    data = b"---\nid: 1\n---\nsaid\n"
    assert [(part.start, part.end) for part in of_body(data, 14)] == [(14, 19)]


@pytest.mark.parametrize(
    ("key", "within", "expected"),
    [
        ("id", "", True),
        ("title", "", False),
        ("host", "", False),
        ("host", "source", True),
        ("title", "source", False),
        ("relationship", "related", True),
        ("id", "extra", False),
    ],
)
def test_which_keys_are_ours(key: str, within: str, expected: bool) -> None:
    assert is_own(key, within) is expected
