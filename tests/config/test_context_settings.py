"""What a person may write under ``context``: each key for itself, within its range, and nothing
else.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from keeplore.config.settings import ContextSettings, load_settings
from keeplore.errors import ConfigError


@pytest.fixture
def load(tmp_path: Path):
    def read(line: str) -> ContextSettings:
        (tmp_path / "keeplore.yaml").write_text(f"context:\n  {line}\n")
        return load_settings(tmp_path).context

    return read


def test_one_line_turns_it_off_and_the_rest_stays_as_it_is(load) -> None:
    assert load("enabled: false") == replace(ContextSettings(), enabled=False)


@pytest.mark.parametrize(
    ("line", "changed"),
    [
        ("brief_tokens: 0", {"brief_tokens": 0}),
        ("prompt_tokens: 3000", {"prompt_tokens": 3000}),
        ("threshold: 1", {"threshold": 1.0}),
        ("threshold: 0.5", {"threshold": 0.5}),
        ("deadline_ms: 20", {"deadline_ms": 20}),
        ("before_edit: true", {"before_edit": True}),
    ],
)
def test_each_key_is_taken_alone(load, line: str, changed: dict[str, object]) -> None:
    assert load(line) == replace(ContextSettings(), **changed)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("threshold: 1.1", "context.threshold: it should be 0 to 1"),
        ("threshold: .nan", "context.threshold: it should be 0 to 1"),
        ("threshold: high", "context.threshold: it should be a number"),
        ("threshold: true", "context.threshold: it should be a number"),
        ("deadline_ms: 5000", "context.deadline_ms: it should be 20 to 250"),
        ("deadline_ms: 50.5", "context.deadline_ms: it should be a whole number"),
        ("brief_tokens: -1", "context.brief_tokens: it should be 0 to 3000"),
        ("prompt_tokens: 3001", "context.prompt_tokens: it should be 0 to 3000"),
        ("before_edit: 1", "context.before_edit: it should be true or false"),
        ("before_edits: true", "context.before_edits: there is no such key"),
    ],
)
def test_what_cannot_be_is_refused_with_the_key_and_what_it_should_be(
    load, line: str, told: str
) -> None:
    with pytest.raises(ConfigError, match=told):
        load(line)
