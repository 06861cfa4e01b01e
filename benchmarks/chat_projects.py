"""Three invented projects, told as people type: what recall prints first of what holds in them.

    python benchmarks/chat_projects.py [--hits]

Their sessions (``chat_projects.yaml``) go through the product's own capture into one workspace
each, and the questions of weeks later are asked. Reported are, for each project, how often the
first hit and one of three print the valid answer, how often the first prints only what was given
up, and the characters of the first. ``--hits`` prints each first hit. A regular expression says
what answers, so a line in other words counts as a miss.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import yaml
from captured import take

from keeplore.config.places import Places
from keeplore.memory import Conversation, parse
from keeplore.recall.request import RecallHit, RecallRequest
from keeplore.workspace.identity import MARKER
from keeplore.workspace.lifecycle.setup import initialise
from keeplore.workspace.registry import Registry
from keeplore_hooks.events import Origin, Turn

PROJECTS = Path(__file__).with_name("chat_projects.yaml")
MORE_PROJECTS = Path(__file__).with_name("project_talks.yaml")
BETWEEN = timedelta(seconds=95)  # the messages of a session


def main() -> int:
    options = argparse.ArgumentParser()
    options.add_argument("--hits", action="store_true")
    options.add_argument("--more", action="store_true")
    wishes = options.parse_args()
    projects = yaml.safe_load(PROJECTS.read_text("utf-8"))
    if wishes.more:
        projects |= yaml.safe_load(MORE_PROJECTS.read_text("utf-8"))
    total = Counter[str]()
    for name, project in projects.items():
        counts = Counter[str]()
        for question, hits, decided in asked(name, project):
            counts.update(counted(question, hits, decided))
            if wishes.hits:
                print_hits(question, hits)
        print_counts(name, counts)
        total += counts
    print_counts("all", total)
    return 0


def asked(
    name: str, project: Mapping[str, Any]
) -> Iterator[tuple[Mapping[str, str], Sequence[RecallHit], Sequence[str]]]:
    """Each question with the hits that answer it, and the decision lines of all heads."""
    with tempfile.TemporaryDirectory(prefix="keeplore-projects-") as directory:
        folder = Path(directory)
        places = Places(folder / "state", folder / "cache")
        cwd = folder / name
        cwd.mkdir()
        (cwd / MARKER).write_text(name)
        made = initialise(places, folder / "memory")
        with Registry(places) as registry:
            workspace = registry.named(made.name)
            for session in project["sessions"]:
                take(workspace, turns(session, cwd))
            workspace.index.embed_pending()
            decided = [*decision_lines(folder / "memory")]
            for question in project["questions"]:
                request = RecallRequest(question["ask"], cwd, limit=3)
                yield question, registry.recall(request).hits, decided


def decision_lines(memory: Path) -> Iterator[str]:
    for file in memory.glob("projects/*/memory/conversations/**/*.md"):
        conversation = Conversation.from_markdown(parse(file.read_text("utf-8")).body)
        yield from (quote.text for quote in conversation.decided)


def turns(session: Mapping[str, Any], cwd: Path) -> list[Turn]:
    """The exchanges of a session as its host tells of them."""
    origin = Origin("claude-code", session["name"], str(cwd))
    began = datetime.fromisoformat(session["at"])
    moments = (
        (began + number * BETWEEN).strftime("%Y-%m-%dT%H:%M:%SZ")
        for number in range(len(session["talk"]))
    )
    return [
        Turn(
            f"{origin.session}-{number}",
            origin,
            at,
            said["user"],
            tuple(said["replies"]),
            at,
        )
        for number, (at, said) in enumerate(zip(moments, session["talk"], strict=True))
    ]


def counted(
    question: Mapping[str, str], hits: Sequence[RecallHit], decided: Sequence[str]
) -> Counter[str]:
    told = [told_by(hit) for hit in hits]
    valid = [says(question["valid"], text) for text in told]
    is_misled = not any(valid[:1]) and any(
        says(question["outdated"], text) for text in told[:1]
    )
    return Counter(
        {
            "questions": 1,
            "first": any(valid[:1]),
            "among three": any(valid),
            "given up": is_misled,
            "decided": any(says(question["valid"], line) for line in decided),
            "characters": sum(map(len, told[:1])),
        }
    )


def told_by(hit: RecallHit) -> str:
    """What a hit prints, and what it says of what came later."""
    later = hit.later.text if hit.later else ""
    return " ".join(f"{hit.title} {hit.passage} {later}".split())


def says(expression: str, text: str) -> bool:
    return bool(expression) and re.search(expression, text, re.IGNORECASE) is not None


def print_counts(name: str, counts: Counter[str]) -> None:
    asked_of = counts["questions"]
    length = counts["characters"] // max(1, asked_of)
    print(
        f"{name:8} of {asked_of}: first {counts['first']}, among three {counts['among three']}, "
        f"given up {counts['given up']}, {length} characters, decided {counts['decided']}"
    )


def print_hits(question: Mapping[str, str], hits: Sequence[RecallHit]) -> None:
    print(f"\n## {question['ask']} ({question['valid']})")
    for hit in hits[:1]:
        print(f"{hit.title}\n{hit.passage}")
        if hit.later:
            print(f"later: {hit.later.text}")


if __name__ == "__main__":
    sys.exit(main())
