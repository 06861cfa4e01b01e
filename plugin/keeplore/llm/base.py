"""What every language model is to Keeplore: one question with its instructions, one answer, what it
cost.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from keeplore.errors import LlmUnavailable

CHECK_S = 2.0  # for the answer to whether a model is there; an SDK may take another second to load
# of one answer: twenty facts and fifty triples take some 3,000, the rest is for reasoning
MAX_OUTPUT_TOKENS = 8_192
MAX_ANSWER = 4 * 1024 * 1024  # bytes; more than that many tokens can be
BYTES_A_TOKEN = (
    4  # in English; prose of other scripts has fewer letters a token and more bytes a letter
)


@dataclass(frozen=True, slots=True)
class Usage:
    """``input_tokens`` are all that were read; ``cached_tokens`` are those of them that the server
    still had.
    """

    input_tokens: int
    output_tokens: int
    cached_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Completion:
    """``flaw`` says why a text that was paid for is no answer: cut off, declined, empty; "" for a
    good one.
    """

    text: str
    usage: Usage
    model: str
    flaw: str = ""


class LanguageModel(Protocol):
    """``name`` is the model's own, as prices are listed under it."""

    name: str

    def available(self) -> str:
        """Whether a request may be tried: "" or why not, within three seconds."""

    def complete(self, system: str, prompt: str, schema: Mapping[str, Any]) -> Completion:
        """One attempt at an answer that fits ``schema``, a JSON schema.

        Raises Passing where the same may work soon, LlmUnavailable where something must be set up
        first, LlmRefused where this request will never work.
        """


class TransientFailure(LlmUnavailable):
    """``wait_s`` is how long the server asks to wait; ``is_billed`` whether it may have worked for
    nothing.
    """

    def __init__(
        self, message: str, *, wait_s: float | None = None, is_billed: bool = False
    ) -> None:
        super().__init__(
            message, "It is tried again by itself; `keeplore doctor` says whether the model answers"
        )
        self.wait_s = wait_s
        self.is_billed = is_billed


def tokens(text: str) -> int:
    """About how many tokens a text has."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // BYTES_A_TOKEN)
