"""Any server that speaks OpenAI's protocol: OpenAI itself, Ollama, llama.cpp, vLLM and most
others.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from keeplore.errors import LlmUnavailable
from keeplore.llm.base import MAX_OUTPUT_TOKENS, TransientFailure
from keeplore.llm.sdk_call import SdkModel, mapping, with_schema

if TYPE_CHECKING:
    from openai import OpenAI

    from keeplore.config.settings import LlmSettings

# given to the SDK, which would otherwise take an address from the environment that nobody has
# accepted
OWN_URL = "https://api.openai.com/v1"
NO_KEY = "none"  # the SDK wants one, servers on one's own machine do not
# OpenAI's newer models refuse the one, other servers know nothing of the other
_NEW, _OLD = "max_completion_tokens", "max_tokens"
_FLAWS = {
    "length": "the answer was cut off",
    "content_filter": "the answer was filtered",
}


class OpenaiServer(SdkModel["OpenAI", tuple[bool, str]]):
    """A shape of request is whether the model is held to the schema, and its limit's name."""

    package = "openai"

    def __init__(self, settings: LlmSettings) -> None:
        limits = (_OLD, _NEW) if settings.base_url else (_NEW, _OLD)
        super().__init__(
            settings, [(held, limit) for held in (True, False) for limit in limits]
        )

    def _list_models(self, client: OpenAI, timeout_s: float) -> Any:
        return client.models.with_streaming_response.list(timeout=timeout_s)

    def _send(self, client: OpenAI, request: Mapping[str, Any]) -> Any:
        return client.chat.completions.with_streaming_response.create(**request)

    def _request(
        self,
        system: str,
        prompt: str,
        schema: Mapping[str, Any],
        shape: tuple[bool, str],
    ) -> dict[str, Any]:
        has_schema, limit = shape
        text = system if has_schema else with_schema(system, schema)
        request: dict[str, Any] = {
            "model": self.name,
            "messages": [
                {"role": "system", "content": text},
                {"role": "user", "content": prompt},
            ],
            limit: MAX_OUTPUT_TOKENS,
        }
        if has_schema:
            form = {"name": "answer", "schema": dict(schema), "strict": True}
            request["response_format"] = {"type": "json_schema", "json_schema": form}
        return request

    def _read(self, data: Mapping[str, Any]) -> tuple[str, str, tuple[Any, Any, Any]]:
        """The text of an answer, what is wrong with it ("" for nothing), its counts of tokens."""
        choices = data.get("choices")
        choice = mapping(choices[0] if isinstance(choices, list) and choices else None)
        if not choice and data.get("error"):
            raise TransientFailure("the server reports an error")
        message = mapping(choice.get("message"))
        content = message.get("content")
        flaw = _FLAWS.get(str(choice.get("finish_reason")), "")
        if message.get("refusal"):
            flaw = "the model declined"
        text = content if isinstance(content, str) else ""
        return text, flaw, _token_counts(mapping(data.get("usage")))

    def _connect(self, options: dict[str, Any]) -> OpenAI:
        import openai  # heavy, and an extra

        options["base_url"] = self._settings.base_url or OWN_URL
        try:
            return openai.OpenAI(**options)
        except openai.OpenAIError as e:
            if self._settings.base_url:
                return openai.OpenAI(api_key=NO_KEY, **options)
            raise LlmUnavailable(
                "OPENAI_API_KEY is not set", "Set it in the environment of the worker"
            ) from e


def _token_counts(counts: Mapping[str, Any]) -> tuple[Any, Any, Any]:
    """Tokens of the question, of the answer, and of the question those that were cached."""
    return (
        counts.get("prompt_tokens"),
        counts.get("completion_tokens"),
        mapping(counts.get("prompt_tokens_details")).get("cached_tokens"),
    )
