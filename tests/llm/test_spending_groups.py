"""What was spent, summed in every way, as a whole."""

from __future__ import annotations

from keeplore.config.settings import TokenPrice
from keeplore.llm.ledger import CostTotal, SpendingRow, total_of
from keeplore.llm.spending_groups import grouped
from keeplore_hooks.contracts import Usage

PRICES = {"small": TokenPrice(1.0, 2.0, 0.5), "large": TokenPrice(10.0, 20.0, 10.0)}
ROWS = (
    SpendingRow("2026-02-02", "small", "title", 2, 1, Usage(1_000, 100, 400)),
    SpendingRow("2026-02-01", "large", "title", 1, 0, Usage(3, 1, 0)),
    SpendingRow("2026-02-01", "unknown", "digest", 4, 4, Usage(70, 7, 0)),
    SpendingRow("2026-02-01", "another", "digest", 1, 0, Usage(5, 5, 5)),
)


def test_the_sum_of_all() -> None:
    found = total_of(ROWS, PRICES)
    price = (600 + 2 * 100 + 0.5 * 400 + 10 * 3 + 20) / 1e6
    assert round(found.price, 9) == round(price, 9)
    usage = Usage(1_078, 113, 405)
    unpriced = ("another", "unknown")
    assert found == CostTotal(8, 5, usage, found.price, unpriced)
    assert total_of((), PRICES) == CostTotal(0, 0, Usage(0, 0), 0.0, ())


def test_each_group_in_the_order_of_what_it_is_grouped_by() -> None:
    assert grouped(ROWS, ("day",), PRICES) == [
        {
            "day": "2026-02-01",
            "calls": 6,
            "estimates": 4,
            "input_tokens": 78,
            "output_tokens": 13,
            "cached_tokens": 5,
            "price": None,
            "unpriced": ["another", "unknown"],
        },
        {
            "day": "2026-02-02",
            "calls": 2,
            "estimates": 1,
            "input_tokens": 1_000,
            "output_tokens": 100,
            "cached_tokens": 400,
            "price": 0.001,
            "unpriced": [],
        },
    ]
    sums = grouped(ROWS, ("stage", "model"), PRICES)
    assert [(one["stage"], one["model"], one["price"]) for one in sums] == [
        ("digest", "another", None),
        ("digest", "unknown", None),
        ("title", "large", 5e-05),
        ("title", "small", 0.001),
    ]
    assert grouped((), ("day",), PRICES) == []
