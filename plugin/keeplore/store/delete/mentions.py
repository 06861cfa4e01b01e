"""What tells of a purged memory beside its own text: tombstones from before the purge, which have
its path, lines of the audit, and the copies that a merge put beside it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from keeplore.errors import Corrupt, KeeploreError
from keeplore.memory import Memory, MemoryKind, as_memory
from keeplore.memory.digest import sources_of
from keeplore.memory.merge.memory_merge import TRIGGER
from keeplore.store import audit_log
from keeplore.store.git.git_command import output, run
from keeplore.store.git.inspection import introduced_blobs
from keeplore.store.paths import is_memory
from keeplore.store.tombstones import FOLDER, parse, without_text

# branches, tags, stashes, other machines' branches, and where they all once were
EVERYTHING = ("--all", "--reflog")
AT_ONCE = 500  # objects that git is asked for in one process

Place = tuple[str, str]  # blob and path


def without_mentions(
    root: Path, places: Iterable[Place], ids: Collection[str]
) -> dict[Place, bytes]:
    """Tombstones and audit files that tell of these memories, each with what is left when that is
    taken out; b"" for nothing.
    """
    paths: dict[str, list[str]] = {}
    for blob, path in places:
        if _is_mention(path, ids):
            paths.setdefault(blob, []).append(path)
    found = {}
    for blob, data in contents(root, paths):
        for path in paths[blob]:
            rest = _text_left(path, data, ids)
            if rest != data:
                found[blob, path] = rest
    return found


def _is_mention(path: str, ids: Collection[str]) -> bool:
    folder, _, name = path.partition("/")
    if folder == FOLDER:
        return any(memory_id in name for memory_id in ids)
    return folder == audit_log.FOLDER


def _text_left(path: str, data: bytes, ids: Collection[str]) -> bytes:
    if path.startswith(f"{audit_log.FOLDER}/"):
        return audit_log.without_memories(data, ids)
    return data if any(_is_bare(data, memory_id) for memory_id in ids) else b""


def _is_bare(data: bytes, memory_id: str) -> bool:
    """Is it a tombstone of a purge, which tells nothing of the text?"""
    try:
        tombstone = parse(data, memory_id)
    except Corrupt:
        return False
    return tombstone.is_purged and tombstone == without_text(tombstone)


def merge_copies(root: Path, ids: Iterable[str]) -> dict[str, None]:
    """The memories that hold words of these: versions that merges put beside them, and digests;
    also where only history has them.
    """
    introduced = introduced_blobs(root, *EVERYTHING)
    paths = {one.blob: one.path for one in introduced if is_memory(one.path)}
    links: dict[str, set[str]] = {}  # copy → what it contradicts
    for blob, data in contents(root, paths):
        if b"kind: digest" in data or (
            b"contradicts" in data and TRIGGER.encode() in data
        ):
            for copy in _copy(data, paths[blob]):
                links.setdefault(copy.id, set()).update(_copied_ids(copy))
    wanted = set(ids)
    found: dict[str, None] = {}
    while new := [
        id_ for id_ in sorted(links) if id_ not in wanted and links[id_] & wanted
    ]:
        wanted.update(new)
        found |= dict.fromkeys(new)
    return found


def _copy(data: bytes, path: str) -> Iterator[Memory]:
    try:
        memory = as_memory(data.decode(), path)
    except (KeeploreError, UnicodeDecodeError):
        return
    if memory.meta.get("trigger") == TRIGGER or memory.kind == MemoryKind.DIGEST:
        yield memory


def _copied_ids(memory: Memory) -> frozenset[str]:
    """Ids of the memories whose words it holds."""
    contradicted = (id_ for kind, id_ in memory.links if kind == "contradicts")
    return sources_of(memory) or frozenset(contradicted)


def objects_containing(root: Path, words: Collection[str]) -> dict[str, str]:
    """Every object that git has, reachable or not, with one of these words: id → its kind. A tree
    holds the names of files, a commit its message.
    """
    listed = output(
        root,
        "cat-file --batch-all-objects",
        "--batch-check=%(objectname) %(objecttype)",
    ).text
    kinds = dict(line.split(" ") for line in listed.splitlines())
    seen = [word.encode() for word in words]
    found = {}
    for name, data in contents(root, kinds):
        if any(word in data for word in seen):
            found[name] = kinds[name]
    return found


def files_containing(root: Path, words: Collection[str]) -> tuple[str, ...]:
    """The files of HEAD that contain one of these words."""
    patterns = [f"-e{word}" for word in words]
    found = (
        run(
            root, "grep -l -z -I -F --no-color --full-name", *patterns, "HEAD", "--"
        ).items
        if patterns
        else ()
    )
    return tuple(path.removeprefix("HEAD:") for path in found)


def messages(root: Path, words: Collection[str]) -> int:
    """How many commits have one of these words in their message."""
    patterns = [f"--grep={word}" for word in words]
    found = (
        run(root, "rev-list --all --fixed-strings", *patterns).text if patterns else ""
    )
    return len(found.splitlines())


def contents(root: Path, blobs: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    """Each object with its bytes as git stores them, unfiltered; missing objects are left out."""
    wanted = list(dict.fromkeys(blobs))
    for start in range(0, len(wanted), AT_ONCE):
        listed = "".join(f"{name}\n" for name in wanted[start : start + AT_ONCE])
        yield from _parse_objects(
            output(root, "cat-file --batch", stdin=listed.encode()).out
        )


def _parse_objects(printed: bytes) -> Iterator[tuple[str, bytes]]:
    """Name and bytes of each object that ``cat-file --batch`` printed."""
    at = 0
    while at < len(printed):
        end = printed.index(b"\n", at)
        name, *facts = printed[at:end].decode().split(" ")
        at = end + 1
        if len(facts) == 2:  # else it is missing
            size = int(facts[1])
            yield name, printed[at : at + size]
            at += size + 1
