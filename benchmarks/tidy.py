"""What tidying changes: the labelled sessions, spread over a year, as one workspace, asked
before and after.

    KEEPLORE_DATA=... python benchmarks/tidy.py [EVERY]

With 3 every third session is asked about. Prints how many statements are shown, and the tokens
of answers and briefs, for the questions of the labels and for a broad one of each of their topics.
Questions are asked by words alone. Of briefs it
counts the decisions of the labels that hold and stand in one.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Any

from labelled_sessions import BEGIN, LABELS, SHOWN, make_workspace, share

from keeplore.config.places import Places
from keeplore.recall.brief import brief
from keeplore.recall.render import TextBudget
from keeplore.recall.request import RecallRequest
from keeplore.text.query_terms import token_count
from keeplore.workspace.registry import Registry
from keeplore.workspace.tidying.tidy_plan import tidy

DAYS = 355
ROOM = TextBudget(1_200, 10_000)


def measured(home: Path, labels: list[dict[str, Any]]) -> Counter[str]:
    """Statements shown, and tokens, of all questions and briefs."""
    found: Counter[str] = Counter()
    with Registry(Places.from_environment(os.environ)) as registry:
        for label in labels:
            for asked in label["questions"]:
                quotes = [evidence["quote"] for evidence in asked["evidence"]]
                found += _asked(registry, home, asked["q"], quotes, "exact")
            quotes = [decision["quote"] for decision in _holding(label)]
            for topic in label["topics"]:
                subject = topic.get("title") or topic.get("topic") or topic.get("name")
                question = f"What did we decide about {subject}?"
                found += _asked(registry, home, question, quotes, "broad")
        holding = [d["quote"] for one in labels for d in _holding(one)]
        workspace = registry.named("memory")
        lines: list[str] = []
        for entry in sorted((workspace.root / "projects").glob("*/project.json")):
            place = json.loads(entry.read_text()).get("path", "")
            directory = Path(place).expanduser()
            views = registry.views(directory) if place else ()
            told = (
                brief(views, session="s", source="startup", room=ROOM)[0]
                if views
                else ""
            )
            found["brief tokens"] += round(token_count(told))
            lines += told.splitlines()
        told_ones = (q for q in holding if any(share(q, one) >= SHOWN for one in lines))
        found["brief statements"] = len([*told_ones])
    return found


def _holding(label: dict[str, Any]) -> list[dict[str, str]]:
    """The decisions of a session that hold."""
    return [one for one in label["decisions"] if one["status"] == "holds"]


def _asked(
    registry: Registry, home: Path, question: str, quotes: list[str], kind: str
) -> Counter[str]:
    hits = registry.recall(
        RecallRequest(question, home, wide=True, text_only=True)
    ).hits
    shown = [f"{hit.title}\n{hit.passage}" for hit in hits]
    told = [quote for quote in quotes if any(share(quote, s) >= SHOWN for s in shown)]
    first = any(share(quote, s) >= SHOWN for quote in quotes for s in shown[:3])
    return Counter(
        {
            f"{kind} questions": 1,
            f"{kind} statements": len(told),
            f"{kind} among three": int(first),
            f"{kind} tokens": round(sum(map(token_count, shown))),
        }
    )


def main() -> None:
    every = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    files = sorted(LABELS.glob("*.json"))[::every]
    labels = [json.loads(file.read_text(encoding="utf-8")) for file in files]
    with tempfile.TemporaryDirectory() as place:
        home = Path(place)
        starts = {
            label["session"]: BEGIN + timedelta(days=DAYS * number / len(labels))
            for number, label in enumerate(labels)
        }
        make_workspace(home, starts)
        before = measured(home, labels)
        with Registry(Places.from_environment(os.environ)) as registry:
            steps = Counter(step.deed for step in tidy(registry.named("memory")))
        after = measured(home, labels)
    print(dict(steps))
    for name, value in before.items():
        print(f"{name:20} {value:7} {after[name]:7} {after[name] / (value or 1):6.2f}")


if __name__ == "__main__":
    main()
