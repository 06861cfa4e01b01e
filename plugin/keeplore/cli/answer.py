"""How an answer of recall is printed for a person."""

from __future__ import annotations

import textwrap
from typing import Any

import click

WIDTH = 96
STATUS = {
    "nothing": "Nothing found: no memory here is about that. Try other words, or --wide for the other projects.",
    "empty": "No memory yet. `keeplore import claude-code` reads the sessions you already have.",
    "stale": "The index is behind the text and could not catch up. Run `keeplore doctor`.",
}


def show(answer: dict[str, Any]) -> None:
    """Title, date, scope, score, the best passage and the file of each hit; notes go to stderr."""
    for number, hit in enumerate(answer["hits"], 1):
        where = hit["project"] or hit["scope"]
        facts = [hit["date"], where, f"{hit['score']:.2f}", hit["category"] or hit["kind"]]
        if hit["changes"]:
            facts.append(f"changed {hit['changes']}×")
        click.echo(f"{number}. {click.style(hit['title'], bold=True)}")
        click.secho(f"   {' · '.join(facts)}", dim=True)
        for paragraph in hit["passage"].splitlines():
            click.echo(textwrap.fill(paragraph, WIDTH, initial_indent="   ", subsequent_indent="   "))
        if hit["decision"] and hit["decision"] not in " ".join(hit["passage"].split()):
            decided = f"decided: “{hit['decision']}”"
            click.echo(textwrap.fill(decided, WIDTH, initial_indent="   ", subsequent_indent="   "))
        click.secho(f"   {hit['path']}", fg="cyan")
        click.echo()
    if not answer["hits"]:
        click.echo(STATUS[answer["status"]])
    if answer["status"] == "empty":  # how it was searched is of no interest then
        return
    for note in answer["notes"]:
        click.echo(f"note: {note}", err=True)
    if answer["legs"] == ["text"] and not answer["notes"]:
        click.echo("note: searched by text alone, as asked", err=True)
