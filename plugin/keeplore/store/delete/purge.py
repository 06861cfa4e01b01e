"""Taking the text of forgotten memories out of git itself: out of every commit, ref and log, and
out of the objects.

The tombstone with ``is_purged`` comes first, on disk and committed. From it every later step can be
done again after a kill, and every other machine does the same to its own history when it sees the
tombstone.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import filterfalse
from pathlib import Path

from keeplore.errors import Corrupt, RepositoryError
from keeplore.memory.location import digits_of
from keeplore.memory.names import short_id
from keeplore.store.commit_cycle import RefMove, check_merged, move, run_cycle
from keeplore.store.delete import rewrite_history
from keeplore.store.delete.delete import KEPT, remove_forgotten
from keeplore.store.delete.mentions import merge_copies
from keeplore.store.delete.reflog_gc import collect_garbage, copy_notes, erase_traces
from keeplore.store.delete.rewrite_history import (
    HistoryRewriter,
    git_reader,
    held_at,
    library_reader,
    named_by,
)
from keeplore.store.git.git_command import output, run
from keeplore.store.git.git_locks import CommitLock
from keeplore.store.git.libgit_backend import LibgitBackend, synced_together
from keeplore.store.git.objects import CycleCache, Unsupported
from keeplore.store.merge.merge import LOSS_FROM, LOSS_SHARE
from keeplore.store.paths import is_memory, is_ours
from keeplore.store.repository_state import (
    Directories,
    check_branch,
    check_idle,
    directories,
)
from keeplore.store.results import PurgePlan, PurgeResult
from keeplore.store.tombstones import (
    FOLDER,
    Tombstone,
    Tombstones,
    id_of,
    joined,
    parse,
    without_text,
)
from keeplore_hooks import durable

MESSAGE = "Purge forgotten memory"
# in the git directory, while objects of a purge are still to be removed: their ids
PENDING = "keeplore.purge"
# in the git directory: up to which commits nothing purged was found; may be deleted
CLEAN = "keeplore.clean"
_BY_OTHER_MEANS = (
    "Keeplore cannot rewrite such a repository; `git filter-repo` can, see "
    "docs/forgetting.md"
)
SHOWN = 5  # paths in a message


def plan(root: Path, branch: str, cache: CycleCache, ids: Iterable[str]) -> PurgePlan:
    """What a purge of these memories would do; nothing is written.

    Raises RepositoryBusy, or RepositoryError where Keeplore cannot rewrite this repository.
    """
    library = _library(root, branch, cache)
    wanted = dict.fromkeys(ids, ())
    found = rewrite_history.find(root, library_reader(library.repository), wanted)
    texts = [text for text in found if text.memory_id]
    others = [text for text in found if not text.memory_id]
    changed = rewrite_history.after(root, {text.commit for text in found})
    touched = _touched_refs(root, changed)
    local = [(ref, count) for ref, count in touched.items() if not _is_remote(ref)]
    signed_commits = rewrite_history.signed_commits(library.repository, changed)
    return PurgePlan(
        ids=tuple(wanted),
        paths=tuple(sorted({text.path for text in texts})),
        blobs=tuple(sorted({text.blob for text in texts})),
        mentions=tuple(sorted({text.path for text in others})),
        commits=len(changed),
        refs=tuple(local),
        remote_refs=tuple(filter(_is_remote, touched)),
        signed=(*signed_commits, *_signed_tags(library, touched)),
    )


def _touched_refs(root: Path, changed: Iterable[str]) -> dict[str, int]:
    """Branch or tag → how many of the changed commits it has, where it has any."""
    touched = {}
    for ref, _, _ in _refs(root):
        if ref.startswith(("refs/heads/", "refs/tags/", "refs/remotes/")):
            listed = run(root, "rev-list", ref, "--").text.splitlines()
            if count := len(set(listed).intersection(changed)):
                touched[ref] = count
    return touched


def _is_remote(ref: str) -> bool:
    """Whether it is a branch of a remote."""
    return ref.startswith("refs/remotes/")


def check(root: Path, branch: str, cache: CycleCache, ids: Iterable[str]) -> None:
    """Raise RepositoryBusy or RepositoryError where these memories cannot be purged now."""
    library = _library(root, branch, cache)
    wanted = dict.fromkeys(ids, ())
    texts = rewrite_history.find(root, library_reader(library.repository), wanted)
    _staged_paths(library, {text.blob for text in texts if text.memory_id}, wanted)


def mark_purged(
    root: Path,
    tombstones: Tombstones,
    copies: Mapping[str, Sequence[str]],
    machine: str,
    at: str,
) -> None:
    """Write the tombstones of a purge, then remove the files; ``copies`` is id → paths. Raises as
    ``remove_forgotten``.

    That is all that has to be remembered: ``carry_out`` does the rest, now or after a kill.
    """
    # of a text that never left this machine the tombstone holds no hash, because a short one could
    # be guessed
    shared = rewrite_history.find(
        root, git_reader(root), dict.fromkeys(copies, ()), ("--remotes",)
    )
    for memory_id in copies:
        known = tombstones.get(memory_id) or Tombstone(memory_id, at, machine)
        blobs = {text.blob for text in shared if text.memory_id == memory_id}
        merged = tuple(sorted(blobs.union(known.blobs)))
        tombstones.write(without_text(replace(known, is_purged=True, blobs=merged)))
    remove_forgotten(root, copies, "keeplore forget --purge")


def adopt(tombstones: Tombstones, theirs: Iterable[Tombstone]) -> None:
    """Write down which memories another machine purged."""
    for tombstone in theirs:
        known = tombstones.get(tombstone.id)
        both = joined(known, tombstone) if known else without_text(tombstone)
        if tombstone.is_purged and both != known:
            tombstones.write(both)


def include_copies(root: Path, tombstones: Tombstones, machine: str, at: str) -> None:
    """Purge what merges put beside purged memories as well; the next commit removes its files."""
    for memory_id in merge_copies(root, purged_blobs(tombstones)):
        known = tombstones.get(memory_id) or Tombstone(memory_id, at, machine)
        if not known.is_purged:
            tombstones.write(without_text(replace(known, is_purged=True)))


def check_loss(
    theirs: Iterable[Tombstone], known: Collection[str], paths: Sequence[str]
) -> None:
    """Refuse to follow another machine that purged most of our memory; ``known`` are ids that are
    purged here.

    Raises RepositoryError.
    """
    new = {
        short_id(tombstone.id)
        for tombstone in theirs
        if tombstone.is_purged and tombstone.id not in known
    }
    lost = sum(digits_of(path) in new for path in paths) if new else 0
    if lost > LOSS_FROM and lost > len(paths) * LOSS_SHARE:
        raise RepositoryError(
            f"another machine purged {lost} of {len(paths)} memories that are here",
            "If that is meant, run `git merge` in the workspace by hand; the next sync goes "
            "on from there",
        )


def purged_blobs(tombstones: Iterable[Tombstone]) -> dict[str, frozenset[str]]:
    """Id → blobs of every memory that was purged."""
    found: dict[str, frozenset[str]] = {}
    for tombstone in tombstones:
        if tombstone.is_purged:
            found[tombstone.id] = found.get(tombstone.id, frozenset()) | set(
                tombstone.blobs
            )
    return found


def is_clean(
    root: Path, wanted: Mapping[str, frozenset[str]], commits: Sequence[str]
) -> bool:
    """Whether history up to these commits holds nothing of ``wanted`` (id → blobs), and no purge is
    half done.

    What was found clean once is not looked at again.
    """
    own = directories(root).own
    if not wanted:
        return True
    if (own / PENDING).exists():
        return False
    tips = list(filter(None, commits))
    known = _known_clean(own, wanted)
    new = [commit for commit in tips if commit not in known]
    if not new:
        return True
    revisions = [*new, *_exclusions(root, known)]
    if rewrite_history.find(root, git_reader(root), wanted, revisions):
        return False
    note = {"marks": _marks(wanted), "commits": tips}
    durable.write(own / CLEAN, json.dumps(note).encode())
    return True


def _exclusions(root: Path, commits: Iterable[str]) -> Iterator[str]:
    """Arguments that leave out the history of these commits; commits that no longer exist are
    passed over.
    """
    for commit in commits:
        if run(root, "cat-file -e", commit).code == 0:
            yield f"^{commit}"


def new_tombstones(root: Path, head: str, other: str) -> list[Tombstone]:
    """The readable tombstones of a commit that HEAD lacks or has in another version."""
    found, read = [], git_reader(root)
    before = head or output(root, "hash-object -t tree --stdin").text
    diff = output(root, "diff-tree -r -z --no-renames", before, other, "--", FOLDER)
    for (_, _, _, blob, _), path in diff.changes:
        memory_id, data = id_of(path), read(blob, path)
        if memory_id and data:
            with contextlib.suppress(Corrupt):
                found.append(parse(data, memory_id))
    return found


def carry_out(
    root: Path, branch: str, cache: CycleCache, tombstones: Tombstones
) -> PurgeResult:
    """Take everything that tombstones call purged out of history and out of git's objects.

    The removed files and the tombstones are committed before, so that the index needs no change
    when HEAD moves. Refs, reflogs and stashes follow; the index and the person's files stay. Can be
    run again after a kill. Raises RepositoryBusy or RepositoryError.
    """
    wanted = purged_blobs(tombstones)
    if not wanted:
        return PurgeResult()

    def cycle(lock: CommitLock, backend: object) -> PurgeResult:
        if not isinstance(backend, LibgitBackend):
            raise _cannot_rewrite("libgit2 cannot read it")
        return _rewrite_without(lock, backend, _check_possible(backend, branch), wanted)

    done = run_cycle(root, cache, cycle)
    _erase(root)
    return done


def _rewrite_without(
    lock: CommitLock,
    backend: LibgitBackend,
    ref: str,
    wanted: Mapping[str, frozenset[str]],
) -> PurgeResult:
    """Rewrite history without these memories' texts, and remove what git keeps of them."""
    root = backend.root
    texts = rewrite_history.find(root, library_reader(backend.repository), wanted)
    found = {text.blob for text in texts}
    blobs = found.union(*wanted.values(), _kept_texts(root, wanted))
    _unstage(backend, blobs, wanted)
    rewriter = HistoryRewriter(backend.repository, texts)
    with synced_together():
        rewriter.rewrite(rewrite_history.after(root, {text.commit for text in texts}))
    _note_pending(backend.places.own, blobs)
    copy_notes(root, rewriter.commits)
    for memory_id in wanted:
        run(root, "update-ref -d", f"{KEPT}{memory_id}")
    with lock.index(ref) as draft:
        check_idle(root, backend.places)
        check_merged(backend, draft)
        _move_refs(lock, backend, rewriter)
    erase_traces(root, backend.places, rewriter.commits, blobs, wanted)
    ids = tuple(sorted({text.memory_id for text in texts if text.memory_id}))
    return PurgeResult(ids, len(rewriter.commits), tuple(sorted(blobs)))


def _unstage(
    backend: LibgitBackend, blobs: set[str], wanted: Mapping[str, frozenset[str]]
) -> None:
    """Remove from the index the files with such text, and the conflicts that it remembers as
    resolved.
    """
    for path in _staged_paths(backend, blobs, wanted):
        output(backend.root, "update-index --force-remove --", path)
    run(backend.root, "update-index --clear-resolve-undo")


def _note_pending(own: Path, blobs: Collection[str]) -> None:
    """Write down which objects are still to be removed."""
    pending = sorted({*blobs, *_pending_objects(own)})
    durable.write(own / PENDING, json.dumps(pending).encode())


def _kept_texts(root: Path, wanted: Collection[str]) -> set[str]:
    """The blobs that stand under refs of their own, because no commit has them."""
    return {
        target for name, target, _ in _refs(root) if name.removeprefix(KEPT) in wanted
    }


def _move_refs(
    lock: CommitLock, backend: LibgitBackend, rewriter: HistoryRewriter
) -> None:
    """Point every ref to the new id of its object; refs that would point to nothing are removed."""
    for name, target, points_to in _refs(backend.root):
        if points_to:  # to another ref, which is moved itself
            continue
        new = rewriter.target(target)
        if not new:
            output(backend.root, "update-ref -d", name, target)
        elif new != target:
            lock.write_note(ref=name, commit=new)
            move(backend, RefMove(name, target, new, MESSAGE))


def _erase(root: Path) -> None:
    """Have git forget the objects as well. Raises RepositoryError where it keeps them."""
    own = directories(root).own
    if (own / PENDING).exists():
        collect_garbage(root, _pending_objects(own))
        (own / PENDING).unlink(missing_ok=True)


def _library(root: Path, branch: str, cache: CycleCache) -> LibgitBackend:
    """The repository, where it can be rewritten. Raises RepositoryBusy or RepositoryError."""
    places = directories(root)
    check_idle(root, places)
    try:
        library = LibgitBackend(root, places, cache)
    except Unsupported as e:
        raise _cannot_rewrite(str(e)) from e
    _check_possible(library, branch)
    return library


def _check_possible(library: LibgitBackend, branch: str) -> str:
    """The branch's ref. Raises RepositoryBusy or RepositoryError with what stands in the way."""
    root, places = library.root, library.places
    ref = check_branch(root, library.ref(), branch)
    if library.repository.is_shallow:
        raise RepositoryError(
            "this clone has only a part of the history",
            "Run `git fetch --unshallow` first",
        )
    _check_places(places)
    has_grafts = (places.common / "info" / "grafts").exists()
    if has_grafts or run(root, "for-each-ref refs/replace").text:
        raise _cannot_rewrite("it replaces commits by others")
    if library.has_filter(filter(is_memory, library.tracked(library.tip(ref)))):
        raise _cannot_rewrite("a filter encodes its memory files")
    return ref


def _check_places(places: Directories) -> None:
    """Raise RepositoryError where another repository or working tree shares the objects."""
    shared = places.common / "objects" / "info" / "alternates"
    if shared.is_file() and shared.read_bytes().strip():
        raise _cannot_rewrite("it takes objects from another repository")
    if places.own != places.common or any((places.common / "worktrees").glob("*")):
        raise RepositoryError(
            "the workspace has several worktrees, each with files of its own",
            "Remove the other worktrees of the workspace first: `git worktree list` shows them",
        )


def _staged_paths(
    library: LibgitBackend, blobs: set[str], wanted: Mapping[str, Collection[str]]
) -> list[str]:
    """Paths of ours at which the index has such text. Raises RepositoryError for copies outside the
    memory folders.
    """
    index = library.index(library.places.own / "index")
    entries = [(str(entry.path), str(entry.id)) for entry in index]
    blobs = blobs | _staged_texts(library, entries, wanted)
    staged = [path for path, blob in entries if blob in blobs]
    if theirs := list(filterfalse(is_ours, staged)):
        raise _copied_error(theirs)
    return staged


def _copied_error(paths: Sequence[str]) -> RepositoryError:
    """The error for a text that a person's own files hold too."""
    listed = ", ".join(repr(path)[1:-1] for path in paths[:SHOWN])
    return RepositoryError(
        f"the same text is in files outside the memory folders: {listed}",
        "Remove these copies with `git rm`, commit that, and purge again",
    )


def _staged_texts(
    library: LibgitBackend,
    entries: Iterable[tuple[str, str]],
    wanted: Mapping[str, Collection[str]],
) -> set[str]:
    """The blobs in the index that are text of the memories."""
    read = library_reader(library.repository)
    named = [(path, blob) for path, blob in entries if named_by(path, wanted)]
    return {blob for path, blob in named if held_at(read, blob, path, wanted)}


def _refs(root: Path) -> list[list[str]]:
    """Name, object and, for a symbolic one, the ref that it stands for, of every ref."""
    return [
        line.split("\0")
        for line in output(
            root, "for-each-ref --format=%(refname)%00%(objectname)%00%(symref)"
        ).text.splitlines()
    ]


def _signed_tags(library: LibgitBackend, refs: Collection[str]) -> list[str]:
    tags = [item for item in _refs(library.root) if item[0].startswith("refs/tags/")]
    touched = [(ref, target) for ref, target, _ in tags if ref in refs]
    is_signed = rewrite_history.is_signed_tag
    return [ref for ref, target in touched if is_signed(library.repository, target)]


def _pending_objects(own: Path) -> list[str]:
    """The objects that are still to be removed."""
    try:
        return [str(blob) for blob in json.loads((own / PENDING).read_bytes())]
    except (OSError, ValueError, TypeError):
        return []


def _known_clean(own: Path, wanted: Mapping[str, frozenset[str]]) -> list[str]:
    """The commits whose history was searched before, without finding these texts."""
    try:
        note = json.loads((own / CLEAN).read_bytes())
        is_same = note["marks"] == _marks(wanted)
        return [str(commit) for commit in note["commits"]] if is_same else []
    except (OSError, ValueError, KeyError, TypeError):
        return []


def _marks(wanted: Mapping[str, frozenset[str]]) -> str:
    """A hash of which texts were looked for."""
    lines = [
        f"{id_} {' '.join(sorted(blobs))}" for id_, blobs in sorted(wanted.items())
    ]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _cannot_rewrite(why: str) -> RepositoryError:
    """The error for a repository that cannot be rewritten."""
    return RepositoryError(
        f"the text cannot be taken out of this repository's history: {why}",
        _BY_OTHER_MEANS,
    )
