"""Keeplore's own models as a plugin."""

from __future__ import annotations

from typing import TYPE_CHECKING

from keeplore_hooks.specs import hookimpl_last

if TYPE_CHECKING:
    from keeplore.config.settings import LlmSettings
    from keeplore_hooks.contracts import LanguageModel

OPENAI, ANTHROPIC, CLAUDE_CLI = "openai", "anthropic", "claude-cli"


class BuiltinModels:
    @hookimpl_last
    def keeplore_llm(
        self, provider: str, settings: LlmSettings
    ) -> LanguageModel | None:
        # here, so that only what is chosen is loaded
        from keeplore.llm.anthropic_api import AnthropicApi
        from keeplore.llm.claude_cli import ClaudeCli
        from keeplore.llm.openai_server import OpenaiServer

        if provider == OPENAI:
            return OpenaiServer(settings)
        if provider == ANTHROPIC:
            return AnthropicApi(settings)
        return ClaudeCli(settings) if provider == CLAUDE_CLI else None
