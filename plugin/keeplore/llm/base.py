"""What the calls of every language model share: limits, the failure that passes, an estimate."""

from __future__ import annotations

from keeplore.errors import LlmUnavailable

CHECK_S = 2.0  # for the answer to whether a model is there; an SDK may take another second to load
# of one answer: twenty facts and fifty triples take some 3,000, the rest is for reasoning
MAX_OUTPUT_TOKENS = 8_192
MAX_ANSWER = 4 * 1024 * 1024  # bytes; more than that many tokens can be
# in English; prose of other scripts has fewer letters a token and more bytes a letter
BYTES_A_TOKEN = 4


class TransientFailure(LlmUnavailable):
    """``wait_s`` is how long the server asks to wait; ``is_billed`` whether it may have worked for
    nothing.
    """

    def __init__(
        self, message: str, *, wait_s: float | None = None, is_billed: bool = False
    ) -> None:
        super().__init__(
            message,
            "It is tried again by itself; `keeplore doctor` says whether the model answers",
        )
        self.wait_s = wait_s
        self.is_billed = is_billed


def tokens(text: str) -> int:
    """About how many tokens a text has."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // BYTES_A_TOKEN)
