"""Versions of memories that do not form one line, and links that lead nowhere."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Set

from keeplore.cli.doctor.finding import DoctorFinding, note, several, wrong
from keeplore.index import MemoryRow
from keeplore.memory.chains import Chain
from keeplore.memory.names import short_id
from keeplore.workspace.workspace import Workspace


def chain_findings(part: str, workspace: Workspace) -> Iterator[DoctorFinding]:
    index = workspace.index
    odd = [
        chain for chain in index.chains() if chain.has_cycle or len(chain.leaves) > 1
    ]
    rows = index.memories([id_ for chain in odd for id_ in chain.members])
    for chain in odd:
        yield _odd_chain(part, chain, rows)
    yield from _dangling_links(part, workspace)


def left_versions(workspace: Workspace) -> list[tuple[str, str]]:
    """The paths of memories that are newer versions of a forgotten one, with its id."""
    return _versions_of(
        workspace.store.tombstones.ids(), workspace.index.dangling_links()
    )


def _versions_of(
    gone: Set[str], links: Iterable[tuple[str, str, str]]
) -> list[tuple[str, str]]:
    """Of links, each with path, kind and target, those that say of a newer version what it
    replaces, without the kind.
    """
    return [
        (path, target)
        for path, link, target in links
        if link == "supersedes" and target in gone
    ]


def _dangling_links(part: str, workspace: Workspace) -> Iterator[DoctorFinding]:
    gone = workspace.store.tombstones.ids()
    links = workspace.index.dangling_links()
    lost = [link for link in links if link[2] not in gone]
    remedy = "Mend the link, or fetch what it names"
    yield from several(
        note(part, f"{' '.join(link)}, which is not here", remedy) for link in lost
    )
    purged = {
        tombstone.id for tombstone in workspace.store.tombstones if tombstone.is_purged
    }
    yield from several(
        _left_version(part, path, target, is_purged=target in purged)
        for path, target in _versions_of(gone, links)
    )


def _left_version(
    part: str, path: str, forgotten: str, *, is_purged: bool
) -> DoctorFinding:
    """A version that one machine made while another one forgot all that there were."""
    digits = short_id(forgotten)
    message = f"{path} is a newer version of {digits}, which was forgotten meanwhile"
    if is_purged:
        purge = f"`keeplore forget {shlex.quote(path)} --purge` takes it away too"
        return wrong(part, f"{message}, also from git's history", purge)
    remedy = f"`keeplore forget {shlex.quote(path)}` takes it away too"
    back = f"`keeplore restore {digits}` brings back what was before it"
    return wrong(part, message, f"{remedy}; {back}")


def _odd_chain(part: str, chain: Chain, rows: Mapping[str, MemoryRow]) -> DoctorFinding:
    shown = chain.members if chain.has_cycle else chain.leaves
    places = ", ".join(rows[id_].path if id_ in rows else id_ for id_ in shown)
    if chain.has_cycle:
        return wrong(
            part,
            f"these supersede one another in a circle: {places}",
            "Take out a `supersedes` of one",
        )
    return wrong(
        part,
        f"two versions replace the same memory: {places}",
        f"`keeplore edit {short_id(chain.head)}` makes a version that replaces them all",
    )
