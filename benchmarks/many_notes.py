"""What the commands for living with memory cost in a workspace of very many notes.

    python benchmarks/many_notes.py [NOTES ...]     (default: 20000)

The workspace has notes of every category in three projects, the workspace and user scope; one of
ten is a version of an earlier one, one of fifty is archived. Every command runs in a process of its
own, as a person starts it, with the index current; times are wall seconds, median and worst of the
rounds, and CPU seconds with those of git. ``fill`` is for other benchmarks too.
"""

from __future__ import annotations

import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from keeplore.config.places import Places
from keeplore.memory import (
    CATEGORIES,
    Memory,
    new_id,
    new_meta,
    relative_path,
    serialise,
)
from keeplore.workspace.identity import Project
from keeplore.workspace.lifecycle.setup import initialise
from keeplore.workspace.registry import Registry

ROUNDS = 5
PROJECTS = ("shop", "ledger", "infra")
SUBJECTS = (
    "billing",
    "search",
    "login",
    "export",
    "cache",
    "queue",
    "gateway",
    "report",
    "invoice",
    "ledger",
    "mailer",
)
THINGS = (
    "timeout",
    "port",
    "schema",
    "branch",
    "index",
    "retry",
    "token",
    "limit",
    "format",
    "currency",
    "owner",
)
VERBS = (
    "is kept at",
    "must never exceed",
    "was moved to",
    "is documented under",
    "defaults to",
    "is owned by team",
)


def fill(root: Path, count: int, *, seed: int = 1) -> list[str]:
    """Write ``count`` notes below ``root`` without waiting for the disk, and return their ids;
    projects are known.
    """
    words = random.Random(seed)
    for project in PROJECTS:
        folder = root / "projects" / project
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "project.json").write_text(
            Project(project, path=f"~/code/{project}").to_json()
        )
    ids: list[str] = []
    folders: set[Path] = set()
    for number in range(count):
        memory = _note(number, words, ids)
        path = relative_path(memory)
        if number % 50 == 7:
            path = path.replace("memory/", "memory/archive/", 1)
        file = root / path
        if file.parent not in folders:
            file.parent.mkdir(parents=True, exist_ok=True)
            folders.add(file.parent)
        file.write_text(serialise(memory))
        ids.append(memory.id)
    return ids


def _note(number: int, words: random.Random, before: list[str]) -> Memory:
    subject, thing, verb = (
        words.choice(SUBJECTS),
        words.choice(THINGS),
        words.choice(VERBS),
    )
    title = f"The {thing} of {subject} {words.randrange(90)} {verb} {words.randrange(10_000)}"
    day = f"20{20 + number % 6}-{number % 12 + 1:02}-{number % 28 + 1:02}"
    at = f"{day}T{number % 24:02}:{number % 60:02}:00Z"
    scope = ("project", "project", "project", "workspace", "user")[number % 5]
    # every tenth note replaces the one ten before it in its place, so that chains grow long too
    old = before[number - 10] if number % 10 == 9 and number % 200 > 10 else ""
    meta = new_meta(
        id=new_id("many", str(number)),
        kind="note",
        title=title,
        created_at=at,
        updated_at=at,
        version=2 if old else 1,
        scope=scope,
        project=PROJECTS[number % 3] if scope == "project" else "",
        category=CATEGORIES[number % len(CATEGORIES)],
        permanent=True if number % 4 == 0 else None,
        supersedes=old,
        trust="user",
        trigger="remember",
        source={
            "host": "claude-code",
            "session": f"s-{number % 500}",
            "turns": [new_id("t", str(number))],
        },
    )
    reason = (
        f"Because {words.choice(SUBJECTS)} needed it when {words.choice(SUBJECTS)} "
        f"{words.randrange(5000)} failed."
    )
    return Memory(meta, f"# {title}\n\n{reason}\n")


def main(*sizes: str) -> None:
    print(
        "| command | "
        + " | ".join(f"{size} notes: median / worst" for size in sizes)
        + " |"
    )
    print("|---|" + "---|" * len(sizes))
    measured = [measure(int(size)) for size in sizes]
    for name in measured[0]:
        print(f"| `{name}` | " + " | ".join(column[name] for column in measured) + " |")


def measure(count: int) -> dict[str, str]:
    with tempfile.TemporaryDirectory(prefix="keeplore-many-") as folder:
        home = Path(folder)
        environment = _environment(home)
        os.environ.update(environment)
        places = Places.from_environment(os.environ)
        initialise(places, home / "memory")
        ids = fill(home / "memory", count)
        cwd = home / "code" / PROJECTS[0]
        cwd.mkdir(parents=True)
        with Registry(places) as registry:
            workspace = registry.named("memory")
            workspace.commit("Fill")
            time.sleep(2.1)  # files younger than this are read again at every refresh
            workspace.index.refresh()
        run = [sys.executable, "-m", "keeplore.cli"]
        commands: dict[str, list[str]] = {
            "--version": ["--version"],
            "list": ["list"],
            "list --all-projects --limit 0": ["list", "--all-projects", "--limit", "0"],
            "list --json": ["list", "--json"],
            "show ID": ["show", ids[count // 2]],
            "history ID": ["history", ids[count // 2]],
            "remember TEXT": ["remember", "--scope", "workspace", "Fact {}"],
            "pin ID": ["pin", ids[count // 2]],
        }
        return {name: _timed(run, words, cwd) for name, words in commands.items()}


def _timed(run: list[str], words: list[str], cwd: Path) -> str:
    walls, cpus = [], []
    for number in range(ROUNDS):
        command = [
            *run,
            *(word.replace("{}", f"{number} about {time.time_ns()}") for word in words),
        ]
        before, begin = _cpu(), time.perf_counter()
        done = subprocess.run(
            command,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        walls.append(time.perf_counter() - begin)
        cpus.append(_cpu() - before)
        if done.returncode:
            raise SystemExit(f"{words}: {done.stderr}")
    return (
        f"{statistics.median(walls):.2f} / {max(walls):.2f} s ({statistics.median(cpus):.2f} s "
        f"CPU)"
    )


def _cpu() -> float:
    """Seconds of all children so far, those of git included."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _environment(home: Path) -> dict[str, str]:
    return {
        "HOME": str(home),
        "KEEPLORE_STATE_DIR": str(home / "state"),
        "KEEPLORE_CACHE_DIR": str(home / "cache"),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "HF_HUB_OFFLINE": "1",
    }


if __name__ == "__main__":
    main(*(sys.argv[1:] or ("20000",)))
