"""One machine with a home of its own: runs the real programs as a host and a person would."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from keeplore.worker.single_instance import only_one

CHECKOUT = Path(__file__).parents[1]
CLIENT = CHECKOUT / "plugin" / "keeplore" / "client"
# the same on all machines: they are hers
PERSON = "[user]\n\tname = Ann\n\temail = ann@ledgerly.example\n"
ANSWERED = ("SessionStart", "UserPromptSubmit")


class Machine:
    def __init__(self, directory: Path) -> None:
        self.home = directory
        self.home.mkdir(parents=True, exist_ok=True)
        (self.home / ".gitconfig").write_text(PERSON, encoding="utf-8")
        self.state = self.home / "state"
        # nothing of the machine that runs the test is passed on but where programs are
        self.environment = {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(self.home),
            "TMPDIR": os.environ.get("TMPDIR", "/tmp"),
            "LC_ALL": "C.UTF-8",
            "GIT_CONFIG_NOSYSTEM": "1",
            "KEEPLORE_STATE_DIR": str(self.state),
            "KEEPLORE_CACHE_DIR": str(self.home / "cache"),
            "HF_HUB_OFFLINE": "1",
        }

    def run(
        self,
        *command: str,
        cwd: Path | None = None,
        payload: bytes = b"",
        check: bool = True,
        timeout_s: float = 120,
    ) -> subprocess.CompletedProcess[bytes]:
        done = subprocess.run(
            command,
            check=False,
            cwd=cwd or self.home,
            env=self.environment,
            input=payload,
            capture_output=True,
            timeout=timeout_s,
        )
        if check and done.returncode:
            raise RuntimeError(
                f"{command} gave {done.returncode}: {done.stderr.decode()[-2000:]}"
            )
        return done

    def keeplore(
        self, *arguments: str, cwd: Path | None = None, check: bool = True
    ) -> subprocess.CompletedProcess[bytes]:
        return self.run(
            sys.executable, "-m", "keeplore.cli", *arguments, cwd=cwd, check=check
        )

    def recall(self, query: str, cwd: Path) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(
            self.keeplore("recall", query, "--json", cwd=cwd, check=False).stdout
        )
        return answer

    def status(self) -> dict[str, Any]:
        """What the running worker says of itself."""
        told: dict[str, Any] = json.loads(
            self.keeplore("worker", "status", "--json").stdout
        )
        return told

    @staticmethod
    def is_answered(event: str) -> bool:
        return event in ANSWERED

    def send(self, event: str, payload: bytes, cwd: Path) -> bytes:
        """Hand a payload to the client as the host's manifest says; what it printed."""
        if self.is_answered(event):
            command = (
                sys.executable,
                "-I",
                "-S",
                str(CLIENT / "client.py"),
                "claude-code",
                event,
            )
        else:
            command = ("sh", str(CLIENT / "client.sh"), "claude-code", event)
        return self.run(*command, cwd=cwd, payload=payload).stdout

    def no_worker_starts(self) -> None:
        (self.state / "python").unlink(missing_ok=True)

    def worker(self, *command: str) -> subprocess.Popen[bytes]:
        """Start a worker by hand, as the client does, or another command in its place."""
        return subprocess.Popen(
            command or (sys.executable, "-m", "keeplore.worker"),
            env=self.environment,
            cwd="/",
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )

    def stop_worker(self) -> None:
        """Let the worker leave, and wait until it has written its last file."""
        self.keeplore("worker", "stop", check=False)
        with only_one(self.state, is_leaving=lambda: True):
            pass

    def waiting(self) -> int:
        # a worker that has not got so far has made no folder yet
        return sum(
            len(list((self.state / "spool" / part).glob("*")))
            for part in ("new", "claimed")
        )

    def conversations(self, below: str = "memory") -> str:
        """The text of all conversations below a folder of the home. One that the worker
        renames while they are read is read under its new name.
        """
        while True:
            paths = sorted((self.home / below).rglob("conversations/**/*.md"))
            with contextlib.suppress(FileNotFoundError):
                return "\n".join(path.read_text(encoding="utf-8") for path in paths)

    def wait_until(
        self, condition: Callable[[], bool], what: str, seconds: float = 90
    ) -> None:
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline:
                raise TimeoutError(what)
            time.sleep(0.02)
