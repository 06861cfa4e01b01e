"""Anthropic's own protocol."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from keeplore.errors import LlmUnavailable
from keeplore.llm.base import MAX_OUTPUT_TOKENS
from keeplore.llm.sdk_call import SdkModel, mapping, with_schema

if TYPE_CHECKING:
    from anthropic import Anthropic

    from keeplore.config.settings import LlmSettings

# given to the SDK, which would otherwise take an address from the environment that nobody has
# accepted
OWN_URL = "https://api.anthropic.com"
_FLAWS = {
    "max_tokens": "the answer was cut off",
    "model_context_window_exceeded": "the answer was cut off",
    "refusal": "the model declined",
}
# older models cannot be held to a schema, only told of it
_HELD, _TOLD = "schema", "prompt"


class AnthropicApi(SdkModel["Anthropic", str]):
    """A shape of request is how the model comes to know the schema."""

    package = "anthropic"

    def __init__(self, settings: LlmSettings) -> None:
        super().__init__(settings, [_HELD, _TOLD])

    def _list_models(self, client: Anthropic, timeout_s: float) -> Any:
        return client.models.with_streaming_response.list(limit=1, timeout=timeout_s)

    def _send(self, client: Anthropic, request: Mapping[str, Any]) -> Any:
        return client.messages.with_streaming_response.create(**request)

    def _request(
        self, system: str, prompt: str, schema: Mapping[str, Any], shape: str
    ) -> dict[str, Any]:
        text = system if shape == _HELD else with_schema(system, schema)
        request: dict[str, Any] = {
            "model": self.name,
            "max_tokens": MAX_OUTPUT_TOKENS,
            # the instructions are the same for every conversation, so the server may keep them
            "system": [
                {"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}
            ],
            "messages": [{"role": "user", "content": prompt}],
        }
        if shape == _HELD:
            request["output_config"] = {
                "format": {"type": "json_schema", "schema": dict(schema)}
            }
        return request

    def _read(self, data: Mapping[str, Any]) -> tuple[str, str, tuple[Any, Any, Any]]:
        content = data.get("content")
        parts = [mapping(part) for part in content] if isinstance(content, list) else []
        texts = [part.get("text", "") for part in parts if part.get("type") == "text"]
        text = "".join(map(str, texts))
        return text, _FLAWS.get(str(data.get("stop_reason")), ""), billed_tokens(data)

    def _connect(self, options: dict[str, Any]) -> Anthropic:
        import anthropic  # heavy, and an extra

        client = anthropic.Anthropic(
            base_url=self._settings.base_url or OWN_URL, **options
        )
        if not (
            client.api_key or client.auth_token or getattr(client, "credentials", None)
        ):
            raise LlmUnavailable(
                "ANTHROPIC_API_KEY is not set",
                "Set it in the environment of the worker",
            )
        return client


def billed_tokens(data: Mapping[str, Any]) -> tuple[Any, Any, Any]:
    """Input, output and cached tokens; Anthropic counts what went through the cache apart from the
    rest.
    """
    counts = mapping(data.get("usage"))
    names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    read = [counts.get(name) or 0 for name in names]
    total = sum(read) if all(type(value) is int for value in read) else None
    return total, counts.get("output_tokens"), read[2]
