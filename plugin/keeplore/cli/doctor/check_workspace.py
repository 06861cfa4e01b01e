"""What belongs to one workspace: its repository, its remote, its index, and what its files say of
one another.
"""

from __future__ import annotations

import contextlib
import os
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from keeplore.cli.doctor.check_chains import chain_findings
from keeplore.cli.doctor.check_dates import date_findings
from keeplore.cli.doctor.check_size import size_findings
from keeplore.cli.doctor.finding import (
    DoctorFinding,
    failed,
    note,
    several,
    well,
    wrong,
)
from keeplore.cli.doctor.left_out_files import UNFIT, why_left_out, why_unread
from keeplore.cli.memory_options import place_options
from keeplore.config.machine import Machine
from keeplore.config.settings import FILE as SETTINGS
from keeplore.errors import (
    ConfigError,
    EngineUnavailable,
    KeeploreError,
    ModelUnavailable,
    NotFound,
    RepositoryBusy,
)
from keeplore.index import MemoryFilter, MemoryRow
from keeplore.index.embedding.capabilities import prepare
from keeplore.memory.lint_rules import LintLevel
from keeplore.memory.location import Location, location_of
from keeplore.memory.names import short_id
from keeplore.redact.rules import pattern
from keeplore.store.git.git_command import git_in, ignored
from keeplore.store.git.inspection import (
    changed_paths,
    ignored_files,
    is_as_committed,
    old_locks,
    other_versions,
    unstorable_paths,
    where_ignored,
)
from keeplore.text.agent_scope import long_place
from keeplore.text.counts import counted
from keeplore.text.dates import minute_of
from keeplore.workspace.identity import load_projects
from keeplore.workspace.lifecycle.lint import lint
from keeplore.workspace.lifecycle.shared_settings import commit_settings
from keeplore.workspace.lifecycle.sync_workspace import repair_merges
from keeplore.workspace.machine_trust import MachineState
from keeplore.workspace.reading.listing import waiting_rows
from keeplore.workspace.sync_status import LastSync
from keeplore.workspace.workspace import Workspace
from keeplore.workspace.writing.disputes import disputes

OLD_LOCK_S = 60.0  # git commands of a person hold one for moments
# bytes of index for a byte of text; peers had files of hundreds of GB
INDEX_PER_TEXT = 100
INDEX_FREE = 500 * 1024 * 1024  # bytes that raise no question


def findings(
    part: str, workspace: Workspace, *, commits: bool = True
) -> Iterator[DoctorFinding]:
    yield from _folders_as_entries(f"{part} file", workspace)
    yield from _invalid_denials(part, workspace)
    yield from _locks(part, workspace)
    yield from _index(f"{part} index", workspace)
    yield from _vectors(f"{part} index", workspace)
    yield from _index_size(f"{part} index", workspace)
    yield from _forgotten_findings(part, workspace)
    yield from _repository(part, workspace, commits=commits)
    yield from _remote(part, workspace)
    yield from _files(f"{part} file", workspace)
    yield from chain_findings(f"{part} file", workspace)
    yield from date_findings(f"{part} file", workspace)
    yield from size_findings(f"{part} file", [*workspace.store.scan()])
    yield from _misplaced_findings(f"{part} file", workspace)
    yield from _unmerged_findings(f"{part} file", workspace)
    yield from _machines(part, workspace)


def unknown_inherited(
    part: str, workspace: Workspace, machine: Machine
) -> Iterator[DoctorFinding]:
    """What the settings say to search as well, and this machine does not have."""
    for name in workspace.settings.inherits:
        if name not in machine.workspaces:
            yield note(
                part,
                f"it inherits {name!r}, which is no workspace of this machine",
                "`keeplore clone` brings it, `keeplore workspaces` lists those that are here, and "
                f"{SETTINGS} has the name under `inherits`",
            )


def _folders_as_entries(part: str, workspace: Workspace) -> Iterator[DoctorFinding]:
    """Folders in place of the entry of a project, which no commit leaves out."""
    for place in sorted(workspace.root.glob("projects/*/project.json")):
        if place.is_dir():
            path = place.relative_to(workspace.root).as_posix()
            message = f"{path} is a folder: the sessions of that project wait"
            yield wrong(part, message, UNFIT.remedy)


def _invalid_denials(part: str, workspace: Workspace) -> Iterator[DoctorFinding]:
    for project in load_projects(workspace.store):
        where = f"projects/{project.name}/project.json"
        for text in project.deny:
            try:
                pattern(text, where)
            except ConfigError as e:
                message = f"{e.message}; until then it is looked for letter by letter"
                yield wrong(f"{part} project", message, e.remedy)


def _locks(part: str, workspace: Workspace) -> Iterator[DoctorFinding]:
    """What git commands that were killed have left, which holds up every later one."""
    for lock, age_s in old_locks(workspace.root, OLD_LOCK_S):
        # never removed by us: it may be a person's, at work in another window
        remedy = f"If no git command runs there, `rm {shlex.quote(str(lock))}`"
        message = (
            f"{lock.name} is {age_s / 60:.0f} minutes old: a git command was killed"
        )
        yield wrong(part, message, remedy)


def _repository(
    part: str, workspace: Workspace, *, commits: bool
) -> Iterator[DoctorFinding]:
    if workspace.settings.frozen:
        remedy = (
            "`keeplore config set frozen false` ends that, with --machine if set so"
        )
        yield note(part, "it is frozen: nothing is written into it", remedy)
        return
    yield from _settings_findings(part, workspace)
    waiting = (
        changed_paths(workspace.root) if workspace.store.head() else ["everything"]
    )
    if waiting and not commits:
        message = f"on disk and not committed yet: {counted(len(waiting), 'file')}"
        yield note(
            part, message, "The worker commits them, and so does `keeplore sync`"
        )
        return
    yield from _commit_findings(part, workspace, waiting)


def _settings_findings(part: str, workspace: Workspace) -> Iterator[DoctorFinding]:
    """Whether other machines get the settings that hold here."""
    if not is_as_committed(workspace.root, SETTINGS):
        yield note(
            part,
            f"{SETTINGS} is not committed as it is here: no other machine gets it",
            "Commit it, or let `keeplore doctor --fix` do so",
            partial(_settings_committed, workspace),
        )


def _settings_committed(workspace: Workspace) -> str:
    """Commit the settings, and say what came of it. Raises RepositoryError."""
    why_not = commit_settings(workspace, f"Change {SETTINGS}")
    return f"git does not get it: {why_not}" if why_not else "now it is"


def _commit_findings(
    part: str, workspace: Workspace, waiting: Sequence[str]
) -> Iterator[DoctorFinding]:
    """Commit what waits, and tell what git may not have."""
    skipped: tuple[str, ...] = ()
    held_back: tuple[str, ...] = ()
    try:
        message = "HEAD holds the memory that is on disk"
        if waiting:
            done = workspace.store.commit()
            skipped, held_back = done.skipped, done.held_back
            if done.paths:
                message += f", {counted(len(done.paths), 'file')} committed just now"
        yield well(part, message)
    except RepositoryBusy as e:
        files = counted(len(waiting), "file waits", "files wait")
        message = f"{e.message}; {files} on disk"
        remedy = f"{e.remedy}; where only memory is in the way, `keeplore doctor --fix`"
        yield note(part, message, remedy, partial(_finish_and_commit, workspace))
    except KeeploreError as e:
        yield failed(part, e)
    yield from several(_held_back(f"{part} file", place) for place in held_back)
    root = workspace.root
    yield from several(_ignored(part, root, path) for path in ignored_files(root))
    unfit = {*unstorable_paths(root), *skipped} - ignored(root, skipped)
    # what is not even read is told of where the index is asked
    unread = {path for path, _ in workspace.index.problems()}
    yield from several(
        _left_out_of_commits(f"{part} file", root, path)
        for path in sorted(unfit - unread)
    )


def _finish_and_commit(workspace: Workspace) -> str:
    """What only files of memory have stopped goes on. Raises RepositoryBusy where a person has to
    decide.
    """
    repair_merges(workspace)
    done = workspace.store.commit()
    return f"it is finished and committed: {counted(len(done.paths), 'file')}"


def _held_back(part: str, place: str) -> DoctorFinding:
    message = f"{place} looks like a secret, so the file is not committed"
    remedy = "Take it out, or list the kind with its digits under redaction.allow"
    return wrong(part, message, remedy)


def _ignored(part: str, root: Path, path: str) -> DoctorFinding:
    return note(
        f"{part} file",
        f"{path} is left out of commits: git is told to ignore it",
        where_ignored(root, path),
    )


def _left_out_of_commits(part: str, root: Path, path: str) -> DoctorFinding:
    why, remedy = why_left_out(root, path)
    message = f"{path} is left out of commits: {why}"
    return wrong(part, message, f"{remedy}; `keeplore lint` says more")


def _remote(part: str, workspace: Workspace) -> Iterator[DoctorFinding]:
    remote, root = workspace.store.remote(), workspace.root
    if not remote:
        remedy = f"`{git_in(root)} remote add origin URL`, then `keeplore sync`"
        yield note(part, "it has no remote, so it is on this machine only", remedy)
        return
    part, last = f"{part} sync", workspace.sync_log.last()
    if last.error:
        yield wrong(part, _sync_failure(last), last.remedy)
    elif last.at:
        yield well(part, f"last at {minute_of(last.at)}")
    else:
        yield note(part, f"never on this machine, with {remote}", "Run `keeplore sync`")


def _sync_failure(last: LastSync) -> str:
    since = f"; the last that went well was at {minute_of(last.succeeded_at)}"
    message = f"the sync at {minute_of(last.at)} failed: {last.error}"
    return f"{message}{since if last.succeeded_at else ''}"


def _index(part: str, workspace: Workspace) -> Iterator[DoctorFinding]:
    index = workspace.index
    if index.was_interrupted():
        message = "a writer of it was killed; it is checked at the next change"
        remedy = "`keeplore doctor --fix` checks it now"
        yield note(part, message, remedy, partial(_check_index, workspace))
    changed = index.refresh().changed
    stamp = index.state()
    if lag := index.lag():
        yield wrong(
            part, f"{lag} files differ from it", "Run it again; somebody writes them"
        )
    memories = counted(stamp.memories, "memory", "memories")
    passages = counted(stamp.passages, "passage")
    message = f"{memories}, {passages}, {counted(stamp.vectors, 'vector')}"
    changes = f"; {changed} changed files read just now" if changed else ""
    yield well(part, f"{message}{changes}")


def _vectors(part: str, workspace: Workspace) -> Iterator[DoctorFinding]:
    """Whether what finds by meaning can be used, and is complete."""
    stamp = workspace.index.state()
    switch = stamp.switch
    missing = stamp.passages - (switch.vectors if switch else stamp.vectors)
    if problem := _model_problem(workspace):
        serving = f"{switch.answering} answers" if switch else "search is by text alone"
        yield note(part, f"{serving}: {problem.message}", problem.remedy)
    elif missing:
        serving = f"{switch.answering} answers" if switch else "text search serves"
        yield _missing_vectors(part, workspace, missing, serving)
    if said := _engine_problem(workspace):
        yield note(part, said, "`keeplore engine` shows which engine is set")


def _missing_vectors(
    part: str, workspace: Workspace, missing: int, serving: str
) -> DoctorFinding:
    made = (
        f"vectors that the model {workspace.settings.embedding.model} has yet to make"
    )
    remedy = "The worker makes them, and so does `keeplore doctor --fix`"
    message = f"{made}: {missing}; {serving} meanwhile"
    return note(part, message, remedy, partial(_make_missing_vectors, workspace))


def _index_size(part: str, workspace: Workspace) -> Iterator[DoctorFinding]:
    text = sum(file.size for file in workspace.store.scan())
    size = workspace.index.size_bytes()
    if size > INDEX_FREE + INDEX_PER_TEXT * text:
        remedy = f"Delete {workspace.index.directory}; it is made again from the text"
        yield wrong(
            part, f"it takes {size >> 20} MB, for {text >> 20} MB of text", remedy
        )


def _engine_problem(workspace: Workspace) -> str:
    """Why the configured engine does not serve; "" where it does."""
    if workspace.index.is_remote:
        with contextlib.suppress(EngineUnavailable, ModelUnavailable):
            workspace.index.warm_up()
    return workspace.index.note


def _model_problem(workspace: Workspace) -> ModelUnavailable | None:
    """Why no vectors can be made now; a server is asked for one to find out."""
    try:
        prepare(workspace.embedder)
        if workspace.embedder.is_remote:
            workspace.embedder.embed(["Are you there?"])
        _ = workspace.embedder.fingerprint
    except ModelUnavailable as e:
        return e
    return None


def _check_index(workspace: Workspace) -> str:
    workspace.index.mend(())
    return "it is sound"


def _make_missing_vectors(workspace: Workspace) -> str:
    # rich, which progress needs, is only loaded on a terminal
    from keeplore.cli.progress import fill_vectors

    return "made" if fill_vectors(workspace) else "interrupted, what was made is kept"


def _forgotten_findings(part: str, workspace: Workspace) -> Iterator[DoctorFinding]:
    store = workspace.store
    tombstones = store.tombstones.ids()
    for id_ in sorted(tombstones - {tombstone.id for tombstone in store.tombstones}):
        message = f"forgotten/{id_}.json cannot be read; {id_} stays forgotten"
        yield wrong(part, message, "`git checkout` a sound one")
    rows = workspace.index.memories(sorted(tombstones)).values()
    back = store.came_back() | {row.path for row in rows}
    yield from several(
        _forgotten_file(f"{part} file", workspace.root, path) for path in sorted(back)
    )


def _forgotten_file(part: str, root: Path, path: str) -> DoctorFinding:
    """A file on disk that no commit has taken away yet, or none could."""
    folder = (root / path).parent
    if os.access(folder, os.W_OK | os.X_OK):
        message = f"{path} is forgotten and came back"
        return wrong(part, message, "The next commit takes it away again")
    remedy = f"Make {folder} writable; the next commit takes it away"
    return wrong(part, f"{path} is forgotten and could not be removed", remedy)


def _files(part: str, workspace: Workspace) -> Iterator[DoctorFinding]:
    problems = workspace.index.problems()
    lines = _lines(workspace, [path for path, _ in problems])
    yield from several(
        _problem_of_file(part, workspace.root, (path, lines.get(path, 1)), problem)
        for path, problem in problems
    )


def _problem_of_file(
    part: str, root: Path, place: tuple[str, int], problem: str
) -> DoctorFinding:
    path, line = place
    if why := why_unread(root, path):
        message = f"{path} is left out of recall and commits: {why.reason}"
        return wrong(part, message, why.remedy)
    remedy = "Mend the file; `keeplore lint` says more"
    return wrong(part, f"{path}:{line}: {problem}", remedy)


def _misplaced_findings(part: str, workspace: Workspace) -> Iterator[DoctorFinding]:
    """Files in the folder of another project or scope than they state: moved by hand, most
    likely.
    """
    rows = workspace.index.listed(MemoryFilter(archived="with", superseded=True))
    places = [(row, location_of(row.path)) for row in rows]
    yield from several(
        _misplaced_file(part, row, at)
        for row, at in places
        if (row.scope, row.project) != (at.scope, at.project)
    )


def _misplaced_file(part: str, row: MemoryRow, at: Location) -> DoctorFinding:
    whose = long_place(row.scope, row.project)
    option = place_options(at.scope, at.project)
    return note(
        part,
        f"{row.path} lies in {at.home}/ and counts for {whose}, as its front matter says",
        f"Change `scope` and `project` in it, or `keeplore edit {short_id(row.id)} {option}`",
    )


def _unmerged_findings(part: str, workspace: Workspace) -> Iterator[DoctorFinding]:
    """What could not be merged and needs a person to look at it."""
    yield from several(
        note(
            part,
            f"{dispute.other.row.path} contradicts {dispute.first.row.path}: two machines changed "
            f"the same lines",
            "`keeplore review` shows both and asks which one stands",
        )
        for dispute in disputes(workspace.index, workspace.store)
    )
    yield from several(
        note(
            part,
            f"{path} is the other version of a file that two machines changed",
            "Take over what is missing in the one beside it, then delete it",
        )
        for path in other_versions(workspace.root)
    )


def _untold_sentence(count: int) -> str:
    are = "is" if count == 1 else "are"
    return f"{counted(count, 'memory', 'memories')} {are} told to no agent unasked"


def _machines(part: str, workspace: Workspace) -> Iterator[DoctorFinding]:
    """The machines whose owner nobody has named yet, and what waits for that."""
    unknown = [
        machine
        for machine in workspace.machine_trust.machines()
        if machine.state == MachineState.UNKNOWN
    ]
    waiting = Counter(
        row.machine for row in waiting_rows(workspace, MemoryFilter(archived="with"))
    )
    yield from several(
        note(
            part,
            f"what {machine.id} of {machine.email or 'nobody known'} wrote counts as another "
            f"person's: {_untold_sentence(waiting[machine.id])}",
            f"`keeplore machines accept {machine.id}` if it is yours or you believe it, else `… "
            f"refuse {machine.id}`",
        )
        for machine in unknown
    )
    rest = waiting.total() - sum(waiting[machine.id] for machine in unknown)
    if rest:
        yield note(
            part,
            f"what other people committed: {_untold_sentence(rest)}",
            "`keeplore machines` lists the machines that can be accepted",
        )


def _lines(workspace: Workspace, paths: list[str]) -> dict[str, int]:
    """The line of each file's first error."""
    try:
        found = (
            lint(workspace.root, paths, workspace.redactor.spans).findings
            if paths
            else ()
        )
    except NotFound:  # one vanished meanwhile
        return {}
    lines: dict[str, int] = {}
    for finding in found:
        if finding.level == LintLevel.ERROR:
            lines.setdefault(finding.path, finding.line)
    return lines
