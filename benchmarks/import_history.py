"""`keeplore import claude-code` over recorded sessions: time, throughput and peak memory of the
whole command.

Usage: python benchmarks/import_history.py [FOLDER], where Claude Code transcripts lie anywhere
below FOLDER; without it those of KEEPLORE_DATA or ../shared/data. They are copied into a temporary
home, so that nothing of yours is changed.
"""

from __future__ import annotations

import os
import resource
import shutil
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from demo.machine import Machine


def main(folder: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="keeplore-import-") as directory:
        machine = Machine(Path(directory) / "home")
        size = copy(folder, machine.home / ".claude" / "projects")
        if not size:
            print(f"skipped: no transcripts below {folder}")
            return
        machine.keeplore("init", "memory")
        for label in ("first run", "second run"):
            begun = time.perf_counter()
            done = machine.run(
                sys.executable,
                "-m",
                "keeplore.cli",
                "import",
                "claude-code",
                timeout_s=1800,
            )
            seconds = time.perf_counter() - begun
            print(f"{label}: {done.stdout.decode().splitlines()[0]}")
            print(
                f"  {seconds:.1f} s, {size / 1e6 / seconds:.2f} MB of transcripts a second"
            )
        # of the largest of all programs that were started here: the first import
        peak_kb = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        text = sum(
            path.stat().st_size
            for path in (machine.home / "memory" / "projects").rglob("*.md")
        )
        print(
            f"{size / 1e6:.1f} MB of transcripts, {text / 1e6:.2f} MB of memory, peak memory "
            f"{peak_kb / 1024:.0f} MB"
        )


def copy(folder: Path, projects: Path) -> int:
    """Lay the transcripts out as the host does; their size in bytes."""
    size = 0
    for path in sorted(folder.rglob("*.jsonl")):
        if path.name.startswith("agent-"):
            continue
        place = projects / "-".join(path.parent.relative_to(folder).parts or ("root",))
        place.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, place / path.name)
        size += path.stat().st_size
    return size


if __name__ == "__main__":
    data = Path(
        os.environ.get("KEEPLORE_DATA") or Path(__file__).parents[2] / "shared" / "data"
    )
    main(
        Path(sys.argv[1]) if len(sys.argv) > 1 else data / "transcripts" / "claude-code"
    )
