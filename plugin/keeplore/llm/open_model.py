"""The model of a workspace, once the person of this machine has accepted it.

``keeplore.yaml`` comes with every pull: what it says of a model is a stranger's text, and both
where conversations go and what may be spent on it must have been confirmed here.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from keeplore.config.consent import Consents, ConsentUse, server_of
from keeplore.errors import LlmUnavailable
from keeplore.llm.account import Account
from keeplore.llm.ledger import Budget, SpendingLedger

if TYPE_CHECKING:
    from keeplore.config.places import Places
    from keeplore.config.settings import LlmSettings

ACCEPT = "keeplore refine --accept-model"


def terms_of(llm: LlmSettings) -> str:
    """What a person accepts, in one line: whatever sends text elsewhere or costs more is in it."""
    where = f" at {server_of(llm.base_url)}" if llm.base_url else ""
    model = f" {llm.model}" if llm.model else ""
    limits = [
        f"{limit:,} tokens a {span}" if limit else f"any number of tokens a {span}"
        for limit, span in ((llm.daily_tokens, "day"), (llm.monthly_tokens, "month"))
    ]
    return f"{llm.provider}{model}{where}, {' and '.join(limits)}"


def is_accepted(places: Places, root: Path, llm: LlmSettings) -> bool:
    return Consents(places.state).has(root, ConsentUse.LLM, terms_of(llm))


def accept(places: Places, root: Path, llm: LlmSettings) -> None:
    """Let this workspace use its model as it is set now; what was accepted before no longer counts.
    Raises OSError.
    """
    accepted = Consents(places.state)
    accepted.withdraw(root, ConsentUse.LLM)
    accepted.accept(root, ConsentUse.LLM, terms_of(llm))


def open_account(
    llm: LlmSettings, root: Path, places: Places, find: Callable[..., Any]
) -> Account | None:
    """The model that ``find``, the extension point ``keeplore_llm``, gives; None where none is set.

    Raises LlmUnavailable where it was not accepted here, or nobody knows its provider.
    """
    if not llm.provider:
        return None
    if not is_accepted(places, root, llm):
        raise LlmUnavailable(
            f"the model of this workspace is not accepted here: {terms_of(llm)}",
            f"Run `{ACCEPT}`",
        )
    model = find(provider=llm.provider, settings=llm)
    if model is None:
        raise LlmUnavailable(
            f"no plugin knows the provider {llm.provider}",
            "Set llm.provider in keeplore.yaml",
        )
    return Account(
        model,
        SpendingLedger(places.ledger),
        Budget(llm.daily_tokens, llm.monthly_tokens),
    )
