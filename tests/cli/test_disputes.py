"""Two machines change one line: both texts stay, every command that should tell of it does, and a
person decides.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from keeplore.cli.commands.write.decide_dispute import LINE_CHARS, differing_lines
from keeplore.cli.connect_dialog import surroundings
from keeplore.cli.doctor import DoctorOptions, examine
from keeplore.config.places import Places
from keeplore.memory import Memory
from keeplore.memory.note import NoteDraft
from keeplore.workspace.lifecycle.setup import clone_workspace, initialise
from keeplore.workspace.lifecycle.sync_workspace import synchronise
from keeplore.workspace.registry import Registry
from keeplore.workspace.workspace import Workspace
from keeplore.workspace.writing.disputes import (
    Dispute,
    DisputeDecision,
    disputes,
    settle_dispute,
)

Terminal = Callable[..., tuple[int, str]]
Run = Callable[..., subprocess.CompletedProcess[str]]


@dataclass
class Machine:
    places: Places

    @property
    def workspace(self) -> Workspace:
        found = Registry(self.places).named("memory")
        found.index.refresh()
        return found

    @property
    def open(self) -> tuple[Dispute, ...]:
        return disputes(self.workspace.index, self.workspace.store)

    @property
    def environment(self) -> dict[str, str]:
        return {
            "KEEPLORE_STATE_DIR": str(self.places.state),
            "KEEPLORE_CACHE_DIR": str(self.places.cache),
        }

    def write(self, draft: NoteDraft) -> Memory:
        return self.workspace.notes.write(draft).memory

    def change(self, memory_id: str, old: str, new: str) -> None:
        """As an editor does."""
        workspace = self.workspace
        place = workspace.root / (workspace.store.find(memory_id) or "")
        text = place.read_text()
        assert old in text
        place.write_text(text.replace(old, new))

    def sync(self) -> None:
        synchronise(self.workspace)

    def texts(self) -> list[str]:
        """What the memories say that are heads, in order."""
        workspace = self.workspace
        paths = [file.path for file in workspace.store.scan()]
        loaded = [workspace.store.load(path) for path in paths]
        replaced = {memory.supersedes for memory in loaded}
        return sorted(
            memory.body.strip().splitlines()[-1]
            for memory in loaded
            if memory.id not in replaced
        )


@pytest.fixture
def studio(home: Path, tmp_path: Path, git: Callable[..., str]) -> Machine:
    places = Places.from_environment(os.environ)
    initialise(places, home / "memory")
    git("init", "-q", "--bare", "-b", "main", tmp_path / "remote.git", cwd=tmp_path)
    git("remote", "add", "origin", tmp_path / "remote.git", cwd=home / "memory")
    return Machine(places)


@pytest.fixture
def laptop(studio: Machine, tmp_path: Path) -> Machine:
    studio.sync()
    places = Places(tmp_path / "laptop-state", tmp_path / "laptop-cache")
    clone_workspace(
        places, str(tmp_path / "remote.git"), tmp_path / "laptop" / "memory"
    )
    return Machine(places)


@pytest.fixture
def noted(studio: Machine, laptop: Machine) -> str:
    """A note whose line both machines change; the laptop merges."""
    memory = studio.write(
        NoteDraft(
            "The gateway waits 30 s.",
            title="Timeouts",
            category="infrastructure",
            trust="user",
        )
    )
    studio.sync()
    laptop.sync()
    studio.change(memory.id, "30 s", "60 s")
    laptop.change(memory.id, "30 s", "90 s")
    studio.sync()
    laptop.sync()
    return memory.id


def both(dispute: Dispute) -> set[str]:
    return {
        side.memory.body.strip().splitlines()[-1]
        for side in (dispute.first, dispute.other)
    }


def test_both_texts_are_shown_on_both_machines_until_one_has_decided(
    studio: Machine, laptop: Machine, noted: str
) -> None:
    studio.sync()
    for machine in (studio, laptop):
        [dispute] = machine.open
        assert both(dispute) == {"The gateway waits 60 s.", "The gateway waits 90 s."}
        assert dispute.first.row.id == noted
    settle_dispute(laptop.workspace, laptop.open[0], DisputeDecision.FIRST)
    laptop.sync()
    assert (len(laptop.open), len(studio.open)) == (0, 1)
    studio.sync()
    assert studio.open == ()
    assert studio.texts() == laptop.texts() and len(studio.texts()) == 1


@pytest.mark.parametrize(
    "decision",
    [
        DisputeDecision.FIRST,
        DisputeDecision.OTHER,
        DisputeDecision.BOTH,
        DisputeDecision.JOINED,
    ],
)
def test_what_was_decided_holds_on_both_machines(
    studio: Machine, laptop: Machine, noted: str, decision: str
) -> None:
    [dispute] = laptop.open
    first, other = (
        side.memory.body.strip().splitlines()[-1]
        for side in (dispute.first, dispute.other)
    )
    joined = dispute.first.memory.body.replace(
        first, "The gateway waits 60 s, behind the proxy 90 s."
    )
    settle_dispute(laptop.workspace, dispute, decision, {"body": joined})
    laptop.sync()
    studio.sync()
    left = {DisputeDecision.FIRST: [first], DisputeDecision.OTHER: [other], DisputeDecision.BOTH: sorted([first, other]),
            DisputeDecision.JOINED: ["The gateway waits 60 s, behind the proxy 90 s."]}  # fmt: skip
    for machine in (studio, laptop):
        assert machine.open == () and machine.texts() == left[decision]
        [record] = [
            entry
            for entry in machine.workspace.store.records()
            if entry["event"] == "settled"
        ]
        assert (record["id"], record["of"], record["as"]) == (
            dispute.other.row.id,
            noted,
            decision,
        )
        assert machine.workspace.store.is_forgotten(dispute.other.row.id) == (
            decision != DisputeDecision.BOTH
        )


def test_the_version_that_was_taken_replaces_the_first_and_can_be_taken_back(
    laptop: Machine, noted: str
) -> None:
    [dispute] = laptop.open
    settle_dispute(laptop.workspace, dispute, DisputeDecision.OTHER)
    old, new = laptop.workspace.notes.history(noted)
    assert (old.row.id, new.memory.supersedes, new.memory.trust) == (
        noted,
        noted,
        "user",
    )
    assert new.memory.body == dispute.other.memory.body
    assert "trigger" not in new.memory.meta or new.memory.meta["trigger"] != "merge"
    laptop.workspace.commit()
    laptop.workspace.store.restore(dispute.other.row.id)
    assert laptop.open == ()


def test_a_version_that_was_archived_replaced_or_forgotten_waits_for_nobody(
    laptop: Machine, noted: str
) -> None:
    [dispute] = laptop.open
    workspace = laptop.workspace
    archived = dispute.other.row.path.replace("memory/", "memory/archive/", 1)
    workspace.store.move(dispute.other.row.path, archived)
    assert laptop.open == ()
    workspace.store.move(archived, dispute.other.row.path)
    assert len(laptop.open) == 1
    workspace.store.forget(noted, "laptop", "2026-02-09T14:03:11Z")
    assert laptop.open == ()


def test_a_change_of_the_first_does_not_decide_it(laptop: Machine, noted: str) -> None:
    outcome = laptop.workspace.notes.revise(noted, title="Timeouts of the gateway")
    assert [dispute.first.row.id for dispute in laptop.open] == [outcome.memory.id]


def test_a_contradiction_that_a_person_wrote_is_none_that_a_merge_left(
    laptop: Machine,
) -> None:
    one = laptop.write(NoteDraft("Use tabs."))
    links = [{"id": one.id, "relationship": "contradicts"}]
    other = laptop.write(NoteDraft("Use blanks."))
    laptop.workspace.notes.revise(other.id, related=links)
    assert laptop.open == ()


def test_sync_show_doctor_and_a_pipe_tell_of_it(
    run: Run, laptop: Machine, noted: str
) -> None:
    [dispute] = laptop.open
    [other] = [side.row for side in (dispute.other,)]
    root, environment = laptop.workspace.root, laptop.environment
    synced = run("sync", cwd=root, **environment)
    assert "1 contradiction waits for you: two machines" in synced.stdout, synced.stderr
    for asked, named in ((noted, other.id), (other.id, noted)):
        shown = run("show", asked, cwd=root, **environment).stdout
        assert f"same lines, see {named[4:12]} Timeouts" in shown
        assert json.loads(run("show", asked, "--json", cwd=root, **environment).stdout)[
            "disputed_with"
        ] == [named]
    found = examine(laptop.places, DoctorOptions(surroundings(laptop.places)))
    [told] = [one for one in found if "contradicts" in one.message]
    assert (told.level, other.path in told.message) == (
        "note",
        True,
    ) and "keeplore review" in told.remedy
    listed = run("review", cwd=root, **environment)
    assert listed.stdout.split("\t")[1::4] == ["contradiction", f"{other.id[4:12]}\n"]
    [data] = json.loads(run("review", "--json", cwd=root, **environment).stdout)
    assert (data["what"], data["first"]["id"], data["other"]["id"]) == (
        "contradiction",
        noted,
        other.id,
    )


def test_sync_says_how_many_are_new(run: Run, studio: Machine, noted: str) -> None:
    root = studio.workspace.root
    assert (
        "1 contradiction waits for you, 1 of them new:" in run("sync", cwd=root).stdout
    )
    assert "1 contradiction waits for you: two" in run("sync", cwd=root).stdout


def test_two_edits_of_one_memory_are_named_with_what_joins_them(
    run: Run, studio: Machine, laptop: Machine
) -> None:
    memory = studio.write(NoteDraft("The gateway waits 30 s.", title="Timeouts"))
    studio.sync()
    laptop.sync()
    for machine, title in ((studio, "Waits"), (laptop, "Limits")):
        machine.workspace.notes.revise(memory.id, title=title)
        machine.sync()
    root, environment = laptop.workspace.root, laptop.environment
    told = run("review", cwd=root, **environment)
    [command] = re.findall("`keeplore (edit [0-9a-f]{8})`", told.stderr)
    assert f"note: edited in 2 places: `keeplore {command}` joins them\n" in told.stderr
    run(*command.split(), "--title", "Times", cwd=root, **environment)
    assert run("review", cwd=root, **environment).stderr == "note: nothing to decide\n"


def test_on_a_terminal_both_stand_side_by_side_and_the_answer_is_done(
    at_terminal: Terminal,
    laptop: Machine,
    studio: Machine,
    noted: str,
    git: Callable[..., str],
) -> None:
    [dispute] = laptop.open
    root = laptop.workspace.root
    status, seen = at_terminal("review", cwd=root, typed="o\n", **laptop.environment)
    assert (
        status == 0
        and "Changed on two machines: Timeouts" in seen
        and "1 decided." in seen
    )
    [line] = [line for line in seen.splitlines() if "60 s" in line]
    assert "90 s" in line
    [heads] = [line for line in seen.splitlines() if "stands now, " in line]
    assert "the other, " in heads
    taken = dispute.other.memory.body.strip().splitlines()[-1]
    assert laptop.texts() == [taken] and laptop.open == ()
    assert git("status", "--porcelain", cwd=root) == ""
    assert git("log", "-1", "--format=%s", cwd=root) == "Review: 1 decided"
    laptop.sync()
    studio.sync()
    assert studio.texts() == [taken] and studio.open == ()


def test_what_a_version_holds_cannot_command_the_terminal(
    at_terminal: Terminal, laptop: Machine, noted: str
) -> None:
    [dispute] = laptop.open
    laptop.change(dispute.other.row.id, "gateway", "\x1b]0;owned\x07\u202egate[red]way")
    _, seen = at_terminal(
        "review", cwd=laptop.workspace.root, typed="q\n", **laptop.environment
    )
    assert "\x1b]0" not in seen and "\u202e" not in seen and "[red]" in seen
    assert len(laptop.open) == 1


def test_in_the_editor_both_texts_become_one(
    at_terminal: Terminal, laptop: Machine, noted: str, tmp_path: Path
) -> None:
    shown = tmp_path / "shown"
    editor = tmp_path / "editor.sh"
    editor.write_text(
        f'#!/bin/sh\ncp "$1" {shown}\nsed -i "1,/>8/s/waits .*/waits as long as it takes./" "$1"\n'
    )
    editor.chmod(0o700)
    _, seen = at_terminal(
        "review",
        cwd=laptop.workspace.root,
        typed="e\n",
        **laptop.environment,
        VISUAL=str(editor),
    )
    assert "1 decided." in seen
    assert "60 s" in shown.read_text() and "90 s" in shown.read_text()
    assert (
        laptop.texts() == ["The gateway waits as long as it takes."]
        and laptop.open == ()
    )


def test_a_file_without_an_id_that_two_machines_changed_is_named_by_doctor(
    studio: Machine, laptop: Machine
) -> None:
    place = "memory/facts/colours.md"
    for machine, text in ((studio, "Red."), (laptop, "Blue.")):
        (machine.workspace.root / place).parent.mkdir(parents=True, exist_ok=True)
        (machine.workspace.root / place).write_text(f"{text}\n")
    studio.sync()
    laptop.sync()
    found = examine(laptop.places, DoctorOptions(surroundings(laptop.places)))
    [told] = [
        one
        for one in found
        if ".conflict-" in one.message and "other version" in one.message
    ]
    assert (
        told.message.startswith("memory/facts/colours.conflict-")
        and "delete it" in told.remedy
    )


def test_only_what_differs_is_shown_and_long_lines_from_where_they_part() -> None:
    same = "word " * 100
    assert list(differing_lines(["a", "b", "c"], ["a", "x", "c", "d"])) == [
        ("b", "x"),
        ("", "d"),
    ]
    [(left, right)] = differing_lines([f"{same}one"], [f"{same}two"])
    assert (
        left.startswith("…")
        and left.endswith("one")
        and right.endswith("two")
        and len(left) < LINE_CHARS
    )
    [(left, _)] = differing_lines(["x" * 2 * LINE_CHARS], [""])
    assert len(left) == LINE_CHARS + 1
