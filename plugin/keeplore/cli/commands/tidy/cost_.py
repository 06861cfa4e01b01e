"""``keeplore cost``."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from keeplore.cli.output import emit_json, note, table
from keeplore.cli.values import When
from keeplore.config.places import Places
from keeplore.config.settings import LlmSettings
from keeplore.errors import NoWorkspace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from keeplore.jobs import JobCount
    from keeplore.llm.ledger import SpendingRow

BY = ("day", "model", "stage")
SHOWN = timedelta(days=30)


@click.command(short_help="Show what language models have cost, and what may still be spent.")
@click.option(
    "--by", type=click.Choice(BY), help="One line for each of these, instead of for all three."
)
@click.option(
    "--since", type=When(), help="Spent since then: 2026-01-31, 30d, 8w. 30 days if not given."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
@click.pass_obj
def command(places: Places, /, *, by: str | None, since: datetime | None, as_json: bool) -> None:
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
    from keeplore.jobs import JobQueue
    from keeplore.llm.ledger import SpendingLedger

    now = datetime.now(UTC)
    first = ((since or now - SHOWN).astimezone(UTC)).strftime("%Y-%m-%d")
    llm = _settings(places)
    ledger = SpendingLedger(places.ledger) if places.ledger.exists() else None
    rows = ledger.rows(first) if ledger else []
    spent = {span: ledger.spent(span, now) if ledger else 0 for span in ("day", "month")}
    waiting = [
        count
        for count in (JobQueue(places.jobs).counts() if places.jobs.exists() else ())
        if count.jobs
    ]
    groups = _grouped(rows, [by] if by else BY, llm)
    if as_json:
        limits = {"day": llm.daily_tokens, "month": llm.monthly_tokens}
        emit_json(
            {
                "since": first,
                "rows": groups,
                "spent": spent,
                "budget": limits,
                "queue": _queue(waiting),
            }
        )
        return
    table(
        (*([by] if by else BY), "calls", "read", "cached", "written", "price"),
        [_cells(group, [by] if by else BY) for group in groups],
    )
    _tell(groups, spent, llm, waiting)


def _settings(places: Places) -> LlmSettings:
    """Of this directory's workspace; the defaults, without prices, where there is none."""
    # heavy, as above
    from keeplore.workspace.registry import Registry

    try:
        with Registry(places) as registry:
            return registry.for_directory(Path.cwd()).settings.llm
    except NoWorkspace:
        return LlmSettings()


def _grouped(
    rows: Sequence[SpendingRow], by: Sequence[str], llm: LlmSettings
) -> list[dict[str, Any]]:
    from keeplore.llm.costs import total_of  # heavy, as above

    groups: dict[tuple[str, ...], list[SpendingRow]] = {}
    for row in rows:
        groups.setdefault(tuple(getattr(row, name) for name in by), []).append(row)
    totals = {key: total_of(group, llm.prices) for key, group in sorted(groups.items())}
    return [
        {
            **dict(zip(by, key, strict=True)),
            "calls": total.calls,
            "estimates": total.estimates,
            **asdict(total.usage),
            "price": None if total.unpriced else round(total.price, 6),
            "unpriced": [*total.unpriced],
        }
        for key, total in totals.items()
    ]


def _cells(group: dict[str, Any], by: Sequence[str]) -> list[str]:
    counts = [
        f"{group[name]:,}" for name in ("calls", "input_tokens", "cached_tokens", "output_tokens")
    ]
    return [
        *(group[name] for name in by),
        *counts,
        "" if group["price"] is None else f"{group['price']:.4f}",
    ]


def _queue(waiting: Sequence[JobCount]) -> list[dict[str, Any]]:
    return [
        {
            "kind": count.kind,
            "state": count.state,
            "jobs": count.jobs,
            "due": _utc(count.due),
            "reason": count.reason,
        }
        for count in waiting
    ]


def _tell(
    groups: Sequence[dict[str, Any]],
    spent: dict[str, int],
    llm: LlmSettings,
    waiting: Sequence[JobCount],
) -> None:
    for span, limit in (("day", llm.daily_tokens), ("month", llm.monthly_tokens)):
        of = f"of {limit:,} tokens" if limit else "tokens, without a limit,"
        note(f"{spent[span]:,} {of} are spent this {span}")
    if unpriced := sorted({model for group in groups for model in group["unpriced"]}):
        note(f"what {', '.join(unpriced)} costs is not known: set llm.prices in keeplore.yaml")
    if estimates := sum(group["estimates"] for group in groups):
        note(
            f"{estimates} calls broke off or are under way, and are counted as far as they were "
            f"sent"
        )
    for count in waiting:
        if count.state == "waiting" and count.due > datetime.now(UTC):
            note(f"{count.jobs} jobs ({count.kind}) wait until {_utc(count.due)}: {count.reason}")
        elif count.state == "dead":
            note(
                f"{count.jobs} jobs ({count.kind}) were given up, the first because: {count.reason}"
            )


def _utc(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%d %H:%M UTC")
