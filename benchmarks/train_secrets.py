"""Fit the weights by which a value near a word for a secret is taken for one, and the table of
letters that follow one another, and say what both find of forms that they were not fitted on.

    python benchmarks/train_secrets.py [--write] [--show]

Secrets are those of all lists of planted forms; everything else is ordinary text (`ordinary.py`)
and recorded sessions (``$KEEPLORE_DATA/transcripts``, where there are any). A third of the forms
and of the files is kept back for the figures. The intercept is set so that of the files kept back
``FALSE_HITS`` a MB are taken for secrets.
"""

from __future__ import annotations

import math
import os
import random
import sys
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from logistic import Matrix, fit
from ordinary import ordinary
from planted import SETTINGS
from planted_wild import HELD, HELD_SETTINGS, OPEN, SESSIONS, TOOLS, Leak, leaks
from redaction import said

from keeplore.redact import likely_secrets, value_model
from keeplore.redact.escapes import readable

# lines of agents' sessions that speak of secrets and hold none
HARMLESS = Path(__file__).with_name("harmless.txt")
SAMPLE = 6_000_000  # bytes of each source of ordinary text
SEED = 11
VALUES = 2  # random values of each form
PENALTY = 3.0  # of the squared weights of standardised features
WEIGHT = 40.0  # how often an ordinary value counts
FALSE_HITS = 0.25  # a MB
LEAST_SEEN = 12  # rows in which a feature is; a rarer one is left out


@dataclass(frozen=True, slots=True)
class Row:
    features: dict[str, float]
    is_secret: bool
    is_kept: bool  # back, for the figures
    shown: str
    form: str = ""


def planted_rows(lists: Iterable[Path]) -> Iterator[Row]:
    for path in lists:
        settings = SETTINGS | (HELD_SETTINGS if path == HELD else {})
        for leak in leaks(path, settings, VALUES, SEED):
            is_kept = zlib.crc32(leak.kind.encode()) % 3 == 0
            for value in likely_secrets.candidates(readable(leak.text.encode()).said):
                is_secret = _is_planted(value.text, leak)
                if is_secret is not None:
                    yield _row(
                        value, is_secret=is_secret, is_kept=is_kept, form=leak.kind
                    )


def _is_planted(text: str, leak: Leak) -> bool | None:
    """Whether a value is what was planted, and None where it is a part of it."""
    if any(text == part or text.strip("'\"") == part for part in leak.parts):
        return True
    if any(part in text or text in part for part in leak.parts):
        return None
    return False


def ordinary_rows() -> Iterator[Row]:
    texts = [text for files in ordinary(SAMPLE, SEED).values() for _, text in files]
    if data := os.environ.get("KEEPLORE_DATA"):
        texts += said(Path(data, "transcripts"))
    texts += HARMLESS.read_text(encoding="utf-8").splitlines()
    for number, text in enumerate(texts):
        for value in likely_secrets.candidates(
            readable(text.encode("utf-8", "surrogatepass")).said
        ):
            yield _row(value, is_secret=False, is_kept=number % 3 == 0)


def _row(
    value: likely_secrets.LineValue,
    *,
    is_secret: bool,
    is_kept: bool,
    form: str = "",
) -> Row:
    around = f"{value.before[-60:]}«{value.text}»{value.after[:30]}"
    return Row(likely_secrets.features(value), is_secret, is_kept, around, form)


def matrix(rows: list[Row], names: list[str]) -> Matrix:
    places = {name: n for n, name in enumerate(names)}
    found = np.zeros((len(rows), len(names)))
    for n, row in enumerate(rows):
        for name, amount in row.features.items():
            if name in places:
                found[n, places[name]] = amount
    return found


def write_pairs() -> None:
    """The table of letters, from ordinary text with each word once."""
    counts = np.full((26, 26), 0.5)
    words: Counter[str] = Counter()
    for files in ordinary(SAMPLE, SEED).values():
        for _, text in files:
            words.update(value_model.LETTERS.findall(text.lower()))
    for word, times in words.items():
        if times < 3:
            continue
        for a, b in pairwise(word):
            counts[ord(a) - 97, ord(b) - 97] += math.log2(times)
    bits = -np.log2(counts / counts.sum(axis=1, keepdims=True))
    lines = (" ".join(str(round(10 * one)) for one in row) for row in bits)
    value_model.LETTER_PAIRS.write_text("\n".join(lines) + "\n", encoding="ascii")


def main(arguments: list[str]) -> int:
    if "--write" in arguments:
        write_pairs()
    lists = (OPEN, TOOLS, HELD, SESSIONS)
    planted, plain = list(planted_rows(lists)), list(ordinary_rows())
    random.Random(SEED).shuffle(plain)
    rows = [*planted, *plain]
    print(f"{len(planted)} values of planted texts, {len(plain)} of ordinary ones")
    seen = Counter(name for row in rows for name in row.features)
    names = sorted(name for name, times in seen.items() if times >= LEAST_SEEN)
    fitted = [row for row in rows if not row.is_kept]
    counts = np.array([1.0 if row.form else WEIGHT for row in fitted])
    answers = np.array([float(row.is_secret) for row in fitted])
    weights, _ = fit(matrix(fitted, names), answers, PENALTY, counts)
    kept = [row for row in rows if row.is_kept]
    scores = matrix(kept, names) @ weights
    threshold = _threshold(kept, scores)
    _print_figures(kept, scores, threshold, is_shown="--show" in arguments)
    if "--write" in arguments:
        pairs = [
            *zip(names, weights, strict=True),
            (likely_secrets.INTERCEPT, -threshold),
        ]
        lines = "".join(f"{n} {w:.3f}\n" for n, w in pairs if abs(w) >= 0.01)
        likely_secrets.WEIGHTS.write_text(lines, encoding="ascii")
    return 0


def _threshold(kept: list[Row], scores: Matrix) -> float:
    """The score that FALSE_HITS a MB of ordinary text pass."""
    plain = sorted(
        (s for s, row in zip(scores, kept, strict=True) if not row.form), reverse=True
    )
    return float(plain[int(FALSE_HITS * 6 * SAMPLE / 3e6)])


def _print_figures(
    kept: list[Row], scores: Matrix, threshold: float, *, is_shown: bool
) -> None:
    found = [bool(s > threshold) for s in scores]
    secret = [row.is_secret for row in kept]
    hits = sum(f and s for f, s in zip(found, secret, strict=True))
    beside = sum(
        f and not row.is_secret and bool(row.form)
        for f, row in zip(found, kept, strict=True)
    )
    print(
        f"{hits} of {sum(secret)} secrets kept back, {beside} other values beside them"
    )
    if not is_shown:
        return
    order = np.argsort(-scores)
    for n in [n for n in order if not secret[n]][:40]:
        print(f"  {scores[n] - threshold:6.2f} {kept[n].form} {kept[n].shown!r:.150}")
    missed = {kept[n].form: n for n in order if secret[n] and not found[n]}
    for form, n in missed.items():
        print(f"  missed {form}: {kept[n].shown!r:.150}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
