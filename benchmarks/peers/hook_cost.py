"""What the hooks of a program cost a host: seconds of processor of the command for the end of a
turn, of a session with one turn, which both programs only note.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
from pathlib import Path

from peer_process import ENVIRONMENTS

ROUNDS = 15
CLIENT = Path(__file__).resolve().parents[2] / "plugin/keeplore/client/client.sh"
TURN = {
    "type": "user",
    "message": {"role": "user", "content": "Where is the port set?"},
}


def keeplore_hook_s(home: Path) -> float:
    return _median_s(["sh", str(CLIENT), "claude-code", "Stop"], home)


def mempalace_hook_s(home: Path) -> float:
    (home / ".mempalace" / "palace").mkdir(parents=True)
    command = str(ENVIRONMENTS / "mempalace" / "bin" / "mempalace")
    return _median_s(
        [command, "hook", "run", "--hook", "stop", "--harness", "claude-code"], home
    )


def _median_s(command: list[str], home: Path) -> float:
    home.mkdir(parents=True, exist_ok=True)
    transcript = home / "session.jsonl"
    transcript.write_text(json.dumps(TURN) + "\n")
    payload = {
        "session_id": "benchmark",
        "transcript_path": str(transcript),
        "cwd": str(home),
        "hook_event_name": "Stop",
    }
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "KEEPLORE_STATE_DIR": str(home / "state"),
    }
    spent = []
    for _ in range(ROUNDS):
        before = _children_s()
        subprocess.run(
            command,
            input=json.dumps(payload).encode(),
            env=environment,
            cwd=home,
            stdout=subprocess.DEVNULL,
            check=True,
        )
        spent.append(_children_s() - before)
    return statistics.median(spent)


def _children_s() -> float:
    times = os.times()
    return times.children_user + times.children_system
