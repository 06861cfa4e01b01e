"""Language models, what is spent on them, and what may be."""

from keeplore.llm.account import Account
from keeplore.llm.base import Completion, Model, Usage, tokens
from keeplore.llm.json_answers import parsed
from keeplore.llm.ledger import Budget, Ledger, Row
from keeplore.llm.open_model import accept, is_accepted, open_account, terms_of

__all__ = (
    "Account",
    "Budget",
    "Completion",
    "Ledger",
    "Model",
    "Row",
    "Usage",
    "accept",
    "is_accepted",
    "open_account",
    "parsed",
    "terms_of",
    "tokens",
)
