"""Calls of a language model, which are paid for: made within the budget, retried after growing
pauses where that may help, and written down.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from keeplore.errors import KeeploreError, LlmRefused, LlmUnavailable
from keeplore.llm.base import MAX_OUTPUT_TOKENS, TransientFailure, tokens
from keeplore.llm.ledger import Budget, SpendingLedger
from keeplore_hooks.contracts import Completion, LanguageModel, Usage

if TYPE_CHECKING:
    from tenacity import Retrying

ATTEMPTS = 3  # at one answer; after that the queue waits
# a server that asks for more is left alone until the queue comes back
FIRST_PAUSE_S, MAX_PAUSE_S = 1.0, 30.0
OVERHEAD_TOKENS = 50  # what a request has beside its texts


class Account:
    """A model, what was spent on this machine, and what may be."""

    def __init__(
        self,
        model: LanguageModel,
        ledger: SpendingLedger,
        budget: Budget,
        *,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.name = model.name
        self._model = model
        self._ledger = ledger
        self._budget = budget
        self._clock = clock
        self._sleep = sleep

    def available(self) -> str:
        """Whether a request may be tried: "" or why not, within three seconds."""
        return self._model.available()

    def complete(
        self, stage: str, system: str, prompt: str, schema: Mapping[str, Any]
    ) -> Completion:
        """An answer of the model, booked under ``stage``.

        Raises BudgetSpent and LlmUnavailable where the work should wait, LlmRefused where this
        request never works.
        """
        completion: Completion = self._retrying()(
            self._call_once, stage, system, prompt, schema
        )
        if completion.flaw:
            raise LlmRefused(
                f"{self.name}: {completion.flaw}",
                "The conversation itself is kept as it is",
            )
        return completion

    def _retrying(self) -> Retrying:
        # here, because every command reads the settings next door and none needs this
        from tenacity import (
            Retrying,
            retry_if_exception,
            stop_after_attempt,
            wait_exponential_jitter,
        )

        pause = wait_exponential_jitter(initial=FIRST_PAUSE_S, max=MAX_PAUSE_S)

        def wait(state: Any) -> float:
            asked_wait_s = getattr(state.outcome.exception(), "wait_s", None)
            return float(pause(state)) if asked_wait_s is None else float(asked_wait_s)

        return Retrying(
            stop=stop_after_attempt(ATTEMPTS),
            wait=wait,
            retry=retry_if_exception(_is_worth_another),
            sleep=self._sleep,
            reraise=True,
        )

    def _call_once(
        self, stage: str, system: str, prompt: str, schema: Mapping[str, Any]
    ) -> Completion:
        most = _largest_usage(system, prompt, schema)
        call = self._ledger.reserve(self._clock(), self.name, stage, most, self._budget)
        try:
            completion = self._model.complete(system, prompt, schema)
            # of a plugin, which may give anything
            if not isinstance(completion, Completion):
                raise TypeError(type(completion).__name__)
        except Exception as e:
            self._book_failure(call, e)
            if isinstance(e, KeeploreError):
                raise
            raise self._failure(e) from e
        self._ledger.settle(call, completion.usage)
        return completion

    def _book_failure(self, call: int, error: Exception) -> None:
        if _is_billed(error):
            self._ledger.settle(call, None)
        else:
            self._ledger.release(call)

    def _failure(self, error: Exception) -> KeeploreError:
        """What an error that is none of ours comes to."""
        remedy = "`keeplore doctor` says more"
        if isinstance(error, OSError):  # a program that does not start, a full disk
            return LlmUnavailable(
                f"{self.name} failed: {error.strerror or error}", remedy
            )
        return LlmRefused(f"{self.name} failed: {type(error).__name__}", remedy)


def _largest_usage(system: str, prompt: str, schema: Mapping[str, Any]) -> Usage:
    """What a call may take at most."""
    texts = (system, prompt, str(dict(schema)))
    return Usage(sum(map(tokens, texts)) + OVERHEAD_TOKENS, MAX_OUTPUT_TOKENS)


def _is_billed(error: Exception) -> bool:
    """Whether a call that failed may have cost something."""
    if isinstance(error, TransientFailure):
        return error.is_billed
    return not isinstance(error, LlmUnavailable | LlmRefused | OSError)


def _is_worth_another(error: BaseException) -> bool:
    # a server that worked for nothing once would do so again, and the lease of a job outlasts one
    # timeout, not three
    return (
        isinstance(error, TransientFailure)
        and not error.is_billed
        and (error.wait_s is None or error.wait_s <= MAX_PAUSE_S)
    )
