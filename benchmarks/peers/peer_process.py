"""A program that is measured, in a process of its own environment."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from peer_notes import Notes
from peer_protocol import Hits

HERE = Path(__file__).resolve().parent
ENVIRONMENTS = HERE.parents[1] / ".venv" / "peers"


def environment_of(name: str) -> Path:
    """The Python that runs a program; ours is the one that runs this."""
    return (
        Path(sys.executable)
        if name == "keeplore"
        else ENVIRONMENTS / name / "bin" / "python"
    )


class PeerProcess:
    """Its work is counted in seconds of processor, with what this process spends meanwhile, which
    is the model's.
    """

    def __init__(self, name: str, home: Path, url: str) -> None:
        home.mkdir(parents=True, exist_ok=True)
        self._spent = 0.0  # by the other process
        self._log = (home / "errors.txt").open("a")
        self._process = subprocess.Popen(
            [str(environment_of(name)), str(HERE / f"with_{name}.py"), str(home), url],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            env=_environment(home),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.communicate()
        self._log.close()

    def put(self, folder: Path, notes: Notes) -> float:
        """Write the notes and have them taken in; returns what that took."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in notes.items():
            (folder / f"{name}.md").write_text(f"{text}\n", encoding="utf-8")
        return self._call(folder=str(folder), changed=list(notes))[1]

    def ask(self, question: str, limit: int) -> tuple[Hits, float]:
        """The hits, and what they took."""
        hits, spent_s = self._call(question=question, limit=limit)
        return [(name, text) for name, text in hits], spent_s

    def _call(self, **asked: Any) -> tuple[Any, float]:
        """Raises RuntimeError with the last line of what it wrote, where it gives up."""
        assert self._process.stdin
        assert self._process.stdout
        begun = time.process_time()
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            said = Path(self._log.name).read_text("utf-8", "replace").split("\n")
            raise RuntimeError(
                next((line for line in reversed(said) if line), "no word")
            )
        result, spent_s = json.loads(answer)
        before, self._spent = self._spent, spent_s
        return result, spent_s - before + time.process_time() - begun


def _environment(home: Path) -> dict[str, str]:
    """Without keys and settings of the person who runs this, and with no proxy for loopback."""
    kept = {
        key: os.environ[key] for key in ("PATH", "LANG", "TMPDIR") if key in os.environ
    }
    return {**kept, "HOME": str(home), "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}
