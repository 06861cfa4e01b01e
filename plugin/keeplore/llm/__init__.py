"""Language models, what is spent on them, and what may be."""

from keeplore.llm.account import Account
from keeplore.llm.base import tokens
from keeplore.llm.json_answers import parse_answer
from keeplore.llm.ledger import Budget, SpendingLedger, SpendingRow
from keeplore.llm.open_model import accept, is_accepted, open_account, terms_of
from keeplore_hooks.contracts import Completion, LanguageModel, Usage

__all__ = (
    "Account",
    "Budget",
    "Completion",
    "LanguageModel",
    "SpendingLedger",
    "SpendingRow",
    "Usage",
    "accept",
    "is_accepted",
    "open_account",
    "parse_answer",
    "terms_of",
    "tokens",
)
