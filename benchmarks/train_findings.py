"""Fit the weights by which findings of an agent are told to last, and say how good they are on
sessions they were not fitted on.

    python benchmarks/train_findings.py [--write] [--show]

Logistic regression with a ridge penalty over the features of ``lasting_model``, by iteratively
reweighted least squares. The labels in ``findings_labels.tsv`` were given by reading, from
the sentences that ``candidate_sentences`` gives; each names one by eight hex digits of its
SHA-256. The figures are of sessions that were left out one by one. Without ``--write`` they
are only printed. The data is not part of the repository (KEEPLORE_DATA, or ../shared/data).
"""

from __future__ import annotations

import argparse
import math
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from logistic import Matrix, fit, left_out
from talks import DATA, exchanges, text_hash

from keeplore.capture.notes import findings, lasting_model

LABELS = Path(__file__).with_name("findings_labels.tsv")
LASTS = "lasts"
PENALTY = 10.0  # of the squared weights of standardised features
THRESHOLDS = (0.3, 0.4, 0.5, 0.6, 0.65, 0.7)


@dataclass(frozen=True, slots=True)
class Labelled:
    session: str
    place: findings.CandidateSentence
    lasts: bool


def main(*, is_written: bool, is_shown: bool) -> int:
    if not DATA.is_dir():
        print(f"no transcripts in {DATA}: set KEEPLORE_DATA")
        return 0
    rows = read()
    told = [lasting_model.features(row.place.statement) for row in rows]
    names = list(told[0])
    found = np.array([[features[name] for name in names] for features in told])
    lasts = np.array([float(row.lasts) for row in rows])
    chances = left_out(found, lasts, [row.session for row in rows], PENALTY)
    print_figures(rows, chances)
    if is_shown:
        for n in np.argsort(-chances)[:60]:
            mark = "+" if rows[n].lasts else "-"
            print(f"{chances[n]:.2f} {mark} {rows[n].place.statement.text[:160]}")
    if is_written:
        write(names, *fit(found, lasts, PENALTY))
    return 0


def read() -> list[Labelled]:
    """The labelled sentences as the model sees them; those of changed sessions are left out."""
    rows: list[Labelled] = []
    labels: dict[str, str] = {}
    session = ""
    for line in [*LABELS.read_text(encoding="utf-8").splitlines(), "= "]:
        if line.startswith("= "):
            rows += _of_session(session, labels)
            session, labels = line[2:], {}
        elif not line.startswith("#"):
            digest, label = line.split("\t")
            labels[digest] = label
    return rows


def _of_session(session: str, labels: dict[str, str]) -> list[Labelled]:
    """The labelled sentences of a session, each label once."""
    return [
        Labelled(session, place, label == LASTS)
        for place in (
            findings.candidate_sentences(exchanges(DATA / session)) if session else ()
        )
        if (label := labels.pop(text_hash(place.sentence.text), ""))
    ]


def print_figures(rows: list[Labelled], chances: Matrix) -> None:
    lasting = sum(row.lasts for row in rows)
    sessions = len({row.session for row in rows})
    print(f"{len(rows)} sentences of {sessions} sessions, {lasting} lasting")
    print("| chance | told to last | precision | recall |\n|---|---|---|---|")
    for threshold in THRESHOLDS:
        likely = [
            row.lasts for row, c in zip(rows, chances, strict=True) if c >= threshold
        ]
        precision = sum(likely) / len(likely) if likely else math.nan
        mark = " (used)" if threshold == findings.SURE else ""
        print(
            f"| {threshold}{mark} | {len(likely)} | {precision:.2f} | "
            f"{sum(likely) / lasting:.2f} |"
        )


def write(names: list[str], weights: Matrix, intercept: float) -> None:
    pairs = [*zip(names, weights, strict=True), (lasting_model.INTERCEPT, intercept)]
    lines = "".join(f"{name} {weight:.4f}\n" for name, weight in pairs)
    lasting_model.WEIGHTS.write_text(lines, encoding="ascii")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="fit what makes findings last")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--show", action="store_true")
    given = parser.parse_args()
    sys.exit(main(is_written=given.write, is_shown=given.show))
