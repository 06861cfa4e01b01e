"""What of a message are the person's own words, and what was pasted into it."""

from __future__ import annotations

import pytest

from keeplore.text.pasted import (
    is_copied_from,
    is_pasted_into,
    own_words,
    pasted_words,
)

MESSAGE = """Look at this, please.
> Redis is faster than that.
<b>Bold claims</b>
npm WARN deprecated left-pad
[ERROR] no such table
2026-02-09T14:03:11 INFO started
```
x = 1
```
The page says: "Never commit on Fridays, ever." and I agree.
Write this comment:
It is mine.
The README says:
All of this
is theirs."""
OWN = """Look at this, please.
The page says:   and I agree.
Write this comment:
It is mine.
The README says:"""
PASTED = """> Redis is faster than that.
<b>Bold claims</b>
npm WARN deprecated left-pad
[ERROR] no such table
2026-02-09T14:03:11 INFO started
```
x = 1
```
"Never commit on Fridays, ever."
All of this
is theirs."""


def test_a_message_is_split_into_own_words_and_pasted_ones() -> None:
    assert own_words(MESSAGE).splitlines() == OWN.splitlines()
    assert pasted_words(MESSAGE).splitlines() == PASTED.splitlines()


@pytest.mark.parametrize(
    "line",
    [
        "I got this mail:",
        "from https://example.com/a:",
        "he wrote:",
        "pasted below:",
        "der Artikel sagt:",
    ],
)
def test_a_line_that_announces_somebody_else_ends_the_own_words(line: str) -> None:
    assert own_words(f"{line}\ntheirs\ntheirs too") == line
    assert pasted_words(f"{line}\ntheirs\ntheirs too") == "theirs\ntheirs too"


@pytest.mark.parametrize(
    "line", ["my mail:", "add to the README:", "We need:", "he wrote it. Thus:"]
)
def test_a_line_that_announces_own_words_does_not(line: str) -> None:
    assert own_words(f"{line}\nmine") == f"{line}\nmine"
    assert pasted_words(f"{line}\nmine") == ""


def test_a_fence_is_ended_by_one_of_its_kind_alone() -> None:
    assert own_words("~~~~\na\n```\nb\n~~~\nc\n~~~~\nmine") == "mine"
    assert own_words("```\na page said:\n```\nmine") == "mine"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Redis is faster than that", True),
        ("Never commit on Fridays…", True),
        ("Look at this", False),
        ("…", False),
        ("", False),
    ],
)
def test_a_text_is_looked_for_in_what_was_pasted(text: str, expected: bool) -> None:
    assert is_pasted_into(MESSAGE, text) is expected


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("one two three four five six seven eight", True),
        ("**One**, two three four five six seven", True),
        ("one two three four five", False),
        ("one two three four five six eight", False),
    ],
)
def test_a_sentence_of_some_length_that_stands_elsewhere_was_copied(
    words: str, expected: bool
) -> None:
    said = "So: one two three four five six seven eight. And more."
    assert is_copied_from(said, words) is expected


@pytest.mark.parametrize(
    "line",
    [
        "2026-11-02 10:11:12,123 ERROR worker failed to connect",
        "2026-11-02 10:11:12 [main] INFO c.a.Loader - started",
        "2026/11/02 10:11:12 http: panic serving",
        "[2026-11-02T10:11:12Z] ERROR boom",
        "Nov  2 10:11:12 host sshd[123]: Failed password",
        "10:11:12.123 WARN slow",
        "ERROR 2026-11-02 10:11:12 it failed",
        'level=error msg="boom"',
        "Traceback (most recent call last):",
        '  File "x.py", line 3, in f',
        "    at com.foo.Bar(Bar.java:12)",
        "Uncaught TypeError: x is not a function",
        "shop.js:684 Uncaught TypeError: x is not a function",
        "src/shop.ts:3:4 - error TS2304: Cannot find name 'x'",
        "error[E0308]: mismatched types",
        "sqlalchemy.exc.OperationalError: no such column",
        "(node:123) DeprecationWarning: punycode",
        "⨯ Error: ENOENT: no such file",
        "npm error code 1",
        "ld: warning: ignoring file x",
        "warning: unused variable: `x`",
        "zsh: command not found: dump",
        "rg: frontend: No such file or directory",
        "Error response from daemon: no such image",
        "Build failed",
    ],
)
def test_a_line_of_a_log_or_a_trace_is_pasted(line: str) -> None:
    assert pasted_words(f"it broke\n{line}\nwhy?") == line
    assert own_words(f"it broke\n{line}\nwhy?") == "it broke\nwhy?"


@pytest.mark.parametrize(
    "line",
    [
        "I saw 2026-11-02 10:11 that it failed",
        "at 10:11:12 it failed",
        "2026-11-02 is the deadline",
        "Nov 2 is fine",
        "File it under docs",
        "time=5 is too long",
    ],
)
def test_a_line_that_names_a_time_is_the_persons(line: str) -> None:
    assert own_words(line) == line


REMARK = "Validate the token twice.\nUse a queue."


@pytest.mark.parametrize(
    "line",
    [
        "more reviewer feedback: src/mail.ts (1)",
        "pr feedback:",
        "Here are the PR comments:",
        "the latest CodeRabbit findings on this branch: two",
        "reviewer's remarks: keep it",
    ],
)
def test_remarks_of_a_review_are_somebody_elses_with_the_line_that_announces_them(
    line: str,
) -> None:
    message = f"Hello.\n{line}\n{REMARK}"
    assert pasted_words(message) == f"{line}\n{REMARK}"
    assert own_words(message) == "Hello."


@pytest.mark.parametrize(
    "line",
    [
        "some feedback: the button is too big",
        "address the pr feedback: rename the flag",
        "my review comments: too slow",
        "Review the queue: is it safe?",
    ],
)
def test_what_the_person_thinks_themselves_is_their_own(line: str) -> None:
    assert own_words(f"{line}\n{REMARK}") == f"{line}\n{REMARK}"


def test_a_review_with_its_title_is_somebody_elses_as_a_whole() -> None:
    review = f"Code Review for PR #17: Fix the queue\n\n{REMARK}"
    assert (own_words(review), pasted_words(review)) == ("", review)
    order = "Review of the queue please.\nBe strict."
    assert (own_words(order), pasted_words(order)) == (order, "")


def test_a_review_has_four_lines_and_a_shorter_one_is_an_order_to_write_it() -> None:
    review = "Code review for the export\nDates are wrong.\nNames are long."
    assert own_words(review) == review
    assert own_words(f"{review}\nTests are missing.").strip() == ""


@pytest.mark.parametrize(
    "line",
    [
        "the error: we never close it",
        "error handling: use Result",
        "Errors: log them",
        "Warning: never touch production",
        "Fix the TypeError: it comes from the cart",
        "decision: the build failed twice, so we wait",
        "no such file is needed",
        "error: always log it, do not raise",
        "ValidationError: return 422, not 400",
        "NotFoundError: always map to 404",
        "fatal: never retry a payment",
        "note: warning: always keep backups",
        "npm warn is fine, we keep npm",
    ],
)
def test_what_people_say_of_errors_is_their_own(line: str) -> None:
    assert own_words(f"it broke\n{line}") == f"it broke\n{line}"


@pytest.mark.parametrize(
    "unit", ["0", "a", "a.", "at (", "at x(", "A", "x:1", "::::::x:0", "./", ": "]
)
@pytest.mark.timeout(30)  # what grows with the square of the line takes minutes
def test_a_long_line_is_read_in_time_that_grows_with_it(unit: str) -> None:
    line = unit * (200_000 // len(unit))
    assert own_words(f"{line}\nmine").endswith("mine")


@pytest.mark.parametrize(
    "line",
    [
        "the page should have:",
        "fix these issues:",
        "I found where the issue is, so let me say how it shall be:",
        "messages must be:",
    ],
)
def test_what_somebody_wants_of_a_page_is_no_page(line: str) -> None:
    assert pasted_words(f"{line}\nround the total to 5 cents") == ""


@pytest.mark.parametrize(
    "line", ["here is the ticket:", "the issue says we should do this:"]
)
def test_a_page_is_somebody_elses_whatever_it_wants(line: str) -> None:
    assert pasted_words(f"{line}\nnever cache tokens") == "never cache tokens"
