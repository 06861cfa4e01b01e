from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from keeplore.config.places import Places
from keeplore.config.settings import Llm
from keeplore.errors import LlmUnavailable
from keeplore.llm import accept, is_accepted, open_account, terms_of
from keeplore.llm.anthropic_api import AnthropicApi
from keeplore.llm.builtin import Builtin
from keeplore.llm.claude_cli import ClaudeCli
from keeplore.llm.openai_server import OpenaiServer
from keeplore.workspace.plugins import Plugins

LLM = Llm("claude-cli", "haiku", daily_tokens=1_000, monthly_tokens=0)


@pytest.fixture
def places() -> Places:
    return Places.from_environment(os.environ)


@pytest.fixture
def find() -> Any:
    plugins = Plugins()
    plugins.register(Builtin())
    return plugins.hook.keeplore_llm


def test_without_a_provider_there_is_no_model(places: Places, tmp_path: Path, find: Any) -> None:
    assert open_account(Llm(), tmp_path, places, find) is None


def test_a_model_is_used_only_as_it_was_accepted_on_this_machine(places: Places, tmp_path: Path, find: Any) -> None:
    with pytest.raises(LlmUnavailable, match="keeplore refine --accept-model"):
        open_account(LLM, tmp_path, places, find)
    accept(places, tmp_path, LLM)
    account = open_account(LLM, tmp_path, places, find)
    assert account is not None and account.name == "haiku"
    for pulled in (
        {"provider": "openai"},
        {"model": "opus"},
        {"base_url": "https://elsewhere.example"},
        {"daily_tokens": 2_000},
        {"monthly_tokens": 1},
    ):
        assert not is_accepted(places, tmp_path, replace(LLM, **pulled))
    assert not is_accepted(places, tmp_path / "another", LLM)
    assert is_accepted(places, tmp_path, replace(LLM, timeout_s=5.0, prices={}))


def test_what_is_accepted_now_takes_the_place_of_what_was(places: Places, tmp_path: Path) -> None:
    accept(places, tmp_path, LLM)
    accept(places, tmp_path, replace(LLM, model="opus"))
    assert not is_accepted(places, tmp_path, LLM)


def test_the_terms_say_where_text_goes_and_what_may_be_spent() -> None:
    llm = Llm("openai", "qwen3:8b", "http://127.0.0.1:11434/v1/", daily_tokens=1_000, monthly_tokens=0)
    said = "openai qwen3:8b at http://127.0.0.1:11434/v1, 1,000 tokens a day and any number of tokens a month"
    assert terms_of(llm) == said


def test_a_plugin_comes_before_the_built_in_models(places: Places, tmp_path: Path, find: Any) -> None:
    for provider, kind in (("openai", OpenaiServer), ("anthropic", AnthropicApi), ("claude-cli", ClaudeCli)):
        assert type(find(provider=provider, settings=Llm(provider, "m"))) is kind
    accept(places, tmp_path, Llm("my-own"))
    with pytest.raises(LlmUnavailable, match="no plugin knows the provider my-own"):
        open_account(Llm("my-own"), tmp_path, places, find)
