"""How many tokens a model reads to refine real conversations, for each token that was said in them.

    python benchmarks/refine_tokens.py [SESSIONS] [--aspects]

Recorded sessions go through the product's own capture and its own refining. In the place of the
model stands a script that proposes what a diligent one might: facts on whole sentences of the talk,
FACTS of them for each thousand tokens, each with a triple of the two names in it that the talk uses
most, a decision for each of which it is asked, and with --aspects an aspect for each. The notes
that it makes are there when the next talk is refined. Tokens are counted as the ledger estimates
them, four bytes each, the schemas included; no cache is assumed.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import captured
import talks

from keeplore.config.places import Places
from keeplore.llm.account import Account
from keeplore.llm.base import tokens
from keeplore.llm.ledger import Budget, SpendingLedger
from keeplore.refine.pipeline import refine
from keeplore.workspace.lifecycle.setup import initialise
from keeplore.workspace.registry import Registry
from keeplore.workspace.writing.refinery import backlog, refine_deps
from keeplore_hooks.contracts import Completion, Usage

FACTS = 2.5  # for each thousand tokens that were said
SENTENCE = re.compile(r"[A-Z][^.!?\n`|\[\]]{40,200}[.!?]")
NAME = re.compile(r"\b(?:[A-Z][A-Za-z]{3,}|[a-z]+[_.-][a-z]{2,}[\w-]*|[a-z]{7,})\b")
TARGET = 1.25


class Diligent:
    """``read`` and ``written`` are stage → tokens."""

    name = "script"

    def __init__(self) -> None:
        self.read: Counter[str] = Counter()
        self.written: Counter[str] = Counter()
        self.calls: Counter[str] = Counter()

    def available(self) -> str:
        return ""

    def complete(
        self, system: str, prompt: str, schema: Mapping[str, Any]
    ) -> Completion:
        stage = (
            "extract"
            if "Talk:" in prompt
            else "aspects"
            if prompt.startswith("Things:")
            else "decide"
        )
        read = (
            tokens(system)
            + tokens(prompt)
            + tokens(json.dumps(schema, separators=(",", ":")))
        )
        self.read[stage] += read
        self.calls[stage] += 1
        text = json.dumps(ANSWERS[stage](prompt))
        self.written[stage] += tokens(text)
        return Completion(text, Usage(read, tokens(text)), self.name)


def _facts(prompt: str) -> dict[str, Any]:
    talk = prompt.partition("Talk:\n")[2]
    spans = SENTENCE.findall(talk)
    count = max(1, round(FACTS * tokens(talk) / 1000))
    chosen = spans[:: max(1, len(spans) // count)][:count]
    fact = {
        "type": "decision",
        "scope": "project",
        "category": "architectural-decisions",
        "confidence": 0.9,
    }
    facts = [
        {"content": span, "span": span, "lasting": 0.5, "about": "", **fact}
        for span in chosen
    ]
    uses = Counter(NAME.findall(talk))
    triples = []
    for span in chosen:
        names = sorted(set(NAME.findall(span)), key=lambda name: (-uses[name], name))[
            :2
        ]
        if len(names) == 2:
            triples.append(
                {
                    "source": names[0],
                    "relationship": "uses",
                    "target": names[1],
                    "confidence": 0.9,
                }
            )
    return {"facts": facts, "entities": triples}


def _aspects(prompt: str) -> dict[str, Any]:
    things, _, rest = prompt.partition("\n\nUsual aspects:\n")
    names = [line.partition(" (")[0] for line in things.splitlines()[1:]]
    told = (
        {"fact": int(number), "name": name, "type": "tool", "aspect": "purpose"}
        | {"kind": "attribute"}
        for number, fact in re.findall(r"^(\d+)\. (.*)", rest, re.MULTILINE)
        for name in names
        if name in fact
    )
    return {"aspects": [*told]}


def _decisions(prompt: str) -> dict[str, Any]:
    count = len(re.findall(r"^\d+\. ", prompt.partition("Facts:\n")[2], re.MULTILINE))
    choice = {
        "action": "ADD",
        "target": "",
        "content": "",
        "confidence": 0.9,
        "reason": "it is new",
    }
    return {"decisions": [{"fact": number, **choice} for number in range(1, count + 1)]}


ANSWERS: dict[str, Callable[[str], dict[str, Any]]] = {
    "extract": _facts,
    "decide": _decisions,
    "aspects": _aspects,
}


def main(most: int, *, has_aspects: bool) -> None:
    found = talks.sessions()
    model = Diligent()
    said = refined = notes = 0
    ratios: list[float] = []
    with tempfile.TemporaryDirectory(prefix="keeplore-refine-") as directory:
        places = Places(Path(directory) / "state", Path(directory) / "cache")
        made = initialise(places, Path(directory) / "memory")
        account = Account(
            model, SpendingLedger(Path(directory) / "ledger.db"), Budget(0, 0)
        )
        with Registry(places) as registry:
            workspace = registry.named(made.name)
            for transcript in found[:: max(1, len(found) // most)]:
                captured.take(workspace, [*captured.events(transcript)])
            around = refine_deps(workspace)
            for part in backlog(workspace):
                before = sum(model.read.values())
                result = refine(
                    around,
                    account,
                    part.memory.id,
                    "controlled",
                    has_aspects=has_aspects,
                )
                read = sum(model.read.values()) - before
                said, refined, notes = (
                    said + result.said_tokens,
                    refined + 1,
                    notes + result.outcomes["ADD applied"],
                )
                ratios.append(read / result.said_tokens)
    ratios.sort()
    total = sum(model.read.values()) / said
    print(f"{refined} conversations, {said} tokens said, {notes} notes added")
    for stage, read in model.read.items():
        written = model.written[stage]
        print(
            f"{stage}: {model.calls[stage]} calls, {read} tokens read, {read / said:.2f} for one "
            f"that was said"
        )
        print(f"  {written} written, {written / said:.2f} for one that was said")
    middle, ninth = ratios[len(ratios) // 2], ratios[len(ratios) * 9 // 10]
    print(
        f"all stages: {total:.2f} for one that was said (target {TARGET}); median {middle:.2f}, "
        f"p90 {ninth:.2f}"
    )


if __name__ == "__main__":
    plain = [argument for argument in sys.argv[1:] if argument != "--aspects"]
    main(int(plain[0]) if plain else 40, has_aspects="--aspects" in sys.argv)
