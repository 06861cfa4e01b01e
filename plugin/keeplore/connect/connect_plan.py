"""What would change on disk to connect hosts or to disconnect them: decided by reading alone."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from keeplore.connect.connection_record import Kept, Manifest, Owner
from keeplore.connect.desired import Wanted, auto_memory, own_folder, wanted
from keeplore.connect.hook_entries import Launcher
from keeplore.connect.host_locations import MAX_BYTES, PLACES, Surroundings, installed_otherwise
from keeplore.connect.resources import INTACT, Form, Outcome, Refused


@dataclass(frozen=True, slots=True)
class Change:
    """``path`` is the host's name of the file, ``target`` where it lies; None for bytes means that
    there is no file.
    """

    host: str
    path: Path
    target: Path
    before: bytes | None
    after: bytes | None


@dataclass(frozen=True, slots=True)
class Told:
    """What is not as it was asked for: ``remedy`` is the next step."""

    host: str
    message: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Plan:
    """``base`` is the manifest that it was made from; ``during`` is saved before a change,
    ``after`` at the end.

    ``ready`` are the hosts that are connected then; ``skipped`` says which are not, and why.
    """

    changes: tuple[Change, ...]
    told: tuple[Told, ...]
    ready: tuple[str, ...]
    skipped: tuple[Told, ...]
    base: Manifest
    during: Manifest
    after: Manifest


def connect(
    hosts: Iterable[str],
    surroundings: Surroundings,
    manifest: Manifest,
    launcher: Launcher,
    notes_in: Path | None = None,
) -> Plan:
    """``notes_in`` is where Claude Code is to keep its own notes, None to leave that as it is.
    Raises ConfigError.
    """
    draft = _Draft(manifest)
    ready = []
    for host in hosts:
        directory = surroundings.directory(host)
        owner = Owner(host, str(directory))
        settings = auto_memory(directory, notes_in or Path())
        if host == "claude-code" and notes_in:
            draft.give(owner, settings)
        if why := _elsewhere(owner, manifest, launcher):
            draft.skip(
                host,
                why,
                is_connected=any(kept.path != str(settings[0]) for kept in manifest.of(owner)),
            )
            continue
        wants = wanted(host, surroundings, launcher)
        for want in wants:
            draft.give(owner, want)
        names = {str(path) for path, _ in (*wants, settings)}
        for kept in manifest.of(owner):
            if kept.path not in names:  # an earlier release had it
                draft.release(owner, kept)
        ready.append(host)
    return draft.plan(ready)


def disconnect(hosts: Iterable[str], manifest: Manifest) -> Plan:
    """Take out what was put there, and nothing else."""
    draft = _Draft(manifest)
    for host in hosts:
        for owner in manifest.owners(host):
            for kept in manifest.of(owner):
                draft.release(owner, kept)
    return draft.plan([])


def look(manifest: Manifest) -> list[tuple[Kept, str]]:
    """Every file that the manifest knows, and whether our part of it is intact, changed or
    missing.
    """
    found = []
    for kept in manifest.files.values():
        try:
            found.append((kept, kept.form.look(_read(Path(os.path.realpath(kept.path))))))
        except Refused as e:
            found.append((kept, e.message))
    return found


def _elsewhere(owner: Owner, manifest: Manifest, launcher: Launcher) -> str:
    """What tells that the host has Keeplore from elsewhere."""
    directory = Path(owner.directory)
    if why := installed_otherwise(owner.host, directory):
        return why
    folder = own_folder(owner.host, directory)
    if folder is None or not os.path.lexists(folder):
        return ""
    is_known = any(Path(kept.path).is_relative_to(folder) for kept in manifest.of(owner))
    client = json.dumps(launcher.ask[-1], ensure_ascii=False)[1:-1]
    is_ours = is_known or client.encode() in (
        _read(folder / "hooks" / "hooks.json") or b""
    )  # the manifest was lost
    return "" if is_ours else f"there is a folder {folder} that `keeplore connect` did not make"


class _Draft:
    """Collects changes; a file that several hosts share is changed once."""

    def __init__(self, manifest: Manifest) -> None:
        self._base = manifest
        self._kept: dict[str, Kept] = dict(manifest.files)
        self._gone: dict[str, Kept] = {}
        self._changes: dict[Path, Change] = {}
        self._told: list[Told] = []
        self._skipped: list[Told] = []

    def give(self, owner: Owner, want: Wanted) -> None:
        path, form = want
        target = Path(os.path.realpath(path))
        known = self._kept.get(str(path)) or self._gone.pop(str(path), None)
        try:
            current = self._read(target)
            outcome, given = _given(form, current, known.form if known else None)
            is_there = (
                known is not None or outcome.after != current or given.look(current) == INTACT
            )
            self._change(owner, path, target, current, outcome)
        except Refused as e:
            self._told.append(Told(owner.host, f"{path}: {e.message}", e.remedy))
            return
        if is_there:
            owners = sorted({owner, *(known.owners if known else ())})
            self._kept[str(path)] = Kept(str(path), str(target), tuple(owners), given)

    def release(self, owner: Owner, kept: Kept) -> None:
        left = tuple(one for one in self._kept[kept.path].owners if one != owner)
        if left:
            self._kept[kept.path] = replace(self._kept[kept.path], owners=left)
            return
        path, target = Path(kept.path), Path(os.path.realpath(kept.path))
        try:
            current = self._read(target)
            outcome = kept.form.take(current)
            self._change(owner, path, target, current, outcome)
        except Refused as e:
            self._told.append(Told(owner.host, f"{path}: {e.message}", e.remedy))
            return
        if outcome.is_done:
            self._gone[kept.path] = self._kept.pop(kept.path)

    def skip(self, host: str, why: str, *, is_connected: bool) -> None:
        label = PLACES[host].label
        remedy = (
            f"Remove one of the two: `keeplore disconnect {host}` takes out what `keeplore "
            f"connect` has put there"
        )
        message = f"{label} has Keeplore already: {why}"
        self._skipped.append(Told(host, message, remedy if is_connected else ""))

    def plan(self, ready: Iterable[str]) -> Plan:
        changes = tuple(
            change for change in self._changes.values() if change.before != change.after
        )
        made = [
            folder
            for change in changes
            if change.before is None
            for folder in _missing(change.target)
        ]
        folders = tuple(dict.fromkeys((*self._base.folders, *made)))
        after = Manifest(self._kept, folders)
        return Plan(
            changes,
            tuple(self._told),
            tuple(ready),
            tuple(self._skipped),
            self._base,
            after.with_files(self._gone.values()),
            after.settled(),
        )

    def _read(self, target: Path) -> bytes | None:
        if target in self._changes:
            return self._changes[target].after
        return _read(target)

    def _change(
        self, owner: Owner, path: Path, target: Path, current: bytes | None, outcome: Outcome
    ) -> None:
        for told in outcome.told:
            remedy = (
                "Look at it, and take out by hand what you do not want"
                if outcome.is_done
                else _AGAIN
            )
            self._told.append(Told(owner.host, f"{path}: {told}", remedy))
        if outcome.after == current:
            return
        _expect_writable(target)
        earlier = self._changes.get(target)
        before = earlier.before if earlier else current
        self._changes[target] = Change(owner.host, path, target, before, outcome.after)


_AGAIN = "Mend it and run `keeplore disconnect` again"


def _given(form: Form, current: bytes | None, known: Form | None) -> tuple[Outcome, Form]:
    # each form knows its own kind alone; a manifest that says otherwise is of another release
    own = known if isinstance(known, type(form)) else None
    given: tuple[Outcome, Form] = form.give(current, own)  # type: ignore[arg-type]  # of its kind
    return given


def _read(target: Path) -> bytes | None:
    try:
        facts = target.stat()
        if not stat.S_ISREG(facts.st_mode):
            raise Refused("it is no file", "Move it away and run `keeplore connect` again")
        if facts.st_size > MAX_BYTES:
            raise Refused(f"it is larger than {MAX_BYTES >> 20} MB", "See what fills it")
        return target.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as e:
        raise Refused(f"it cannot be read: {e.strerror}", "Check its rights") from None


def _expect_writable(target: Path) -> None:
    folder = next(one for one in target.parents if one.exists())
    if not (folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)):
        raise Refused(
            f"{folder} cannot be written",
            "Check its rights; if a program makes it, change it there",
        )


def _missing(target: Path) -> list[str]:
    """The directories that have to be made for a file, the outermost first."""
    return [str(folder) for folder in reversed(target.parents) if not folder.exists()]
