"""What there is to tidy in a workspace, doing it step by step, and undoing a step."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from keeplore.errors import NotFound, StoreError
from keeplore.index import MemoryFilter, load_or_none
from keeplore.memory import as_memory, serialise
from keeplore.memory.digest import KIND
from keeplore.memory.location import archived_path
from keeplore.refine.changes import EVENT
from keeplore.refine.gates import ProposalOutcome
from keeplore.store import audit_log
from keeplore.store.git.git_command import output, run
from keeplore.store.paths import is_memory
from keeplore.text.dates import now
from keeplore.workspace.tidying.digest_maker import (
    LEAST,
    IsOurs,
    row_filter,
    wanted_digests,
)
from keeplore.workspace.tidying.digest_model import DigestModel
from keeplore.workspace.tidying.note_doubts import doubt_steps, raise_steps
from keeplore.workspace.tidying.note_joins import current_notes, join_steps
from keeplore.workspace.tidying.retention import retention_steps
from keeplore.workspace.tidying.tidy_step import MARK, TidyAction, TidyStep
from keeplore.workspace.workspace import Workspace
from keeplore.workspace.writing.archive import refresh_for_plan, unarchived_path

LOG = logging.getLogger(__name__)
# of audit lines: the memories of a step that was taken back, and that may be done again
UNTIDIED, ALLOWED = "untidied", "tidy-allowed"
UNDO = "Undo "
EARLIEST = 2_000  # commits that are looked through for the step to take back


@dataclass(frozen=True, slots=True)
class UndoneStep:
    """``paths`` are the memories' files as they were before it."""

    title: str
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _ChangedFile:
    """A file with its text before and after a commit, None where there is none."""

    path: str
    before: str | None
    after: str | None


def tidy_plan(
    workspace: Workspace,
    warn: Callable[[str], object] = LOG.warning,
    *,
    is_dry: bool = True,
) -> Iterator[TidyStep]:
    """What is to be done, without what a person took back. Raises IndexUnavailable.

    ``warn`` is told why the workspace's model writes no digest; where ``is_dry`` it is not asked.
    """
    refresh_for_plan(workspace.index, is_dry=is_dry)
    kept = {id_ for ids in _taken_back(workspace) for id_ in ids}
    is_ours = row_filter(workspace)
    model = DigestModel(workspace, kept)
    digests = partial(_digest_steps, model=model, is_dry=is_dry)
    for steps in (digests, _note_steps, retention_steps):
        for step in steps(workspace, is_ours):
            if kept.isdisjoint(step.ids):
                yield step
        refresh_for_plan(workspace.index, is_dry=is_dry)
    if model.problem:
        warn(f"digests were made without the model: {model.problem}")


def tidy(
    workspace: Workspace, warn: Callable[[str], object] = LOG.warning
) -> list[TidyStep]:
    """Do it, one commit a step, and return the steps; ``warn`` is as above. Raises WorkspaceFrozen,
    RepositoryBusy, RepositoryError or OSError; what was done until then stays.
    """
    workspace.check_not_frozen()
    workspace.commit()
    done = []
    for step in tidy_plan(workspace, warn, is_dry=False):
        _do(workspace, step)
        done.append(step)
    workspace.index.refresh()
    return done


def undo(workspace: Workspace) -> UndoneStep:
    """Take back the last step of this machine that was not yet: its files are as they were, and no
    later run does it again.

    Raises NotFound where there is none, StoreError where a file was changed since.
    """
    workspace.check_not_frozen()
    workspace.commit()
    commit, title = _last_step(workspace)
    changed = output(
        workspace.root, "diff-tree -r -z --no-commit-id --name-only", commit
    ).items
    files = [
        _ChangedFile(
            path,
            _text(workspace, f"{commit}^:{path}"),
            _text(workspace, f"{commit}:{path}"),
        )
        for path in changed
    ]
    memories = [file for file in files if is_memory(file.path)]
    with workspace.writing():
        _put_back(workspace, memories)
        ids = {as_memory(file.after, file.path).id for file in memories if file.after}
        line = {"at": now(), "event": UNTIDIED, "ids": sorted(ids)}
        workspace.store.record(workspace.machine, line)
        for file in files:
            if file.path.startswith(f"{audit_log.FOLDER}/"):
                _reject(workspace, file)
        workspace.commit(f"{UNDO}{commit}\n\n{title}")
    workspace.index.refresh()
    return UndoneStep(title, tuple(file.path for file in memories))


def allow_again(workspace: Workspace) -> None:
    """Let the next run do what was taken back last. Raises NotFound where nothing was, and
    WorkspaceFrozen.
    """
    taken_back = _taken_back(workspace)
    if not taken_back:
        raise NotFound(
            "nothing that was tidied is taken back", "`keeplore tidy --undo` does that"
        )
    line = {"at": now(), "event": ALLOWED, "ids": taken_back[-1]}
    workspace.store.record(workspace.machine, line)


def _put_back(workspace: Workspace, files: Sequence[_ChangedFile]) -> None:
    """Give files their earlier text; one that did not exist is removed last, so that no memory is
    missing in between.
    """
    for file in files:
        _check_unchanged(workspace, file)
    for file in files:
        if file.before is not None:
            workspace.store.write_text(file.path, file.before)
    for file in files:
        if file.before is None:
            workspace.store.remove(file.path)


def _do(workspace: Workspace, step: TidyStep) -> None:
    store = workspace.store
    with workspace.writing():
        for path, to in step.moves:
            store.move(path, to)
        for memory in step.memories:
            path = workspace.index.path_of(memory.id) or ""
            written = store.save(memory, dict(step.moves).get(path, path))
            workspace.plugins.announce_written(memory.id, written)
        for entry in step.entries:
            store.record(workspace.machine, entry)
        workspace.commit(step.message)


def _note_steps(workspace: Workspace, is_ours: IsOurs) -> Iterator[TidyStep]:
    notes = current_notes(workspace, is_ours)
    joins = [*join_steps(workspace, notes)]
    joined = (memory for step in joins for memory in step.memories)
    replaced = {id_ for memory in joined for _, id_ in memory.links}
    rest = [note for note in notes if note.row.id not in replaced]
    doubts, raises = doubt_steps(workspace, rest, is_ours), raise_steps(workspace, rest)
    # all before the first is done, which changes the notes
    yield from [*joins, *doubts, *raises]


def _digest_steps(
    workspace: Workspace, is_ours: IsOurs, model: DigestModel, *, is_dry: bool
) -> Iterator[TidyStep]:
    """A step for each digest that is to be written anew, and for each that is to be retired."""
    index, store = workspace.index, workspace.store
    wanted = {draft.memory.id: draft for draft in wanted_digests(workspace)}
    for id_, draft in wanted.items():
        path = index.path_of(id_)
        known = load_or_none(store, path) if path else None
        moves = _moved_back(path) if path else []
        made = model.make_digest(draft, known, is_dry=is_dry)
        memory = made.memory
        is_same = known and serialise(known) == serialise(store.as_written(memory))
        if is_same and not moves:
            continue
        count = f"of {len(memory.links)} memories"
        detail = ", ".join(filter(None, ("made anew" if known else "", count, made.by)))
        yield TidyStep(
            TidyAction.DIGEST,
            memory.title,
            detail,
            (id_,),
            (memory,),
            moves,
            made.entries,
        )
    for row in index.listed(MemoryFilter(kind=KIND), is_ours):
        if row.id not in wanted:
            move = (row.path, archived_path(row.path))
            detail = f"fewer than {LEAST} conversations are left of it"
            yield TidyStep(TidyAction.RETIRE, row.title, detail, (row.id,), (), (move,))


def _moved_back(path: str) -> list[tuple[str, str]]:
    """The move out of the archive of what lies there."""
    back = unarchived_path(path)
    return [(path, back)] if back != path else []


def _taken_back(workspace: Workspace) -> list[list[str]]:
    """The memories, by their ids, of each step that a person took back and has not allowed since;
    the last one last.
    """
    events = (UNTIDIED, ALLOWED)
    lines = [e for e in workspace.store.records() if e.get("event") in events]
    found: list[list[str]] = []
    for line in sorted(lines, key=lambda line: str(line.get("at", ""))):
        ids = [str(id_) for id_ in line.get("ids", ())]
        found = [known for known in found if known != ids]
        if line["event"] == UNTIDIED:
            found.append(ids)
    return found


def _last_step(workspace: Workspace) -> tuple[str, str]:
    """Commit and title of the newest step of this machine that was not taken back."""
    form = "--format=%H%x1f%s%x1f%(trailers:key=Keeplore-Machine,valueonly,separator=%x2c)%x00"
    listed = output(workspace.root, f"log -{EARLIEST} {form}").text
    undone = set()
    for entry in listed.split("\0")[:-1]:
        commit, subject, machine = entry.lstrip("\n").split("\x1f")
        if subject.startswith(UNDO):
            undone.add(subject.removeprefix(UNDO))
        is_step = subject.startswith(MARK) and machine in workspace.own_machines
        if is_step and commit not in undone:
            return commit, subject.removeprefix(MARK)
    raise NotFound(
        "this machine has tidied nothing that could be taken back",
        "`keeplore tidy --dry-run` shows what there is to tidy",
    )


def _text(workspace: Workspace, name: str) -> str | None:
    """The text that git has under a name; None where it has none."""
    found = run(workspace.root, "cat-file blob", name)
    return None if found.code else found.out.decode("utf-8", "surrogateescape")


def _check_unchanged(workspace: Workspace, file: _ChangedFile) -> None:
    place = workspace.root / file.path
    there = place.read_bytes() if place.exists() else b""
    if there.decode("utf-8", "surrogateescape") != (file.after or ""):
        raise StoreError(
            f"{file.path} was changed since it was tidied",
            f"`git log -p -- {file.path}` shows both; change it by hand",
        )


def _reject(workspace: Workspace, file: _ChangedFile) -> None:
    """Offer no more what a step left to a person, by the lines that it added to an audit file."""
    before = (file.before or "").split("\n")
    for line in (file.after or "").split("\n"):
        entry = json.loads(line) if line and line not in before else {}
        if entry.get("event") == EVENT:
            audit_entry = {
                key: entry[key] for key in ("id", "proposal", "conversation")
            }
            audit_entry |= {
                "at": now(),
                "event": EVENT,
                "outcome": ProposalOutcome.REJECTED,
            }
            workspace.store.record(workspace.machine, audit_entry)
