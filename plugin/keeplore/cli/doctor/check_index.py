"""The deep look: everything is read again and made anew, so that what the index says is proved, not
believed.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator

from keeplore.cli.doctor.finding import DoctorFinding, note, several, well, wrong
from keeplore.errors import KeeploreError, ModelUnavailable, RepositoryBusy
from keeplore.index import IndexFlaw
from keeplore.store.git.git_command import git_in
from keeplore.store.git.inspection import changed_paths, damaged_objects
from keeplore.sync import check_reachable
from keeplore.workspace.workspace import Workspace


def findings(
    part: str, workspace: Workspace, progress: Callable[[int, int], None]
) -> Iterator[DoctorFinding]:
    yield from flaws(f"{part} index", workspace, progress)
    yield from _repository(part, workspace)
    yield from _remote(part, workspace)


def flaws(
    part: str, workspace: Workspace, progress: Callable[[int, int], None]
) -> Iterator[DoctorFinding]:
    found: list[IndexFlaw] = []
    try:
        found.extend(workspace.index.flaws(progress))
        if not found:
            yield well(
                part, "proved: every row, word and vector is what the files make"
            )
    except ModelUnavailable as e:
        yield note(part, f"vectors were not proved: {e.message}", e.remedy)
    remedy = "`keeplore doctor --deep --fix` makes it anew from the text"
    # all at once, whichever comes first
    fix = functools.cache(functools.partial(_mend_index, workspace, found, progress))
    texts = (
        f"{flaw.path}: {flaw.message}" if flaw.path else flaw.message for flaw in found
    )
    yield from several(wrong(part, text, remedy, fix) for text in texts)


def _mend_index(
    workspace: Workspace, flaws: list[IndexFlaw], progress: Callable[[int, int], None]
) -> str:
    workspace.index.mend(flaws)
    lost_vectors = any(flaw.part in ("database", "vectors", "engine") for flaw in flaws)
    if lost_vectors and workspace.embedder is not None:
        workspace.index.embed_pending(progress=progress)
    left = list(workspace.index.flaws())
    if left:
        raise KeeploreError(
            f"{len(left)} flaws are left, such as: {left[0].message}",
            "Delete the cache directory",
        )
    return "made anew, and proved"


def _repository(part: str, workspace: Workspace) -> Iterator[DoctorFinding]:
    try:
        yield from _head_findings(part, workspace)
    except RepositoryBusy as e:
        yield note(part, f"HEAD was not compared: {e.message}", e.remedy)
    if said := damaged_objects(workspace.root):
        yield wrong(
            part,
            f"git finds damaged objects: {said}",
            "Clone it again from its remote, beside this one",
        )


def _head_findings(part: str, workspace: Workspace) -> Iterator[DoctorFinding]:
    """Whether HEAD holds what is on disk, once all is committed. Raises RepositoryBusy."""
    # so that every file is hashed again
    workspace.store.cache.files.clear()
    done = workspace.store.commit()
    if done.paths:
        message = (
            f"{len(done.paths)} files differed from HEAD although nothing showed it"
        )
        yield note(part, f"{message}; committed now")
    left = changed_paths(workspace.root)
    remedy = f"`{git_in(workspace.root)} status`"
    yield from several(
        wrong(part, f"{path} differs from HEAD", remedy)
        for path in left
        if path not in done.skipped
    )
    if not left:
        yield well(part, "proved: HEAD holds every file as it is on disk")


def _remote(part: str, workspace: Workspace) -> Iterator[DoctorFinding]:
    if not workspace.store.remote():
        return
    try:
        check_reachable(workspace.store)
        yield well(f"{part} sync", f"{workspace.store.remote()} answers")
    except KeeploreError as e:
        yield wrong(f"{part} sync", e.message, e.remedy)
