"""The notes that code repositories keep: what git left of a merge, what cannot be read, and whose
they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from keeplore.cli.doctor import check_index
from keeplore.cli.doctor.finding import DoctorFinding, note, several, well, wrong
from keeplore.recall.unasked.origin import MemorySource
from keeplore.store.code_store import MAX_FILES
from keeplore.store.merge import merge_driver
from keeplore.store.paths import is_memory
from keeplore.text.counts import counted
from keeplore.workspace.in_repo.author_trust import AuthorTrust
from keeplore.workspace.in_repo.code_workspace import CodeWorkspace
from keeplore.workspace.registry import Registry


def findings(
    registry: Registry, progress: Callable[[int, int], None], *, is_deep: bool
) -> Iterator[DoctorFinding]:
    for main, opened in registry.code_repositories():
        part = f"notes with the code in {main}"
        if opened is None:
            yield _unopened_finding(part, main)
            continue
        yield from _code(part, opened)
        if is_deep:
            yield from check_index.flaws(f"{part} index", opened, progress)


def _unopened_finding(part: str, main: Path) -> DoctorFinding:
    if main.is_dir():
        return note(part, "what is checked out does not say `memory: in-repo`")
    return note(part, "it is not there any more", "`keeplore projects in-repo` anew")


def _code(part: str, opened: CodeWorkspace) -> Iterator[DoctorFinding]:
    """What is wrong with the notes that a code repository keeps."""
    if not opened.settings.frozen:
        merge_driver.install(opened.tree.top)
    opened.index.refresh()
    notes = list(opened.store.scan())
    unmerged = opened.code_store.unmerged()
    fix = partial(_repair_merges, opened, tuple(unmerged))
    yield from several(
        wrong(part, f"{path} waits in a merge", "`keeplore doctor --fix`", fix)
        for path in sorted(unmerged)
    )
    yield from several(
        wrong(part, f"{path}: {problem}", "Mend the file")
        for path, problem in opened.index.problems()
        if is_memory(path) and path not in unmerged  # others are the workspace's
    )
    if len(notes) == MAX_FILES:
        yield note(part, f"more than {MAX_FILES} files: the rest is left out")
    yield from _authors(part, opened.machine_trust)
    yield well(part, counted(opened.index.state(of_text=True).memories, "note"))


def _authors(part: str, trust: AuthorTrust) -> Iterator[DoctorFinding]:
    yield from several(
        note(
            part,
            f"{counted(count, 'note')} by {email}, told to no agent unasked",
            f"`keeplore projects in-repo --accept {email}` if you believe them",
        )
        for email, count in trust.authors().most_common()
        if trust.source_of_author(email) is MemorySource.WAITING
    )


def _repair_merges(opened: CodeWorkspace, paths: tuple[str, ...]) -> str:
    healed = opened.store.repair_merges(paths)
    opened.index.refresh()
    return f"{', '.join(healed) or 'nothing'} joined by fields; `git add` what you agree with"
