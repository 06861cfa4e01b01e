"""Whole sessions at a prompt: what each command prints and its exit status, as written down.

A file holds ``$`` commands and, below each, what it says: stdout, then stderr with ``!`` before each
line, then its exit status in brackets if that is not 0. What differs from run to run is named:
``<1>`` is the memory whose id was seen first, and a command may say so too; ``~`` is the home.

To write the answers anew: WRITE_GOLDEN=1 pytest tests/cli -k transcripts, then read the difference.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from ready import Done, keeplore
from sample_note import note
from sample_workspace import moment

from keeplore.config.places import Places
from keeplore.memory import Conversation, Exchange, Memory, Quote, new_id, new_meta
from keeplore.workspace.lifecycle.setup import initialise
from keeplore.workspace.registry import Registry

FILES = {
    "notes.txt": "The gateway listens on 8443.\n",
    "note.json": '{"text": "Use pnpm, not npm", "category": "coding-preferences"}',
    "list.json": "[]",
    "flawed.json": '{"category": "nonsense", "entities": [7], "more": 1}',
    "big.txt": "long " * 200_001,
}
TRANSCRIPTS = sorted(
    (Path(__file__).parents[1] / "golden" / "transcripts").glob("*.txt")
)
_ID = re.compile(r"(?<![0-9a-f#])([0-9a-f]{8})(?:(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})?\b")
_NAMED = re.compile(r"<(\d+)>")
_CHANGING = {
    re.compile(r"\b[0-9a-f]{40}\b"): "<commit>",
    re.compile(r"20\d\d-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?Z?)?"): "<date>",
    re.compile(r"20\d\d/\d\d"): "<month>",
    re.compile(r"\b\d+(?:\.\d+)? kB"): "<size>",
    re.compile(r"(?<=· )0\.\d\d(?= ·)|(?<=\"score\": )0\.\d+"): "<score>",
}


class Names:
    """Names for what differs from run to run: the nth id of eight digits is ``<n>``."""

    def __init__(self, home: Path, machine: str) -> None:
        self._places = {str(home): "~", machine: "<machine>"}
        self._ids: list[str] = []

    def given(self, command: str) -> str:
        """A command as it is typed."""
        return _NAMED.sub(lambda found: self._ids[int(found[1]) - 1], command)

    def written(self, line: str) -> str:
        """A line as the file holds it."""
        for what, name in self._places.items():
            line = line.replace(what, name)
        for pattern, name in _CHANGING.items():
            line = pattern.sub(name, line)
        return _ID.sub(lambda found: self.name_of(found[1]), line)

    def name_of(self, digits: str) -> str:
        if digits not in self._ids:
            self._ids.append(digits)
        return f"<{self._ids.index(digits) + 1}>"


@pytest.fixture
def names(home: Path) -> Names:
    """A workspace of a talk and three notes, a project, and files to name in commands."""
    places = Places.from_environment(os.environ)
    initialise(places, home / "memory")
    (home / "code" / "shop").mkdir(parents=True)
    for name, text in FILES.items():
        (home / name).write_text(text, encoding="utf-8")
    (home / "empty").mkdir()
    with Registry(places) as registry:
        workspace = registry.named("memory")
        named = Names(home, workspace.machine)
        for memory in _memories():
            workspace.store.save(memory)
            named.name_of(memory.id[4:12])
        workspace.commit("Sample")
    return named


def _midnight(days_ago: int) -> str:
    """At another time of the day ages in days would differ from run to run."""
    return f"{moment(days_ago)[:10]}T00:00:00Z"


def _memories() -> Iterator[Memory]:
    turns = [str(new_id("turn", str(number)))[4:] for number in range(2)]
    asked = Exchange(
        turns[0],
        _midnight(4),
        "SQS or an outbox table?",
        ("An outbox: one transaction holds both writes.\n\n```sql\nselect 1\n```",),
    )
    agreed = Exchange(
        turns[1],
        _midnight(4),
        "We take the outbox table in Postgres.",
        ("Done.",),
    )
    talk = Conversation(
        "Outbox in place of SQS",
        (asked, agreed),
        session_context="shop, branch main",
        projects=("shop",),
        decision=(Quote("We take the outbox table in Postgres.", "user", turns[1]),),
        reasoning=(Quote("One transaction holds both writes.", "assistant", turns[0]),),
    )
    yield Memory(
        new_meta(
            id=new_id("talk"),
            kind="conversation",
            title=talk.title,
            created_at=_midnight(4),
            scope="project",
            project="shop",
            trust="assistant",
            source={"host": "claude-code", "session": "s-1", "turns": turns},
        ),
        talk.to_markdown(),
    )
    yield note(
        "Ledger entries are append-only",
        "# Ledger entries are append-only\n\nAuditors ask for every state.\n",
        created_at=_midnight(6),
        category="architectural-decisions",
        permanent=True,
        trust="user",
    )
    yield note(
        "The API times out after 30 seconds",
        created_at=_midnight(8),
        scope="project",
        project="shop",
        trust="user",
    )
    yield note(
        "A page says that Redis is fine",
        created_at=_midnight(10),
        trust="document",
    )


@pytest.mark.parametrize("file", TRANSCRIPTS, ids=lambda file: file.stem)
def test_transcripts(file: Path, home: Path, names: Names) -> None:
    expected = file.read_text(encoding="utf-8")
    commands = [line[2:] for line in expected.splitlines() if line.startswith("$ ")]
    seen = "\n".join(_answered(command, home, names) for command in commands)
    if os.environ.get("WRITE_GOLDEN"):
        file.write_text(seen, encoding="utf-8")
    assert seen.splitlines() == expected.splitlines()


def _answered(command: str, home: Path, names: Names) -> str:
    """A command with what came of it; ``cd`` and ``< file`` are read as a shell does."""
    line, _, source = names.given(command).partition(" < ")
    place, _, line = line.rpartition(" && ")
    stdin = (home / source).read_text(encoding="utf-8") if source else None
    done: Done = keeplore(
        *(word.replace("~", str(home)) for word in shlex.split(line)),
        cwd=home / place.removeprefix("cd ~/") if place else home,
        stdin=stdin,
        COLUMNS="100",
    )
    said = done.stdout.splitlines()
    said += [f"! {one}" for one in done.stderr.splitlines()]
    said += [f"[{done.returncode}]"] if done.returncode else []
    return "\n".join((f"$ {command}", *map(names.written, said), ""))
