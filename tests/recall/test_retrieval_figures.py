"""What is found on the public corpora does not fall: recall by its benchmark, of a few cases."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "retrieval.py"
# corpus, cases, the line of a figure, which of its numbers, and the least of it; each is a little
# below what docs/benchmarks.md states of all cases
FIGURES = (
    ("locomo", 1, "recall ", 2, 0.835),  # of exchanges, recall@10
    ("locomo", 1, "recall, whole memories", 2, 0.94),
    ("memorycode", 15, "recall, whole memories", 5, 0.89),  # nDCG@10
    ("memorycode", 15, "what holds now comes first", 0, 0.89),
)


@pytest.mark.soak
@pytest.mark.parametrize("corpus", ["locomo", "memorycode"])
def test_recall_finds_at_least_as_much_as_before(corpus: str, data: Path) -> None:
    wanted = [figure for figure in FIGURES if figure[0] == corpus]
    cases = str(wanted[0][1])
    command = [sys.executable, BENCHMARK, "--set", corpus, "--cases", cases]
    told = os.environ | {"KEEPLORE_DATA": str(data)}
    done = subprocess.run(command, env=told, capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    fallen = []
    for _, _, label, column, least in wanted:
        [line] = [line for line in lines if line.startswith(label)]
        found = float(re.findall(r"\d\.\d{3}", line)[column])
        if found < least:
            fallen.append((label, found, least))
    assert fallen == []
