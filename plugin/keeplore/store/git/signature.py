"""Who a commit is by."""

from __future__ import annotations

import contextlib
import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from keeplore.errors import RepositoryError
from keeplore.store.git.git_command import run
from keeplore.store.git.git_settings import settings
from keeplore.store.repository_state import directories

# for a person who never told git a name; the domain is reserved and never receives mail
NAME = "Keeplore"
EMAIL = "keeplore@keeplore.invalid"
_ASKED = r"^(user\.(name|email)|author\.(name|email)|commit\.gpgsign)$"


@dataclass(frozen=True, slots=True)
class Signature:
    name: str = NAME
    email: str = EMAIL
    is_signing: bool = False  # commits are to be signed

    @property
    def environment(self) -> dict[str, str]:
        """The variables by which git takes author and committer."""
        return {
            f"GIT_{role}_{what}": value
            for role in ("AUTHOR", "COMMITTER")
            for what, value in (("NAME", self.name), ("EMAIL", self.email))
        }


def signature_of(root: Path) -> Signature:
    """The identity that the user's git has in a repository; libgit2 reads less of the configuration
    than git does.
    """
    values = {key.lower(): value for key, value in settings(root, _ASKED)}
    name = _clean(values.get("author.name") or values.get("user.name") or "") or NAME
    email = (
        _clean(values.get("author.email") or values.get("user.email") or "") or EMAIL
    )
    return Signature(
        name,
        email,
        values.get("commit.gpgsign", "").lower() in ("true", "yes", "on", "1"),
    )


def _clean(text: str) -> str:
    """The text without the characters that a commit's header cannot hold."""
    return "".join(char for char in text if char not in "<>\n\r\0").strip(" .,:;\"'\\")


TRAILER = "Keeplore-Machine"
_MACHINE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
# no value can hold the separator: git ends a message and a path at a zero byte
_FORMAT = (
    f"%ae%x00%aI%x00%(trailers:key={TRAILER},valueonly,unfold,separator=%x2C)%x00%P%x00"
)
_BY = re.compile(rb"<([^<>\n]*)> \d+ [+-]\d{4}\t")
_LOG = (
    "log -z -c --name-only --topo-order --no-show-signature --no-mailmap --encoding=UTF-8"
    " --no-renames"
)
MAX_REFLOG = 256 * 1024  # bytes from its end


class CommitAuthor(NamedTuple):
    email: str
    machine: str  # "" where the commit names none


class LastCommit(NamedTuple):
    """The newest commit of a machine: its author's address and time."""

    email: str
    at: str


@dataclass(frozen=True, slots=True)
class AuthoredCommit:
    """A commit's author; ``machine`` is "" where nothing names one, ``at`` the author's time.

    ``paths`` are what it changed; of a merge only what none of its sides has.
    """

    machine: str
    email: str
    at: str
    paths: tuple[str, ...]
    is_merge: bool


def with_machine(message: str, machine: str) -> str:
    """A commit's message that names the machine which makes it."""
    lines = trailer(machine)[1:]
    return f"{message.rstrip()}\n\n{lines[0]}\n" if lines else message


def trailer(machine: str) -> tuple[str, ...]:
    """The options of `git commit` that name the machine in the message."""
    return ("--trailer", f"{TRAILER}: {machine}") if _MACHINE.fullmatch(machine) else ()


def authored_commits(
    root: Path, new: str, old: str = "", *within: str
) -> Iterator[AuthoredCommit]:
    """The commits that ``new`` has and ``old`` has not, children first, those alone that changed
    something ``within`` these paths where there are any. Raises RepositoryError for an unknown one.
    """
    # a path may hold anything but this, which nobody can foresee
    begin = secrets.token_hex(16)
    span = [f"--format=tformat:{begin}{_FORMAT}", new, f"^{old}" if old else new, "--"]
    done = run(root, _LOG, *span, *within)
    if done.code:
        raise RepositoryError(
            f"git cannot list the commits up to {new[:12]}",
            "Run `keeplore doctor --deep`",
        )
    for record in done.out.decode("utf-8", "surrogateescape").split(begin)[1:]:
        yield _authored_commit(record)


def _authored_commit(record: str) -> AuthoredCommit:
    """A commit from a record of the log."""
    email, at, machines, parents, *names = record.split("\0")
    named = machines.rpartition(",")[2].strip()
    machine = named if _MACHINE.fullmatch(named) else ""
    paths = tuple(name for text in names if (name := text.removeprefix("\n")))
    return AuthoredCommit(machine, address(email), at, paths, is_merge=" " in parents)


def own_addresses(root: Path) -> frozenset[str]:
    """The e-mail addresses with which the person works in this clone: git's setting, and what its
    log of HEAD has.

    That log is written here alone and never fetched, so nobody else's commits can add to it.
    """
    found = {signature_of(root).email}
    with (
        contextlib.suppress(OSError),
        (directories(root).own / "logs" / "HEAD").open("rb") as log,
    ):
        log.seek(max(log.seek(0, 2) - MAX_REFLOG, 0))
        found |= {
            match[1].decode("utf-8", "replace") for match in _BY.finditer(log.read())
        }
    return frozenset(filter(is_somebodys, map(address, found)))


def address(email: str) -> str:
    """An address in the form in which two are compared."""
    return email.strip().casefold()


def is_somebodys(email: str) -> bool:
    """False for what stands there where git was told no address, which may be anyone's."""
    return "@" in email and email != EMAIL


@dataclass(frozen=True, slots=True)
class AuthorshipSummary:
    """What commits tell together of who wrote what.

    ``machines`` has the last commit of each machine, ``others`` the addresses of commits that name
    no machine, ``touched`` for each path the author of the newest commit that changed it; of a
    merge, only what none of its sides has.
    """

    machines: dict[str, LastCommit]
    others: frozenset[str]
    touched: dict[str, CommitAuthor]
    count: int  # of the commits


def summary(commits: Iterator[AuthoredCommit]) -> AuthorshipSummary:
    """Read commits, children first."""
    machines: dict[str, LastCommit] = {}
    touched: dict[str, CommitAuthor] = {}
    others: set[str] = set()
    count = 0
    for count, commit in enumerate(commits, 1):  # noqa: B007  # how many there were
        if commit.machine:
            machines.setdefault(commit.machine, LastCommit(commit.email, commit.at))
        else:
            others.add(commit.email)
        for path in commit.paths:
            touched.setdefault(path, CommitAuthor(commit.email, commit.machine))
    return AuthorshipSummary(machines, frozenset(others), touched, count)
