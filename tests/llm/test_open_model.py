from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from refusals import refused

from keeplore.config.places import Places
from keeplore.config.settings import LlmSettings
from keeplore.errors import LlmUnavailable
from keeplore.llm import (
    Completion,
    SpendingLedger,
    Usage,
    accept,
    is_accepted,
    open_account,
    terms_of,
)
from keeplore.llm.anthropic_api import AnthropicApi
from keeplore.llm.builtin_models import BuiltinModels
from keeplore.llm.claude_cli import ClaudeCli
from keeplore.llm.openai_server import OpenaiServer
from keeplore.workspace.plugin_manager import PluginManager
from keeplore_hooks.specs import hookimpl

LLM = LlmSettings("claude-cli", "haiku", daily_tokens=1_000, monthly_tokens=0)


@pytest.fixture
def places() -> Places:
    return Places.from_environment(os.environ)


@pytest.fixture
def plugins() -> PluginManager:
    plugins = PluginManager()
    plugins.register(BuiltinModels())
    return plugins


@pytest.fixture
def find(plugins: PluginManager) -> Any:
    return plugins.hook.keeplore_llm


class Parrot:
    """A model of somebody else, and the plugin that gives it."""

    name = "parrot"

    @hookimpl
    def keeplore_llm(self, provider: str) -> Parrot | None:
        return self if provider in ("my-own", "openai") else None

    def available(self) -> str:
        return ""

    def complete(
        self, system: str, prompt: str, schema: Mapping[str, Any]
    ) -> Completion:
        return Completion(prompt, Usage(len(prompt), 1), self.name)


def test_without_a_provider_there_is_no_model(
    places: Places, tmp_path: Path, find: Any
) -> None:
    assert open_account(LlmSettings(), tmp_path, places, find) is None


def test_a_model_is_used_only_as_it_was_accepted_on_this_machine(
    places: Places, tmp_path: Path, find: Any
) -> None:
    said = (
        "the model of this workspace is not accepted here: claude-cli haiku, 1,000 tokens a day "
        "and any number of tokens a month. Run `keeplore refine --accept-model`"
    )
    with refused(LlmUnavailable, said):
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


def test_what_is_accepted_now_takes_the_place_of_what_was(
    places: Places, tmp_path: Path
) -> None:
    accept(places, tmp_path, LLM)
    accept(places, tmp_path, replace(LLM, model="opus"))
    assert not is_accepted(places, tmp_path, LLM)


def test_the_terms_say_where_text_goes_and_what_may_be_spent() -> None:
    llm = LlmSettings(
        "openai",
        "qwen3:8b",
        "http://127.0.0.1:11434/v1/",
        daily_tokens=1_000,
        monthly_tokens=0,
    )
    said = (
        "openai qwen3:8b at http://127.0.0.1:11434/v1, 1,000 tokens a day and any number of "
        "tokens a month"
    )
    assert terms_of(llm) == said


def test_each_built_in_model_has_its_name(find: Any) -> None:
    for provider, kind in (
        ("openai", OpenaiServer),
        ("anthropic", AnthropicApi),
        ("claude-cli", ClaudeCli),
    ):
        assert (
            type(find(provider=provider, settings=LlmSettings(provider, "m"))) is kind
        )


@pytest.mark.parametrize("provider", ["my-own", "openai"])
def test_a_plugin_comes_before_the_built_in_models(
    places: Places, tmp_path: Path, plugins: PluginManager, provider: str
) -> None:
    llm = LlmSettings(provider, "m")
    accept(places, tmp_path, llm)
    plugins.register(Parrot())
    account = open_account(llm, tmp_path, places, plugins.hook.keeplore_llm)
    assert (
        account is not None
        and account.complete("extract", "", "hello", {}).text == "hello"
    )
    assert [(row.model, row.usage) for row in SpendingLedger(places.ledger).rows()] == [
        ("parrot", Usage(5, 1))
    ]


def test_a_provider_that_nobody_knows_is_named(
    places: Places, tmp_path: Path, find: Any
) -> None:
    accept(places, tmp_path, LlmSettings("my-own"))
    said = "no plugin knows the provider my-own. Set llm.provider in keeplore.yaml"
    with refused(LlmUnavailable, said):
        open_account(LlmSettings("my-own"), tmp_path, places, find)
