"""What was done on this machine since a day, and what models have cost."""

from __future__ import annotations

from typing import Any

from keeplore.llm.ledger import SpendingLedger, total_of
from keeplore.workspace.activity import Counted, activity_since
from keeplore.workspace.workspace import Workspace

SHARES = (50, 95, 99)  # percent of answers


def activity_report(workspace: Workspace, day: str) -> dict[str, Any]:
    """``counts`` by what was counted, ``answers`` with their number and in how many milliseconds a
    share of them came, ``price`` None where one of a model is unknown.
    """
    places = workspace.places
    found = activity_since(places.state, day)
    spent = SpendingLedger(places.ledger).rows(day) if places.ledger.exists() else []
    cost = total_of(spent, workspace.settings.llm.prices)
    answers = [
        {"what": name, "answers": found.times[name].total()}
        | {f"p{share}_ms": found.within_ms(name, share / 100) for share in SHARES}
        for name in sorted(found.times)
    ]
    return {
        "since": day,
        "counts": {str(name): found.counts[name] for name in Counted},
        "answers": answers,
        "tokens": cost.usage.input_tokens + cost.usage.output_tokens,
        "price": None if cost.unpriced else round(cost.price, 4),
    }
