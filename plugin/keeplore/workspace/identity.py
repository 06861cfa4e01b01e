"""Which project a directory belongs to: one answer, for writing memory and for reading it."""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from keeplore.errors import ConfigError, NotFound, StoreError
from keeplore.memory import slugify
from keeplore.memory.model import Scope, without_empty
from keeplore.memory.names import is_project_name
from keeplore.recall.request import SearchScope
from keeplore.store import CheckoutInfo, Store
from keeplore.store.git.checkout_info import checkout_info
from keeplore.text.agent_scope import agent_name, key_of
from keeplore.text.fences import without_surrogates
from keeplore_hooks.events import Origin

if TYPE_CHECKING:
    from keeplore.capture.capture_deps import MemoryPlace

# a file with the project's name, for directories without git
MARKER = ".keeplore-project"
# <project>/.worktrees/<name>, <project>/.claude/worktrees/<name>
WORKTREE_FOLDERS = (".worktrees", "worktrees")
MAX_MARKER = 200  # bytes
MAX_PROJECT_FILE = 64 * 1024  # bytes
MAX_DENIED = 100  # patterns of one project
MAX_PROJECTS = 10_000
SCHEMA = 1
Cleaned = Callable[[str], str]  # a text without its secrets
_MARK = "[redacted"  # in an entry, for the part that is a secret, in either case
# how long a directory keeps its project: a remote may have been added
REMEMBERED_S = 30.0
NAMINGS = 2  # for a name that another process takes in between
_SCP = re.compile(r"(?:[^@/:\s]+@)?(?P<host>[^/:\s]+):(?P<path>[^\s]+)\Z")
_DEFAULT_PORTS = {"ssh": 22, "https": 443, "http": 80, "git": 9418}


@dataclass(frozen=True, slots=True)
class Project:
    """What ``projects/<name>/project.json`` holds: enough to recognise the project, and to clone it
    again.
    """

    name: str
    remotes: tuple[str, ...] = ()  # normalised: host/path
    root_commit: str = ""
    path: str = ""  # below the home directory as ~/…; only where there is no remote
    also: tuple[str, ...] = ()  # other names under which memory of it is filed
    deny: tuple[str, ...] = ()  # what must never be kept of it, as RE2 patterns
    paths: tuple[str, ...] = ()  # of projects that are this one now, as ``path``

    @property
    def places(self) -> set[str]:
        """The paths that it is recognised by."""
        return {self.path, *self.paths} - {""}

    @property
    def has_mark(self) -> bool:
        """Whether it was written without a secret that it is recognised by."""
        return _MARK in " ".join((*self.places, *self.remotes)).lower()

    def cleaned(self, clean: Cleaned) -> Project:
        """The entry as it may be written: a folder or a remote may be called as a customer is."""
        return replace(
            self, remotes=_cleaned(self.remotes, clean), path=clean(self.path)
        )

    def to_json(self) -> str:
        """The entry as it is written, without empty fields."""
        data = {"schema": SCHEMA} | without_empty(asdict(self))
        return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


@dataclass(frozen=True, slots=True)
class Identity:
    """``project`` is "" where a directory belongs to none (the home directory, the root, a
    workspace itself).
    """

    project: str
    reason: str  # what told, in a few words
    is_known: bool = False  # the workspace has an entry for it
    # the entry to write when memory of it is first captured
    proposal: Project | None = None
    also: tuple[str, ...] = ()
    remotes: tuple[str, ...] = ()  # of the checkout here, normalised
    # other projects that begin with the same commit: a fork, or the same before its remote changed
    alike: tuple[str, ...] = ()
    # where the project begins on this machine, that of all its worktrees; below the home
    # directory as ~/…, "" where that is not known
    root: str = ""


def normalise_remote(url: str) -> str:
    """``host/path`` in one form for ssh, https and scp-like addresses; "" for what is none.

    Credentials, the default port, ``.git``, trailing slashes and the letter case of the host are
    dropped, and the case of the path too: the large forges take no two names that differ only by
    it.
    """
    host, path = _host_and_path(url.strip())
    path = re.sub(r"/+", "/", path).strip("/").removesuffix(".git").strip("/")
    return f"{host}/{path}".lower() if host and path else ""


def _host_and_path(url: str) -> tuple[str, str]:
    if "://" in url:
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError:
            return "", ""
        if parts.scheme == "file":
            return "file", parts.path
        host = parts.hostname or ""
        is_usual = not port or port == _DEFAULT_PORTS.get(parts.scheme)
        return host if is_usual else f"{host}:{port}", parts.path
    if match := _SCP.match(url):
        return match["host"], match["path"]
    return ("file", url) if url.startswith("/") else ("", "")


def identify(
    directory: Path, store: Store, home: Path, clean: Cleaned = str
) -> Identity:
    """The project of a directory: entry of the workspace, then remote, root commit, marker file,
    path. ``clean`` gives a text as an entry may have it.
    """
    projects = _reassigned_last(load_projects(store))
    # unlike Path.is_dir it never raises; what a host calls a directory may be anything
    checkout = checkout_info(directory) if os.path.isdir(directory) else None  # noqa: PTH112
    found = _evidence(directory, checkout, home)
    if not found.name:
        return Identity("", found.reason)
    here = _known(projects, found) or _known_cleaned(projects, found, clean)
    if here is None:
        name = _free_name(found, {entry.name for entry in projects})
        here = Identity(name, found.reason, proposal=found.proposal(name))
    alike = (entry.name for entry in projects if _is_same_root(entry, found))
    others = tuple(name for name in alike if name not in {here.project, *here.also})
    return replace(here, remotes=found.remotes, root=found.path, alike=others)


def _known(projects: Sequence[Project], found: _Evidence) -> Identity | None:
    """The project whose entry fits, None for one that is not known."""
    for entry in projects:
        if reason := _matches(entry, found):
            also = _all_names(entry, projects)
            return Identity(entry.name, reason, is_known=True, also=also)
    return None


def _known_cleaned(
    projects: Sequence[Project], found: _Evidence, clean: Cleaned
) -> Identity | None:
    """The project whose entry fits what is written of these; None where none is written so."""
    if not any(entry.has_mark for entry in projects):  # `clean` is dear
        return None
    remotes = _cleaned(found.remotes, clean)
    return _known(projects, replace(found, remotes=remotes, path=clean(found.path)))


def _cleaned(remotes: Iterable[str], clean: Cleaned) -> tuple[str, ...]:
    """The remotes as an entry may have them, in lower case as ever."""
    return tuple(clean(remote).lower() for remote in remotes)


def _reassigned_last(projects: Iterable[Project]) -> list[Project]:
    """The entries, those last that are another project now: one that a machine changed while it
    was reassigned elsewhere is still there.
    """
    projects = list(projects)
    reassigned = {name for entry in projects for name in entry.also}
    return sorted(projects, key=lambda entry: entry.name in reassigned)


def _all_names(entry: Project, projects: Sequence[Project]) -> tuple[str, ...]:
    """The other names of a project, with those of the entries that these have."""
    names = dict.fromkeys(entry.also)
    also = {other.name: other.also for other in projects}
    for name in entry.also:
        names |= dict.fromkeys(also.get(name, ()))
    return tuple(name for name in names if name != entry.name)


class IdentityResolver:
    """Tells which project and which scopes a directory has, as one workspace knows them."""

    def __init__(self, store: Store, clean: Cleaned = str) -> None:
        self._store = store
        self._clean = clean
        self._home = Path.home()
        self._known: dict[Path, tuple[float, Identity]] = {}

    def of(self, directory: Path) -> Identity:
        """The project of a directory, looked up again after a while."""
        at, known = self._known.get(directory, (0.0, None))
        if known is None or time.monotonic() - at > REMEMBERED_S:
            known = self._look_up(directory)
            self._known[directory] = (time.monotonic(), known)
        return known

    def project_of(self, cwd: str) -> str:
        """The name of a directory's project; "" for none, and for no directory."""
        return self.of(Path(cwd)).project if cwd else ""

    def forget(self) -> None:
        """Look up every directory again."""
        self._known.clear()

    def here(self, directory: Path, agent: str = "") -> SearchScope:
        """Which scopes apply in a directory, to an agent that is called so."""
        identity = self.of(directory)
        return SearchScope(identity.project, identity.also, agent_name(agent))

    def place(self, origin: Origin) -> MemoryPlace:
        """Where memory that is made there belongs; a project that is met for the first time gets
        its entry.
        """
        # here, because the patterns of capture cost a tenth of a second
        from keeplore.capture.capture_deps import MemoryPlace

        if origin.scope == Scope.USER and not origin.cwd:
            return MemoryPlace("user")
        identity = self.of(Path(origin.cwd)) if origin.cwd else None
        if identity is None or not identity.project:
            return MemoryPlace("workspace", branch=origin.branch)
        if identity.proposal is not None:
            identity = self._registered(Path(origin.cwd))
        agent = agent_name(origin.agent_name)
        scope = key_of(agent) if agent else "project"
        return MemoryPlace(scope, identity.project, origin.branch)

    def _registered(self, directory: Path) -> Identity:
        """The project of a directory, with its entry; another one may have got its name since it
        was looked up, here or in another process.
        """
        self.forget()
        found = self.of(directory)
        for _ in range(NAMINGS):
            if found.proposal is None:
                break
            save_project(self._store, self.written(found.proposal))
            self.forget()
            found = self.of(directory)
        return found

    def written(self, project: Project) -> Project:
        """An entry as it may be written into the workspace."""
        return project.cleaned(self._clean)

    def _look_up(self, directory: Path) -> Identity:
        if directory.is_relative_to(self._store.root):
            return Identity("", "this is the workspace itself", is_known=True)
        return identify(directory, self._store, self._home, self._clean)


def load_projects(store: Store) -> Iterable[Project]:
    """The project entries that can be read, in the order of their names; ``keeplore doctor``
    tells of the others.
    """
    folder = store.root / "projects"
    if not folder.is_dir():
        return
    names = sorted(path.name for path in folder.iterdir())[:MAX_PROJECTS]
    for name in filter(is_project_name, names):
        if data := _project_entry(store, name):
            also = filter(is_project_name, _texts(data, "also"))
            yield Project(
                name,
                remotes=tuple(map(_remote_of_entry, _texts(data, "remotes"))),
                root_commit=str(data.get("root_commit", "")),
                path=str(data.get("path", "")),
                also=tuple(other for other in also if other != name),
                deny=_deny(data),
                paths=tuple(_texts(data, "paths")),
            )


def _remote_of_entry(remote: str) -> str:
    return normalise_remote(f"https://{remote}")


def denied_patterns(store: Store, project: str) -> tuple[str, ...]:
    """What a project's entry, or that of the project it is filed under now, denies."""
    if not is_project_name(project):
        return ()
    if data := _project_entry(store, project):
        return _deny(data)
    return next(
        (entry.deny for entry in load_projects(store) if project in entry.also), ()
    )


def _project_entry(store: Store, name: str) -> dict[str, object]:
    try:
        data = json.loads(
            store.read_text(f"projects/{name}/project.json", MAX_PROJECT_FILE)
        )
    except (StoreError, OSError, ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


def _deny(data: dict[str, object]) -> tuple[str, ...]:
    return tuple(pattern for pattern in _texts(data, "deny")[:MAX_DENIED] if pattern)


def _texts(data: dict[str, object], key: str) -> list[str]:
    value = data.get(key)
    if not isinstance(value, list):
        return []
    return [item for item in value if isinstance(item, str)]


def save_project(store: Store, project: Project) -> None:
    """Write the entry unless there is one; two machines that meet the same project write the same
    bytes. Raises ConfigError where what is there cannot be read: no session is at fault then.
    """
    path = f"projects/{project.name}/project.json"
    try:
        store.read_text(path, MAX_PROJECT_FILE)
    except NotFound:
        store.write_text(path, project.to_json())
    except StoreError as e:
        raise ConfigError(e.message, e.remedy) from e


@dataclass(frozen=True, slots=True)
class _Evidence:
    name: str
    reason: str
    key: str = ""  # what distinguishes it from another project of the same name
    remotes: tuple[str, ...] = ()
    root_commit: str = ""
    path: str = ""
    whole: str = ""  # the path without ~, as an entry may have it
    marker: str = ""

    def proposal(self, name: str) -> Project:
        """The entry that the workspace would have of it."""
        path = "" if self.remotes else self.path
        return Project(name, self.remotes[:1], self.root_commit, path)


def _evidence(directory: Path, checkout: CheckoutInfo | None, home: Path) -> _Evidence:
    if checkout is not None:
        return _checkout_evidence(checkout, home)
    for place in (directory, *directory.parents):
        if marker := _marker(place):
            return _Evidence(marker, f"marker file in {place}", marker, marker=marker)
    if not os.path.exists(directory):  # noqa: PTH110 (it never raises)
        directory = _main_of_worktree(directory)
    if directory in _homes(home):
        return _Evidence("", "the home directory belongs to no project")
    if not directory.name:
        return _Evidence("", "the root directory belongs to no project")
    path = below_home(directory, home)
    whole = without_surrogates(directory.as_posix())
    return _Evidence(
        _name(directory.name), f"path {path}", path, path=path, whole=whole
    )


def _checkout_evidence(checkout: CheckoutInfo, home: Path) -> _Evidence:
    top = checkout.main or checkout.top
    path, root = below_home(top, home), checkout.root_commit
    if remotes := _remotes(checkout):
        first = remotes[0]
        return _Evidence(
            _name(first), f"git remote {first}", first, remotes, root, path
        )
    if root:
        return _Evidence(
            _name(top.name), f"root commit {root[:8]}", root, (), root, path
        )
    whole = without_surrogates(top.as_posix())
    return _Evidence(_name(top.name), f"path {path}", path, path=path, whole=whole)


def _remotes(checkout: CheckoutInfo) -> tuple[str, ...]:
    """Normalised, that which is most likely the project's own first."""
    by_use = sorted(
        checkout.remotes, key=lambda name: (name != "origin", name != "upstream", name)
    )
    normal = (normalise_remote(checkout.remotes[name]) for name in by_use)
    return tuple(dict.fromkeys(filter(None, normal)))


def _main_of_worktree(directory: Path) -> Path:
    """The project of a worktree that is gone, where its path says that it was one: agents make and
    remove many.
    """
    for place in (directory, *directory.parents):
        if place.parent.name in WORKTREE_FOLDERS:
            project = place.parent.parent
            return project.parent if project.name.startswith(".") else project
    return directory


def _is_same_root(entry: Project, evidence: _Evidence) -> bool:
    return bool(evidence.root_commit) and evidence.root_commit == entry.root_commit


def _matches(entry: Project, evidence: _Evidence) -> str:
    for remote in evidence.remotes:
        if remote in entry.remotes:
            return f"git remote {remote}"
    if _is_same_root(entry, evidence) and not (entry.remotes and evidence.remotes):
        return f"root commit {evidence.root_commit[:8]}"
    if evidence.marker and evidence.marker == entry.name:
        return evidence.reason
    if not evidence.remotes and entry.places & {evidence.path, evidence.whole}:
        return f"path {evidence.path}"
    return ""


def _free_name(evidence: _Evidence, taken: set[str]) -> str:
    if evidence.name not in taken or evidence.marker:
        return evidence.name
    # the same on every machine, so that two that meet the project apart choose one folder
    return (
        f"{evidence.name[:54]}-{hashlib.sha256(evidence.key.encode()).hexdigest()[:8]}"
    )


def _marker(directory: Path) -> str:
    try:
        with (directory / MARKER).open("rb") as file:
            name = file.read(MAX_MARKER).decode("utf-8", "replace").strip().lower()
    except (OSError, ValueError):  # a host may name what can be no directory
        return ""
    return name if is_project_name(name) else ""


def _name(path: str) -> str:
    return slugify(path.rsplit("/", 1)[-1], 54)


def below_home(path: Path, home: Path) -> str:
    """The path in a form that means the same on the person's other machines: ~/… where it can
    be.
    """
    for root in _homes(home):
        if path.is_relative_to(root) and path != root:
            return without_surrogates(f"~/{path.relative_to(root).as_posix()}")
    return without_surrogates(path.as_posix())


def _homes(home: Path) -> tuple[Path, Path]:
    """The home directory as it is called and as it is: where a link leads to it, a shell and a host
    each say one.
    """
    return home, Path(os.path.realpath(home))
