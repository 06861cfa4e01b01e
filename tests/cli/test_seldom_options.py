"""Options and subcommands that are seldom used do what they say, too."""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner
from new_workspace import lay_down

from keeplore.cli.commands.machine import emit_, in_repo_
from keeplore.cli.commands.tidy.audit_ import _is_wanted
from keeplore.cli.main import cli
from keeplore.config.places import Places
from keeplore.errors import ConfigError, NotFound
from keeplore.memory import parse
from keeplore.recall.unasked.origin import MemorySource
from keeplore.workspace.in_repo.author_trust import UNKNOWN
from keeplore.workspace.lifecycle import code_switch
from keeplore_hooks.spool import Spool


@pytest.fixture
def root(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace, in which commands run."""
    lay_down(Places.from_environment(os.environ), home / "memory")
    monkeypatch.chdir(home / "memory")
    return home / "memory"


def run(*arguments: str, typed: str = "") -> Any:
    return CliRunner().invoke(cli, arguments, input=typed)


ENTRY = {
    "event": "refine",
    "at": "2026-02-09T10:00:00Z",
    "proposal": "ADD",
    "outcome": "blocked",
    "gate": "confidence",
}


@pytest.mark.parametrize(
    ("changed", "wanted", "since", "is_wanted"),
    [
        ({}, {}, "", True),
        ({"event": "forget"}, {}, "", False),
        ({}, {}, "2026-02-09T10:00:00Z", True),
        ({}, {}, "2026-02-09T10:00:01Z", False),
        ({"at": None}, {}, "2026", True),  # it sorts behind every time
        ({}, {"gate": "confidence"}, "", True),
        ({}, {"gate": "duplicate"}, "", False),
        ({}, {"gate": None, "outcome": "blocked"}, "", True),
        ({}, {"gate": "confidence", "outcome": "applied"}, "", False),
        ({}, {"proposal": "UPDATE"}, "", False),
    ],
)
def test_the_audit_is_narrowed_by_what_was_proposed_and_held_back(
    changed: dict[str, Any],
    wanted: dict[str, str | None],
    since: str,
    is_wanted: bool,
) -> None:
    assert _is_wanted(ENTRY | changed, wanted, since) is is_wanted


def test_a_note_is_linked_to_the_one_that_it_belongs_to(root: Path) -> None:
    one = json.loads(run("remember", "Use pnpm, never npm", "--json").stdout)
    other = run(
        "remember", "The registry is a mirror", "--relates-to", one["id"], "--json"
    )
    written = json.loads(other.stdout)
    text = (root / written["path"]).read_text()
    assert {"id": one["id"], "relationship": "relates-to"} in parse(text).meta[
        "related"
    ]


def test_a_search_engine_that_is_refused_or_never_named_is_not_used(root: Path) -> None:
    settings = root / "keeplore.yaml"
    os.utime(settings, (1, 1))
    assert run("engine", "refuse").stdout == "memory is searched on this machine.\n"
    assert settings.stat().st_mtime > 1  # a worker opens the workspace anew
    none = run("engine", "accept", "--yes").exception
    assert isinstance(none, ConfigError)
    assert none.message == "keeplore.yaml names no engine besides the embedded one"
    assert none.remedy == "Write it under `index:`"


def test_an_index_is_emptied_and_filled_again(root: Path) -> None:
    for text in ("Use pnpm, never npm", "Deploys happen on Tuesdays"):
        assert run("remember", text).exit_code == 0
    assert run("engine", "rebuild").stdout == (
        "memory: 2 of 2 passages have their vector\n"
    )
    assert run("engine").stdout.startswith(
        "embedded: 2 of 2 passages with their vector"
    )


class Emitted:
    """A worker that has this to say beside a prompt, after it was asked so often in vain."""

    def __init__(self, answer: Any = None, *, in_vain: int = 0, is_there: bool = True):
        self.answer, self.in_vain, self.is_there = answer, in_vain, is_there
        self.asked: list[str] = []

    def __call__(self, _state: Path, operation: str, *_: Any, **__: float) -> Any:
        self.asked.append(operation)
        if operation == "status":
            return {} if self.is_there else None
        self.in_vain -= 1
        return None if self.in_vain >= 0 else self.answer


PROMPT = '{"event": "prompt", "session": "s1", "user": "Which queue?"}\n'


def emitted(
    monkeypatch: pytest.MonkeyPatch, worker: Emitted, *options: str
) -> dict[str, Any]:
    started: list[Path] = []
    monkeypatch.setattr(emit_, "ask", worker)
    monkeypatch.setattr(emit_, "start", started.append)
    monkeypatch.setattr(emit_.time, "sleep", lambda _: None)
    done = run("emit", "--host", "my-agent", *options, typed=PROMPT)
    assert done.exit_code == 0, done.output
    assert len(started) == (0 if worker.is_there else 1)
    answer: dict[str, Any] = json.loads(done.stdout)
    assert (answer.pop("line"), answer.pop("ok")) == (1, True)
    assert answer.pop("id")
    return answer


@pytest.mark.parametrize(
    ("worker", "answer"),
    [
        (Emitted({"context": "Postgres"}), {"context": "Postgres"}),
        (Emitted({"context": "Postgres"}, in_vain=1), {"context": "Postgres"}),
        (Emitted(), {"context": ""}),
    ],
    ids=["at once", "just started", "nothing to say"],
)
def test_an_agent_that_emits_is_answered_with_the_context(
    root: Path, monkeypatch: pytest.MonkeyPatch, worker: Emitted, answer: dict[str, Any]
) -> None:
    assert emitted(monkeypatch, worker, "--answers") == answer


def test_an_agent_is_told_where_no_worker_answers(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moments = iter(range(0, 1000, 2))
    monkeypatch.setattr(emit_.time, "monotonic", lambda: float(next(moments)))
    assert emitted(monkeypatch, Emitted(is_there=False), "--answers") == {
        "context": "",
        "note": "no worker answered; see `keeplore doctor`",
    }


def test_an_agent_that_wants_no_answers_works_where_it_says(
    root: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = Emitted({"context": "Postgres"})
    assert emitted(monkeypatch, worker, "--cwd", str(home / "shop")) == {}
    assert worker.asked == ["status"]
    [entry] = Spool(Places.from_environment(os.environ).spool).pending()
    assert json.loads(entry.read())["origin"]["cwd"] == str(home / "shop")


class Trust:
    """Authors of notes with the code, and what was said of them."""

    def __init__(self, **authors: tuple[int, MemorySource]) -> None:
        self._authors = authors
        self.said: list[tuple[str, tuple[str, ...]]] = []

    def authors(self) -> Any:
        counts = {name: count for name, (count, _) in self._authors.items()}
        return Counts(counts)

    def source_of_author(self, email: str) -> MemorySource:
        return self._authors[email][1]

    def accept(self, emails: tuple[str, ...]) -> None:
        self.said.append(("accept", emails))

    def refuse(self, emails: tuple[str, ...]) -> None:
        self.said.append(("refuse", emails))


class Counts(dict[str, int]):
    def most_common(self) -> list[tuple[str, int]]:
        return sorted(self.items(), key=lambda item: -item[1])


def test_authors_are_accepted_and_refused_once_all_are_known() -> None:
    trust: Any = Trust(ada=(1, MemorySource.WAITING), ben=(2, MemorySource.WAITING))
    in_repo_._judge(trust, (), ())
    assert trust.said == []
    in_repo_._judge(trust, ("ada",), ("ben",))
    assert trust.said == [("accept", ("ada",)), ("refuse", ("ben",))]
    for accepted, refused in ((("ada", "eve"), ()), ((), ("eve",))):
        with pytest.raises(NotFound) as caught:
            in_repo_._judge(trust, accepted, refused)
        assert caught.value.message == "no notes here are by 'eve'"
        assert caught.value.remedy == "Authors are ada, ben"
    assert len(trust.said) == 2
    nobody: Any = Trust()
    with pytest.raises(NotFound) as caught:
        in_repo_._judge(nobody, ("eve",), ())
    assert caught.value.remedy == "Authors are none yet"


@pytest.mark.parametrize(
    ("authors", "is_ignored", "lines", "notes"),
    [
        ({}, False, [], []),
        (
            {"ada": (1, MemorySource.OWN), "ben": (2, MemorySource.ACCEPTED)},
            False,
            ["ben\t2\taccepted", "ada\t1\tyours"],
            [],
        ),
        (
            {"eve": (3, MemorySource.WAITING), "mal": (1, MemorySource.REFUSED)},
            True,
            ["eve\t3\tnot accepted", "mal\t1\trefused"],
            [
                "note: `keeplore projects in-repo --accept EMAIL` believes an author",
                (
                    "note: git ignores .keeplore here, so nobody else gets what is written there"
                ),
            ],
        ),
        (
            {UNKNOWN: (3, MemorySource.OWN)},
            False,
            [f"{UNKNOWN}\t3\tyours"],
            [
                "note: this clone is shallow: `git fetch --unshallow` tells who wrote what"
            ],
        ),
    ],
    ids=["none", "ours", "others", "shallow"],
)
def test_whose_notes_lie_with_the_code_is_told(
    root: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    authors: dict[str, tuple[int, MemorySource]],
    is_ignored: bool,
    lines: list[str],
    notes: list[str],
) -> None:
    monkeypatch.setattr(code_switch, "is_ignored", lambda _: is_ignored)
    opened: Any = SimpleNamespace(
        project="shop",
        root=root / ".keeplore",
        machine_trust=Trust(**authors),
        tree=SimpleNamespace(top=root),
    )
    in_repo_._tell_authors(opened)
    shown = capsys.readouterr()
    kept = "Notes of shop are kept in .keeplore; commit them."
    assert shown.out.splitlines() == [kept, *lines]
    assert shown.err.splitlines() == notes


def test_notes_with_the_code_are_left_to_git(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[Any] = []
    monkeypatch.setattr(code_switch, "switch_off", lambda _, place: place)
    monkeypatch.setattr(in_repo_, "tell_worker", told.append)
    done = run("projects", "in-repo", "--off")
    assert done.stdout == "The notes in .keeplore are left to git from now on.\n"
    assert len(told) == 1
