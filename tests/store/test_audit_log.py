"""The files of what was decided and why: what is added, read, and taken out again."""

from __future__ import annotations

from pathlib import Path

import pytest

from keeplore.errors import UnsafePath
from keeplore.store import audit_log

ONE = {"at": "2026-02-09T10:00:00Z", "memory": "mem_1", "why": "größer"}
LINE = '{"at": "2026-02-09T10:00:00Z", "memory": "mem_1", "why": "größer"}\n'
TWO = {"memory": "mem_2", "at": "2026-02-28T10:00:00Z"}
LATER = {"at": "2026-03-01T10:00:00Z", "memory": "mem_1"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for machine, entry in (
        ("laptop", ONE),
        ("laptop", TWO),
        ("laptop", LATER),
        ("studio", TWO),
    ):
        audit_log.append(tmp_path, machine, entry)
    return tmp_path


def files_of(root: Path) -> dict[str, str]:
    found = (root / "audit").rglob("*")
    return {
        str(path.relative_to(root)): path.read_text()
        for path in sorted(found)
        if path.is_file()
    }


def test_a_line_for_each_entry_in_the_file_of_its_month(root: Path) -> None:
    second = '{"at": "2026-02-28T10:00:00Z", "memory": "mem_2"}\n'
    third = '{"at": "2026-03-01T10:00:00Z", "memory": "mem_1"}\n'
    assert files_of(root) == {
        "audit/laptop/2026-02.jsonl": LINE + second,
        "audit/laptop/2026-03.jsonl": third,
        "audit/studio/2026-02.jsonl": second,
    }
    assert [*audit_log.entries(root)] == [ONE, TWO, LATER, TWO]
    assert [*audit_log.entries(root, "studio")] == [TWO]
    assert [*audit_log.entries(root, "nobody")] == []


def test_lines_of_one_deed_are_added_once_and_a_torn_end_is_ended(root: Path) -> None:
    path = "audit/laptop/2026-02.jsonl"
    (root / path).write_text("torn")
    for lines in (["a", "b"], ["a", "b"], [], ["a", "c\ud800"], ["b"]):
        audit_log.append_lines(root, path, lines)
    assert (root / path).read_text() == "torn\na\nb\na\nc?\n"
    (root / path).write_text("")
    audit_log.append_lines(root, path, ["a"])
    audit_log.append_lines(root, "audit/new/2026-01.jsonl", ["d"])
    assert (root / path).read_text() == "a\n"
    assert (root / "audit/new/2026-01.jsonl").read_text() == "d\n"


def test_lines_that_name_a_memory_are_taken_out_of_every_file(root: Path) -> None:
    audit_log.drop(root, ["mem_2", "mem_9"])
    found = files_of(root)
    assert [*found] == ["audit/laptop/2026-02.jsonl", "audit/laptop/2026-03.jsonl"]
    assert found["audit/laptop/2026-02.jsonl"] == LINE
    assert (
        audit_log.without_memories(b"mem_1\nx\r\nmem_2", ["mem_1", "mem_2"]) == b"x\r\n"
    )


def test_what_cannot_be_read_is_passed_over(root: Path) -> None:
    file = root / "audit" / "laptop" / "2026-02.jsonl"
    file.write_bytes(b'{"a": 1}\n[1]\n{torn\n\xff\n' + b"[" * 100_000 + b'\n{"b": 2}')
    (root / "audit" / "laptop" / "notes.txt").write_text('{"c": 3}\n')
    assert [*audit_log.entries(root, "laptop")] == [{"a": 1}, {"b": 2}, LATER]


def test_a_machine_leads_to_no_other_folder(root: Path) -> None:
    with pytest.raises(UnsafePath):
        audit_log.append(root, "../laptop", ONE)
