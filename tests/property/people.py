"""Persons at several machines with one remote, what each of them may do, and what must be found in
the end.
"""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

from keeplore.config.machine import Machine
from keeplore.config.places import Places
from keeplore.errors import KeeploreError, RepositoryBusy, StoreError
from keeplore.index import EmbeddingModels
from keeplore.memory import Conversation, Memory, parse, serialise
from keeplore.memory.merge.conflict_marks import versions
from keeplore.memory.note import NoteDraft
from keeplore.recall.request import RecallRequest
from keeplore.store import create
from keeplore.store.merge import merge_driver
from keeplore.store.merge.tree_merge import merged_tree
from keeplore.workspace.lifecycle.sync_workspace import synchronise
from keeplore.workspace.workspace import Workspace
from keeplore_hooks.events import Command, Origin, Turn

TEMPLATE = Path(__file__).resolve().parents[2] / "workspace_template"
KILLED = Path(__file__).resolve().parents[1] / "crash" / "killed.py"
SYNCS = 12  # of each machine at the end; by then every one has what all have
OURS = ("memory", "projects", "user", "forgotten", "audit")
MINE = {"mine.txt": "untracked\n", "staged.txt": "staged\n"}


def git(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["git", *arguments], cwd=root, check=False, capture_output=True, text=True
    )


class Person:
    """Somebody at one machine: a workspace, and what is done in it by hand."""

    def __init__(self, world: World, name: str, skew: timedelta) -> None:
        self.world, self.name, self.skew = world, name, skew
        self.root = world.folder / name / "workspace"
        self.places = Places(
            world.folder / name / "state", world.folder / name / "cache"
        )
        self.places.create()
        self.workspace = Workspace(
            "memory", self.root, self.places, Machine(name, name), world.models
        )
        self.workspace.notes._now = self.now  # each machine has a clock of its own
        if len(name) % 2:
            merge_driver.install(self.root)
        for path, text in MINE.items():
            (self.root / path).write_text(text)
        git(self.root, "add", "staged.txt")

    def now(self) -> str:
        return (datetime.now(UTC) + self.skew).strftime("%Y-%m-%dT%H:%M:%SZ")

    def say(self, session: str, number: int) -> None:
        """A turn of a session; of one that two machines have, both hear the same."""
        token = self.world.said(session, number)
        at = (
            f"2026-0{1 + number % 9}-0{1 + len(self.name) % 9}T10:{number % 60:02d}:00Z"
        )
        origin = Origin("claude-code", session)
        words = (
            f"About {session}, question {token[0]}?",
            (f"Answer:\n\n```\n{token[1]}\n```",),
        )
        with contextlib.suppress(RepositoryBusy):
            self.workspace.emit(Turn(f"{session}-{number}", origin, at, *words))

    def close_session(self, session: str, number: int) -> None:
        self.workspace.emit(
            Command(
                f"c{number}",
                Origin("claude-code", session),
                "2026-10-01T10:00:00Z",
                "deploy",
            )
        )

    def remember(self, shared: int) -> None:
        """A note; in words that others may use too, or in its own."""
        text = (
            f"Shared rule number {shared} holds"
            if shared % 3 == 0
            else f"The rule is {self.world.token()}"
        )
        outcome = self.workspace.notes.write(NoteDraft(text))
        self.world.belongs(outcome.memory)

    def revise(self, pick: int) -> None:
        if found := self.pick(pick, is_open=False):
            with contextlib.suppress(StoreError):
                body = f"{found[1].body}\nChanged: {self.world.token()}\n"
                self.world.belongs(
                    self.workspace.notes.revise(found[1].id, body=body).memory
                )

    def edit(self, pick: int, how: int) -> None:
        """By hand: a line more or changed, a title, a key, a list, a line gone.

        What a session still writes is written anew from what it says; docs/reliability.md tells.
        """
        # mostly what others edit too
        found = self.pick(pick % 3 if how % 4 else pick, is_open=False)
        if not found:
            return
        path, memory = found
        token, lines = self.world.token(), memory.body.split("\n")
        words = [
            n
            for n, line in enumerate(lines)
            if line.startswith(("The rule", "Changed", "About", "Added"))
        ]
        at = words[pick % len(words)] if words else 0
        meta = {**memory.meta, "updated_at": self.now()}
        if how % 6 == 0:
            lines[at] += f" {token}"
        elif how % 6 == 1:
            lines.insert(at + 1, f"Added {token}")
        elif how % 6 == 2:
            meta["title"] = f"{memory.title} {token}"
        elif how % 6 == 3:
            meta[f"key_{token}"] = token
        elif how % 6 == 4:
            meta["labels"] = [*meta.get("labels", ()), token]
        else:
            self.world.dropped(lines.pop(at))
            lines.append(f"Added {token}")
        changed = Memory(meta, "\n".join(lines))
        (self.root / path).write_text(serialise(changed))
        self.world.belongs(changed)

    def supersede(self, pick: int) -> None:
        """By hand: two memories, perhaps in a circle."""
        one, other = self.pick(pick, is_open=False), self.pick(pick // 7, is_open=False)
        if one and other:
            (self.root / one[0]).write_text(
                serialise(one[1].with_meta(supersedes=other[1].id))
            )

    def forget(self, pick: int) -> None:
        if found := self.pick(pick):
            self.world.takes_away(found[1])
            with self.workspace.recorder.capturing():
                self.workspace.store.forget(found[1].id, self.name, self.now())

    def restore(self, pick: int) -> None:
        tombstones = sorted(self.workspace.store.tombstones.ids())
        if tombstones:
            with contextlib.suppress(KeeploreError):
                self.workspace.store.restore(tombstones[pick % len(tombstones)])

    def archive(self, pick: int) -> None:
        if (found := self.pick(pick, is_open=False)) and "/archive/" not in found[0]:
            with contextlib.suppress(StoreError):
                self.workspace.store.move(
                    found[0], found[0].replace("memory/", "memory/archive/", 1)
                )

    def rename(self, pick: int) -> None:
        """By hand, to another folder and perhaps another name."""
        if found := self.pick(pick, is_open=False):
            name = Path(found[0]).name if pick % 2 else f"chosen {found[1].id[4:]}.md"
            place = self.root / "memory" / f"by hand {pick % 3}" / name
            place.parent.mkdir(parents=True, exist_ok=True)
            (self.root / found[0]).rename(place)

    def delete(self, pick: int) -> None:
        if found := self.pick(pick, is_open=False):
            self.world.takes_away(found[1])
            (self.root / found[0]).unlink()

    def add_in_another_case(self, number: int) -> None:
        name = ("Ideas.md", "ideas.md", "IDEAS.md")[len(self.name) % 3]
        place = self.root / "memory" / f"plain{number % 2}" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        if not place.exists():
            place.write_text(f"Ideas of {self.world.token()}\n")

    def commit_by_hand(self) -> None:
        git(
            self.root,
            "add",
            *(folder for folder in OURS if (self.root / folder).exists()),
        )
        paths = git(
            self.root,
            "diff",
            "--cached",
            "-z",
            "--name-only",
            "--no-renames",
            "--",
            *OURS,
        ).stdout.split("\0")
        if any(paths):
            git(self.root, "commit", "-qm", "By hand", "--", *filter(None, paths))

    def stash(self) -> None:
        git(self.root, "stash", "push", "-q", "--", "staged.txt")
        self.try_to_sync()
        self._pop()

    def _pop(self) -> None:
        """git keeps what conflicts with what came since, as with files that are staged and could
        not be committed; the next sync resolves it.
        """
        if "CONFLICT" in git(self.root, "stash", "pop", "-q").stdout:
            git(self.root, "stash", "drop", "-q")

    def pull_by_hand(self, *, is_rebase: bool) -> None:
        """What git leaves is dealt with at the next sync; a rebase the person goes on with."""
        if self.world.is_cut(self):
            return
        self.commit_by_hand()
        git(self.root, "stash", "push", "-q", "--", "staged.txt")
        git(
            self.root,
            "pull",
            "-q",
            "--no-edit",
            "--rebase" if is_rebase else "--no-rebase",
            "origin",
            "main",
        )
        for _ in range(50):
            with contextlib.suppress(KeeploreError):
                self.workspace.store.conclude()
            if not (self.root / ".git" / "rebase-merge").exists():
                break
            git(self.root, "-c", "core.editor=true", "rebase", "--continue")
        self._pop()

    def die(self, deed: str, point: int) -> None:
        command = [sys.executable, str(KILLED), str(self.root), deed, str(point)]
        subprocess.run(command, check=False, capture_output=True, timeout=120)

    def try_to_sync(self) -> str:
        with contextlib.suppress(KeeploreError):
            return synchronise(self.workspace).note
        return ""

    def expect_symmetry(self) -> None:
        """Both orders of two heads give one tree."""
        backend = self.workspace.store._backend()
        git(self.root, "fetch", "-q", "origin")
        ends = [
            git(self.root, "rev-parse", ref).stdout.strip()
            for ref in ("HEAD", "origin/main")
        ]
        trees = [merged_tree(backend, *order) for order in (ends, ends[::-1])]
        assert trees[0] == trees[1] and not trees[0][1]

    def pick(self, pick: int, *, is_open: bool = True) -> tuple[str, Memory] | None:
        paths = sorted(file.path for file in self.workspace.store.scan())
        if not paths:
            return None
        path = paths[pick % len(paths)]
        try:
            memory = parse((self.root / path).read_text())
        except KeeploreError:
            return None
        return (path, memory) if memory.id and (is_open or not memory.is_open) else None


class World:
    """A bare remote, the persons who use it, and what must be found in the end."""

    def __init__(self, count: int, models: EmbeddingModels, skews: list[int]) -> None:
        self.folder, self.models = Path(tempfile.mkdtemp()), models
        self.tokens: dict[
            str, set[str]
        ] = {}  # what was written by hand → the memories that it was in
        self.exchanges: dict[tuple[str, str], str] = {}  # question and answer → session
        self.gone: set[str] = set()  # ids that somebody once took away
        self.unsaid: set[str] = (
            set()
        )  # sessions of which somebody took a conversation away, with what others add to it
        self.removed: set[str] = set()  # tokens of lines that a person took out
        self.count = 0
        git(self.folder, "init", "-q", "--bare", "-b", "main", "remote.git")
        first = create(self.folder / "first" / "workspace", TEMPLATE).root
        git(first, "push", "-q", str(self.folder / "remote.git"), "main")
        shutil.rmtree(first.parent)
        self.people = []
        for number, skew in zip(range(count), skews, strict=False):
            name = "m" * (number + 1)
            git(
                self.folder,
                "clone",
                "-q",
                str(self.folder / "remote.git"),
                f"{name}/workspace",
            )
            self.people.append(Person(self, name, timedelta(days=skew)))
        for _ in range(4):
            self.people[0].remember(1)
        for person in self.people:
            person.try_to_sync()

    def close(self) -> None:
        for person in self.people:
            person.workspace.close()
        shutil.rmtree(self.folder)

    def token(self) -> str:
        self.count += 1
        token = f"tok{self.count}x"
        self.tokens[token] = set()
        return token

    def said(self, session: str, number: int) -> tuple[str, str]:
        pair = f"{session}q{number}x", f"{session}r{number}x"
        self.exchanges[pair] = session
        return pair

    def belongs(self, memory: Memory) -> None:
        text = serialise(memory)
        for token in self.tokens:
            if token in text:
                self.tokens[token].add(memory.id)

    def takes_away(self, memory: Memory) -> None:
        self.gone.add(memory.id)
        self.unsaid.add(str(memory.source.get("session", "")))
        self.dropped(serialise(memory))

    def dropped(self, line: str) -> None:
        self.removed |= {token for token in self.tokens if token in line}
        self.unsaid |= {
            session
            for (question, _), session in self.exchanges.items()
            if question in line
        }

    def cut(self, person: Person) -> None:
        """The remote cannot be reached any more, or again."""
        there = self.folder / "remote.git"
        url = str(there) if self.is_cut(person) else str(there.with_name("away.git"))
        git(person.root, "remote", "set-url", "origin", url)

    def is_cut(self, person: Person) -> bool:
        return "away" in git(person.root, "remote", "get-url", "origin").stdout

    def settle(self) -> None:
        """Everybody is online and syncs until there is nothing new."""
        for person in self.people:
            if self.is_cut(person):
                self.cut(person)
        for _ in range(SYNCS):
            notes = [synchronise(person.workspace).note for person in self.people]
            if set(notes) == {"nothing new"}:
                return
        raise AssertionError("the machines go on and on")

    def check(self) -> None:
        self.settle()
        states = [self._state(person) for person in self.people]
        for person, state in zip(self.people, states, strict=True):
            assert state == states[0], (
                f"{person.name} differs: {set(state.items()) ^ set(states[0].items())}"
            )
            self._check_git(person)
        self._check_texts(states[0])
        self._check_answers()

    def _state(self, person: Person) -> dict[str, str]:
        paths = (
            path
            for folder in OURS
            for path in sorted((person.root / folder).rglob("*"))
            if path.is_file()
        )
        paths = (
            path for path in paths if not path.name.startswith(".")
        )  # what a killed writer left goes in an hour
        return {
            path.relative_to(person.root).as_posix(): path.read_text() for path in paths
        }

    def _check_git(self, person: Person) -> None:
        status = git(person.root, "status", "--porcelain").stdout.splitlines()
        assert status == ["A  staged.txt", "?? mine.txt"]
        assert {path: (person.root / path).read_text() for path in MINE} == MINE
        assert git(person.root, "stash", "list").stdout == ""
        done = git(person.root, "fsck", "--strict", "--no-dangling", "--no-progress")
        assert (done.returncode, done.stdout) == (0, "")
        assert not list((person.root / ".git").rglob("*.lock"))

    def _check_texts(self, state: dict[str, str]) -> None:
        memories = {path: text for path, text in state.items() if path.endswith(".md")}
        everything = "\n".join(memories.values())
        for token, ids in self.tokens.items():
            is_lost = (
                token not in everything
                and token not in self.removed
                and not ids & self.gone
            )
            assert not is_lost, f"{token} of {ids} is lost"
        for path, text in memories.items():
            assert versions(text) is None, path
        folds = Counter(path.casefold() for path in memories)
        assert max(folds.values(), default=0) <= 1
        bodies = {
            parse(text).id: parse(text).body
            for path, text in memories.items()
            if text.startswith("---")
        }
        whole = [
            (e.user, e.assistant)
            for body in bodies.values()
            for e in Conversation.from_markdown(body).exchanges
        ]
        for (question, answer), session in self.exchanges.items():
            told = [said for said in whole if question in said[0]]
            assert told or session in self.unsaid, f"{question} is lost"
            for user, assistant in told:
                assert answer in assistant and user.count("question ") == 1, (
                    f"{question} is torn: {user} {assistant}"
                )
        names = [
            path.removeprefix("forgotten/mem_")
            for path in state
            if path.startswith("forgotten/")
        ]
        assert (
            not {f"mem_{name.removesuffix('.json')}" for name in names} & bodies.keys()
        )

    def _check_answers(self) -> None:
        audits = [
            sorted(map(str, person.workspace.store.records())) for person in self.people
        ]
        assert all(audit == audits[0] for audit in audits)
        for query in (
            "shared rule holds",
            "question about session",
            "ideas",
            "changed added",
        ):
            answers = [
                person.workspace.recall(
                    RecallRequest(query, person.root, text_only=True, limit=20)
                )
                for person in self.people
            ]
            found = [sorted(hit.memory_id for hit in answer.hits) for answer in answers]
            assert all(ids == found[0] for ids in found), query
