"""What a person may write under ``llm``, and what a stranger may not."""

from __future__ import annotations

from pathlib import Path

import pytest

from keeplore.config.settings import LlmSettings, TokenPrice, load_settings
from keeplore.errors import ConfigError


@pytest.fixture
def load(tmp_path: Path):
    def read(text: str) -> LlmSettings:
        (tmp_path / "keeplore.yaml").write_text(f"llm: {{{text}}}\n")
        return load_settings(tmp_path).llm

    return read


def test_a_whole_section_is_taken_as_it_is(load) -> None:
    found = load(
        "provider: openai, model: 'qwen3:8b', base_url: 'http://127.0.0.1:11434/v1', timeout_s: "
        "30, daily_tokens: 0,"
        " monthly_tokens: 5, prices: {a: {input: 1, output: 5}, b: {input: 1, cached: 0.1}}"
    )
    prices = {"a": TokenPrice(1.0, 5.0, 1.0), "b": TokenPrice(1.0, 0.0, 0.1)}
    assert found == LlmSettings(
        "openai", "qwen3:8b", "http://127.0.0.1:11434/v1", 30.0, 0, 5, prices
    )


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ("provider: Open AI", "llm.provider"),
        ("model: --dangerously-skip-permissions", "llm.model"),
        ('model: "a\\u001b[2J"', "llm.model"),
        ("base_url: 'file:///etc/passwd'", "llm.base_url"),
        ("base_url: 'https://me:secret@models.example.com'", "llm.base_url"),
        ("timeout_s: 0", "llm.timeout_s"),
        ("timeout_s: .nan", "llm.timeout_s"),
        ("timeout_s: 3600", "llm.timeout_s"),
        ("daily_tokens: -1", "llm.daily_tokens"),
        ("monthly_tokens: 1.5", "llm.monthly_tokens"),
        ("prices: 3", "llm.prices"),
        ("prices: {a: 3}", "llm.prices.a"),
        ("prices: {4: {inputs: 3}}", "llm.prices.4.inputs"),
        ("prices: {a: {input: -1}}", "llm.prices.a"),
        ("prices: {a: {output: .inf}}", "llm.prices.a"),
        ("api_key: x", "llm.api_key"),
    ],
)
def test_what_is_wrong_is_named_with_its_key(load, line: str, key: str) -> None:
    with pytest.raises(ConfigError, match=key.replace(".", r"\.")):
        load(line)
