"""Anthropic's own protocol."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from keeplore.errors import LlmUnavailable
from keeplore.llm.base import CHECK_S, MAX_OUTPUT_TOKENS
from keeplore.llm.sdk_call import fetch, in_some_shape, reachable, usage_of, with_schema
from keeplore_hooks.contracts import Completion

if TYPE_CHECKING:
    from anthropic import Anthropic

    from keeplore.config.settings import LlmSettings

# given to the SDK, which would otherwise take an address from the environment that nobody has
# accepted
OWN_URL = "https://api.anthropic.com"
_SCHEMA, _PROMPT = "schema", "prompt"  # older models cannot be held to a schema, only told of it
_FLAWS = {
    "max_tokens": "the answer was cut off",
    "model_context_window_exceeded": "the answer was cut off",
    "refusal": "the model declined",
}


class AnthropicApi:
    def __init__(self, settings: LlmSettings) -> None:
        self.name = settings.model
        self._settings = settings
        self._shapes = [_SCHEMA, _PROMPT]

    def available(self) -> str:
        """Whether a request may be tried: "" or why not, within three seconds."""
        import anthropic  # heavy

        try:
            listing = self._client.models.with_streaming_response
        except LlmUnavailable as e:
            return str(e)
        return reachable(anthropic, lambda: listing.list(limit=1, timeout=CHECK_S))

    def complete(self, system: str, prompt: str, schema: Mapping[str, Any]) -> Completion:
        """One attempt; a shape of request that the server refuses is not tried again. Raises as the
        protocol says.
        """
        data = in_some_shape(
            self._shapes, lambda shape: self._ask(self._request(system, prompt, schema, shape))
        )
        return self._completion(data, system + prompt)

    def _ask(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        import anthropic  # heavy

        messages = self._client.messages.with_streaming_response
        return fetch(anthropic, self._settings.timeout_s, lambda: messages.create(**request))

    def _request(
        self, system: str, prompt: str, schema: Mapping[str, Any], shape: str
    ) -> dict[str, Any]:
        has_schema = shape == _SCHEMA
        text = system if has_schema else with_schema(system, schema)
        request: dict[str, Any] = {
            "model": self.name,
            "max_tokens": MAX_OUTPUT_TOKENS,
            # the instructions are the same for every conversation, so the server may keep them
            "system": [{"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}],
            "messages": [{"role": "user", "content": prompt}],
        }
        if has_schema:
            request["output_config"] = {"format": {"type": "json_schema", "schema": dict(schema)}}
        return request

    def _completion(self, data: Mapping[str, Any], asked: str) -> Completion:
        content, counts = data.get("content"), data.get("usage")
        parts = (
            [part for part in content if isinstance(part, dict)]
            if isinstance(content, list)
            else []
        )
        text = "".join(str(part.get("text", "")) for part in parts if part.get("type") == "text")
        flaw = _FLAWS.get(str(data.get("stop_reason")), "") or (
            "" if text.strip() else "the answer is empty"
        )
        usage = usage_of(billed(counts if isinstance(counts, dict) else {}), asked, text)
        return Completion(text, usage, self.name, flaw)

    @cached_property
    def _client(self) -> Anthropic:
        """Raises LlmUnavailable where the SDK or what it needs is missing."""
        try:
            import anthropic  # heavy, and an extra
        except ImportError as e:
            remedy = "Run `pip install 'keeplore[anthropic]'`"
            raise LlmUnavailable("the anthropic package is not installed", remedy) from e
        if not self.name:
            raise LlmUnavailable("no model is chosen", "Set llm.model in keeplore.yaml")
        client = anthropic.Anthropic(
            base_url=self._settings.base_url or OWN_URL,
            timeout=self._settings.timeout_s,
            max_retries=0,  # each attempt is booked by itself
            # a server that was accepted must not pass memory on to another one
            http_client=anthropic.DefaultHttpxClient(follow_redirects=False),
        )
        if not (client.api_key or client.auth_token or getattr(client, "credentials", None)):
            raise LlmUnavailable(
                "ANTHROPIC_API_KEY is not set", "Set it in the environment of the worker"
            )
        return client


def billed(counts: Mapping[str, Any]) -> tuple[Any, Any, Any]:
    """Input, output and cached tokens; Anthropic counts what went through the cache apart from the
    rest.
    """
    read = [
        counts.get(name) or 0
        for name in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    ]
    total = sum(read) if all(type(value) is int for value in read) else None
    return total, counts.get("output_tokens"), read[2]
