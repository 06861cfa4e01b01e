"""How many tokens a model reads to refine real conversations, for each token that was said in them.

    python benchmarks/refine_tokens.py [SESSIONS] [--aspects] [--short] [--alone]

Recorded sessions go through the product's own capture and its own refining. In the place of the
model stands a script that proposes what a diligent one might: facts on whole sentences of the talk,
FACTS of them for each thousand tokens, each with a triple of the two names in it that the talk uses
most, a decision for each of which it is asked, and with --aspects an aspect for each. The notes
that it makes are there when the next talk is refined. Short talks share the first stage's call, as
they do in the queue, unless --alone is given; with --short each exchange that was said in about 100
tokens is a talk of its own, and nothing else is refined. Tokens are counted as the ledger estimates
them, four bytes each, the schemas included; no cache is assumed.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import captured
import talks

from keeplore.config.places import Places
from keeplore.llm.account import Account
from keeplore.llm.base import tokens
from keeplore.llm.ledger import Budget, SpendingLedger
from keeplore.memory import Conversation, Memory, new_id
from keeplore.refine.model_client import ModelClient
from keeplore.refine.pending import PendingPart
from keeplore.refine.pipeline import RefineResult, refine
from keeplore.refine.shared_extraction import (
    MOST_TALKS,
    SharedExtraction,
    extracted_together,
    parts_sharing,
)
from keeplore.workspace.lifecycle.setup import initialise
from keeplore.workspace.registry import Registry
from keeplore.workspace.workspace import Workspace
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
            if "Talk:" in prompt or "Talk 1:" in prompt
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
    """Of a talk, or of several that are told apart by their numbers."""
    if "\n\nTalk:\n" in prompt:
        return _facts_of(prompt.partition("\n\nTalk:\n")[2])
    answer: dict[str, Any] = {"facts": [], "entities": []}
    for number, talk in enumerate(re.split(r"\n\nTalk \d+:\n", prompt)[1:], 1):
        for key, found in _facts_of(talk).items():
            answer[key] += [{"talk": number, **one} for one in found]
    return answer


def _facts_of(talk: str) -> dict[str, Any]:
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


def refined(
    workspace: Workspace, account: Account, parts: Sequence[PendingPart], **how: bool
) -> Iterator[RefineResult]:
    """The parts one after the other, short ones asked about together unless ``is_alone``."""
    deps, left = refine_deps(workspace), list(parts)
    has_aspects = how["has_aspects"]
    shared: dict[str, SharedExtraction] = {}
    while left:
        part = left.pop(0)
        together = () if how["is_alone"] else parts_sharing([part, *left[:MOST_TALKS]])
        if part in together and part.memory.id not in shared:
            found = extracted_together(deps, ModelClient(account), together)
            shared |= {one.part.memory.id: one for one in found}
        id_ = part.memory.id
        known = shared.get(id_)
        yield refine(
            deps, account, id_, "controlled", has_aspects=has_aspects, shared=known
        )


def shortened(workspace: Workspace) -> set[str]:
    """Make a conversation of each exchange of about 100 tokens; their ids."""
    made = set()
    for part in [*backlog(workspace)]:
        for exchange in part.exchanges:
            words = " ".join(map(str, (exchange.user, *exchange.replies)))
            if 75 <= tokens(words) <= 125:
                meta = part.memory.meta | {"id": new_id("short", exchange.id)}
                talk = Conversation(part.memory.title, (exchange,))
                workspace.store.save(Memory(meta, talk.to_markdown()))
                made.add(meta["id"])
    return made


def main(most: int, *, is_short: bool, **how: bool) -> None:
    found = talks.sessions()
    model = Diligent()
    results: list[RefineResult] = []
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
            chosen = shortened(workspace) if is_short else ()
            parts = [*backlog(workspace)]
            if is_short:
                parts = [part for part in parts if part.memory.id in chosen]
            results += refined(workspace, account, parts, **how)
    said = sum(result.said_tokens for result in results)
    notes = sum(result.outcomes["ADD applied"] for result in results)
    ratios = sorted(r.usage.input_tokens / r.said_tokens for r in results)
    total = sum(model.read.values()) / said
    print(f"{len(results)} conversations, {said} tokens said, {notes} notes added")
    for stage, read in model.read.items():
        written = model.written[stage]
        print(
            f"{stage}: {model.calls[stage]} calls, {read} tokens read, {read / said:.2f} for one "
            f"that was said"
        )
        print(f"  {written} written, {written / said:.2f} for one that was said")
    middle, ninth = ratios[len(ratios) // 2], ratios[len(ratios) * 9 // 10]
    print(
        f"all stages: {total:.2f} for one that was said (target {3 if is_short else TARGET}); "
        f"median {middle:.2f}, p90 {ninth:.2f}"
    )


if __name__ == "__main__":
    plain = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    main(
        int(plain[0]) if plain else 40,
        is_short="--short" in sys.argv,
        has_aspects="--aspects" in sys.argv,
        is_alone="--alone" in sys.argv,
    )
