"""Asking a model the questions of the stages: each answer is read, and its cost counted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from keeplore.errors import LlmRefused
from keeplore.llm.account import Account
from keeplore.llm.json_answers import parse_answer
from keeplore.refine.prompts import RefinePrompt
from keeplore_hooks.contracts import Usage

_Read = TypeVar("_Read")


class JobTakenOver(Exception):
    """Another process does this now."""


class ModelClient:
    """``keep`` is asked before each call whether this process still may; ``usage`` is what the
    answers took, read or not.
    """

    def __init__(
        self, account: Account, keep: Callable[[], bool] = lambda: True
    ) -> None:
        self.usage = Usage(0, 0)
        self._account = account
        self._keep = keep

    @property
    def model(self) -> str:
        return self._account.name

    @property
    def tokens(self) -> dict[str, int]:
        """The usage as the audit has it."""
        return {
            "input": self.usage.input_tokens,
            "cached": self.usage.cached_tokens,
            "output": self.usage.output_tokens,
        }

    def count(self, more: Usage) -> None:
        known = self.usage
        self.usage = Usage(
            known.input_tokens + more.input_tokens,
            known.output_tokens + more.output_tokens,
            known.cached_tokens + more.cached_tokens,
        )

    def check_lease(self) -> None:
        if not self._keep():
            raise JobTakenOver

    def ask(
        self,
        prompt: RefinePrompt,
        question: str,
        schema: Mapping[str, Any],
        read: Callable[[Any], _Read],
    ) -> _Read:
        """An answer, read. Raises LlmRefused where it cannot be read at all, JobTakenOver."""
        self.check_lease()
        completion = self._account.complete(prompt.name, prompt.text, question, schema)
        self.count(completion.usage)
        try:
            return read(parse_answer(completion.text))
        except (ValueError, RecursionError) as e:
            raise LlmRefused(
                f"{self.model} gave no answer that can be read: {e}",
                "Try another model in keeplore.yaml",
            ) from e
