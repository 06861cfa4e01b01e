"""What of a long paste is left out, and what stays."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable

import pytest

from keeplore.text.folding import (
    KEPT,
    SHOWN,
    SHOWN_OF_DOCUMENT,
    FoldLimits,
    fold,
    line_beginning,
    shortened,
)

FEW = FoldLimits(
    code_lines=4,
    code_chars=60,
    log_lines=4,
    stretch_lines=9,
    line_chars=40,
    head_lines=2,
    tail_lines=1,
    head_chars=10,
    tail_chars=5,
)
CODE = [f"x{n} = {n}" for n in range(9)]
WORDS = [
    "alpha",
    "bravo",
    "charlie",
    "delta",
    "echo",
    "foxtrot",
    "golf",
    "hotel",
    "india",
]


def fenced(*lines: str) -> str:
    return "\n".join(("```py", *lines, "```"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("What I say stays.\n", "What I say stays.\n"),
        (f"a\n{fenced(*CODE[:4])}\nb", f"a\n{fenced(*CODE[:4])}\nb"),
        (
            f"a\n{fenced(*CODE[:5])}\nb",
            f"a\n{fenced('x0 = 0', 'x1 = 1', '[2 lines left out]', 'x4 = 4')}\nb",
        ),
        (
            fenced("y" * 30, "z" * 30),
            fenced("y" * 30, "z" * 30),
        ),
        (
            fenced(*("y" * 30 for _ in range(4))),
            fenced("y" * 30, "y" * 30, "[1 lines left out]", "y" * 30),
        ),
        ("a" * 40, "a" * 40),
        ("a" * 41, f"{'a' * 10} [26 characters left out] {'a' * 5}"),
        ("\n".join(WORDS), "\n".join(WORDS)),
        ("\n".join([*WORDS, "juliet"]), "alpha\nbravo\n[7 lines left out]\njuliet"),
    ],
)
def test_what_is_longer_than_its_limit_keeps_its_ends(text: str, expected: str) -> None:
    assert fold(text, FEW) == expected


@pytest.mark.parametrize(
    "line",
    [
        "2026-02-09T14:03:11 ready",
        "14:03:11 ready",
        "Feb 9 14:03:11 ready",
        "[WARN] low",
        "at main.run (main.js)",
        'File "a.py", line 7',
        "Traceback (most recent call last)",
        "src/a.py:12: error",
        "12: x",
        "+added",
        "@@ -1 +1 @@",
        "diff --git a b",
        "0000a1b2 0011 2233",
        '"key" : 1',
        "</div>",
        "a,b,c,d",
        "one  two  three",
        "$ ls",
        "// remark",
        "NAME=value",
        "return x;",
        "    indented",
    ],
)
def test_a_run_of_lines_that_a_program_wrote_is_cut(line: str) -> None:
    """Lines that begin alike would be a run whatever they hold: here each other one is prose."""
    run = [line, "So it is,", line, "and so on.", line]
    told = [*run, "", "", "", "What now?"]
    expected = [*run[:2], "[2 lines left out]", line, "", "", "", "What now?"]
    assert fold("\n".join(told), FEW).split("\n") == expected


def test_a_short_run_and_a_list_stay() -> None:
    short = "Look:\n[WARN] low\n[INFO] high\n[INFO] on\n[INFO] off\n\n\n\nWhat now?"
    assert fold(short, FEW) == short
    listed = "\n".join(f"- item {n}" for n in range(8))
    assert fold(listed, FEW) == listed


def test_data_is_named_with_its_size() -> None:
    data = "QUJD" * 400
    assert fold(f"see data:image/png;base64,{data} there") == (
        "see [image/png left out: 1 KB] there"
    )
    assert fold(f"data:;base64,{data * 4}") == "[data left out: 4 KB]"
    assert fold(f"key {data}== end") == "key [base64 data left out: 1 KB] end"
    assert fold(data[:1366]) == "[base64 data left out: 1 KB]"
    assert fold((data * 3)[:4096]) == "[base64 data left out: 3 KB]"
    assert fold(data[:799]) == data[:799]
    assert fold(data[:800]) == "[base64 data left out: 1 KB]"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("worker 12 took job 7", "worker"),
        ("  job 1234 was taken", "job 0 "),
        ("123456 rows", "0 rows"),
        ("worker", ""),
        ("- worker took it", ""),
        ("a) worker took it", ""),
        ("| cell | cell |", ""),
    ],
)
def test_how_a_line_begins(line: str, expected: str) -> None:
    assert line_beginning(line) == expected


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [("abc", 3, "abc"), ("abcd", 3, "ab…"), ("", 1, ""), ("ab", 1, "…")],
)
def test_a_text_is_shortened_to_a_limit(text: str, limit: int, expected: str) -> None:
    assert shortened(text, limit) == expected


def greatest_kept(text: Callable[[int], str], limits: FoldLimits) -> int:
    """How large a text may be that stays as it is; texts up to a million are tried."""
    return bisect_left(
        range(1_000_000), 1, key=lambda n: fold(text(n + 1), limits) != text(n + 1)
    )


def lines_around_the_gap(text: str, limits: FoldLimits) -> tuple[int, int]:
    """How many lines stay before and after those that are left out."""
    lines = fold(text, limits).split("\n")
    (gap,) = (i for i, line in enumerate(lines) if line.endswith("lines left out]"))
    return gap, len(lines) - gap - 1


@pytest.mark.parametrize(
    ("limits", "width", "expected"),
    [
        (KEPT, 400, (200, 20_000, 60, 800, 8_000, 20, 20, 1_500, 500)),
        (SHOWN, 200, (30, 4_000, 15, 200, 1_500, 8, 4, 600, 200)),
        (SHOWN_OF_DOCUMENT, 99, (6, 600, 15, 200, 1_500, 3, 1, 600, 200)),
    ],
)
def test_how_much_of_a_paste_stays(
    limits: FoldLimits, width: int, expected: tuple[int, ...]
) -> None:
    def code(count: int) -> str:
        return fenced(*["c"] * min(count, 5_000))

    def wide_code(count: int) -> str:
        full, rest = divmod(min(count, 50_000) - len("```py```"), width)
        return fenced(*["c" * width] * full, "c" * rest)

    def log(count: int) -> str:
        return "\n".join(["$ ls"] * min(count, 5_000))

    def said(count: int) -> str:
        return "\n".join(["a.", "b."] * (min(count, 5_000) // 2) + ["a."] * (count % 2))

    def line(count: int) -> str:
        return ("a " * 25_000)[:count]

    head, _, tail = fold("a " * 20_000, limits).partition(" [")
    assert (
        greatest_kept(code, limits),
        greatest_kept(wide_code, limits),
        greatest_kept(log, limits),
        greatest_kept(said, limits),
        greatest_kept(line, limits),
        *lines_around_the_gap(log(5_000), limits),
        len(head),
        len(tail.partition("] ")[2]),
    ) == expected


def test_of_a_pasted_log_whose_lines_are_no_sentences_the_ends_are_shown() -> None:
    steps = ("git", "node", "cache", "tests", "docs", "lint", "types")
    more = ("wheel", "image", "index", "store", "hooks", "queue", "mail")
    log = [f"{step.title()} checked and left as it is" for step in (*steps, *more)]
    said = "What went wrong here?"
    told = "\n".join([said, *log, "Post job cleanup", "exit code 1", "", "", "", said])
    shown = [said, *log[:8], "[4 lines left out]", *log[-2:], "Post job cleanup"]
    end = ["exit code 1", "", "", "", said]
    assert fold(told, SHOWN).split("\n") == [*shown, *end]
    listed = "\n".join(f"- {line}" for line in log * 2)
    sentences = "\n".join(f"{line}." for line in log * 2)
    for text in (listed, sentences):
        assert fold(text, SHOWN) == text
    assert fold(told, KEPT) == told  # in memory all of it stays


@pytest.mark.parametrize(("between", "is_one_run"), [(1, True), (2, True), (3, False)])
def test_few_lines_of_another_look_end_no_run(between: int, is_one_run: bool) -> None:
    run = ["$ ls", "$ pwd", *WORDS[:between], "$ cd a", "$ cd b"]
    cut = [*run[:2], f"[{between + 1} lines left out]", run[-1]]
    assert fold("\n".join(run), FEW).split("\n") == (cut if is_one_run else run)


def test_lines_that_begin_alike_apart_are_no_run() -> None:
    told = [f"worker {n // 2} took it" if n % 2 else WORDS[n] for n in range(9)]
    assert fold("\n".join(told), FEW).split("\n") == told


def test_lines_that_begin_alike_are_a_run_beside_a_fence_too() -> None:
    alike = [f"worker {n} took it" for n in range(5)]
    told = "\n".join((*WORDS[:7], fenced(*CODE[:4]), *alike))
    cut = (*alike[:2], "[2 lines left out]", alike[-1])
    assert fold(told, FEW) == "\n".join((*WORDS[:7], fenced(*CODE[:4]), *cut))
