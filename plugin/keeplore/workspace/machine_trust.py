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
from dataclasses import astuple, dataclass, field, replace
from enum import StrEnum
from pathlib import Path

from keeplore.config.places import stamp
from keeplore.errors import RepositoryError
from keeplore.memory import Memory
from keeplore.recall.injection_filter import BELIEVED, FOREIGN
from keeplore.store import Store
from keeplore.store.git import signature
from keeplore.workspace.loading import load_or_none
from keeplore_hooks import durable

SAVED_EVERY = 200  # commits that are read again by the next process at most


class MachineState(StrEnum):
    """Whose a machine is, in a person's words."""

    THIS = "this machine"
    YOURS = "yours"
    ACCEPTED = "accepted"
    REFUSED = "refused"
    UNKNOWN = "not accepted"

    @property
    def is_believed(self) -> bool:
        return self not in (MachineState.REFUSED, MachineState.UNKNOWN)


@dataclass(frozen=True, slots=True)
class TrustAnswers:
    """What the person said: ids of machines; ``addresses`` are those that were once the
    person's.
    """

    accepted: frozenset[str] = frozenset()
    refused: frozenset[str] = frozenset()
    addresses: frozenset[str] = frozenset()

    @classmethod
    def load(cls, path: Path) -> TrustAnswers:
        try:
            data = json.loads(path.read_bytes())
            return cls(*(frozenset(map(str, data[key])) for key in cls.__slots__))
        except (OSError, ValueError, KeyError, TypeError):
            return cls()

    def save(self, path: Path) -> None:
        """Raises OSError."""
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        data = {key: sorted(getattr(self, key)) for key in self.__slots__}
        durable.write(path, json.dumps(data, indent=2).encode())


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

    @classmethod
    def load(cls, path: Path) -> CommitHistory:
        try:
            data = json.loads(path.read_bytes())
            others = frozenset(map(str, data["others"]))
            machines, touched = _pairs(data["machines"]), _pairs(data["touched"])
            return cls(str(data["head"]), machines, others, touched)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return cls()

    def save(self, path: Path) -> None:
        """Raises OSError."""
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        data = dict(zip(self.__slots__, astuple(self), strict=True)) | {
            "others": sorted(self.others)
        }
        durable.write(path, json.dumps(data).encode())

    def is_like(self, other: CommitHistory) -> bool:
        """Whether both tell the same of people, whenever they wrote."""
        return (self._addresses, self.others, self.touched) == (
            other._addresses,
            other.others,
            other.touched,
        )

    @property
    def _addresses(self) -> dict[str, str]:
        return {id_: email for id_, (email, _) in self.machines.items()}


@dataclass(frozen=True, slots=True)
class MachineRecord:
    """A machine that wrote to the workspace."""

    id: str
    email: str
    at: str  # of its newest commit, RFC 3339 with any offset; "" where no commit names it
    state: MachineState


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
        is_mine = self._is_mine(machine if isinstance(machine, str) else "")
        return memory.trust if is_mine and not self._is_touched(memory) else FOREIGN

    def is_foreign(self, memory: Memory) -> bool:
        """Did another person's machine write it?"""
        return memory.trust != FOREIGN and self.trust_of(memory) == FOREIGN

    @property
    def is_alone(self) -> bool:
        """Whether all that is here was written by this person's machines."""
        return self._known().is_alone

    def machines(self, others: Iterable[str] = ()) -> list[MachineRecord]:
        """This machine, those that commits name, and ``others``; the one that was seen last
        first.
        """
        known = self._known()
        commits, said = known.history.machines, known.answers
        ids = self._own.union(commits, said.accepted, said.refused, others)
        found = [
            MachineRecord(id_, *commits.get(id_, ("", "")), self._state_of(id_, known))
            for id_ in ids
        ]
        return sorted(found, key=lambda one: (one.at, one.id), reverse=True)

    def accept(self, ids: Iterable[str]) -> None:
        """Count these machines as the person's. Raises OSError."""
        self._answer(accepted=frozenset(ids))

    def refuse(self, ids: Iterable[str]) -> None:
        """Never count these machines as the person's, whoever their commits are by. Raises
        OSError.
        """
        self._answer(refused=frozenset(ids))

    def _answer(
        self,
        accepted: frozenset[str] = frozenset(),
        refused: frozenset[str] = frozenset(),
    ) -> None:
        with self._lock:
            said = TrustAnswers.load(self._state)
            replace(
                said,
                accepted=(said.accepted | accepted) - refused,
                refused=(said.refused | refused) - accepted,
            ).save(self._state)
            self._found = None

    def _is_mine(self, machine: str) -> bool:
        if machine in self._own:
            return True
        known = self._known()
        if machine in known.answers.refused.union(
            known.answers.accepted, known.history.machines
        ):
            return self._state_of(machine, known).is_believed
        return known.is_alone

    def _is_touched(self, memory: Memory) -> bool:
        """Did a commit of somebody else change the file last? A file may name any machine as its
        writer.
        """
        known = self._known()
        if known.is_alone or not known.history.touched:
            return False
        email, machine = known.history.touched.get(
            self._path_of(memory.id) or "", ("", "")
        )
        return bool(email) and not self._is_believed(email, machine, known.answers)

    def _is_believed(self, email: str, machine: str, said: TrustAnswers) -> bool:
        """Is a commit with this address, that names this machine, the person's own?"""
        if machine in said.refused:
            return False
        is_nobodys = not signature.is_somebodys(email) and machine in self._own
        return (
            is_nobodys
            or email in said.addresses
            or (bool(machine) and machine in said.accepted)
        )

    def _state_of(self, machine: str, known: _Known) -> MachineState:
        if machine in self._own:
            return MachineState.THIS
        if machine in known.answers.refused:
            return MachineState.REFUSED
        if machine in known.answers.accepted:
            return MachineState.ACCEPTED
        email = known.history.machines.get(machine, ("", ""))[0]
        is_yours = email in known.answers.addresses or (not email and known.is_alone)
        return MachineState.YOURS if is_yours else MachineState.UNKNOWN

    def _known(self) -> _Known:
        """What is known now: read again where there is a new commit or answer."""
        with self._lock:
            head = self._head()
            if self._found is None or self._found[0] != (head, stamp(self._state)):
                known = self._read(head)
                # what was read may itself have been noted
                self._found = ((head, stamp(self._state)), known)
            return self._found[1]

    def _read(self, head: str) -> _Known:
        answers = TrustAnswers.load(self._state)
        try:
            addresses = answers.addresses | signature.own_addresses(self._root)
            history = self._read_history(head, addresses)
        except RepositoryError:  # what is not known is foreign
            return _Known(self._history or CommitHistory(), answers, is_alone=False)
        if addresses != answers.addresses:
            answers = replace(answers, addresses=addresses)
            with contextlib.suppress(OSError):  # asked again the next time
                answers.save(self._state)
        return _Known(history, answers, self._has_nobody_else(history, answers))

    def _has_nobody_else(self, history: CommitHistory, answers: TrustAnswers) -> bool:
        mine = self._own | answers.accepted
        for machine, (email, _) in history.machines.items():
            if machine in answers.refused:
                return False
            if machine not in mine and email not in answers.addresses:
                return False
        if any(
            signature.is_somebodys(email)
            for email in history.others - answers.addresses
        ):
            return False
        return all(
            self._is_believed(email, machine, answers)
            for email, machine in set(history.touched.values())
            if signature.is_somebodys(email)
        )

    def _read_history(self, head: str, addresses: frozenset[str]) -> CommitHistory:
        if self._history is None:
            self._history = self._saved = CommitHistory.load(self._cache)
        known = self._history
        if not head or head == known.head:
            return known
        try:
            found = self._summary(head, known.head)
        except RepositoryError:  # the history was written anew and the old one is gone
            known = self._saved = CommitHistory()
            found = self._summary(head)
        touched = {**known.touched, **found.touched}
        now = CommitHistory(
            head,
            {**known.machines, **found.machines},
            known.others | found.others,
            {path: by for path, by in touched.items() if by[0] not in addresses},
        )
        is_new = found.count >= SAVED_EVERY or not now.is_like(self._saved)
        if is_new or not self._saved.head:
            self._save(now)
        self._history = now
        return now

    def _save(self, history: CommitHistory) -> None:
        """Keep what was read of the history for other processes."""
        with contextlib.suppress(OSError):  # a full disk costs time alone
            history.save(self._cache)
            self._saved = history

    def _summary(self, head: str, old: str = "") -> signature.AuthorshipSummary:
        return signature.summary(signature.authored_commits(self._root, head, old))


def _pairs(data: Mapping[str, tuple[str, str]]) -> dict[str, tuple[str, str]]:
    return {str(key): (str(one), str(other)) for key, (one, other) in data.items()}


def memories_by_machine(store: Store) -> dict[str, int]:
    """Machine → how many memories it wrote; every file is read."""
    found: Counter[str] = Counter()
    for file in store.scan():
        if memory := load_or_none(store, file.path):
            machine = memory.source.get("machine")
            if isinstance(machine, str) and machine:
                found[machine] += 1
    return dict(found)
