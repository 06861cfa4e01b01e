"""Entities that a person names: one file each, for the whole workspace or for one project."""

from __future__ import annotations

import contextlib
import difflib
import hashlib
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from keeplore.errors import AlreadyExists, Corrupt, NotFound, StoreError, UnsafePath
from keeplore.index.graph.definitions import MAX_FILE
from keeplore.index.graph.graph_values import canonical_name
from keeplore.memory import slugify
from keeplore.memory.entity_file import (
    MAX_ALIASES,
    MAX_NAME,
    EntityFile,
    parse_entity,
    serialise_entity,
)
from keeplore.memory.merge.memory_merge import merge_entity
from keeplore.store import Store
from keeplore.store.files import file_state
from keeplore.text.fences import one_plain_line
from keeplore.workspace.identity import load_projects
from keeplore.workspace.workspace import Workspace

SHOWN = 3  # names that may be meant


@dataclass(frozen=True, slots=True)
class EntityRecord:
    """An entity's file; ``project`` is "" for one of the whole workspace."""

    path: str
    project: str
    text: str
    entity: EntityFile

    @property
    def names(self) -> set[str]:
        """Canonical."""
        return {
            canonical_name(name) for name in (self.entity.name, *self.entity.aliases)
        }


def entity_records(store: Store, project: str) -> Iterator[EntityRecord]:
    """The entities of a project, or of the whole workspace for "", by path; a file that cannot be
    read is left out.
    """
    folder = _folder(project)
    paths = [file.path for file in store.indexed() if file.path.startswith(folder)]
    for path in sorted(paths):
        with contextlib.suppress(StoreError, OSError):  # `keeplore doctor` names it
            text = store.read_text(path, MAX_FILE)
            yield EntityRecord(path, project, text, parse_entity(text))


def add(
    workspace: Workspace,
    name: str,
    type_: str = "",
    aliases: Iterable[str] = (),
    project: str = "",
) -> tuple[EntityFile, bool]:
    """Write an entity down, or what is new of one that is there; and whether anything was.

    Raises AlreadyExists for a name that another entity goes by, StoreError for what can be no name,
    or OSError.
    """
    name, *others = (
        _checked_name(workspace, text, project) for text in (name, *aliases)
    )
    with workspace.store.exclusive:
        known = list(entity_records(workspace.store, project))
        same = _record_named(known, name)
        _expect_free((name, *others), (one for one in known if one is not same))
        path = same.path if same else _entity_path(name, project)
        if not same and file_state(workspace.root, path):
            raise Corrupt(
                f"{path} is there and is not the file of {name}",
                "Mend that file, or move it away",
            )
        empty: dict[str, Any] = {
            "name": name,
            "type": type_ or "unknown",
            "aliases": [],
        }
        said = dict(same.entity.said) if same else empty
        own = _joined_aliases(name, said, others)
        said = {**said, "type": type_ or said["type"], "aliases": own}
        return _save(workspace, path, same, said)


def _expect_free(names: Iterable[str], others: Iterable[EntityRecord]) -> None:
    """Raise AlreadyExists for a name that another entity goes by."""
    others = tuple(others)
    for name in names:
        for one in others:
            if canonical_name(name) in one.names:
                raise _taken_error(name, one)


def _joined_aliases(
    name: str, said: Mapping[str, Any], others: Iterable[str]
) -> list[str]:
    """The aliases, each once however it is spelled. Raises StoreError for too many."""
    own = {canonical_name(alias): alias for alias in (*said["aliases"], *others)}
    own.pop(canonical_name(name), None)
    if len(own) > MAX_ALIASES:
        raise StoreError(
            f"{name} would have more than {MAX_ALIASES} aliases", "Take some away first"
        )
    return [*own.values()]


def remove(
    workspace: Workspace, name: str, aliases: Iterable[str] = (), project: str = ""
) -> str:
    """Take an entity's file away, or some of its aliases; its name. What memories say of it stays.

    Raises NotFound or OSError.
    """
    with workspace.store.exclusive:
        known = list(entity_records(workspace.store, project))
        found = _record_named(known, name)
        if found is None:
            raise _unknown_error(workspace.store, name, known, project)
        gone = {canonical_name(alias) for alias in aliases}
        if missing := gone - found.names:
            raise NotFound(
                f"{found.entity.name} has no alias {min(missing)!r}",
                "`keeplore entity list` shows them",
            )
        if not gone:
            workspace.store.remove(found.path)
        else:
            own = found.entity.aliases
            kept = [alias for alias in own if canonical_name(alias) not in gone]
            _save(workspace, found.path, found, {**found.entity.said, "aliases": kept})
        return found.entity.name


def _save(
    workspace: Workspace,
    path: str,
    before: EntityRecord | None,
    said: dict[str, object],
) -> tuple[EntityFile, bool]:
    text = serialise_entity(said)
    if before:
        # as if a person had changed the file and somebody else these values: comments stay
        text = merge_entity(
            path, serialise_entity(before.entity.said), before.text, text
        ).text
    has_changed = before is None or parse_entity(text).said != before.entity.said
    if has_changed:
        workspace.store.write_text(path, text)
    return parse_entity(text), has_changed


def _checked_name(workspace: Workspace, name: str, project: str) -> str:
    plain = one_plain_line(name)
    if (
        not any(char.isalnum() for char in canonical_name(plain))
        or len(plain) > MAX_NAME
    ):
        raise UnsafePath(
            f"{name[:MAX_NAME]!r} can be no name",
            f"Give one with letters or digits, of at most {MAX_NAME} characters",
        )
    if workspace.plugins.redact(plain, project) != plain:
        raise UnsafePath(
            "this name looks like a secret, which must not be kept",
            "Give it another name",
        )
    return plain


def _entity_path(name: str, project: str) -> str:
    """The path of an entity's file, made of the name alone, so that two machines that add the same
    entity write one file.
    """
    key, slug = canonical_name(name), slugify(name)
    file_name = (
        slug
        if slug == key
        else f"{slug}-{hashlib.sha256(key.encode()).hexdigest()[:8]}"
    )
    return f"{_folder(project)}{file_name}.yaml"


def _folder(project: str) -> str:
    return f"projects/{project}/entities/" if project else "entities/"


def _taken_error(name: str, other: EntityRecord) -> AlreadyExists:
    its = other.entity.name
    where = ["--project", other.project] if other.project else []
    command = shlex.join(["keeplore", "entity", "remove", its, *where])
    if canonical_name(name) == canonical_name(its):
        return AlreadyExists(
            f"{name} is an entity of its own", f"`{command}` makes room for an alias"
        )
    return AlreadyExists(
        f"{name} is an alias of {its}",
        f"Say {its} for it, or `{command} --alias {shlex.quote(name)}` makes it free",
    )


def _unknown_error(
    store: Store, name: str, known: Iterable[EntityRecord], project: str
) -> NotFound:
    others = (entry.name for entry in load_projects(store) if entry.name != project)
    own = [
        other for other in others if _record_named(entity_records(store, other), name)
    ]
    meant = _similar_name_question(name, known)
    if own:
        meant = f"It is of {' and of '.join(own)}: add `--project {own[0]}`. "
    where = f"of {project} " if project else ""
    return NotFound(
        f"nobody has added an entity {where}{name!r}",
        f"{meant}`keeplore entity list` lists all",
    )


def _similar_name_question(name: str, known: Iterable[EntityRecord]) -> str:
    """A question whether one of those with a name close to it is meant, "" for none."""
    by_key = {key: one.entity.name for one in known for key in one.names}
    close = difflib.get_close_matches(canonical_name(name), by_key, SHOWN)
    names = dict.fromkeys(by_key[key] for key in close)
    return f"Did you mean {' or '.join(names)}? " if names else ""


def _record_named(known: Iterable[EntityRecord], name: str) -> EntityRecord | None:
    wanted = canonical_name(name)
    return next(
        (one for one in known if canonical_name(one.entity.name) == wanted), None
    )
