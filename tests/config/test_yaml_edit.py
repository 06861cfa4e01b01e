from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from keeplore.config.settings import FILE
from keeplore.config.yaml_edit import with_key, without_key

TEMPLATE = (Path(__file__).parents[2] / "workspace_template" / FILE).read_text()
VALUES = (
    ("embedding.model", "ollama:nomic-embed-text"),
    ("embedding.model", "http://127.0.0.1:8080/v1#BAAI/bge-m3"),
    ("embedding.model", "/models/with a space/#1"),
    ("embedding.model", "~/m"),
    ("embedding.model", "yes"),
    ("embedding.model", "12"),
    ("embedding.model", 'ö "quoted" 🦀'),
    ("branch", "trunk"),
    ("inherits", ["private", "a, b"]),
    ("sync.automatic", False),
    ("context.threshold", 0.5),
    ("llm.prices", {"haiku": {"input": 1, "output": 5.5}}),
)


@pytest.mark.parametrize(("key", "value"), VALUES)
def test_one_key_is_changed_and_every_comment_stays(key: str, value: Any) -> None:
    after = with_key(TEMPLATE, key, value)
    changed = [
        (old, new)
        for old, new in zip(TEMPLATE.splitlines(), after.splitlines(), strict=True)
        if old != new
    ]
    assert [new.rpartition("  #")[2] for _, new in changed] == [
        old.rpartition("  #")[2] for old, _ in changed
    ]
    assert len(changed) == 1


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "embedding:\n  model: m\n"),
        ("# mine\n", "# mine\nembedding:\n  model: m\n"),
        ("schema: 1", "schema: 1\nembedding:\n  model: m\n"),
        ("{}", "{embedding: {model: m}}"),
        ("embedding: {model: x}  # mine\n", "embedding: {model: m}  # mine\n"),
        ("embedding: {}\n", "embedding: {model: m}\n"),
        ("embedding: {a: 1}\n", "embedding: {a: 1, model: m}\n"),
        ("embedding:\n", "embedding:\n  model: m\n"),
        ("embedding: null # so\n", "embedding: {model: m}  # so\n"),
        (
            "embedding:\n  # none yet\nschema: 1\n",
            "embedding:\n  model: m\n  # none yet\nschema: 1\n",
        ),
        ("embedding:\n    a: 1 # b\n", "embedding:\n    model: m\n    a: 1 # b\n"),
        ("embedding:\n  model: x # b", "embedding:\n  model: m  # b"),
        ("embedding:\n  model:\n  a: 1\n", "embedding:\n  model: m\n  a: 1\n"),
        (
            "embedding:\n  model:\n  - a\n  - b # c\n  # d\n",
            "embedding:\n  model: m  # c\n  # d\n",
        ),
        ("embedding: &a\n  model: x\n", "embedding: &a\n  model: m\n"),
    ],
)
def test_a_file_that_a_person_has_rewritten_gets_the_key(
    before: str, after: str
) -> None:
    assert with_key(before, "embedding.model", "m") == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a: 1\ns:\n  x: 1 # x\n  y: 2 # y\n", "a: 1\ns:\n  y: 2 # y\n"),
        ("a: 1\ns:\n  # of x\n  x:\n    - 1\nb: 2\n", "a: 1\nb: 2\n"),
        ("s: {x: 1, y: 2} # s\n", "s: {y: 2} # s\n"),
        ("s: {y: 2, x: [1, 2]}\n", "s: {y: 2}\n"),
        ("s: {x: 1}\nb: 1\n", "b: 1\n"),
        ("s:\n  x: 1", ""),
        ("s:\n  y: 1\n", "s:\n  y: 1\n"),
        ("", ""),
    ],
)
def test_a_key_is_taken_out_with_its_line_and_an_empty_section(
    before: str, after: str
) -> None:
    assert without_key(before, "s.x") == after


@pytest.mark.parametrize(
    "text",
    [
        "a: &a {model: x}\nembedding: *a\n",
        "embedding: packaged\n",
        "[1]\n",
        "embedding: {model: x}\nembedding: {model: y}\n",
    ],
)
def test_what_would_change_something_else_is_refused(text: str) -> None:
    with pytest.raises((ValueError, TypeError, AttributeError)):
        with_key(text, "embedding.model", "m")
