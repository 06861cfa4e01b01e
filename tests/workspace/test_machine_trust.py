"""Which machines are the person's: read from git a little at a time, and only where it matters."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from keeplore.memory import Memory, new_id, new_meta
from keeplore.store.git import signature
from keeplore.workspace.machine_trust import MachineState, MachineTrust

Git = Callable[..., str]
OWN = "person@example.invalid"


class Clone:
    def __init__(self, root: Path, git: Git, files: Path) -> None:
        self.root, self.git, self.files = root, git, files
        self.asked = 0
        self.places: dict[str, str] = {}  # id of a memory → its path

    def head(self) -> str:
        self.asked += 1
        return self.git("rev-parse", "HEAD", cwd=self.root)

    def commit(self, machine: str, email: str = OWN, text: str = "Write") -> None:
        message = signature.with_machine(text, machine)
        author = f"Somebody <{email}>"
        self.git(
            "commit",
            "-q",
            "--allow-empty",
            "-m",
            message,
            f"--author={author}",
            cwd=self.root,
        )

    def whose(self) -> MachineTrust:
        """As a new process has it."""
        places = {
            "cache": self.files / "cache" / "m.json",
            "state": self.files / "state" / "m.json",
        }
        return MachineTrust(
            self.root, self.head, self.places.get, ("here-1",), **places
        )

    def write(self, path: str, text: str, machine: str, email: str = OWN) -> None:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)
        self.git("add", path, cwd=self.root)
        self.commit(machine, email, f"Write {path}")


@pytest.fixture
def clone(tmp_path: Path, git: Git) -> Clone:
    git("init", "-q", tmp_path / "w", cwd=tmp_path)
    found = Clone(tmp_path / "w", git, tmp_path)
    found.commit("here-1")
    return found


def memory(machine: str = "", trust: str = "user") -> Memory:
    source = {"machine": machine} if machine else {}
    return Memory(
        new_meta(id=new_id(), kind="note", title="t", trust=trust, source=source),
        "# t\n",
    )


def states(whose: MachineTrust) -> dict[str, str]:
    return {machine.id: machine.state for machine in whose.machines()}


def test_the_newest_commit_of_a_machine_tells_whose_it_is(clone: Clone) -> None:
    clone.commit("there-2", OWN)
    clone.commit("there-3", "other@example.invalid")
    whose = clone.whose()
    assert states(whose) == {
        "here-1": MachineState.THIS,
        "there-2": MachineState.YOURS,
        "there-3": MachineState.UNKNOWN,
    }
    clone.commit("there-2", "other@example.invalid")
    clone.commit("there-3", OWN)
    assert (
        states(whose)
        == states(clone.whose())
        == {
            "here-1": MachineState.THIS,
            "there-2": MachineState.UNKNOWN,
            "there-3": MachineState.YOURS,
        }
    )


def test_a_document_of_somebody_else_is_theirs_whatever_it_says_of_itself(
    clone: Clone,
) -> None:
    stated = memory("", "document")
    clone.places = {stated.id: "memory/d.md"}
    clone.write("memory/d.md", "a", "", "eve@example.invalid")
    assert clone.whose().trust_of(stated) == "foreign"
    clone.write("memory/d.md", "b", "here-1")
    assert clone.whose().trust_of(stated) == "document"


@pytest.mark.parametrize("email", ["eve@example.invalid", "eve", ""])
def test_a_file_without_a_machine_is_of_whoever_committed_it(
    clone: Clone, email: str
) -> None:
    mine, theirs = memory(), memory()
    clone.places = {mine.id: "memory/mine.md", theirs.id: "memory/theirs.md"}
    clone.write("memory/mine.md", "a", "here-1")
    clone.write("memory/theirs.md", "a", "", email)
    clone.commit("there-2", "ben@example.invalid")
    whose = clone.whose()
    assert [whose.trust_of(one) for one in (mine, theirs)] == ["user", "foreign"]


def test_what_an_accepted_person_commits_by_hand_is_accepted_too(clone: Clone) -> None:
    by_hand = memory("there-2")
    clone.places = {by_hand.id: "memory/a.md"}
    clone.commit("there-2", "ben@example.invalid")
    clone.commit("there-3", "eve@example.invalid")
    clone.write("memory/a.md", "a", "", "ben@example.invalid")
    whose = clone.whose()
    assert whose.trust_of(by_hand) == "foreign"
    whose.accept(["there-2"])
    assert whose.trust_of(by_hand) == "user"


def test_where_nobody_else_has_written_every_memory_is_believed(clone: Clone) -> None:
    clone.commit("", OWN)
    whose = clone.whose()
    assert whose.is_alone and {
        whose.trust_of(memory(name)) for name in ("", "forgotten-9")
    } == {"user"}
    clone.commit("", "other@example.invalid")
    assert not whose.is_alone
    assert whose.trust_of(memory("forgotten-9")) == "foreign"
    assert whose.trust_of(memory("here-1")) == "user"


def test_an_accepted_machine_ends_no_loneliness_and_a_refused_one_does(
    clone: Clone,
) -> None:
    clone.commit("there-2", "other@example.invalid")
    whose, second = clone.whose(), clone.whose()
    assert not second.is_alone
    whose.accept(["there-2"])
    assert states(second)["there-2"] == MachineState.ACCEPTED and second.is_alone
    whose.refuse(["there-2"])
    assert not second.is_alone and second.is_foreign(memory("there-2"))


def test_a_history_that_was_written_anew_is_read_anew(clone: Clone) -> None:
    clone.commit("there-2", "other@example.invalid")
    assert clone.whose().is_foreign(memory("there-2"))
    clone.git("checkout", "-q", "--orphan", "new", cwd=clone.root)
    clone.commit("there-3", "other@example.invalid")
    clone.git(
        "branch",
        "-D",
        clone.git("branch", "--format=%(refname:short)", cwd=clone.root).split()[0],
        cwd=clone.root,
    )
    clone.git("reflog", "expire", "--expire=now", "--all", cwd=clone.root)
    clone.git("gc", "-q", "--prune=now", cwd=clone.root)
    assert states(clone.whose()) == {
        "here-1": MachineState.THIS,
        "there-3": MachineState.UNKNOWN,
    }


@pytest.mark.parametrize(
    "damage", ["", "[]", '{"head": 1, "machines": [], "others": []}']
)
def test_a_cache_that_cannot_be_read_is_made_anew(clone: Clone, damage: str) -> None:
    clone.commit("there-2", "other@example.invalid")
    assert states(clone.whose())["there-2"] == MachineState.UNKNOWN
    (clone.files / "cache" / "m.json").write_text(damage)
    assert states(clone.whose())["there-2"] == MachineState.UNKNOWN


def test_only_what_is_new_is_read_by_the_next_process(clone: Clone) -> None:
    clone.commit("there-2", "other@example.invalid")
    assert states(clone.whose())["there-2"] == MachineState.UNKNOWN
    cache = clone.files / "cache" / "m.json"
    kept = json.loads(cache.read_text())
    kept["machines"]["marked-9"] = [OWN, "2026-01-01T00:00:00Z"]
    cache.write_text(json.dumps(kept))
    clone.commit("there-3", OWN)
    assert states(clone.whose()) == {
        "here-1": MachineState.THIS,
        "there-2": MachineState.UNKNOWN,
        "there-3": MachineState.YOURS,
        "marked-9": MachineState.YOURS,
    }


def test_what_git_cannot_tell_is_foreign(clone: Clone) -> None:
    whose = clone.whose()
    (clone.root / ".git" / "objects").rename(clone.root / ".git" / "gone")
    whose._head = lambda: "0" * 40
    assert whose.is_foreign(memory("there-2")) and not whose.is_foreign(
        memory("here-1")
    )


def test_a_line_that_a_message_holds_elsewhere_names_no_machine(clone: Clone) -> None:
    clone.commit("there-2", text="Keeplore-Machine: there-7\n\nSaid in passing.")
    clone.commit("", text="See\n\nKeeplore-Machine: \x1b[31m\nKeeplore-Machine: a b")
    found = list(signature.authored_commits(clone.root, clone.head()))
    assert [commit.machine for commit in found] == ["", "there-2", "here-1"]


def test_a_machine_whose_name_cannot_stand_in_a_message_is_not_named() -> None:
    assert signature.with_machine("Write\n", "a\nb") == "Write\n"
    assert (
        signature.with_machine("Write\n", "a-1") == "Write\n\nKeeplore-Machine: a-1\n"
    )


def test_a_file_that_names_this_machine_is_foreign_where_somebody_else_committed_it(
    clone: Clone,
) -> None:
    mine, forged, edited = (memory("here-1") for _ in range(3))
    clone.places = {
        mine.id: "memory/mine.md",
        forged.id: "memory/forged.md",
        edited.id: "memory/edited.md",
    }
    clone.write("memory/mine.md", "a", "here-1")
    clone.write("memory/edited.md", "a", "here-1")
    assert [clone.whose().trust_of(one) for one in (mine, edited)] == ["user", "user"]
    clone.write(
        "memory/forged.md", "a", "here-1", "eve@example.invalid"
    )  # the line in the commit forged too
    clone.write("memory/edited.md", "b", "there-9", "eve@example.invalid")
    assert [clone.whose().trust_of(one) for one in (mine, forged, edited)] == [
        "user",
        "foreign",
        "foreign",
    ]
    clone.write("memory/edited.md", "c", "here-1")
    assert clone.whose().trust_of(edited) == "user"
    clone.whose().accept(["there-9"])
    assert clone.whose().trust_of(forged) == "foreign"


def test_a_merge_of_ones_own_makes_nobodys_file_ones_own(
    clone: Clone, git: Git
) -> None:
    forged = memory("here-1")
    clone.places = {forged.id: "memory/forged.md"}
    git("checkout", "-q", "-b", "side", cwd=clone.root)
    clone.write("memory/forged.md", "a", "", "eve@example.invalid")
    git("checkout", "-q", "-", cwd=clone.root)
    clone.write("memory/mine.md", "a", "here-1")
    git("merge", "-q", "--no-edit", "side", cwd=clone.root)
    assert clone.whose().trust_of(forged) == "foreign"


def test_a_path_cannot_pose_as_a_commit(clone: Clone) -> None:
    clone.write(
        "memory/\x01a\nperson@example.invalid\n.md",
        "a",
        "there-9",
        "eve@example.invalid",
    )
    found = list(signature.authored_commits(clone.root, clone.head()))
    assert [(one.email, len(one.paths)) for one in found] == [
        ("eve@example.invalid", 1),
        (OWN, 0),
    ]


def test_every_machine_is_listed_of_which_anything_is_known(clone: Clone) -> None:
    clone.commit("second-2")
    clone.commit("bens-3", "ben@example.invalid")
    whose = clone.whose()
    whose.accept(["friend-4"])
    whose.refuse(["foe-5"])
    assert states(whose) == {
        "here-1": "this machine",
        "second-2": "yours",
        "bens-3": "not accepted",
        "friend-4": "accepted",
        "foe-5": "refused",
    }
    asked = {one.id: (one.email, one.state) for one in whose.machines(["heard-6"])}
    assert asked.keys() - states(whose).keys() == {"heard-6"}
    assert asked["bens-3"] == ("ben@example.invalid", MachineState.UNKNOWN)
    assert asked["foe-5"] == ("", MachineState.REFUSED)
    newest = [one.at for one in whose.machines()]
    assert newest == sorted(newest, reverse=True)
