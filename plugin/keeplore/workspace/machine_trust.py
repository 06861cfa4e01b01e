"""Whose machine wrote a memory: what another person's machine wrote counts as foreign until this
person accepts it.

Nothing in a file changes for it. Which machines are the person's follows from who made their
commits, and from what the person said on this machine, which nobody who writes to the workspace can
change.
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from keeplore.config.places import stamp
from keeplore.errors import RepositoryError, StoreError
from keeplore.memory import Memory
from keeplore.recall.injection_filter import BELIEVED, FOREIGN
from keeplore.store import Store
from keeplore.store.git import signature
from keeplore_hooks import durable

SAVED_EVERY = 200  # commits that are read again by the next process at most
THIS, YOURS, ACCEPTED, REFUSED, UNKNOWN = (
    "this machine",
    "yours",
    "accepted",
    "refused",
    "not accepted",
)


@dataclass(frozen=True, slots=True)
class TrustAnswers:
    """What the person said: ids of machines; ``addresses`` are those that were once the
    person's.
    """

    accepted: frozenset[str] = frozenset()
    refused: frozenset[str] = frozenset()
    addresses: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class CommitHistory:
    """What the commits up to ``head`` tell: machine → address and time of its newest one, and other
    addresses.

    ``touched`` are paths that a commit with an address of somebody else changed last, with that and
    its machine.
    """

    head: str = ""
    machines: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    others: frozenset[str] = frozenset()
    touched: Mapping[str, tuple[str, str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MachineRecord:
    """A machine that wrote to the workspace; ``state`` is one of the words above."""

    id: str
    email: str
    at: str  # of its newest commit, RFC 3339 with any offset; "" where no commit names it
    state: str


@dataclass(frozen=True, slots=True)
class _Known:
    history: CommitHistory
    answers: TrustAnswers
    is_alone: bool  # nobody else has written here


class MachineTrust:
    """Of one workspace; thread-safe. ``own`` are the ids of this machine, ``head`` tells the
    present commit.

    ``path_of`` tells where a memory lies. It costs one git command after each new commit.
    """

    def __init__(
        self,
        root: Path,
        head: Callable[[], str],
        path_of: Callable[[str], str | None],
        own: Iterable[str],
        *,
        cache: Path,
        state: Path,
    ) -> None:
        self._root = root
        self._head = head
        self._path_of = path_of
        self._own = frozenset(filter(None, own))
        self._cache = cache
        self._state = state
        self._lock = threading.Lock()
        self._history: CommitHistory | None = None
        self._saved = CommitHistory()
        self._found: tuple[object, _Known] | None = None

    def trust_of(self, memory: Memory) -> str:
        """The trust that a memory states, or ``foreign`` where another person's machine wrote or
        changed it.
        """
        machine = memory.source.get("machine")
        if memory.trust == FOREIGN or (not machine and memory.trust not in BELIEVED):
            return memory.trust
        is_mine = machine in self._own or self._is_mine(machine if isinstance(machine, str) else "")
        return memory.trust if is_mine and not self._is_touched(memory) else FOREIGN

    def is_foreign(self, memory: Memory) -> bool:
        """Did another person's machine write it?"""
        return memory.trust != FOREIGN and self.trust_of(memory) == FOREIGN

    @property
    def is_alone(self) -> bool:
        """Whether all that is here was written by this person's machines."""
        return self._look().is_alone

    def machines(self, others: Iterable[str] = ()) -> list[MachineRecord]:
        """This machine, those that commits name, and ``others``; the one that was seen last
        first.
        """
        known = self._look()
        ids = {
            *self._own,
            *known.history.machines,
            *known.answers.accepted,
            *known.answers.refused,
            *others,
        }
        seen = [
            MachineRecord(
                id_, *known.history.machines.get(id_, ("", "")), self._state_of(id_, known)
            )
            for id_ in ids
        ]
        return sorted(seen, key=lambda one: (one.at, one.id), reverse=True)

    def accept(self, ids: Iterable[str]) -> None:
        """Count these machines as the person's. Raises OSError."""
        chosen = frozenset(ids)
        self._answer(
            lambda said: TrustAnswers(said.accepted | chosen, said.refused - chosen, said.addresses)
        )

    def refuse(self, ids: Iterable[str]) -> None:
        """Never count these machines as the person's, whoever their commits are by. Raises
        OSError.
        """
        chosen = frozenset(ids)
        self._answer(
            lambda said: TrustAnswers(said.accepted - chosen, said.refused | chosen, said.addresses)
        )

    def _is_mine(self, machine: str) -> bool:
        known = self._look()
        if (
            machine in known.history.machines
            or machine in known.answers.refused | known.answers.accepted
        ):
            return self._state_of(machine, known) in (THIS, YOURS, ACCEPTED)
        return known.is_alone

    def _is_touched(self, memory: Memory) -> bool:
        """Did a commit of somebody else change the file last? A file may name any machine as its
        writer.
        """
        known = self._look()
        if known.is_alone or not known.history.touched:
            return False
        email, machine = known.history.touched.get(self._path_of(memory.id) or "", ("", ""))
        return bool(email) and not self._is_believed(email, machine, known.answers)

    def _is_believed(self, email: str, machine: str, said: TrustAnswers) -> bool:
        """Is a commit with this address, that names this machine, the person's own?"""
        if machine in said.refused:
            return False
        is_nobodys = not signature.is_somebodys(email) and machine in self._own
        return is_nobodys or email in said.addresses or (bool(machine) and machine in said.accepted)

    def _state_of(self, machine: str, known: _Known) -> str:
        if machine in self._own:
            return THIS
        for ids, word in ((known.answers.refused, REFUSED), (known.answers.accepted, ACCEPTED)):
            if machine in ids:
                return word
        email = known.history.machines.get(machine, ("", ""))[0]
        is_yours = email in known.answers.addresses or (not email and known.is_alone)
        return YOURS if is_yours else UNKNOWN

    def _look(self) -> _Known:
        """What is known now: read again where there is a new commit or answer."""
        with self._lock:
            key = (self._head(), stamp(self._state))
            if self._found is None or self._found[0] != key:
                known = self._read(key[0])
                # what was read may itself have been noted
                self._found = ((key[0], stamp(self._state)), known)
            return self._found[1]

    def _read(self, head: str) -> _Known:
        answers = _answers(self._state)
        try:
            addresses = signature.own_addresses(self._root)
            history = self._read_history(head, addresses | answers.addresses)
        except RepositoryError:  # what is not known is foreign
            return _Known(self._history or CommitHistory(), answers, is_alone=False)
        if not addresses <= answers.addresses:
            answers = TrustAnswers(answers.accepted, answers.refused, answers.addresses | addresses)
            with contextlib.suppress(OSError):  # asked again the next time
                _write(self._state, answers)
        return _Known(history, answers, self._has_nobody_else(history, answers))

    def _has_nobody_else(self, history: CommitHistory, answers: TrustAnswers) -> bool:
        mine = self._own | answers.accepted
        theirs = (
            id_
            for id_, (email, _) in history.machines.items()
            if id_ in answers.refused or (id_ not in mine and email not in answers.addresses)
        )
        strangers = {
            email for email in history.others if signature.is_somebodys(email)
        } - answers.addresses
        by = {who for who in history.touched.values() if signature.is_somebodys(who[0])}
        touches = any(not self._is_believed(email, machine, answers) for email, machine in by)
        return not strangers and next(theirs, None) is None and not touches

    def _read_history(self, head: str, addresses: frozenset[str]) -> CommitHistory:
        if self._history is None:
            self._history = self._saved = _history(self._cache)
        known = self._history
        if head and head != known.head:
            try:
                found = signature.summary(signature.authored_commits(self._root, head, known.head))
            except RepositoryError:  # the history was written anew and the old one is gone
                known = self._saved = CommitHistory()
                found = signature.summary(signature.authored_commits(self._root, head))
            touched = {
                path: by
                for path, by in {**known.touched, **found.touched}.items()
                if by[0] not in addresses
            }
            self._history = CommitHistory(
                head, {**known.machines, **found.machines}, known.others | found.others, touched
            )
            self._save(found.count)
        return self._history

    def _save(self, count: int) -> None:
        """Write the cache where something is new in it, or where much would have to be read
        again.
        """
        now, saved = self._history, self._saved
        if now is None or (_people(now) == _people(saved) and count < SAVED_EVERY and saved.head):
            return
        data = {
            "head": now.head,
            "machines": now.machines,
            "others": sorted(now.others),
            "touched": now.touched,
        }
        try:
            self._cache.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            durable.write(self._cache, json.dumps(data).encode())
            self._saved = now
        except OSError:
            return  # a full disk costs time alone

    def _answer(self, change: Callable[[TrustAnswers], TrustAnswers]) -> None:
        with self._lock:
            _write(self._state, change(_answers(self._state)))
            self._found = None


def _people(history: CommitHistory) -> Any:
    return (
        {id_: email for id_, (email, _) in history.machines.items()},
        history.others,
        history.touched,
    )


def _history(path: Path) -> CommitHistory:
    try:
        data = json.loads(path.read_bytes())
        machines = {
            str(id_): (str(email), str(at)) for id_, (email, at) in data["machines"].items()
        }
        touched = {
            str(path): (str(email), str(machine))
            for path, (email, machine) in data["touched"].items()
        }
        return CommitHistory(
            str(data["head"]), machines, frozenset(map(str, data["others"])), touched
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return CommitHistory()


def _answers(path: Path) -> TrustAnswers:
    try:
        data = json.loads(path.read_bytes())
        return TrustAnswers(*(frozenset(map(str, data[key])) for key in TrustAnswers.__slots__))
    except (OSError, ValueError, KeyError, TypeError):
        return TrustAnswers()


def _write(path: Path, answers: TrustAnswers) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    data = {key: sorted(getattr(answers, key)) for key in TrustAnswers.__slots__}
    durable.write(path, json.dumps(data, indent=2).encode())


def memories_by_machine(store: Store) -> dict[str, int]:
    """Machine → how many memories it wrote; every file is read."""
    found: Counter[str] = Counter()
    for file in store.scan():
        with contextlib.suppress(StoreError, OSError):
            machine = store.load(file.path).source.get("machine")
            if isinstance(machine, str) and machine:
                found[machine] += 1
    return dict(found)
