"""The ledger: what each call of a language model cost on this machine, and whether another one may
be made.

Before a call is made, what it may take is reserved; afterwards what it took is written in its
place. A process that is killed in between leaves the reservation: what the call read is counted,
because the server may have billed it.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from keeplore.config.state_database import StateDatabase
from keeplore.errors import BudgetSpent
from keeplore.text.dates import in_utc
from keeplore_hooks.contracts import Usage

if TYPE_CHECKING:
    from keeplore.config.settings import TokenPrice

MILLION = 1_000_000
# a reservation that is older is of a process that died
MAX_CALL = timedelta(minutes=30)
_KEYS = {"day": "llm.daily_tokens", "month": "llm.monthly_tokens"}

_TABLES = (
    """
    CREATE TABLE calls (
        id INTEGER PRIMARY KEY, at TEXT NOT NULL, model TEXT NOT NULL, stage TEXT NOT NULL,
        input INTEGER NOT NULL, output INTEGER NOT NULL, cached INTEGER NOT NULL,
        reserved INTEGER NOT NULL, is_estimate INTEGER NOT NULL
    )
    """,
    "CREATE INDEX calls_at ON calls (at)",
)


@dataclass(frozen=True, slots=True)
class Budget:
    """Tokens, read and written, that all workspaces of this machine may take together; 0 means any
    number.

    Days and months are those of UTC.
    """

    daily_tokens: int
    monthly_tokens: int


@dataclass(frozen=True, slots=True)
class SpendingRow:
    """The calls of one day, model and stage; ``estimates`` of them are counted without the server's
    own figures.
    """

    day: str
    model: str
    stage: str
    calls: int
    estimates: int
    usage: Usage


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


class SpendingLedger:
    """What was spent on models, in an SQLite file, for any number of processes."""

    def __init__(self, file: Path) -> None:
        self._database = StateDatabase(file, _TABLES)

    def add(self, at: datetime, model: str, stage: str, usage: Usage) -> None:
        """Write down a call that was made."""
        self.settle(self.reserve(at, model, stage, usage, None), usage)

    def reserve(
        self, at: datetime, model: str, stage: str, most: Usage, budget: Budget | None
    ) -> int:
        """Put aside what a call may take at most, and give its number.

        A call is allowed while what it reads still fits, so that what is spent exceeds the budget
        by one answer at most. Raises BudgetSpent.
        """
        with self._database.transaction() as db:
            if budget is not None:
                for span, limit in (
                    ("day", budget.daily_tokens),
                    ("month", budget.monthly_tokens),
                ):
                    spent = _spent(db, _prefix(at, span), at)
                    if limit and spent + most.input_tokens > limit:
                        raise _refusal(span, limit, spent, most.input_tokens, at)
            done = db.execute(
                "INSERT INTO calls (at, model, stage, input, output, cached, reserved, is_estimate)"
                " VALUES (?, ?, ?, ?, 0, 0, ?, 1)",
                (in_utc(at), model, stage, most.input_tokens, most.output_tokens),
            )
            return done.lastrowid or 0

    def settle(self, call: int, usage: Usage | None) -> None:
        """Say what a call took; None where nobody knows, and what it read stays counted."""
        with self._database.transaction() as db:
            if usage is None:
                db.execute("UPDATE calls SET reserved = 0 WHERE id = ?", (call,))
            else:
                db.execute(
                    "UPDATE calls SET input = ?, output = ?, cached = ?, reserved = 0, is_estimate "
                    "= 0 WHERE id = ?",
                    (
                        usage.input_tokens,
                        usage.output_tokens,
                        usage.cached_tokens,
                        call,
                    ),
                )

    def release(self, call: int) -> None:
        """Give back what was put aside for a call that was refused: it cost nothing."""
        with self._database.transaction() as db:
            db.execute("DELETE FROM calls WHERE id = ?", (call,))

    def spent(self, span: str, now: datetime) -> int:
        """Tokens of the ``day`` or ``month`` that ``now`` is in, with what is put aside for calls
        under way.
        """
        with self._database.transaction() as db:
            return _spent(db, _prefix(now, span), now)

    def rows(self, since: str = "") -> list[SpendingRow]:
        """What was spent since a day (``2026-01-31``), by day, model and stage."""
        with self._database.transaction() as db:
            found = db.execute(
                "SELECT substr(at, 1, 10) AS day, model, stage, COUNT(*) AS calls, "
                "SUM(is_estimate) AS estimates,"
                " SUM(input) AS input, SUM(output) AS output, SUM(cached) AS cached"
                " FROM calls WHERE at >= ? GROUP BY day, model, stage ORDER BY day, model, stage",
                (since,),
            ).fetchall()
        return [
            SpendingRow(day, model, stage, calls, estimates, Usage(*counts))
            for day, model, stage, calls, estimates, *counts in found
        ]


def _spent(db: sqlite3.Connection, prefix: str, now: datetime) -> int:
    alive = in_utc(now - MAX_CALL)
    (total,) = db.execute(
        "SELECT COALESCE(SUM(input + output + CASE WHEN at >= ? THEN reserved ELSE 0 END), 0)"
        " FROM calls WHERE at >= ? AND at < ?",
        (alive, prefix, f"{prefix}~"),  # "~" sorts behind whatever follows in a time
    ).fetchone()
    return int(total)


def _refusal(
    span: str, limit: int, spent: int, wanted: int, at: datetime
) -> BudgetSpent:
    until = _next_beginning(span, at.astimezone(UTC))
    key = _KEYS[span]
    if wanted > limit:
        message = (
            f"the next call needs {wanted:,} tokens, which is more than the {limit:,} of a "
            f"{span}"
        )
        return BudgetSpent(message, f"Raise {key} in keeplore.yaml", until)
    message = (
        f"{spent:,} of the {limit:,} tokens of this {span} are spent, and the next call "
        f"needs {wanted:,}"
    )
    return BudgetSpent(
        message,
        f"It goes on at {until:%Y-%m-%d %H:%M} UTC, or raise {key} in keeplore.yaml",
        until,
    )


def _next_beginning(span: str, at: datetime) -> datetime:
    """When the next day, or month, begins; both times UTC."""
    midnight = at.replace(hour=0, minute=0, second=0, microsecond=0)
    if span == "month":
        return (midnight.replace(day=1) + timedelta(days=32)).replace(day=1)
    return midnight + timedelta(days=1)


def _prefix(at: datetime, span: str) -> str:
    return in_utc(at)[: {"day": 10, "month": 7}[span]]


def price_of(usage: Usage, price: TokenPrice) -> float:
    """The price of a usage in the currency of the price table, ``prices`` of ``keeplore.yaml``."""
    fresh = usage.input_tokens - usage.cached_tokens
    cost = fresh * price.input + usage.cached_tokens * price.cached
    return (cost + usage.output_tokens * price.output) / MILLION


def total_of(
    rows: Iterable[SpendingRow], prices: Mapping[str, TokenPrice]
) -> CostTotal:
    """The sum of some rows."""
    calls, estimates, price = 0, 0, 0.0
    tokens: Counter[str] = Counter()
    unpriced: set[str] = set()
    for row in rows:
        calls += row.calls
        estimates += row.estimates
        tokens.update(asdict(row.usage))
        if row.model in prices:
            price += price_of(row.usage, prices[row.model])
        else:
            unpriced.add(row.model)
    usage = Usage(**{name: tokens[name] for name in Usage.__slots__})
    return CostTotal(calls, estimates, usage, price, tuple(sorted(unpriced)))
