"""``keeplore cost``."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from keeplore.cli.output import attributes_of, emit_json, note, table
from keeplore.cli.parameters import json_option, since_option
from keeplore.config.places import Places
from keeplore.config.settings import LlmSettings
from keeplore.errors import NoWorkspace
from keeplore.text.counts import counted
from keeplore.text.dates import in_utc

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from keeplore.jobs import JobCount

BY = ("day", "model", "stage")
SHOWN = timedelta(days=30)


@click.command(
    short_help="Show what language models have cost, and what may still be spent."
)
@click.option(
    "--by",
    type=click.Choice(BY),
    help="One line for each of these, instead of for all three.",
)
@since_option("Spent since then: 2026-01-31, 30d, 8w. 30 days if not given.")
@json_option
@click.pass_obj
def cost_command(
    places: Places, /, *, by: str | None, since: str | None, as_json: bool
) -> None:
    """Show what was spent on language models on this machine, by day, model and stage, and what
    waits for the budget.

    Days are those of UTC. Prices are those of keeplore.yaml in this directory's workspace. Piped,
    the columns are separated by tabs: what it is by, calls, tokens read, those of them that were
    cached, tokens written, price.

    \b
    keeplore cost
    keeplore cost --by model --since 8w
    """
    # heavy: the database is needed here, not for --help
    from keeplore.jobs import counts_in
    from keeplore.llm.ledger import SpendingLedger
    from keeplore.llm.spending_groups import grouped

    now = datetime.now(UTC)
    first = (since or in_utc(now - SHOWN))[:10]
    llm = _settings(places)
    by_names = (by,) if by else BY
    ledger = SpendingLedger(places.ledger) if places.ledger.exists() else None
    groups = grouped(ledger.rows(first) if ledger else [], by_names, llm.prices)
    spent = {
        span: ledger.spent(span, now) if ledger else 0 for span in ("day", "month")
    }
    budget = {"day": llm.daily_tokens, "month": llm.monthly_tokens}
    waiting = counts_in(places.jobs)
    if as_json:
        totals = {"since": first, "rows": groups, "spent": spent, "budget": budget}
        emit_json({**totals, "queue": [_queue_json(count) for count in waiting]})
        return
    _show_groups(groups, by_names)
    _note_budget(spent, budget)
    _note_unknown(groups)
    for count in waiting:
        _note_waiting(count, now)


def _settings(places: Places) -> LlmSettings:
    """The settings of this directory's workspace; the defaults, which have no prices, where there
    is none.
    """
    # heavy, as above
    from keeplore.workspace.registry import Registry

    try:
        with Registry(places) as registry:
            return registry.for_directory(Path.cwd()).settings.llm
    except NoWorkspace:
        return LlmSettings()


def _show_groups(groups: Sequence[dict[str, Any]], by: Sequence[str]) -> None:
    headings = (*by, "calls", "read", "cached", "written", "price")
    table(headings, [_cells(group, by) for group in groups])


def _cells(group: dict[str, Any], by: Sequence[str]) -> list[str]:
    names = ("calls", "input_tokens", "cached_tokens", "output_tokens")
    counts = [f"{group[name]:,}" for name in names]
    price = "" if group["price"] is None else f"{group['price']:.4f}"
    return [*(group[name] for name in by), *counts, price]


def _queue_json(count: JobCount) -> dict[str, Any]:
    return attributes_of(count, "kind", "state", "jobs", "reason") | {
        "due": _utc(count.due)
    }


def _note_budget(spent: Mapping[str, int], budget: Mapping[str, int]) -> None:
    for span, limit in budget.items():
        of = f"of {limit:,} tokens" if limit else "tokens, without a limit,"
        note(f"{spent[span]:,} {of} are spent this {span}")


def _note_unknown(groups: Sequence[dict[str, Any]]) -> None:
    """Say what the prices do not cover."""
    unpriced = {model for group in groups for model in group["unpriced"]}
    if unpriced:
        models = ", ".join(sorted(unpriced))
        note(f"what {models} costs is not known: set llm.prices in keeplore.yaml")
    if estimates := sum(group["estimates"] for group in groups):
        one = "call broke off or is under way, and is counted as far as it was sent"
        many = (
            "calls broke off or are under way, and are counted as far as they were sent"
        )
        note(counted(estimates, one, many))


def _note_waiting(count: JobCount, now: datetime) -> None:
    if count.state == "waiting" and count.due > now:
        jobs = count.told("waits", "wait")
        note(f"{jobs} until {_utc(count.due)}: {count.reason}")
    elif count.state == "dead":
        jobs = count.told("was", "were")
        note(f"{jobs} given up, the first because: {count.reason}")


def _utc(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%d %H:%M UTC")
