"""``keeplore lint``: which files are looked at, and what their names, contents and links have
wrong.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from keeplore.config.machine import redaction_key
from keeplore.config.places import Places
from keeplore.config.project_file import NAME
from keeplore.config.settings import load_settings
from keeplore.errors import Corrupt, NotFound, StoreError
from keeplore.index.graph.definitions import definitions_in
from keeplore.memory.frontmatter import MAX_FILE
from keeplore.memory.lint_rules import (
    LintedFile,
    LintFinding,
    LintLevel,
    Secrets,
    check,
    check_links,
    no_text,
    read_of_code,
)
from keeplore.memory.location import digits_of
from keeplore.memory.names import short_id
from keeplore.redact import Redactor
from keeplore.store import Store, files
from keeplore.store.git.inspection import staged_contents
from keeplore.store.paths import alike_paths, is_memory, is_portable, is_side
from keeplore.workspace.identity import denied_patterns

FOLDERS = ("memory", "projects", "user", "entities")
KNOWN: Secrets = Redactor().spans  # what the rules know, without any wishes
_RENAME = "Rename it"


@dataclass(frozen=True, slots=True)
class LintReport:
    findings: tuple[LintFinding, ...]  # sorted by path and line
    files: int  # that were looked at

    @property
    def errors(self) -> int:
        return sum(finding.level == LintLevel.ERROR for finding in self.findings)


def secrets_of(root: Path, places: Places) -> Secrets:
    """What `redaction.deny`, `redaction.allow` and the projects of a workspace say, for `lint`.
    Raises ConfigError.
    """
    wishes = load_settings(root).redaction
    says = partial(denied_patterns, Store(root))
    return Redactor(
        redaction_key(places), deny=wishes.deny, allow=wishes.allow, denied=says
    ).spans


def joined_reports(reports: Iterable[LintReport]) -> LintReport:
    """The reports of several roots as one, in their order."""
    every = list(reports)
    found = tuple(finding for report in every for finding in report.findings)
    return LintReport(found, sum(report.files for report in every))


def lint(root: Path, paths: Sequence[str] = (), secrets: Secrets = KNOWN) -> LintReport:
    """Look at all memory files of a workspace, or at some: paths of files and folders relative to
    ``root``.

    ``secrets`` finds in a file what must not be in it, with the kind that the finding names.

    Raises NotFound for a path that no memory lies at.
    """
    skipped: list[str] = []
    present = [
        file.path for folder in FOLDERS for file in files.walk(root, folder, skipped)
    ]
    chosen = {*present, *skipped}
    if paths:
        chosen = set().union(*(_chosen_paths(path, chosen) for path in paths))
    wanted = (path for path in present if path in chosen and _is_checked(path))
    checked = [one for path in wanted if (one := _from_disk(root, path, secrets))]
    found = [_unread_finding(root, path) for path in skipped if path in chosen]
    found += _link_findings(root, checked, present, is_whole=not paths)
    found += [*_name_findings(present, chosen), *_claimed_twice(root, present, chosen)]
    return _report(root, checked, found)


def _chosen_paths(path: str, present: Iterable[str]) -> set[str]:
    """The file of a path, or those of a folder. Raises NotFound."""
    found = {one for one in present if one == path or one.startswith(f"{path}/")}
    if not found:
        raise NotFound(
            f"no memory lies at {path}",
            "Name one below memory/, projects/, user/ or entities/",
        )
    return found


def _unread_finding(root: Path, path: str) -> LintFinding:
    """The finding about something among the memories that is no file of one, or a closed folder."""
    place = root / path
    is_folder = place.is_dir() and not place.is_symlink()
    if is_folder and not os.access(place, os.R_OK | os.X_OK):
        said = "you may not look into it, so nothing in it is read"
        return LintFinding(path, 1, LintLevel.ERROR, said, "Look at its permissions")
    said = "it is not read: a link, no regular file, or a repository of its own"
    return LintFinding(path, 1, LintLevel.WARNING, said, "Move it out")


def lint_staged(
    root: Path, index_file: str = "", secrets: Secrets = KNOWN
) -> LintReport:
    """Look at the memory files that are staged, as git's index has them. Raises RepositoryError."""
    contents = staged_contents(root, index_file)
    checked = [
        _lint_file(root, path, data, secrets)
        for path, data in contents.items()
        if _is_checked(path)
    ]
    present = [file.path for folder in FOLDERS for file in files.walk(root, folder, [])]
    found = list(_link_findings(root, checked, present, is_whole=False))
    found += _name_findings({*present, *contents}, contents)
    return _report(root, checked, found)


def _report(
    root: Path, checked: Sequence[LintedFile], more: Iterable[LintFinding]
) -> LintReport:
    """Paths are those of the repository."""
    before = f"{NAME}/" if root.name == NAME else ""
    found = {*(finding for file in checked for finding in file.findings), *more}
    # a name may hold bytes that are no text, and a message must be printable all the same
    sound = (
        replace(f, path=before + f.path.encode("utf-8", "backslashreplace").decode())
        for f in found
    )
    return LintReport(tuple(sorted(sound)), len(checked))


def _from_disk(root: Path, path: str, secrets: Secrets) -> LintedFile | None:
    try:
        data = files.read(root, path, MAX_FILE)
    except NotFound:  # removed since it was seen
        return None
    except Corrupt:
        return _lint_file(root, path, None, secrets)
    except (StoreError, OSError) as e:
        said = (
            e.message
            if isinstance(e, StoreError)
            else f"it cannot be read: {e.strerror}"
        )
        return LintedFile(
            path,
            None,
            (LintFinding(path, 1, LintLevel.ERROR, said, "Look at its permissions"),),
        )
    return _lint_file(root, path, data, secrets)


def _lint_file(
    root: Path, path: str, data: bytes | None, secrets: Secrets
) -> LintedFile:
    if data is None:
        said, remedy = (
            f"it is larger than {MAX_FILE >> 20} MB",
            "Split it, or move it out of the memory folders",
        )
        return LintedFile(
            path, None, (LintFinding(path, 1, LintLevel.ERROR, said, remedy),)
        )
    read = read_of_code if root.name == NAME else None
    return check(path, data, secrets, read if is_memory(path) else _read_side)


def _is_checked(path: str) -> bool:
    return is_memory(path) or is_side(path)


def _read_side(path: str, data: bytes) -> LintedFile:
    """A file that says who and what there is."""
    try:
        definitions_in(path, data.decode())
    except UnicodeDecodeError as e:
        return LintedFile(path, None, (no_text(path, data, e.start),))
    except ValueError as e:
        why = (
            e.__cause__
            if isinstance(e.__cause__, Corrupt)
            else Corrupt(str(e), "Mend it, or take it out of the folder")
        )
        return LintedFile(
            path,
            None,
            (LintFinding(path, why.line, LintLevel.ERROR, why.message, why.remedy),),
        )
    return LintedFile(path, None, ())


def _link_findings(
    root: Path, checked: Sequence[LintedFile], present: Iterable[str], *, is_whole: bool
) -> Iterator[LintFinding]:
    """What the files say of others; of those not looked at, the ones are read whose ids may be
    meant.
    """
    others = [] if is_whole else _linked_files(root, checked, present)
    own = {file.path for file in checked}
    found = check_links([*checked, *others], _forgotten_ids(root), is_whole=is_whole)
    yield from (finding for finding in found if finding.path in own)


def _linked_files(
    root: Path, checked: Sequence[LintedFile], present: Iterable[str]
) -> list[LintedFile]:
    """The files on disk that those checked name or share an id with."""
    wanted = {""}  # digits of ids
    for memory in filter(None, (file.memory for file in checked)):
        linked = (target for _, target in memory.links)
        wanted.update(short_id(id_) for id_ in (memory.id, *linked))
    own = {file.path for file in checked}
    memories = (path for path in present if path not in own and is_memory(path))
    likely = (path for path in memories if digits_of(path) in wanted)
    return [one for path in likely if (one := _from_disk(root, path, _no_secrets))]


def _no_secrets(_data: bytes) -> tuple[tuple[int, int, str], ...]:
    return ()  # of these files only what they say of others counts


def _forgotten_ids(root: Path) -> list[str]:
    folder = root / "forgotten"
    # none where the folder is not there
    return [path.stem for path in folder.glob("*.json")]


def _claimed_twice(
    root: Path, present: Iterable[str], chosen: set[str]
) -> Iterator[LintFinding]:
    """Names that files of entities give to two things in one place: one of the two has it, and
    nobody would see why.
    """
    for (_, name), entities in _entities_by_name(root, present).items():
        first, *others = sorted(entities)
        for path in chosen.intersection(map(entities.__getitem__, others)):
            said = f"{name!r} is a name of {first!r} too, in {entities[first]}, and means that"
            yield LintFinding(
                path, 1, LintLevel.WARNING, said, "Take it out of one of the two files"
            )


def _entities_by_name(
    root: Path, present: Iterable[str]
) -> dict[tuple[str, str], dict[str, str]]:
    """Place and name → the entities that have it there, each with its file."""
    holders: dict[tuple[str, str], dict[str, str]] = {}
    for path in sorted(filter(is_side, present)):
        if path.split("/")[-2] != "entities":
            continue
        # what is wrong with the file itself is told of it
        with suppress(StoreError, OSError, ValueError):
            for definition in definitions_in(
                path, files.read(root, path, MAX_FILE).decode()
            )[0]:
                entities = holders.setdefault((definition.place, definition.name), {})
                entities.setdefault(definition.entity, path)
    return holders


def _name_findings(
    present: Iterable[str], chosen: Iterable[str] | Mapping[str, object]
) -> Iterator[LintFinding]:
    wanted = set(chosen)
    yield from _alike_names(present, wanted)
    for path in sorted(wanted):
        if not is_portable(path):
            said = "git does not get it: not every system can hold a file of this name"
            yield LintFinding(path, 1, LintLevel.ERROR, said, _RENAME)
        elif path.lower().endswith((".md", ".markdown")) and not is_memory(path):
            said = "it is not read: the name does not end in .md"
            yield LintFinding(path, 1, LintLevel.WARNING, said, _RENAME)


def _alike_names(present: Iterable[str], wanted: set[str]) -> Iterator[LintFinding]:
    """Names that differ by letter case or by how accents are stored, each beside the first one."""
    for first, *others in alike_paths(present):
        for path in wanted.intersection(others):
            said = (
                f"its name differs from {first} by letter case or by how accents are stored, and "
                f"many systems hold one of them only"
            )
            yield LintFinding(path, 1, LintLevel.ERROR, said, _RENAME)
