"""How an answer of recall is printed for a person."""

from __future__ import annotations

import textwrap
from typing import Any

from keeplore.cli.output import block, note, plain, say
from keeplore.cli.parameters import short

WIDTH = 96
STATUS = {
    "nothing": "Nothing found: no memory here is about that. Try other words, or --wide for the "
    "other projects.",
    "empty": "No memory yet. `keeplore import claude-code` reads the sessions you already have.",
    "stale": "The index is behind the text and could not catch up. Run `keeplore doctor`.",
}


def show(answer: dict[str, Any]) -> None:
    """Title, date, scope, score, the best passage and the file of each hit; notes go to stderr."""
    for number, hit in enumerate(answer["hits"], 1):
        where = hit["project"] or hit["scope"]
        facts = [hit["date"], where, f"{hit['score']:.2f}", hit["category"] or hit["kind"]]
        if hit["trust"] == "foreign":
            facts.append("from another person's machine")
        if hit["changes"]:
            facts.append(f"changed {hit['changes']}×")
        if hit["replaced_by"]:
            facts.append(f"replaced since by {short(plain(hit['replaced_by']))}")
        say(f"{number}. {plain(hit['title'])}", bold=True)
        say(f"   {plain(' · '.join(facts))}", dim=True)
        if plain(hit["passage"]) != plain(hit["title"]):
            for paragraph in block(hit["passage"]).splitlines():
                _fill(paragraph)
        if hit["decision"] and hit["decision"] not in " ".join(hit["passage"].split()):
            _fill(f"decided: “{plain(hit['decision'])}”")
        say(f"   {plain(hit['path'])}", fg="cyan")
        say()
    if not answer["hits"]:
        say(STATUS[answer["status"]])
    if answer["status"] == "empty":  # how it was searched is of no interest then
        return
    for told in answer["notes"]:
        note(told)
    if answer["legs"] == ["text"] and not answer["notes"]:
        note("searched by text alone, as asked")


def _fill(text: str) -> None:
    say(textwrap.fill(text, WIDTH, initial_indent="   ", subsequent_indent="   "))
