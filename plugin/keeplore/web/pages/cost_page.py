"""What language models have cost, and what may still be spent."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from keeplore.jobs import counts_in
from keeplore.llm.ledger import SpendingLedger
from keeplore.llm.spending_groups import grouped
from keeplore.text.dates import in_utc
from keeplore.web.page_context import PageContext

BY = ("day", "model", "stage")
SHOWN = timedelta(days=30)


def cost_values(context: PageContext) -> dict[str, Any]:
    places, llm = context.registry.places, context.workspace.settings.llm
    now = datetime.now(UTC)
    ledger = SpendingLedger(places.ledger) if places.ledger.exists() else None
    rows = ledger.rows(in_utc(now - SHOWN)[:10]) if ledger else []
    spent = [
        (span, ledger.spent(span, now) if ledger else 0, limit)
        for span, limit in (("day", llm.daily_tokens), ("month", llm.monthly_tokens))
    ]
    return {
        "groups": [*reversed(grouped(rows, BY, llm.prices))],
        "spent": spent,
        "waiting": counts_in(places.jobs),
        "provider": llm.provider,
    }
