"""How well sentences of real sessions are told for notes: precision and recall, by category and by
threshold.

    python benchmarks/notes.py [--show]     (--show prints what is written wrongly, and what is
    missed)

The labels in ``notes_labels.tsv`` were given by reading: each names a sentence by session, line,
offset in the line and length (characters, as the file has it), with the first eight hex digits of
its SHA-256, so that a changed file shows, and a category or "none". Of an answer the label names
the question. Cues and threshold were set on "dev" alone. The data is not part of the repository
(KEEPLORE_DATA, or ../shared/data); without it the script says so and ends.
"""

from __future__ import annotations

import contextlib
import json
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from talks import DATA, exchanges, text_hash

from keeplore.capture.notes.note_candidates import AUTOMATIC, NoteCandidate, candidates
from keeplore.memory import AgentQuestion, Exchange
from keeplore.text.sentences import clip

LABELS = Path(__file__).with_name("notes_labels.tsv")
NONE = "none"
THRESHOLDS = (0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9)
ASKED_CHARS = 60  # of a question, by which its answer is found


@dataclass(frozen=True, slots=True)
class Judged:
    """A labelled sentence with what was read out of it: category "" and confidence 0 where nothing
    was.
    """

    text: str
    label: str
    category: str = ""
    confidence: float = 0.0


@dataclass(slots=True)
class Part:
    judged: list[Judged]
    drifted: int = 0
    sessions: int = 0
    unlabelled: int = 0


def main(*, is_shown: bool) -> int:
    if not DATA.is_dir():
        print(f"no transcripts in {DATA}: set KEEPLORE_DATA")
        return 0
    parts = read()
    for name, part in sorted(parts.items()):
        print(
            f"\n## {name}: {len(part.judged)} sentences of {part.sessions} sessions",
            end="",
        )
        print(
            f", {part.drifted} changed since, {part.unlabelled} written ones have no label\n"
        )
        print_curve(part.judged)
        print_categories(part.judged)
        if is_shown:
            print_wrong(part.judged)
    return 0


def read() -> dict[str, Part]:
    parts = {"dev": Part([]), "test": Part([])}
    for path, part, labels in _sessions(
        LABELS.read_text(encoding="utf-8").splitlines()
    ):
        talk = exchanges(DATA / path)
        found = candidates(talk)
        lines = (DATA / path).read_text(encoding="utf-8", errors="replace").split("\n")
        known: set[NoteCandidate] = set()
        parts[part].sessions += 1
        for line, offset, length, digest, speaker, label in labels:
            text = _text(
                "\n".join(lines[int(line) - 1 :])[
                    int(offset) : int(offset) + int(length)
                ]
            )
            if not _is_unchanged(text, digest, speaker, talk):
                parts[part].drifted += 1
                continue
            candidate = next((c for c in found if _is_of(c, text, speaker)), None)
            if candidate:
                known.add(candidate)
                parts[part].judged.append(
                    Judged(text, label, candidate.category, candidate.confidence)
                )
            else:
                parts[part].judged.append(Judged(text, label))
        parts[part].unlabelled += sum(
            c.confidence >= AUTOMATIC for c in found if c not in known
        )
    return parts


def _sessions(lines: Iterable[str]) -> Iterable[tuple[str, str, list[list[str]]]]:
    found: list[tuple[str, str, list[list[str]]]] = []
    for line in lines:
        if line.startswith("= "):
            path, part = line[2:].split("\t")
            found.append((path, part, []))
        elif not line.startswith("#"):
            found[-1][2].append(line.split("\t"))
    return found


def _text(raw: str) -> str:
    """A piece of a transcript as it was said."""
    with contextlib.suppress(ValueError):  # not from JSON
        raw = json.loads(f'"{raw}"')
    return " ".join(raw.split())


def _is_unchanged(
    text: str, digest: str, speaker: str, talk: Sequence[Exchange]
) -> bool:
    if speaker != "answer":
        return text_hash(text) == digest
    asked = (
        reply
        for exchange in talk
        for reply in exchange.replies
        if isinstance(reply, AgentQuestion)
    )
    return any(
        text_hash(f"{text} → {' '.join(a.answer.split())}") == digest for a in asked
    )


def _is_of(candidate: NoteCandidate, text: str, speaker: str) -> bool:
    if speaker == "answer":
        return " → " in candidate.quote.text and candidate.quote.text.startswith(
            text[:ASKED_CHARS]
        )
    return candidate.quote.text == clip(text) and candidate.speaker == speaker


def print_curve(judged: Sequence[Judged]) -> None:
    positive = sum(j.label != NONE for j in judged)
    print("| threshold | written | precision | recall |\n|---|---|---|---|")
    for threshold in THRESHOLDS:
        written = [j for j in judged if j.confidence >= threshold]
        right = sum(j.label != NONE for j in written)
        mark = " (used)" if threshold == AUTOMATIC else ""
        print(
            f"| {threshold}{mark} | {len(written)} | {_share(right, len(written))} | "
            f"{_share(right, positive)} |"
        )


def print_categories(judged: Sequence[Judged]) -> None:
    """Precision: written under a category and rightly a note. Recall: notes of a category that are
    written as any.
    """
    written = [j for j in judged if j.confidence >= AUTOMATIC]
    read_as, is_note = (
        Counter(j.category for j in written),
        Counter(j.category for j in written if j.label != NONE),
    )
    labels, found = Counter(j.label for j in judged), Counter(j.label for j in written)
    same = Counter(j.label for j in written if j.label == j.category)
    print(
        "\n| category | labelled | written as it | precision | recall | of these in this category |"
    )
    print("|---|---|---|---|---|---|")
    for name in sorted({*read_as, *labels} - {NONE}):
        shares = (
            (is_note[name], read_as[name]),
            (found[name], labels[name]),
            (same[name], found[name]),
        )
        print(
            f"| {name} | {labels[name]} | {read_as[name]} | "
            f"{' | '.join(_share(*share) for share in shares)} |"
        )


def print_wrong(judged: Sequence[Judged]) -> None:
    for j in judged:
        is_written = j.confidence >= AUTOMATIC
        if is_written == (j.label == NONE):
            print(
                f"{'wrong ' if is_written else 'missed'} {j.confidence:.2f} {j.label} "
                f"{j.category}: {j.text[:200]}"
            )


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.2f}" if whole else "–"


if __name__ == "__main__":
    sys.exit(main(is_shown="--show" in sys.argv[1:]))
