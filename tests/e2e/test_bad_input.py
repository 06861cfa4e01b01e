"""Whatever a machine holds: import and recall go on, say what was wrong, and lose nothing that can
be read.
"""

import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from quick_machine import QuickMachine

from keeplore.memory import Conversation, Memory, parse

MB = 1 << 20
PEAK = 500 * MB
BEGIN = datetime(2026, 2, 9, 14, 0, tzinfo=UTC)
# runs the rest of the command line, then says how much memory the child took at most
MEASURED = """
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:])
unit = 1 if sys.platform == "darwin" else 1024
print("PEAK", resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * unit)
sys.exit(done.returncode)
"""


@pytest.fixture
def machine(tmp_path):
    machine = QuickMachine(tmp_path / "machine")
    machine.keeplore("init", "memory")
    return machine


class Transcript:
    """A session's record in the making: each call adds lines as Claude Code writes them."""

    def __init__(
        self,
        machine: QuickMachine,
        session: str = "5e551011-0000-4000-8000-000000000001",
    ) -> None:
        self.session, self.count = session, 0
        self.cwd = machine.home / "code" / "ledgerly"
        self.cwd.mkdir(parents=True, exist_ok=True)
        self.path = (
            machine.home
            / ".claude"
            / "projects"
            / "-code-ledgerly"
            / f"{session}.jsonl"
        )
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.touch()

    def raw(self, data: bytes) -> None:
        with self.path.open("ab") as file:
            file.write(data)

    def line(self, kind: str, message: dict) -> bytes:
        self.count += 1
        return json.dumps(
            {
                "type": kind,
                "uuid": f"{self.session[:8]}-0000-4000-8000-{self.count:012}",
                "sessionId": self.session,
                "timestamp": f"{BEGIN + timedelta(seconds=self.count):%Y-%m-%dT%H:%M:%S}.000Z",
                "cwd": str(self.cwd),
                "version": "2.1.218",
                "isSidechain": False,
                "message": message,
            }
        ).encode()

    def exchange(self, user: str, reply: str, result_bytes: int = 0) -> None:
        """A prompt, a tool call with a result of that size, and what the assistant said."""
        said = {"role": "assistant", "model": "claude-opus-4-5"}
        self.raw(self.line("user", {"role": "user", "content": user}) + b"\n")
        if result_bytes:
            call = {
                "type": "tool_use",
                "id": f"toolu_{self.count}",
                "name": "Bash",
                "input": {"command": "cat log"},
            }
            self.raw(
                self.line(
                    "assistant", {**said, "id": f"msg_{self.count}", "content": [call]}
                )
                + b"\n"
            )
            result = {
                "type": "tool_result",
                "tool_use_id": call["id"],
                "content": "x" * result_bytes,
            }
            self.raw(self.line("user", {"role": "user", "content": [result]}) + b"\n")
        text = {"type": "text", "text": reply}
        self.raw(
            self.line(
                "assistant", {**said, "id": f"msg_{self.count}", "content": [text]}
            )
            + b"\n"
        )


def memories(root: Path) -> dict[Path, Memory]:
    return {
        path: parse(path.read_text())
        for path in sorted(root.glob("**/memory/conversations/**/*.md"))
    }


def said(root: Path) -> list[str]:
    talks = [
        Conversation.from_markdown(memory.body) for memory in memories(root).values()
    ]
    return [exchange.user for talk in talks for exchange in talk.exchanges]


def imported(machine: QuickMachine, *options: str) -> str:
    """What import printed, of both kinds; it must end well."""
    done = machine.keeplore("import", "claude-code", *options)
    return (done.stdout + done.stderr).decode()


def is_committed(machine: QuickMachine, root: Path) -> bool:
    return machine.run("git", "-C", str(root), "status", "--porcelain").stdout == b""


def test_lines_that_are_no_utf8_no_json_or_no_objects_cost_themselves(machine):
    transcript = Transcript(machine)
    transcript.exchange("Is the ledger append-only?", "Yes, it is.")
    transcript.raw(
        b'\xff\xfe not text\n[1, 2]\nnull\n{"torn": \n\n\0\0\0\n'
        + b"[" * 100_000
        + b"\n"
    )
    odd = transcript.line(
        "user", {"role": "user", "content": "And in Latin-1: caf?"}
    ).replace(b"?", b"\xe9")
    transcript.raw(odd + b"\n")
    transcript.exchange("Do auditors read it?", "They do.")
    told = imported(machine)
    assert set(said(machine.home / "memory")) == {
        "Is the ledger append-only?",
        "And in Latin-1: caf\N{REPLACEMENT CHARACTER}",
        "Do auditors read it?",
    }
    assert (
        transcript.path.name in told
        and "skipped" in told
        and "more lines that could not be read" in told
    )
    assert is_committed(machine, machine.home / "memory")


@pytest.mark.parametrize("size_mb", [20, pytest.param(200, marks=pytest.mark.soak)])
def test_a_huge_transcript_is_read_in_little_memory(machine, size_mb):
    transcript = Transcript(machine)
    for number in range(size_mb):
        transcript.exchange(
            f"Question {number} about the ledger", f"Answer {number}.", MB
        )
    assert transcript.path.stat().st_size > size_mb * MB
    command = (
        sys.executable,
        "-c",
        MEASURED,
        sys.executable,
        "-m",
        "keeplore.cli",
        "import",
        "claude-code",
    )
    done = machine.run(*command)
    peak = int(done.stdout.decode().split("PEAK ")[1])
    assert sorted(said(machine.home / "memory")) == sorted(
        f"Question {n} about the ledger" for n in range(size_mb)
    )
    assert peak < PEAK


def test_a_line_of_twenty_megabytes_hides_nothing(machine):
    transcript = Transcript(machine)
    transcript.exchange("Before it", "Yes.")
    transcript.exchange("With it", "Yes.", 20 * MB)
    transcript.exchange("After it", "Yes.")
    imported(machine)
    assert said(machine.home / "memory") == ["Before it", "With it", "After it"]


def test_a_line_that_is_too_long_to_be_read_is_said_to_be_skipped(machine):
    transcript = Transcript(machine)
    transcript.exchange("Before it", "Yes.")
    transcript.exchange("With it", "Yes.", 65 * MB)
    transcript.exchange("After it", "Yes.")
    told = imported(machine)
    assert said(machine.home / "memory") == ["Before it", "With it", "After it"]
    assert "skipped" in told


@pytest.mark.parametrize(
    "change", ["grows", "shrinks", "is replaced", "is emptied", "is deleted"]
)
def test_a_transcript_that_changes_between_two_imports_takes_nothing_back(
    machine, change
):
    transcript = Transcript(machine)
    for prompt in ("First invoice", "Second invoice"):
        transcript.exchange(prompt, "Yes.")
    cut = transcript.path.stat().st_size
    transcript.exchange("Third invoice", "Yes.")
    imported(machine)
    expected = ["First invoice", "Second invoice", "Third invoice"]
    if change == "grows":
        transcript.exchange("Fourth invoice", "Yes.")
        expected.append("Fourth invoice")
    elif change == "shrinks":
        os.truncate(transcript.path, cut)
    elif change == "is replaced":
        transcript.path.unlink()
        transcript.exchange("Another one", "Yes.")
        expected.append("Another one")
    elif change == "is emptied":
        os.truncate(transcript.path, 0)
    else:
        transcript.path.unlink()
    imported(machine)
    assert sorted(said(machine.home / "memory")) == sorted(expected)
    assert [
        memory.is_open for memory in memories(machine.home / "memory").values()
    ].count(True) == 0
    before = {path: path.read_bytes() for path in memories(machine.home / "memory")}
    imported(machine)
    assert {
        path: path.read_bytes() for path in memories(machine.home / "memory")
    } == before


def test_front_matter_that_is_no_mapping_is_listed_and_left_alone(machine):
    transcript = Transcript(machine)
    transcript.exchange("Is the ledger append-only?", "Yes, because auditors ask.")
    imported(machine)
    folder = machine.home / "memory" / "memory" / "decisions"
    folder.mkdir(parents=True, exist_ok=True)
    fronts = (
        "- a list",
        "just words",
        "a: &x [1]\nb: *x",
        "[" * 9000,
        "a: !!python/name:os.system",
        "\0",
    )
    bad = {
        folder / f"2026-02-09-bad-0000000{n}.md": f"---\n{front}\n---\nText.\n"
        for n, front in enumerate(fronts)
    }
    for path, text in bad.items():
        path.write_text(text)
    doctor = machine.keeplore("doctor", check=False)
    assert doctor.returncode == 1
    assert [path.name for path in bad if path.name not in doctor.stdout.decode()] == []
    assert machine.recall("append-only ledger", transcript.cwd)["status"] == "found"
    assert {path: path.read_text() for path in bad} == bad


def test_a_workspace_path_with_spaces_and_other_letters_works_all_the_way(tmp_path):
    machine = QuickMachine(tmp_path / "Ännas máquina 机器")
    machine.keeplore("init", "mein Gedächtnis 記憶", "--name", "memory")
    root = machine.home / "mein Gedächtnis 記憶"
    transcript = Transcript(machine)
    transcript.exchange("Is the ledger append-only?", "Yes, because auditors ask.")
    imported(machine)
    assert machine.recall("append-only ledger", transcript.cwd)["status"] == "found"
    assert is_committed(machine, root)
    second = QuickMachine(tmp_path / "zweite Maschine")
    second.keeplore("clone", str(root), "Kopie ü")
    assert said(second.home / "Kopie ü") == ["Is the ledger append-only?"]
    assert second.recall("append-only ledger", second.home)["status"] == "found"


def test_a_link_that_leads_out_of_the_workspace_is_neither_indexed_nor_committed(
    machine, tmp_path
):
    transcript = Transcript(machine)
    transcript.exchange("Is the ledger append-only?", "Yes, because auditors ask.")
    imported(machine)
    root = machine.home / "memory"
    (real,) = memories(root)
    outside = tmp_path / "outside"
    outside.mkdir()
    text = (
        real.read_text()
        .replace("append-only", "zanzibar")
        .replace("auditors", "zanzibar")
    )
    (outside / real.name).write_text(text)
    decisions = root / "memory" / "decisions"
    decisions.mkdir(parents=True, exist_ok=True)
    (decisions / "2026-02-09-link-00000000.md").symlink_to(outside / real.name)
    (root / "memory" / "patterns").symlink_to(outside, target_is_directory=True)
    imported(machine)
    machine.keeplore("doctor", check=False)
    assert machine.recall("zanzibar", root)["status"] == "nothing"
    kept = machine.run(
        "git", "-C", str(root), "log", "-p", "--all", "--format=%H"
    ).stdout
    assert b"zanzibar" not in kept and str(outside).encode() not in kept


def test_a_title_that_climbs_stays_in_its_folder(machine):
    transcript = Transcript(machine)
    climbing = "../../../../etc/passwd\0 & ..\\..\\evil.md"
    transcript.exchange(climbing, "No.")
    transcript.exchange("#" * 300 + " " + "../" * 100, "Neither.")
    imported(machine)
    root = machine.home / "memory"
    found = memories(root)
    assert len([exchange for exchange in said(root) if ".." in exchange]) == 2
    for path in found:
        assert path.resolve().is_relative_to(
            root / "projects" / "ledgerly" / "memory" / "conversations"
        )
        assert ".." not in path.name
    assert not list(machine.home.glob("**/passwd*")) and not list(
        machine.home.glob("evil*")
    )


def test_two_imports_at_once_give_what_one_gives(machine, tmp_path):
    for number in range(4):
        transcript = Transcript(machine, f"5e55101{number}-0000-4000-8000-000000000001")
        for prompt in range(5):
            transcript.exchange(
                f"Session {number}, prompt {prompt}: the ledger", "Yes."
            )
    alone = QuickMachine(tmp_path / "alone")
    alone.keeplore("init", "memory")
    (alone.home / ".claude").symlink_to(machine.home / ".claude")
    # seen from there the sessions were in a temporary directory
    imported(alone, "--only", str(machine.home))
    with ThreadPoolExecutor() as pool:
        assert all(pool.map(lambda _: imported(machine), range(2)))
    prompts = said(machine.home / "memory")
    assert len(prompts) == 20 and sorted(prompts) == sorted(said(alone.home / "memory"))
    ids = [memory.id for memory in memories(machine.home / "memory").values()]
    assert sorted(ids) == sorted(
        memory.id for memory in memories(alone.home / "memory").values()
    )
    assert is_committed(machine, machine.home / "memory")
    machine.run("git", "-C", "memory", "fsck", "--strict")
