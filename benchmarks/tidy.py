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
import re
import subprocess
import sys
import tempfile
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from labelled_sessions import LABELS, SHOWN, share
from talks import DATA

from keeplore.config.places import Places
from keeplore.recall.brief import brief
from keeplore.recall.render import TextBudget
from keeplore.recall.request import RecallRequest
from keeplore.text.query_terms import token_count
from keeplore.workspace.registry import Registry
from keeplore.workspace.tidying.tidy_plan import tidy

MOMENT = re.compile(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")
SAID_AT = re.compile(rf'"timestamp": ?"({MOMENT.pattern})"')
BEGIN, DAYS = datetime(2025, 12, 1, tzinfo=UTC), 355
PROGRAM = Path(sys.executable).with_name("keeplore")
ROOM = TextBudget(1_200, 10_000)


def placed(home: Path, name: str, start: datetime) -> None:
    """Copy a session to where its host would have it, begun at ``start``."""
    file = next(DATA.rglob(f"{name}.jsonl"))
    text = file.read_text(encoding="utf-8", errors="replace")
    first = datetime.fromisoformat(min(SAID_AT.findall(text)))

    def moved(found: re.Match[str]) -> str:
        at = datetime.fromisoformat(found[0]) - first + start
        return at.strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"

    is_codex = '"session_meta"' in text.split("\n", 1)[0]
    folder = (
        f".codex/sessions/{start:%Y/%m/%d}" if is_codex else f".claude/projects/-{name}"
    )
    known = re.search(r'"(?:sessionId|id)": ?"([0-9a-f-]{36})"', text)
    session = known[1] if known else name
    file_name = f"rollout-{start:%Y-%m-%dT%H-%M-%S}-{session}" if is_codex else session
    to = home / folder / f"{file_name}.jsonl"
    to.parent.mkdir(parents=True, exist_ok=True)
    to.write_text(MOMENT.sub(moved, text), encoding="utf-8")


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
        for number, label in enumerate(labels):
            start = BEGIN + timedelta(days=DAYS * number / len(labels))
            placed(home, label["session"], start)
        os.environ["HOME"] = str(home)
        (home / ".gitconfig").write_text("[user]\nname = me\nemail = me@example.org\n")
        for words in (["init", "memory"], ["import", "--all", "--yes"]):
            subprocess.run([PROGRAM, *words], cwd=home, check=True, capture_output=True)
        before = measured(home, labels)
        with Registry(Places.from_environment(os.environ)) as registry:
            steps = Counter(step.deed for step in tidy(registry.named("memory")))
        after = measured(home, labels)
    print(dict(steps))
    for name, value in before.items():
        print(f"{name:20} {value:7} {after[name]:7} {after[name] / (value or 1):6.2f}")


if __name__ == "__main__":
    main()
