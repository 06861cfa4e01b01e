"""What is found on the public corpora does not fall: recall by its benchmark, of a few cases."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "retrieval.py"
# of a corpus how many cases are asked, and of them: the line of a figure, which of its numbers, and
# the least of it, a little below what docs/benchmarks.md states of all cases
FIGURES = {
    "locomo": (
        1,
        (
            ("recall ", 2, 0.835),  # of exchanges, recall@10
            ("recall, whole memories", 2, 0.94),
        ),
    ),
    "memorycode": (
        15,
        (
            ("recall, whole memories", 5, 0.89),  # nDCG@10
            ("what holds now comes first", 0, 0.89),
        ),
    ),
}


@pytest.mark.soak
@pytest.mark.parametrize("corpus", FIGURES)
def test_recall_finds_at_least_as_much_as_before(corpus: str, data: Path) -> None:
    cases, wanted = FIGURES[corpus]
    command = [sys.executable, BENCHMARK, "--set", corpus, "--cases", str(cases)]
    told = os.environ | {"KEEPLORE_DATA": str(data)}
    done = subprocess.run(command, env=told, capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    fallen = []
    for label, column, least in wanted:
        [line] = [line for line in lines if line.startswith(label)]
        found = float(re.findall(r"\d\.\d{3}", line)[column])
        if found < least:
            fallen.append((label, found, least))
    assert fallen == []
