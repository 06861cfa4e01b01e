"""Sessions with a person's questions and what answers them: read for training and measuring.

The data is not part of the repository (KEEPLORE_DATA, or ../shared/data).
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from talks import DATA, sessions

LABELS = DATA.parent / "labels" / "sessions"
SHOWN = 0.7  # share of a quotation's words that count as the quotation
FEW_WORDS = 3  # a text with fewer is like another one only where it is the same
BEGIN = datetime(2025, 12, 1, tzinfo=UTC)  # of the first session of a workspace
PROGRAM = Path(sys.executable).with_name("keeplore")
_MOMENT = re.compile(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")
_SAID_AT = re.compile(rf'"timestamp": ?"({_MOMENT.pattern})"')
_NO_WORD = re.compile(r"\W+")
_WORD = re.compile(r"[\w./#-]+")
_STOP = frozenset(
    """
    the and for that this with from are was were you your our not but have has had its it's can
    will would should just into when then than what which who how why all any out one there here
    let's lets i'm don't
    """.split()  # noqa: SIM905  # a list of literals cannot be read
)


@dataclass(frozen=True, slots=True)
class LabelledSession:
    """``telling`` are quotations that answer questions or are decisions that hold, ``settled``
    those of the person's own decisions.
    """

    name: str
    transcript: Path
    questions: tuple[dict[str, Any], ...]
    telling: tuple[str, ...]
    settled: tuple[str, ...]


def labelled_sessions() -> Iterator[LabelledSession]:
    for data, transcript in labelled(sorted(LABELS.glob("*.json"))):
        holding = [d for d in data["decisions"] if d["status"] == "holds"]
        yield LabelledSession(
            data["session"],
            transcript,
            tuple(data["questions"]),
            (*_evidence(data), *(d["quote"] for d in holding)),
            tuple(d["quote"] for d in holding if d["by"] == "user"),
        )


def labelled(files: Sequence[Path]) -> Iterator[tuple[dict[str, Any], Path]]:
    """What label files say, each with the transcript of its session."""
    known = {_NO_WORD.sub("_", path.stem): path for path in sessions()}
    for file in files:
        data = json.loads(file.read_text(encoding="utf-8"))
        yield data, known[_NO_WORD.sub("_", data["session"])]


def chosen_files(folders: Sequence[Path]) -> tuple[list[Path], list[Path]]:
    """Label files for fitting and for measuring: every second one of the first folder with all of
    the further ones, and the others of the first.
    """
    first, *more = [sorted(folder.glob("*.json")) for folder in folders]
    return [*first[::2], *(file for files in more for file in files)], first[1::2]


def make_workspace(home: Path, starts: Mapping[str, datetime]) -> None:
    """Make ``home`` the home directory and import sessions into its workspace "memory", each by its
    name as if it had begun at that time.
    """
    for name, start in starts.items():
        _place(home, name, start)
    os.environ["HOME"] = str(home)
    (home / ".gitconfig").write_text("[user]\nname = me\nemail = me@example.org\n")
    for args in (["init", "memory"], ["import", "--all", "--yes"]):
        subprocess.run(
            [PROGRAM, *args], cwd=home, check=True, stdout=subprocess.DEVNULL
        )


def _place(home: Path, name: str, start: datetime) -> None:
    """Copy a session to where its host would have it, begun at ``start``."""
    file = next(DATA.rglob(f"{name}.jsonl"))
    text = file.read_text(encoding="utf-8", errors="replace")
    first = datetime.fromisoformat(min(_SAID_AT.findall(text)))

    def moved(found: re.Match[str]) -> str:
        at = datetime.fromisoformat(found[0]) - first + start
        return at.strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"

    is_codex = '"session_meta"' in text.split("\n", 1)[0]
    folder = (
        f".codex/sessions/{start:%Y/%m/%d}" if is_codex else f".claude/projects/-{name}"
    )
    known = re.search(r'"(?:sessionId|id)": ?"([0-9a-f-]{36})"', text)
    session = known[1] if known else name
    file_name = f"rollout-{start:%Y-%m-%dT%H-%M-%S}-{session}" if is_codex else session
    to = home / folder / f"{file_name}.jsonl"
    to.parent.mkdir(parents=True, exist_ok=True)
    to.write_text(_MOMENT.sub(moved, text), encoding="utf-8")


def words(text: str) -> frozenset[str]:
    """The words that count, whatever their number."""
    found = _WORD.findall(text.lower().replace("’", "'"))
    return frozenset(w for w in found if (len(w) > 2 or w.isdigit()) and w not in _STOP)


def share(quotation: str, text: str) -> float:
    """The part of a quotation's words that a text has, 0..1."""
    wanted = words(quotation)
    return len(wanted & words(text)) / len(wanted) if wanted else 0.0


def alike(one: str, other: str) -> float:
    """The part of the words of either that the other has, whichever is more, 0..1."""
    if min(len(words(one)), len(words(other))) < FEW_WORDS:
        return float(words(one) == words(other))
    return max(share(one, other), share(other, one))


def _evidence(data: dict[str, Any]) -> Iterator[str]:
    return (e["quote"] for q in data["questions"] for e in q["evidence"])
