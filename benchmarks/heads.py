"""The heads of conversation files beside what people marked in the sessions.

    python benchmarks/heads.py [--lines] [LABELS ...]

Each labelled session goes through the product's own capture, cutting included. Reported are, for
every second session of the first folder with all those of further folders, and for the others of
the first: the share of decision lines that are decisions that hold, of those that are like a marked
one; the share of decisions that hold which a line or a note states; the same of open questions; the
share of outcome lines that state what was given up; and the share of questions that a head answers.
``--lines`` prints each line of the first half with what it counted as, and what was missed. The
data is not part of the repository (KEEPLORE_DATA, or ../shared/data).
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from captured import memories
from labelled_sessions import LABELS, SHOWN, alike, chosen_files, labelled, share
from talks import DATA

from keeplore.memory import Conversation, Memory, Quote
from keeplore.memory.conversation_body import PARTS

OPEN_LIKE = 0.6  # share of words from which an open question is the marked one


@dataclass(frozen=True, slots=True)
class Heads:
    """What capture made of a labelled session: the parts of its files, and the texts of notes."""

    labels: Mapping[str, Any]
    parts: Sequence[Mapping[str, Sequence[Quote]]]
    notes: Sequence[str]

    def lines(self, *parts: str) -> list[str]:
        return [
            q.text for of_file in self.parts for part in parts for q in of_file[part]
        ]

    @property
    def decided(self) -> list[str]:
        return self.lines("decision", "also_decided")

    def marked(self, name: str) -> list[str]:
        return [marked["quote"] for marked in self.labels.get(name, ())]

    def holding(self, *, holds: bool = True) -> list[str]:
        decided = self.labels["decisions"]
        return [d["quote"] for d in decided if (d["status"] == "holds") is holds]


def main() -> int:
    options = argparse.ArgumentParser()
    options.add_argument("folders", nargs="*", type=Path, default=[LABELS])
    options.add_argument("--lines", action="store_true")
    given = options.parse_args()
    if not LABELS.is_dir():
        print(f"no labels in {LABELS}: set KEEPLORE_DATA")
        return 0
    fitted, others = chosen_files(given.folders)
    read = list(heads(fitted))
    print_figures("every second, and further folders", read)
    if given.lines:
        print_lines(read)
    print_figures("the others", list(heads(others)))
    return 0


def heads(files: Sequence[Path]) -> Iterator[Heads]:
    found = list(labelled(files))
    transcripts = [transcript for _, transcript in found]
    made: dict[Path, list[Memory]] = defaultdict(list)
    for transcript, _, memory in memories(transcripts, DATA):
        made[transcript].append(memory)
    for labels, transcript in found:
        yield _of_memories(labels, made[transcript])


def _of_memories(labels: Mapping[str, Any], made: Iterable[Memory]) -> Heads:
    parts, notes = [], []
    for memory in made:
        if memory.kind == "note":
            notes.append(f"{memory.title} {memory.body}")
        else:
            conversation = Conversation.from_markdown(memory.body)
            parts.append({part: getattr(conversation, part) for part in PARTS})
    return Heads(labels, parts, notes)


def print_figures(name: str, read: Sequence[Heads]) -> None:
    counts = Counter[str]()
    for one in read:
        counts.update(counted(one))
    print(f"{name}: {len(read)} sessions")
    for figure, part, whole in (
        ("decisions right of those judged", "right", "judged"),
        ("decisions found", "found", "decisions"),
        ("open questions right", "open right", "open lines"),
        ("open questions found", "open found", "open"),
        ("outcome lines given up", "given up", "outcome lines"),
        ("head answers", "answered", "questions"),
    ):
        share_of = counts[part] / max(1, counts[whole])
        print(f"  {figure:34} {share_of:.3f} ({counts[part]} of {counts[whole]})")
    print(f"  {'decision lines':34} {counts['decision lines']}")


def counted(one: Heads) -> Counter[str]:
    found = Counter[str]()
    verdicts = [verdict(line, one) for line in one.decided]
    found["decision lines"] = len(verdicts)
    found["right"] = verdicts.count("right")
    found["judged"] = len(verdicts) - verdicts.count("unknown")
    holding = one.holding()
    found["decisions"] = len(holding)
    found["found"] = len(holding) - len(missed(holding, [*one.decided, *one.notes]))
    marked, lines = one.marked("open"), one.lines("open_questions")
    found["open"], found["open lines"] = len(marked), len(lines)
    found["open right"] = len(lines) - len(missed(lines, marked, OPEN_LIKE))
    found["open found"] = len(marked) - len(missed(marked, lines, OPEN_LIKE))
    told = one.lines("outcome")
    found["outcome lines"] = len(told)
    found["given up"] = len(told) - len(missed(told, given_up(one)))
    found["questions"] = len(one.labels["questions"])
    found["answered"] = sum(is_answered(q, one) for q in one.labels["questions"])
    return found


def verdict(line: str, one: Heads) -> str:
    """``right`` for a decision that holds, ``wrong`` for one that does not and for what is none."""
    others = [*one.holding(holds=False), *one.marked("not_decisions")]
    good, bad = (
        max((alike(line, quote) for quote in quotes), default=0.0)
        for quotes in (one.holding(), others)
    )
    if max(good, bad) < SHOWN:
        return "unknown"
    return "right" if good >= bad else "wrong"


def missed(
    wanted: Iterable[str], lines: Sequence[str], least: float = SHOWN
) -> list[str]:
    return [w for w in wanted if not any(alike(w, line) >= least for line in lines)]


def given_up(one: Heads) -> list[str]:
    stale = (question.get("stale", ()) for question in one.labels["questions"])
    return [quote["quote"] for quotes in stale for quote in quotes]


def is_answered(question: Mapping[str, Any], one: Heads) -> bool:
    text = "\n".join(one.lines(*PARTS))
    return any(share(e["quote"], text) >= SHOWN for e in question["evidence"])


def print_lines(read: Sequence[Heads]) -> None:
    for one in read:
        print(f"\n## {one.labels['session']}")
        for line in one.decided:
            print(f"  {verdict(line, one)}: {line}")
        for quote in missed(one.holding(), [*one.decided, *one.notes]):
            print(f"  missed: {quote}")
        marked, lines = one.marked("open"), one.lines("open_questions")
        wrong = missed(lines, marked, OPEN_LIKE)
        for line in lines:
            print(f"  open, {'wrong' if line in wrong else 'right'}: {line}")
        for quote in missed(marked, lines, OPEN_LIKE):
            print(f"  open, missed: {quote}")


if __name__ == "__main__":
    sys.exit(main())
