"""A digest: its lines with their receipts, and its file."""

from __future__ import annotations

from keeplore.memory import Quote
from keeplore.memory.digest import Digest, DigestLine, lines_of, sources_of
from keeplore.memory.model import Memory

A = f"mem_{'a' * 8}-0000-4000-8000-000000000000"
B = f"mem_{'b' * 8}-0000-4000-8000-000000000000"
BEFORE = DigestLine("2026-01-01", Quote("We take SQS.", "user", ""), B)
OUTBOX = DigestLine(
    "2026-02-09", Quote("We take “the” outbox.", "user", "50d67f2f"), A, BEFORE
)
STATED = DigestLine(
    "2026-02-10",
    Quote("Five  retries, then\nparked.", "assistant", "96a23f67"),
    A,
    statement="Failed jobs are parked",
)
OPEN = DigestLine("2026-02-11", Quote("Who looks at them?", "user", ""), B)
DIGEST = Digest("Jobs", (("Decided", (OUTBOX, STATED)), ("Open questions", (OPEN,))))
TEXT = f"""# Jobs

## Decided

- 2026-02-09 · “We take “the” outbox.” — user, {A} turn 50d67f2f
  - instead of: 2026-01-01 · “We take SQS.” — user, {B}
- 2026-02-10 · Failed jobs are parked
  - from: 2026-02-10 · “Five retries, then parked.” — assistant, {A} turn 96a23f67

## Open questions

- 2026-02-11 · “Who looks at them?” — user, {B}
"""


def test_a_digest_is_written_and_read_again() -> None:
    assert DIGEST.to_markdown() == TEXT
    read = Digest.from_markdown(TEXT)
    one_line = Quote("Five retries, then parked.", "assistant", "96a23f67")
    (decided, (outbox, stated)), questions = read.sections
    assert (read.title, decided, outbox) == ("Jobs", "Decided", OUTBOX)
    assert (stated.quote, stated.statement) == (one_line, STATED.statement)
    assert questions == DIGEST.sections[1]
    assert Digest.from_markdown(TEXT.replace("\n", "\r\n")) == read
    assert read.to_markdown() == TEXT


def test_what_a_person_wrote_between_is_passed_over() -> None:
    written = TEXT.replace("## Open", "A remark.\n\n## Mine\n\n- my own\n\n## Open")
    assert Digest.from_markdown(f"\n{written}\n# Other title\n").to_markdown() == TEXT
    lost = TEXT.replace("- 2026-02-10 · Failed jobs are parked\n", "")
    (_, (_, stated)), _ = Digest.from_markdown(lost).sections
    assert stated.statement == ""
    headless = "\n".join(TEXT.splitlines()[7:8])
    assert Digest.from_markdown(headless) == Digest("", ())


def test_a_line_is_told_with_what_it_replaced() -> None:
    assert [line.told for line in (OUTBOX, STATED, OPEN)] == [
        "2026-02-09: We take “the” outbox. (instead of: We take SQS.)",
        "2026-02-10: Failed jobs are parked",
        "2026-02-11: Who looks at them?",
    ]


def test_the_lines_and_sources_of_a_memory() -> None:
    meta = {"kind": "digest", "related": [{"id": A, "relationship": "relates-to"}]}
    digest = Memory(meta, TEXT)
    assert [line.receipt for line in lines_of(digest)] == [
        line.receipt for line in (OUTBOX, STATED, OPEN)
    ]
    assert sources_of(digest) == {A}
    assert sources_of(digest.with_meta(kind="note")) == frozenset()
