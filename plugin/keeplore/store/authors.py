"""Which machine made a commit, and whose: a line at the end of its message, and its author."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from keeplore.errors import RepositoryError
from keeplore.store.git import run
from keeplore.store.people import EMAIL, person_of
from keeplore.store.repository import directories

TRAILER = "Keeplore-Machine"
_MACHINE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
# no value can hold the separator: git ends a message at a zero byte
_FORMAT = f"tformat:%ae%x00%aI%x00%(trailers:key={TRAILER},valueonly,unfold,separator=%x2C)%x00"
_BY = re.compile(rb"<([^<>\n]*)> \d+ [+-]\d{4}\t")
MAX_REFLOG = 256 * 1024  # bytes from its end


@dataclass(frozen=True, slots=True)
class Authored:
    """One commit; ``machine`` is "" where nothing names one, ``at`` the author's time."""

    machine: str
    email: str
    at: str


def with_machine(message: str, machine: str) -> str:
    """A commit's message that names the machine which makes it."""
    return f"{message.rstrip()}\n\n{TRAILER}: {machine}\n" if _MACHINE.fullmatch(machine) else message


def authored(root: Path, new: str, old: str = "") -> Iterator[Authored]:
    """The commits that ``new`` has and ``old`` has not, children first. Raises RepositoryError for an unknown one."""
    span = [new, f"^{old}"] if old else [new]
    options = ("--topo-order", "--no-show-signature", "--no-mailmap", "--encoding=UTF-8", f"--format={_FORMAT}")
    done = run(root, "log", *options, *span, "--")
    if done.code:
        raise RepositoryError(f"git cannot list the commits up to {new[:12]}", "Run `keeplore doctor --deep`")
    values = done.out.decode("utf-8", "replace").split("\0")[:-1]
    for email, at, machines in zip(values[::3], values[1::3], values[2::3], strict=False):
        named = machines.rpartition(",")[2].strip()
        yield Authored(named if _MACHINE.fullmatch(named) else "", address(email), at)


def own_addresses(root: Path) -> frozenset[str]:
    """The e-mail addresses with which the person works in this clone: git's setting, and what its log of HEAD has.

    That log is written here alone and never fetched, so nobody else's commits can add to it.
    """
    found = {person_of(root).email}
    try:
        with (directories(root).own / "logs" / "HEAD").open("rb") as log:
            log.seek(max(log.seek(0, 2) - MAX_REFLOG, 0))
            found |= {match[1].decode("utf-8", "replace") for match in _BY.finditer(log.read())}
    except OSError:
        pass
    return frozenset(address(email) for email in found if is_somebodys(address(email)))


def address(email: str) -> str:
    return email.strip().casefold()


def is_somebodys(email: str) -> bool:
    """False for what stands there where git was told no address, which may be anyone's."""
    return "@" in email and email != EMAIL


def first_of(commits: Iterator[Authored]) -> tuple[dict[str, tuple[str, str]], frozenset[str], int]:
    """Machine → address and time of its newest commit, the addresses of those that name no machine, and how many."""
    machines: dict[str, tuple[str, str]] = {}
    others: set[str] = set()
    count = 0
    for count, commit in enumerate(commits, 1):  # noqa: B007  # how many there were
        if commit.machine:
            machines.setdefault(commit.machine, (commit.email, commit.at))
        else:
            others.add(commit.email)
    return machines, frozenset(others), count
