"""The parts of a conversation file beside what a reader says belongs there.

    python benchmarks/substance.py [--wrong]

Conversations of five hosts and programs were read whole, and every sentence that may stand in a
part was marked (``substance_labels.tsv``: transcript, turn, speaker, hash of the sentence; never
its text), split by session into those that the method was made with and those that it was only
measured on. A conversation is made by the product's own capture from its transcript, cutting
included; where topics are cut otherwise than when they were read, the quotations from turns that
were read count. Reported for each part: how many quotations there are, the share of them that was
marked, the share of conversations with anything marked that show some of it, and the share that as
many sentences from the talk's beginning and from its end would have reached. The data is not part
of the repository (KEEPLORE_DATA, or ../shared/data); without it the script says so and ends.
"""

from __future__ import annotations

import csv
import hashlib
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import talks
from captured import Written, written

from keeplore.memory import Conversation
from keeplore.memory.conversation_body import PARTS
from keeplore.text.sentences import clip, sentences

LABELS = Path(__file__).with_name("substance_labels.tsv")
# a decision is one wherever it stands: which of them is the main one is not a question of right and
# wrong
MARKED_AS = {"also_decided": "decision"}
WHEN_EMPTY = 3  # sentences that a baseline shows where the product shows none


@dataclass(frozen=True, slots=True)
class Marked:
    """What was marked in one transcript."""

    turns: frozenset[str]  # those that were read
    sentences: frozenset[tuple[str, str, str]]  # turn, hash, part
    split: str

    def is_right(self, part: str, turn: str, text: str) -> bool:
        return (turn, digest(text), MARKED_AS.get(part, part)) in self.sentences

    def has(self, part: str, turns: Iterable[str]) -> bool:
        known = set(turns)
        return any(
            turn in known and p == MARKED_AS.get(part, part)
            for turn, _, p in self.sentences
        )


def main() -> int:
    marked = labels()
    if not all((talks.DATA / name).is_file() for name in marked):
        print(
            f"skipped: the transcripts are not in {talks.DATA}; set KEEPLORE_DATA to the folder "
            f"that holds them"
        )
        return 0
    read = [
        w for w in written([talks.DATA / name for name in marked]) if is_read(w, marked)
    ]
    for split in ("dev", "test"):
        chosen = [w for w in read if marked[w.transcript].split == split]
        print(f"\n{split}: {len(chosen)} conversations\n")
        print("part             quotations  precision  shown  first n  last n")
        for part in PARTS:
            print(row(part, chosen, marked))
        if "--wrong" in sys.argv:
            for w in chosen:
                show_wrong(w, marked[w.transcript])
    return 0


def labels() -> dict[str, Marked]:
    turns: dict[str, set[str]] = defaultdict(set)
    found: dict[str, set[tuple[str, str, str]]] = defaultdict(set)
    splits: dict[str, str] = {}
    with LABELS.open(encoding="utf-8", newline="") as file:
        for label in csv.DictReader(file, delimiter="\t"):
            splits[label["file"]] = label["split"]
            turns[label["file"]].add(label["turn"])
            found[label["file"]].add((label["turn"], label["hash"], label["part"]))
    return {
        name: Marked(frozenset(turns[name]), frozenset(found[name]), split)
        for name, split in splits.items()
    }


def is_read(w: Written, marked: Mapping[str, Marked]) -> bool:
    turns = [exchange.id for exchange in w.conversation.exchanges]
    return 2 * len(marked[w.transcript].turns & set(turns)) >= len(turns)


def row(part: str, chosen: Sequence[Written], marked: Mapping[str, Marked]) -> str:
    verdicts, shown, first, last = [], [], [], []
    for w in chosen:
        own, conversation = marked[w.transcript], w.conversation
        quotes = [
            quote for quote in getattr(conversation, part) if quote.turn in own.turns
        ]
        right = [own.is_right(part, quote.turn, quote.text) for quote in quotes]
        verdicts += right
        if own.has(part, (exchange.id for exchange in conversation.exchanges)):
            shown.append(any(right))
        said = list(spoken(conversation))
        n = len(quotes) or WHEN_EMPTY
        first += [own.is_right(part, *sentence) for sentence in said[:n]]
        last += [own.is_right(part, *sentence) for sentence in said[-n:]]
    figures = (share(verdicts), share(shown), share(first), share(last))
    return f"{part:16} {len(verdicts):10} " + "".join(
        f"{figure:>9}" for figure in figures
    )


def spoken(conversation: Conversation) -> Iterator[tuple[str, str]]:
    for exchange in conversation.exchanges:
        for message in (exchange.user, exchange.assistant):
            yield from (
                (exchange.id, clip(s.text))
                for s in sentences(message)
                if not s.is_heading
            )


def share(verdicts: Sequence[bool]) -> str:
    return f"{sum(verdicts) / len(verdicts):.2f}" if verdicts else "–"


def show_wrong(w: Written, own: Marked) -> None:
    for part in PARTS:
        for quote in getattr(w.conversation, part):
            if quote.turn in own.turns and not own.is_right(
                part, quote.turn, quote.text
            ):
                print(
                    f"  {Path(w.transcript).name[:18]} {w.conversation.title[:24]!r} {part}: "
                    f"{quote.text}"
                )


def digest(text: str) -> str:
    """Of letters and digits alone, so that markers and white space do not count."""
    return hashlib.sha256(
        "".join(filter(str.isalnum, text.lower())).encode()
    ).hexdigest()[:10]


if __name__ == "__main__":
    sys.exit(main())
