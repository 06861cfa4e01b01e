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
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import astuple, dataclass, field, replace
from enum import StrEnum
from pathlib import Path

from keeplore.config.places import stamp
from keeplore.errors import RepositoryError
from keeplore.index import load_or_none
from keeplore.index.timeline import DoubtedWriters
from keeplore.memory import Memory
from keeplore.recall.unasked.origin import MemorySource, SourceOf
from keeplore.recall.unasked.prompt_injection import FOREIGN
from keeplore.store import Store
from keeplore.store.git import signature
from keeplore.store.git.signature import CommitAuthor, LastCommit
from keeplore_hooks import durable

SAVED_EVERY = 200  # commits that are read again by the next process at most


class MachineState(StrEnum):
    """To whom a machine belongs, in a person's words."""

    THIS = "this machine"
    YOURS = "yours"
    ACCEPTED = "accepted"
    REFUSED = "refused"
    UNKNOWN = "not accepted"

    @property
    def is_believed(self) -> bool:
        return self not in (MachineState.REFUSED, MachineState.UNKNOWN)


_SOURCES = {
    MachineState.THIS: MemorySource.OWN,
    MachineState.YOURS: MemorySource.OWN,
    MachineState.ACCEPTED: MemorySource.ACCEPTED,
    MachineState.REFUSED: MemorySource.REFUSED,
    MachineState.UNKNOWN: MemorySource.WAITING,
}


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
        """Write the answers. Raises OSError."""
        durable.make_private(path.parent)
        data = {key: sorted(getattr(self, key)) for key in self.__slots__}
        durable.write(path, json.dumps(data, indent=2).encode())


@dataclass(frozen=True, slots=True)
class CommitHistory:
    """What the commits up to ``head`` tell of who wrote what.

    ``machines`` has the last commit of each machine, ``others`` the addresses of commits that name
    no machine, ``touched`` the paths that somebody else changed last, with the author.
    """

    head: str = ""
    machines: Mapping[str, LastCommit] = field(default_factory=dict)
    others: frozenset[str] = frozenset()
    touched: Mapping[str, CommitAuthor] = field(default_factory=dict)

    @classmethod
    def load(cls, path: Path) -> CommitHistory:
        try:
            data = json.loads(path.read_bytes())
            others = frozenset(map(str, data["others"]))
            machines = {
                id_: LastCommit(*pair) for id_, pair in _pairs(data["machines"])
            }
            touched = {
                path: CommitAuthor(*pair) for path, pair in _pairs(data["touched"])
            }
            return cls(str(data["head"]), machines, others, touched)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return cls()

    def save(self, path: Path) -> None:
        """Write what is known of the commits. Raises OSError."""
        durable.make_private(path.parent)
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
        return {machine: last.email for machine, last in self.machines.items()}


@dataclass(frozen=True, slots=True)
class MachineRecord:
    """A machine that wrote to the workspace."""

    id: str
    email: str
    at: str  # of its newest commit, RFC 3339 with any offset; "" where no commit names it
    state: MachineState


@dataclass(frozen=True, slots=True)
class TrustKnowledge:
    """What commits tell, and what the person said."""

    history: CommitHistory
    answers: TrustAnswers
    is_alone: bool  # nobody else has written here
    is_read: bool = True  # git told its history

    @property
    def accepted_addresses(self) -> frozenset[str]:
        """The addresses with which accepted machines commit."""
        machines = self.history.machines
        accepted = self.answers.accepted & machines.keys()
        emails = {machines[machine].email for machine in accepted}
        return frozenset(filter(signature.is_somebodys, emails))


class MachineTrust:
    """Which machines' memories are believed in a workspace; thread-safe. ``own`` are the ids of
    this machine, ``head`` tells the present commit.

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
        self.state = state
        self._lock = threading.Lock()
        self._history: CommitHistory | None = None
        self._saved = CommitHistory()
        self._found: tuple[object, TrustKnowledge] | None = None

    def trust_of(self, memory: Memory) -> str:
        """The trust that a memory states, or ``foreign`` where another person's machine wrote or
        changed it.
        """
        if memory.trust == FOREIGN:
            return FOREIGN
        machine = memory.source.get("machine")
        name = machine if isinstance(machine, str) else ""
        source = self._source(
            name, lambda: self._path_of(memory.id) or "", self._current_knowledge()
        )
        return memory.trust if source.is_believed else FOREIGN

    def sources(self) -> SourceOf:
        """Tells of rows of the index whose machine they are from, as of now."""
        known = self._current_knowledge()
        return lambda row: self._source(row.machine, lambda: row.path, known)

    def is_foreign(self, memory: Memory) -> bool:
        """Did another person's machine write it?"""
        return memory.trust != FOREIGN and self.trust_of(memory) == FOREIGN

    def is_believed_file(self, path: str) -> bool:
        """Whether the person or an accepted machine changed this file last, so that agents may be
        shown it.
        """
        known = self._current_knowledge()
        return known.is_read and self._source_of_commit(lambda: path, known).is_believed

    def doubted(self, machines: Iterable[str]) -> DoubtedWriters:
        """The writers among these that are not believed, and the files that such a writer
        changed.
        """
        known = self._current_knowledge()

        def is_doubted(path: str) -> bool:
            return not self._source_of_commit(lambda: path, known).is_believed

        return DoubtedWriters(
            tuple(
                m for m in machines if not self._source_of_machine(m, known).is_believed
            ),
            tuple(filter(is_doubted, known.history.touched)),
        )

    @property
    def is_alone(self) -> bool:
        """Whether all that is here was written by this person's machines."""
        return self._current_knowledge().is_alone

    def machines(self, others: Iterable[str] = ()) -> list[MachineRecord]:
        """This machine, those that commits name, and ``others``; the one that was seen last
        first.
        """
        known = self._current_knowledge()
        commits, said = known.history.machines, known.answers
        found = [
            MachineRecord(id_, *commits.get(id_, ("", "")), self._state_of(id_, known))
            for id_ in self._own.union(commits, said.accepted, said.refused, others)
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
            said = TrustAnswers.load(self.state)
            replace(
                said,
                accepted=(said.accepted | accepted) - refused,
                refused=(said.refused | refused) - accepted,
            ).save(self.state)
            self._found = None

    def _source(
        self, machine: str, path: Callable[[], str], known: TrustKnowledge
    ) -> MemorySource:
        """The source of a memory at a path that names a machine as its writer."""
        by_name = self._source_of_machine(machine, known)
        return max(by_name, self._source_of_commit(path, known))

    def _source_of_machine(self, machine: str, known: TrustKnowledge) -> MemorySource:
        said = known.answers
        if machine in said.refused.union(said.accepted, known.history.machines):
            return _SOURCES[self._state_of(machine, known)]
        if machine in self._own or known.is_alone:
            return MemorySource.OWN
        # a file that names none is of whoever committed it
        is_own = not machine and known.is_read
        return MemorySource.OWN if is_own else MemorySource.WAITING

    def _source_of_commit(
        self, path: Callable[[], str], known: TrustKnowledge
    ) -> MemorySource:
        """The source of a file by who changed it last: the file itself may name any machine as its
        writer.
        """
        author = known.history.touched.get(path()) if known.history.touched else None
        if author is None:
            return MemorySource.OWN
        source = self._source_of_author(*author, known)
        is_anybodys = source is MemorySource.WAITING and known.is_alone
        return MemorySource.OWN if is_anybodys else source

    def _source_of_author(
        self, email: str, machine: str, known: TrustKnowledge
    ) -> MemorySource:
        """The source of a commit with this address, which names this machine, "" for none."""
        said = known.answers
        if machine in said.refused:
            return MemorySource.REFUSED
        is_nobodys = not signature.is_somebodys(email) and machine in self._own
        if is_nobodys or email in said.addresses:
            return MemorySource.OWN
        is_by_hand = not machine and email in known.accepted_addresses
        is_accepted = is_by_hand or machine in said.accepted
        return MemorySource.ACCEPTED if is_accepted else MemorySource.WAITING

    def _state_of(self, machine: str, known: TrustKnowledge) -> MachineState:
        if machine in self._own:
            return MachineState.THIS
        if machine in known.answers.refused:
            return MachineState.REFUSED
        if machine in known.answers.accepted:
            return MachineState.ACCEPTED
        email = known.history.machines.get(machine, ("", ""))[0]
        is_yours = email in known.answers.addresses or (not email and known.is_alone)
        return MachineState.YOURS if is_yours else MachineState.UNKNOWN

    def _current_knowledge(self) -> TrustKnowledge:
        """What is known now: read again where there is a new commit or answer."""
        with self._lock:
            head = self._head()
            if self._found is None or self._found[0] != (head, stamp(self.state)):
                known = self._read_knowledge(head)
                # what was read may itself have been noted
                self._found = ((head, stamp(self.state)), known)
            return self._found[1]

    def _read_knowledge(self, head: str) -> TrustKnowledge:
        answers = TrustAnswers.load(self.state)
        try:
            addresses = answers.addresses | signature.own_addresses(self._root)
            history = self._read_history(head, addresses)
        except RepositoryError:  # what is not known is foreign
            history = self._history or CommitHistory()
            return TrustKnowledge(history, answers, is_alone=False, is_read=False)
        if addresses != answers.addresses:
            answers = replace(answers, addresses=addresses)
            with contextlib.suppress(OSError):  # asked again the next time
                answers.save(self.state)
        return TrustKnowledge(history, answers, self._has_nobody_else(history, answers))

    def _has_nobody_else(self, history: CommitHistory, answers: TrustAnswers) -> bool:
        """Whether every author and machine of the history is this person or believed by them."""
        mine = self._own | answers.accepted
        for machine, last in history.machines.items():
            if machine in answers.refused:
                return False
            if machine not in mine and last.email not in answers.addresses:
                return False
        known = TrustKnowledge(history, answers, is_alone=False)
        believed = answers.addresses | known.accepted_addresses
        if any(map(signature.is_somebodys, history.others - believed)):
            return False
        authors = set(history.touched.values())
        named = (one for one in authors if signature.is_somebodys(one.email))
        return all(self._source_of_author(*one, known).is_believed for one in named)

    def _read_history(self, head: str, addresses: frozenset[str]) -> CommitHistory:
        """Who committed what up to ``head``: what is known already and what came since."""
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
            {path: by for path, by in touched.items() if by.email not in addresses},
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


def _pairs(
    data: Mapping[str, tuple[str, str]],
) -> Iterator[tuple[str, tuple[str, str]]]:
    """The pairs of an object of JSON by their keys, all as text."""
    for key, (one, other) in data.items():
        yield str(key), (str(one), str(other))


def memories_by_machine(store: Store) -> dict[str, int]:
    """Machine → how many memories it wrote; every file is read."""
    found: Counter[str] = Counter()
    for file in store.scan():
        if memory := load_or_none(store, file.path):
            machine = memory.source.get("machine")
            if isinstance(machine, str) and machine:
                found[machine] += 1
    return dict(found)
