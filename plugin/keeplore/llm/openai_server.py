"""Any server that speaks OpenAI's protocol: OpenAI itself, Ollama, llama.cpp, vLLM and most
others.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from keeplore.errors import LlmUnavailable
from keeplore.llm.base import CHECK_S, MAX_OUTPUT_TOKENS, TransientFailure
from keeplore.llm.sdk_call import fetch, in_some_shape, reachable, usage_of, with_schema
from keeplore_hooks.contracts import Completion

if TYPE_CHECKING:
    from openai import OpenAI

    from keeplore.config.settings import LlmSettings

# given to the SDK, which would otherwise take an address from the environment that nobody has
# accepted
OWN_URL = "https://api.openai.com/v1"
NO_KEY = "none"  # the SDK wants one, servers on one's own machine do not
# OpenAI's newer models refuse the one, other servers know nothing of the other
_NEW, _OLD = "max_completion_tokens", "max_tokens"
_FLAWS = {"length": "the answer was cut off", "content_filter": "the answer was filtered"}


class OpenaiServer:
    def __init__(self, settings: LlmSettings) -> None:
        self.name = settings.model
        self._settings = settings
        limits = (_OLD, _NEW) if settings.base_url else (_NEW, _OLD)
        self._shapes = [(has_schema, limit) for has_schema in (True, False) for limit in limits]

    def available(self) -> str:
        """Whether a request may be tried: "" or why not, within three seconds."""
        import openai  # heavy

        try:
            listing = self._client.models.with_streaming_response
        except LlmUnavailable as e:
            return str(e)
        return reachable(openai, lambda: listing.list(timeout=CHECK_S))

    def complete(self, system: str, prompt: str, schema: Mapping[str, Any]) -> Completion:
        """One attempt; a shape of request that the server refuses is not tried again. Raises as the
        protocol says.
        """
        data = in_some_shape(
            self._shapes, lambda shape: self._ask(self._request(system, prompt, schema, shape))
        )
        return self._completion(data, system + prompt)

    def _ask(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        import openai  # heavy

        completions = self._client.chat.completions.with_streaming_response
        return fetch(openai, self._settings.timeout_s, lambda: completions.create(**request))

    def _request(
        self, system: str, prompt: str, schema: Mapping[str, Any], shape: tuple[bool, str]
    ) -> dict[str, Any]:
        has_schema, limit = shape
        request: dict[str, Any] = {
            "model": self.name,
            "messages": [
                {
                    "role": "system",
                    "content": system if has_schema else with_schema(system, schema),
                },
                {"role": "user", "content": prompt},
            ],
            limit: MAX_OUTPUT_TOKENS,
        }
        if has_schema:
            form = {"name": "answer", "schema": dict(schema), "strict": True}
            request["response_format"] = {"type": "json_schema", "json_schema": form}
        return request

    def _completion(self, data: Mapping[str, Any], asked: str) -> Completion:
        choice = _mapping(_first(data.get("choices")))
        message = _mapping(choice.get("message"))
        content = message.get("content")
        text = content if isinstance(content, str) else ""
        if not choice and data.get("error"):
            raise TransientFailure("the server reports an error")
        flaw = _FLAWS.get(str(choice.get("finish_reason")), "")
        if message.get("refusal"):
            flaw = "the model declined"
        counts = _mapping(data.get("usage"))
        details = _mapping(counts.get("prompt_tokens_details"))
        reported = (
            counts.get("prompt_tokens"),
            counts.get("completion_tokens"),
            details.get("cached_tokens"),
        )
        flaw = flaw or ("" if text.strip() else "the answer is empty")
        return Completion(text, usage_of(reported, asked, text), self.name, flaw)

    @cached_property
    def _client(self) -> OpenAI:
        """Raises LlmUnavailable where the SDK or what it needs is missing."""
        try:
            import openai  # heavy, and an extra
        except ImportError as e:
            raise LlmUnavailable(
                "the openai package is not installed", "Run `pip install 'keeplore[openai]'`"
            ) from e
        if not self.name:
            raise LlmUnavailable("no model is chosen", "Set llm.model in keeplore.yaml")
        options: dict[str, Any] = {
            "base_url": self._settings.base_url or OWN_URL,
            "timeout": self._settings.timeout_s,
            "max_retries": 0,  # each attempt is booked by itself
            # a server that was accepted must not pass memory on to another one
            "http_client": openai.DefaultHttpxClient(follow_redirects=False),
        }
        try:
            return openai.OpenAI(**options)
        except openai.OpenAIError as e:
            if self._settings.base_url:
                return openai.OpenAI(api_key=NO_KEY, **options)
            raise LlmUnavailable(
                "OPENAI_API_KEY is not set", "Set it in the environment of the worker"
            ) from e


def _first(value: Any) -> Any:
    return value[0] if isinstance(value, list) and value else None


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
