"""What was spent, summed by day, model or stage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from keeplore.llm.ledger import SpendingRow, total_of

if TYPE_CHECKING:
    from keeplore.config.settings import TokenPrice


def grouped(
    rows: Sequence[SpendingRow], by: Sequence[str], prices: Mapping[str, TokenPrice]
) -> list[dict[str, Any]]:
    """A sum for each value of these attributes of a row, in their order; ``price`` is None where
    that of a model is not known.
    """
    groups: dict[tuple[str, ...], list[SpendingRow]] = {}
    for row in rows:
        groups.setdefault(tuple(getattr(row, name) for name in by), []).append(row)
    found = []
    for key, group in sorted(groups.items()):
        total = total_of(group, prices)
        found.append(
            {
                **dict(zip(by, key, strict=True)),
                "calls": total.calls,
                "estimates": total.estimates,
                **asdict(total.usage),
                "price": None if total.unpriced else round(total.price, 6),
                "unpriced": [*total.unpriced],
            }
        )
    return found
