"""What was spent, in money: the ledger's rows by the price table of ``keeplore.yaml``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from keeplore.llm.ledger import SpendingRow
from keeplore_hooks.contracts import Usage

if TYPE_CHECKING:
    from keeplore.config.settings import TokenPrice

MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class CostTotal:
    """``price`` is of those calls whose model has one; ``unpriced`` are the models that have
    none.
    """

    calls: int
    estimates: int
    usage: Usage
    price: float
    unpriced: tuple[str, ...]


def price_of(usage: Usage, price: TokenPrice) -> float:
    """In the currency of the price table."""
    fresh = usage.input_tokens - usage.cached_tokens
    return (
        fresh * price.input
        + usage.cached_tokens * price.cached
        + usage.output_tokens * price.output
    ) / MILLION


def total_of(rows: Iterable[SpendingRow], prices: Mapping[str, TokenPrice]) -> CostTotal:
    """The sum of some rows."""
    found = [*rows]
    usages = [row.usage for row in found]
    return CostTotal(
        calls=sum(row.calls for row in found),
        estimates=sum(row.estimates for row in found),
        usage=Usage(
            sum(usage.input_tokens for usage in usages),
            sum(usage.output_tokens for usage in usages),
            sum(usage.cached_tokens for usage in usages),
        ),
        price=sum(price_of(row.usage, prices[row.model]) for row in found if row.model in prices),
        unpriced=tuple(sorted({row.model for row in found if row.model not in prices})),
    )
