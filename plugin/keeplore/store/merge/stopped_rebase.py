"""Going on with a person's rebase that files of ours have stopped.

While git takes commits off and puts them on again, sessions write on, and what they write is in its
way: a file that git has not put back yet, or one that it is about to change. A commit of ours, made
after git had noted where the branch is, keeps it from ever ending. Both are set aside, each as
commits that only a ref of ours names, and are brought back when the rebase has ended
(``rebase_recovery``). A ``git am`` is left to the person.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from keeplore.store import checkout_lock, files
from keeplore.store.git.git_backend import GitBackend
from keeplore.store.git.git_command import output, run
from keeplore.store.git.inspection import introduced_blobs
from keeplore.store.git.objects import Blob
from keeplore.store.git.signature import TRAILER, signature_of
from keeplore.store.merge.rebase_recovery import note_aside
from keeplore.store.paths import is_ours_to_write
from keeplore.store.repository_state import REBASE

MESSAGE = "Written while a rebase was under way\n"
MERGED = "Merge memory of other machines"  # the subject of a merge of ours
MACHINE = f"%(trailers:key={TRAILER},valueonly,separator=%x2C)"
MAX_STOPS = 100  # of one rebase, that are gone on from


def go_on(
    backend: GitBackend, machine: str, resolve: Callable[[], bool], *, is_resolved: bool
) -> None:
    """Go on with the rebase as long as nothing but files of ours stops it; ``resolve`` settles
    conflicts of ours and tells whether that was all, ``is_resolved`` that it just did.

    One that a person steers, or that waits for a file of theirs, is left alone.
    """
    for _ in range(MAX_STOPS):
        if not _is_plain(backend.places.own / REBASE):
            return
        is_freed = _free_branch(backend, machine)
        with checkout_lock.held_already():  # git stands still
            is_aside = _set_aside(backend, is_resolved=is_resolved)
        person = signature_of(backend.root).environment
        committer = {name: person[name] for name in person if "COMMITTER" in name}
        is_picked = _finish_pick(backend, committer)
        if not (is_freed or is_aside or is_resolved or is_picked):
            return
        before = _state(backend)
        run(backend.root, "rebase --continue", environment=committer)
        if not (backend.places.own / REBASE).exists():
            return
        is_resolved = bool(output(backend.root, "ls-files -z --unmerged").items)
        if is_resolved and not resolve():
            return
        if _state(backend) == before:
            return


def is_rescheduled(own: Path) -> bool:
    """Whether git could not begin with a commit, and will do so when the person goes on."""
    picked, waiting = _text(own / "REBASE_HEAD"), _waiting_picks(own / REBASE)
    return bool(picked and waiting) and picked.startswith(waiting[0])


def _is_plain(folder: Path) -> bool:
    """Whether a rebase is under way that only puts commits on again, and did not stop for an edit
    that somebody asked for.
    """
    lines = _text(folder / "git-rebase-todo").splitlines()
    steps = [line.split()[0] for line in lines if line and not line.startswith("#")]
    is_picking = all(step in ("pick", "noop") for step in steps)
    return folder.exists() and is_picking and not (folder / "amend").exists()


def _state(backend: GitBackend) -> tuple[str, str, str]:
    """What changes when the rebase gets on."""
    own = backend.places.own
    head = backend.tip("HEAD")
    return head, _text(own / REBASE / "git-rebase-todo"), _text(own / "REBASE_HEAD")


def _free_branch(backend: GitBackend, machine: str) -> bool:
    """Put the branch back to where git noted it, if only commits of ours have come since; returns
    whether that was needed.
    """
    folder = backend.places.own / REBASE
    ref, noted = _text(folder / "head-name"), _text(folder / "orig-head")
    tip = backend.tip(ref) if ref.startswith("refs/heads/") else ""
    if not (tip and noted) or tip == noted:
        return False
    if not _is_made_by(backend.root, machine, noted, tip):
        return False
    note_aside(backend, tip, noted)
    done = run(backend.root, "update-ref -m", "rebase: set aside", ref, noted, tip)
    return done.code == 0


def _finish_pick(backend: GitBackend, committer: Mapping[str, str]) -> bool:
    """Finish a pick that git had merged when another program held its lock for a moment, for git
    then loses the message and cannot go on by itself. Returns whether that was so.
    """
    root, own = backend.root, backend.places.own
    is_cut_short = (own / "CHERRY_PICK_HEAD").exists() and not (
        own / REBASE / "message"
    ).exists()
    # gitrevisions(7): the tree that git has made
    if not is_cut_short or run(root, "write-tree").text != _text(own / "AUTO_MERGE"):
        return False
    return (
        run(root, "commit --quiet --no-edit --no-verify", environment=committer).code
        == 0
    )


def _is_made_by(root: Path, machine: str, old: str, new: str) -> bool:
    """Whether this machine alone has taken the branch from one commit to the other, with commits of
    memory, and merges of what others have at the remote and the next sync merges again.
    """
    done = run(
        root, f"log --first-parent --format=%s%x00%P%x00{MACHINE}%x00 {old}..{new}"
    )
    records = [
        record.split("\0") for record in done.text.removesuffix("\0").split("\0\n")
    ]
    made = [
        by.strip() == machine and (" " not in parents or subject == MERGED)
        for subject, parents, by in records
    ]
    paths = output(root, "log --first-parent --no-merges --name-only --format= -z",
                   f"{old}..{new}").items  # fmt: skip
    is_ahead = run(root, "merge-base --is-ancestor", old, new).code == 0
    return is_ahead and all(made) and all(map(is_ours_to_write, paths))


def _set_aside(backend: GitBackend, *, is_resolved: bool) -> bool:
    """Move away what was written since the rebase began; returns whether there was anything.

    What a conflict was resolved to is staged, and stays.
    """
    root, own = backend.root, backend.places.own
    noted = _text(own / REBASE / "orig-head")
    is_between = not is_resolved and is_rescheduled(own)
    changed = _changed_files(root, is_staged=is_between)
    coming = {path for path in backend.changes("HEAD", noted) if is_ours_to_write(path)}
    new = coming.intersection(output(root, "ls-files --others -z").items)
    if not (changed or new):
        return False
    texts = _texts(backend, {*changed, *new})
    if edits := _edits(backend, texts, noted):
        base = _base(backend, edits, noted)
        commit = backend.commit([base], edits, MESSAGE, signature_of(root))
        note_aside(backend, commit, base)
    if is_between and changed:
        output(root, "reset --quiet HEAD --", *changed)
    tracked = set(output(root, "ls-files -z --", *texts).items)
    for path in texts.keys() - tracked:
        files.remove(root, path)
    if tracked:
        output(root, "checkout-index --force --", *sorted(tracked))
    return True


def _base(backend: GitBackend, paths: Iterable[str], noted: str) -> str:
    """The commit that the edits were made on: what the branch had, and what has come to these paths
    since.
    """
    before, now = backend.tracked(noted), backend.tracked("HEAD")
    come = {path: now[path] for path in paths if path in now and path not in before}
    if not come:
        return noted
    return backend.commit([noted], come, MESSAGE, signature_of(backend.root))


def _edits(
    backend: GitBackend, texts: Mapping[str, Blob | None], noted: str
) -> dict[str, Blob | None]:
    """The files whose text no commit of the rebase has: any other would be an older text, and undo
    a later one.
    """
    onto = _text(backend.places.own / REBASE / "onto")
    rebased = introduced_blobs(backend.root, noted, f"^{onto}")
    held = {(one.path, one.blob) for one in rebased}
    return {
        path: text
        for path, text in texts.items()
        if text is None or (path, text.id) not in held
    }


def _texts(backend: GitBackend, paths: Iterable[str]) -> dict[str, Blob | None]:
    """The files on disk as blobs that git has now, None for those that are gone."""
    present = [path for path in sorted(paths) if files.file_state(backend.root, path)]
    texts: dict[str, Blob | None] = dict.fromkeys(paths)
    return texts | {path: Blob(id_) for path, id_ in backend.keep(present).items()}


def _changed_files(root: Path, *, is_staged: bool) -> list[str]:
    """Tracked files of ours that differ from the index, or from HEAD."""
    command = "diff-index HEAD" if is_staged else "diff-files"
    listed = output(root, f"{command} -z --name-only --ignore-submodules").items
    return list(filter(is_ours_to_write, listed))


def _waiting_picks(folder: Path) -> list[str]:
    """The ids of the commits that wait."""
    lines = _text(folder / "git-rebase-todo").splitlines()
    return [line.split()[1] for line in lines if line.startswith("pick ")]


def _text(path: Path) -> str:
    """What a small file of git's says, "" where there is none."""
    try:
        return path.read_text("utf-8", "replace").strip()
    except OSError:
        return ""
