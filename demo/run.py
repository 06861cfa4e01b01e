"""``make demo``: one session of a small project, from the host's events to a second machine, with
what each step took.

Everything happens in a fresh directory with fresh homes; no network is used, and nothing of yours
is read or changed.
"""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from demo.machine import Machine
from demo.session import PASSWORD, REMOTE, create_project, play

QUESTIONS = (
    "why did we choose Postgres for the job queue",
    "how often is a job retried",
    "what happens when a worker dies",
    "how do we round VAT",
)
BY_HAND = "The tax office wants invoices numbered without gaps."
UNRELATED = "which colour has the login button"
WIDTH = 100
THINKING_S = 0.3  # before a prompt; a real person takes longer


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="keeplore-demo-") as directory:
        Demo(Path(directory)).run()
    return 0


class Demo:
    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.laptop = Machine(directory / "laptop")
        self.project = self.laptop.home / "code" / "ledgerly"
        self.memory = self.laptop.home / "memory"
        self.took: list[tuple[str, float]] = []
        self.found: list[list[str]] = []  # the memory that answered each question first

    def run(self) -> None:
        say("Keeplore: one session of a small project, two machines", "=")
        self.set_up()
        try:
            compaction = self.play_session()
            file = self.show_file()
            self.show_notes()
            self.show_compaction(compaction)
            self.ask(self.laptop, self.project, "Asked on the first machine")
            self.second_machine()
        finally:
            self.laptop.stop_worker()
        say("What each step took on this machine")
        for label, seconds in self.took:
            print(f"  {label:<62}{seconds * 1000:>9.1f} ms")
        self.check_secret(file)

    def set_up(self) -> None:
        say("1. A workspace is a git repository")
        remote = self.directory / "memory.git"
        self.laptop.run("git", "init", "-q", "--bare", "-b", "main", str(remote))
        with self.timed("keeplore init"):
            show(self.laptop.keeplore("init", "memory").stdout)
        self.laptop.run(
            "git", "-C", str(self.memory), "remote", "add", "origin", str(remote)
        )
        create_project(self.project)

    def play_session(self) -> str:
        say(
            "2. Claude Code works on ledgerly; every event goes through the client into the spool"
        )
        started_at = datetime.now(UTC).replace(microsecond=0) - timedelta(hours=3)
        spooled, answered, compaction = [], [], ""
        for step in play(self.laptop.home, self.project, started_at):
            time.sleep(THINKING_S if self.laptop.is_answered(step.event) else 0)
            begun = time.perf_counter()
            step.output = self.laptop.send(step.event, step.payload, self.project)
            (answered if self.laptop.is_answered(step.event) else spooled).append(
                time.perf_counter() - begun
            )
            # minutes pass between the events of a real session
            self.laptop.wait_until(
                lambda: self.laptop.waiting() == 0, "the spool is taken"
            )
            if step.event == "SessionStart" and b'"compact"' in step.payload:
                compaction = step.output.decode()
        bare = [self.time_bare_python() for _ in range(9)]
        self.took.append(
            ("a capture event, median of the host's wait", statistics.median(spooled))
        )
        self.took.append(
            (
                "an event with an answer, median of the host's wait",
                statistics.median(answered),
            )
        )
        self.took.append(
            ("for comparison: python3 -I -S -c pass", statistics.median(bare))
        )
        with self.timed("keeplore sync: everything committed and pushed"):
            self.laptop.keeplore("sync")
        print(
            f"  {len(spooled) + len(answered)} events, {len(list(self.files()))} conversations on "
            f"disk:"
        )
        for path in self.files():
            print(f"  {path.relative_to(self.memory)}")
        return compaction

    def show_file(self) -> str:
        say("3. What it wrote: markdown that a colleague can take over from")
        texts = [path.read_text(encoding="utf-8") for path in self.files()]
        richest = max(
            texts, key=lambda text: text.partition("## Exchanges")[0].count("\n- ")
        )
        head, _, exchanges = richest.partition("## Exchanges")
        show(head.partition("\n---\n")[2].strip().encode())
        print(
            f"\n  ## Exchanges\n  … {len(exchanges.splitlines())} more lines: every word of both "
            f"sides, by turn\n"
        )
        return "\n".join(texts)

    def show_notes(self) -> None:
        print(
            "  And a note for what was stated for good, without a model; one more is written by "
            "hand:\n"
        )
        print(f"  $ keeplore remember {BY_HAND!r}")
        with self.timed("keeplore remember"):
            show(self.laptop.keeplore("remember", BY_HAND, cwd=self.project).stdout)
        print("\n  $ keeplore list --kind note")
        show(
            self.laptop.keeplore(
                "list", "--kind", "note", cwd=self.project
            ).stdout.expandtabs(4)
        )

    def show_compaction(self, reply: str) -> None:
        say(
            "4. The context window was compacted; this is what the host got back a moment later"
        )
        if not reply:
            raise RuntimeError("the host got no context after the compaction")
        show(json.loads(reply)["hookSpecificOutput"]["additionalContext"].encode())

    def ask(self, machine: Machine, cwd: Path, title: str) -> None:
        say(f"5. {title}" if machine is self.laptop else f"7. {title}")
        answers = [machine.recall(question, cwd) for question in QUESTIONS]
        with self.timed(f"keeplore recall on {machine.home.name}"):
            done = machine.keeplore("recall", UNRELATED, cwd=cwd, check=False)
        found = [[hit["memory_id"] for hit in answer["hits"]][:1] for answer in answers]
        if machine is not self.laptop:
            same = sum(
                here == there for here, there in zip(found, self.found, strict=True)
            )
            print(
                f"  {same} of {len(QUESTIONS)} questions are answered by the same memory as on the "
                f"first machine."
            )
            return
        self.found = found
        for question in QUESTIONS:
            print(f"  $ keeplore recall {question!r} --limit 1")
            # it fails where nothing is found
            told = machine.keeplore("recall", question, "--limit", "1", cwd=cwd)
            show(told.stdout)
            print()
        print(f"  $ keeplore recall {UNRELATED!r}    (exit status {done.returncode})")
        show(done.stdout)

    def second_machine(self) -> None:
        # the worker would push the note that was remembered since within minutes
        self.laptop.keeplore("sync")
        say("6. A second machine: clone the workspace, rebuild the index from the text")
        desktop = Machine(self.directory / "desktop")
        with self.timed("keeplore clone, index rebuilt, vectors made"):
            show(
                desktop.keeplore(
                    "clone", str(self.directory / "memory.git"), "memory"
                ).stdout
            )
        checkout = desktop.home / "src" / "ledgerly"
        checkout.mkdir(parents=True)
        desktop.run("git", "init", "-q", cwd=checkout)
        https = REMOTE.replace("git@github.com:", "https://github.com/")
        desktop.run("git", "remote", "add", "origin", https, cwd=checkout)
        show(desktop.keeplore("whoami", cwd=checkout).stdout)
        self.ask(
            desktop,
            checkout,
            "The same questions there, in another folder, with another form of the remote",
        )

    def check_secret(self, text: str) -> None:
        say("And the database password that was pasted into the session?")
        lines = [line.strip() for line in text.splitlines() if "[REDACTED:" in line]
        if PASSWORD in text or not lines:
            raise RuntimeError("a secret reached the workspace")
        print(
            f"  It is not in the workspace. What stands there:\n  {lines[0][:WIDTH]}\n"
        )

    def files(self) -> Iterator[Path]:
        return iter(sorted(self.memory.glob("projects/*/memory/conversations/**/*.md")))

    def time_bare_python(self) -> float:
        begun = time.perf_counter()
        subprocess.run([sys.executable, "-I", "-S", "-c", "pass"], check=True)
        return time.perf_counter() - begun

    @contextmanager
    def timed(self, label: str) -> Iterator[None]:
        begun = time.perf_counter()
        yield
        self.took.append((label, time.perf_counter() - begun))


def say(title: str, rule: str = "-") -> None:
    print(f"\n{title}\n{rule * min(len(title), WIDTH)}")


def show(text: bytes) -> None:
    for line in text.decode().rstrip("\n").splitlines():
        wrapped = textwrap.wrap(
            line, WIDTH, replace_whitespace=False, subsequent_indent="    "
        ) or [""]
        print(textwrap.indent("\n".join(wrapped), "  "))


if __name__ == "__main__":
    if shutil.which("git") is None:
        sys.exit("the demonstration needs git on the PATH")
    sys.exit(main())
