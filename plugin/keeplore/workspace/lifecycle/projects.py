"""The list of projects of a workspace: adding, cloning again on a new machine, two entries that are
one project.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from keeplore.errors import AlreadyExists, ConfigError, KeeploreError, NotFound
from keeplore.memory import slugify
from keeplore.memory.names import is_project_name
from keeplore.store.git.checkout_info import checkout_info
from keeplore.sync.clone import clone_project
from keeplore.sync.remote_git import checked_url
from keeplore.workspace.identity import (
    Project,
    load_projects,
    normalise_remote,
    save_project,
)
from keeplore.workspace.importing.project_manifests import ProjectManifests
from keeplore.workspace.workspace import Workspace

# a list that a person brings along, in the root of the workspace
LIST = "projects.json"
MAX_LIST = 1024 * 1024  # bytes
MAX_LISTED = 10_000
_URLS = ("remote", "url", "repo", "repository", "remote_url", "git", "clone_url")
_NAMES = "Use lower-case letters, digits, dots and dashes"
_USER = re.compile(r"(?:ssh://)?([^/@:\s]+)@")
_SSH = re.compile(r"(?:ssh://|[^/@:\s]+@[^/:\s]+:)")

CloneProgress = Callable[[str, str], None]  # a project's name and how far it is


@dataclass(frozen=True, slots=True)
class ClonedProject:
    """``path`` is where the project is now; ``error`` says why it is not, ``is_new`` is False where
    it was before.
    """

    name: str
    path: Path
    error: str = ""
    is_new: bool = False


def add(workspace: Workspace, directory: Path, name: str = "") -> Project:
    """Give a directory's project an entry, under ``name`` or the one that its remote or folder has.

    Raises ConfigError for a directory that belongs to no project, a name that no folder can have,
    AlreadyExists.
    """
    identity = workspace.identities.of(directory)
    if not directory.is_dir():
        raise ConfigError(
            f"{directory} is no directory", "Name the directory of a project"
        )
    if identity.is_known and identity.project:
        raise AlreadyExists(
            f"{directory} is {identity.project} already, by {identity.reason}",
            "Nothing is to be done; `keeplore projects reassign` gives it another name",
        )
    if identity.proposal is None:
        raise ConfigError(
            f"{directory} belongs to no project: {identity.reason}",
            "Name the directory of a project",
        )
    project = replace(identity.proposal, name=name or identity.proposal.name)
    _expect_free(workspace, project.name)
    save_project(workspace.store, workspace.identities.written(project))
    workspace.identities.forget()
    ProjectManifests().take(workspace, directory)
    return project


def _expect_free(workspace: Workspace, name: str) -> None:
    if not is_project_name(name):
        raise ConfigError(f"{name!r} cannot be a project's name", _NAMES)
    if name in {entry.name for entry in load_projects(workspace.store)}:
        raise AlreadyExists(
            f"there is a project {name!r} already", "Choose another name with --name"
        )


def parse_project_list(text: str) -> tuple[list[Project], int]:
    """The projects of a ``projects.json`` from elsewhere: a list, a mapping by name, or either
    below ``projects``.

    An entry has a name, an address under one of the usual keys, or is the address itself; what has
    neither is left out, and counted. Raises ConfigError for what is no such list.
    """
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as e:
        raise ConfigError(
            f"this is no JSON: {e}", "Name a file that lists projects"
        ) from e
    items = _items(data)
    found = [
        project
        for name, item in items[:MAX_LISTED]
        if (project := _entry(str(name), item))
    ]
    if not found:
        raise ConfigError(
            "no project with a name and an address is in it",
            "See docs/commands.md for what it may hold",
        )
    return found, len(items) - len(found)


def _items(data: Any) -> list[tuple[Any, Any]]:
    """Name, "" for none, and entry of each project in the list."""
    if isinstance(data, dict) and isinstance(data.get("projects"), list | dict):
        data = data["projects"]
    if isinstance(data, dict):
        return list(data.items())
    return [("", item) for item in data] if isinstance(data, list) else []


def add_missing(workspace: Workspace, projects: list[Project]) -> list[Project]:
    """Write the entries that the workspace does not have yet, and return those."""
    known = list(load_projects(workspace.store))
    names = {entry.name for entry in known}
    remotes = {remote for entry in known for remote in entry.remotes}
    new = []
    for project in projects:
        if project.name not in names and not remotes & set(project.remotes):
            save_project(workspace.store, project)
            new.append(project)
            names.add(project.name)
            remotes |= set(project.remotes)
    return new


def projects_named(workspace: Workspace, names: tuple[str, ...]) -> list[Project]:
    """The entries of these names, all of them for none. Raises NotFound."""
    entries = {entry.name: entry for entry in load_projects(workspace.store)}
    for name in names:
        if name not in entries:
            raise NotFound(
                f"there is no project {name!r}", "`keeplore projects` lists them"
            )
    return [entries[name] for name in dict.fromkeys(names or entries)]


def address(project: Project, like: str) -> str:
    """Where the project can be cloned from, "" for nowhere; by ssh where the address ``like`` goes
    by ssh.

    From a server that ``like`` names too it is asked for as that is: by the same user, without TLS
    where that has none.
    """
    remote = next(
        (remote for remote in project.remotes if not remote.startswith("file/")), ""
    )
    host, _, path = remote.partition("/")
    if not (host and path):
        return ""
    is_same = normalise_remote(like).partition("/")[0] == host
    if _SSH.match(like):
        user = _USER.match(like) if is_same else None
        return f"ssh://{user[1] if user else 'git'}@{host}/{path}.git"
    scheme = "http" if is_same and like.startswith("http://") else "https"
    return f"{scheme}://{host}/{path}.git"


def clone(
    workspace: Workspace, projects: list[Project], into: Path, followed: CloneProgress
) -> Iterator[ClonedProject]:
    """Clone projects, each into a folder of its name, one after the other; one that fails stops
    none.
    """
    remote = workspace.store.remote_in_full()
    for project in projects:
        place = into / project.name
        url = address(project, remote.url if remote else "")
        if not url:
            yield ClonedProject(project.name, place, "it has no remote to clone from")
        elif place.exists() and (not place.is_dir() or any(place.iterdir())):
            yield _existing_clone(project, place)
        else:
            follow = functools.partial(followed, project.name)
            yield _clone(project.name, url, place, follow)


def _clone(
    name: str, url: str, place: Path, follow: Callable[[str], None]
) -> ClonedProject:
    try:
        _, protocols = checked_url(url, is_path_allowed=False)
        clone_project(url, protocols, place, follow)
    except (KeeploreError, OSError) as e:
        return ClonedProject(name, place, str(e))
    return ClonedProject(name, place, is_new=True)


def reassign(
    workspace: Workspace, old: str, new: str, met: Project | None = None
) -> Project:
    """Let the project ``old`` be ``new``: what recognises it recognises that one, which has its
    memory as well. ``met`` is one that has no entry yet.

    No memory file is touched or moved. Raises NotFound for a project without entry and memory.
    """
    met = met and workspace.identities.written(met)
    known = filter(None, (met, *load_projects(workspace.store)))
    entries = {entry.name: entry for entry in known}
    workspace.index.refresh()
    if old == new or not is_project_name(new):
        raise ConfigError(
            f"{old} cannot become {new!r}", f"Name another project. {_NAMES}"
        )
    if old not in entries and ("project", old) not in workspace.index.scopes():
        raise NotFound(f"there is no project {old!r}", "`keeplore projects` lists them")
    joined = _joined_project(
        entries.get(old, Project(old)), entries.get(new, Project(new))
    )
    # the new entry first: a project that two entries name is found, one that none names is lost
    workspace.store.write_text(f"projects/{new}/project.json", joined.to_json())
    if old in entries and entries[old] is not met:
        workspace.store.remove(f"projects/{old}/project.json")
    workspace.identities.forget()
    return joined


def _joined_project(before: Project, into: Project) -> Project:
    path = into.path or before.path
    return Project(
        into.name,
        _joined(into.remotes, before.remotes),
        into.root_commit or before.root_commit,
        path,
        _joined(into.also, (before.name, *before.also), without=into.name),
        _joined(into.deny, before.deny),
        _joined(into.paths, (before.path, *before.paths), without=path),
    )


def _joined(
    one: Iterable[str], other: Iterable[str], *, without: str = ""
) -> tuple[str, ...]:
    """Both, each text once, but for one that stands elsewhere."""
    both = dict.fromkeys((*one, *other))
    return tuple(text for text in both if text not in ("", without))


def _existing_clone(project: Project, place: Path) -> ClonedProject:
    """What stands where a project is to be cloned: the project itself, or a problem."""
    checkout = checkout_info(place) if place.is_dir() else None
    urls = checkout.remotes.values() if checkout else ()
    if {normalise_remote(url) for url in urls} & set(project.remotes):
        return ClonedProject(project.name, place)
    return ClonedProject(project.name, place, "something else is there already")


def _entry(name: str, item: Any) -> Project | None:
    """A project as a list describes it, None where that names neither a remote nor a path."""
    if isinstance(item, str):
        item = {"url": item}
    if not isinstance(item, dict):
        return None
    texts = {
        str(key).lower(): value for key, value in item.items() if isinstance(value, str)
    }
    remotes = tuple(
        filter(None, (normalise_remote(texts[key]) for key in _URLS if key in texts))
    )
    given = (
        name
        or texts.get("name", "")
        or (remotes[0].rsplit("/", 1)[-1] if remotes else "")
    )
    called = given if is_project_name(given) else slugify(given)
    path = texts.get("path", "")
    if not given or not (remotes or path):
        return None
    return Project(called, tuple(dict.fromkeys(remotes)), path="" if remotes else path)
