"""Changing what may be captured, and showing what holds: the rules of this machine and of a
workspace, what they mean here, and what was captured before.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from keeplore.config.capture_choice import CaptureRule, CaptureRules, Pauses, RuleKind
from keeplore.config.places import Places, expanded
from keeplore.config.setting_layers import set_own, unset_own
from keeplore.errors import ConfigError, KeeploreError
from keeplore.index import MemoryFilter, MemoryRow, ScopeFilter
from keeplore.text.dates import now
from keeplore.workspace.capture_policy import (
    GLOB,
    CapturePlace,
    CapturePolicy,
    closeness,
    place_of,
)
from keeplore.workspace.identity import below_home, load_projects
from keeplore.workspace.lifecycle.shared_settings import set_for_all
from keeplore.workspace.recording.cursors import Cursors
from keeplore.workspace.registry import Registry
from keeplore.workspace.workspace import Workspace
from keeplore.workspace.writing.forget import forget_many

Rules = tuple[CaptureRule, ...]
NAMED = 10  # known projects that an error lists
LOOKED_AT = 5000  # sessions in whose directories rules are tried
NOWHERE = "Name a directory, or give --project, --remote or --pattern"


@dataclass(frozen=True, slots=True)
class KnownPlace:
    """Where somebody worked, or a project of which there is memory; ``directory`` may be ""."""

    workspace: Workspace
    project: str
    directory: str
    place: CapturePlace

    @property
    def name(self) -> str:
        return self.project or below_home(Path(self.directory), Path.home())


@dataclass(frozen=True, slots=True)
class HeldRule:
    """A rule, whose it is (``machine`` or the workspace's name), and what it means here."""

    rule: CaptureRule
    may: bool
    whose: str
    means: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CapturedProject:
    """Memory of a project that may not be captured any more."""

    workspace: Workspace
    project: str
    rows: tuple[MemoryRow, ...]


def rules_of(policy: CapturePolicy, directory: Path | None) -> Rules:
    """The rules that name a directory; the project here where none is given. A checkout has its
    remotes named too, by which others of the same project are known.

    Raises ConfigError for a file, or where there is no project.
    """
    place, root = policy.place_and_root(directory or Path.cwd())
    if directory is None and not root:
        raise ConfigError(f"{Path.cwd()} belongs to no project", NOWHERE)
    if directory is not None and directory.is_file():
        raise ConfigError(f"{directory} is a file", "Name a directory")
    is_top = directory is None or os.path.lexists(directory / ".git")
    path = Path(expanded(root)) if is_top and root else directory
    remotes = place.remotes if is_top else ()
    own = CaptureRule.of(RuleKind.PATH, below_home(path or Path.cwd(), Path.home()))
    return (own, *(CaptureRule.of(RuleKind.REMOTE, remote) for remote in remotes))


def check_projects(registry: Registry, workspace: Workspace, rules: Rules) -> None:
    """Raise ConfigError for a rule that names a project which nobody knows: it would leave out
    nothing. A glob may mean projects to come, and a rule that holds already may be taken back.
    """
    policy = workspace.capture_policy
    held = (*policy.own.exclude, *policy.own.include)
    held += (*policy.shared.exclude, *policy.shared.include)
    wanted = [rule for rule in rules if rule not in held and _is_one_project(rule)]
    if not wanted:
        return
    known = _places_with_this(registry)
    for rule in wanted:
        if not any(closeness(rule, one.place) for one in known):
            raise _unknown_project(rule.value, {one.project for one in known} - {""})


def means_something(registry: Registry, rules: Rules) -> bool:
    """Whether one of the rules means a place that is known on this machine. Raises ConfigError."""
    known = _places_with_this(registry)
    return any(_meant_places(rule, known) for rule in rules)


def _places_with_this(registry: Registry) -> list[KnownPlace]:
    """The places that are known on this machine, and the directory one stands in."""
    return [*known_places(registry), _known_place(registry, str(Path.cwd()))]


def _is_one_project(rule: CaptureRule) -> bool:
    is_glob = any(mark in rule.value for mark in GLOB)
    return rule.kind is RuleKind.PROJECT and not is_glob


def _unknown_project(name: str, known: set[str]) -> ConfigError:
    """The nearest of the known names come first."""
    near = get_close_matches(name.lower(), sorted(known))
    names = [*dict.fromkeys((*near, *sorted(known)))]
    more = ", …" if len(names) > NAMED else ""
    listed = f"Known are {', '.join(names[:NAMED])}{more}; name" if names else "Name"
    return ConfigError(
        f"no project is called {name!r}", f"{listed} its directory where it is new"
    )


def exclude(workspace: Workspace, rules: Rules, *, is_shared: bool) -> str:
    """Leave what the rules name out of memory, on this machine or in the workspace; returns what to
    tell of a shared setting. Raises ConfigError.
    """
    known = _known_rules(workspace, is_shared=is_shared)
    included = tuple(rule for rule in known.include if rule not in rules)
    excluded = tuple(dict.fromkeys((*known.exclude, *rules)))
    return _write(workspace, CaptureRules(excluded, included), is_shared=is_shared)


def is_captured(
    workspace: Workspace, rules: Rules, directory: Path, *, is_shared: bool
) -> bool:
    """Whether a directory is captured and none of its rules is among the exclusions, so that to
    include it changes nothing.
    """
    known = _known_rules(workspace, is_shared=is_shared)
    may = workspace.capture_policy.decide(str(directory)).may
    return may and not set(rules) & set(known.exclude)


def include(
    registry: Registry, workspace: Workspace, rules: Rules, *, is_shared: bool
) -> str:
    """Undo it; where other rules still leave it out, these override them. Returns and raises as
    ``exclude`` does.
    """
    known = _known_rules(workspace, is_shared=is_shared)
    excluded = tuple(rule for rule in known.exclude if rule not in rules)
    told = _write(workspace, CaptureRules(excluded, known.include), is_shared=is_shared)
    is_undone = len(excluded) < len(known.exclude)
    policy = registry.named(workspace.name).capture_policy
    if not all(_is_included(rule, policy, is_undone=is_undone) for rule in rules):
        included = tuple(dict.fromkeys((*known.include, *rules)))
        told = _write(workspace, CaptureRules(excluded, included), is_shared=is_shared)
    return told


def _known_rules(workspace: Workspace, *, is_shared: bool) -> CaptureRules:
    policy = workspace.capture_policy
    return policy.shared if is_shared else policy.own


def _write(workspace: Workspace, rules: CaptureRules, *, is_shared: bool) -> str:
    """What to tell of a shared setting, "" for one of this machine."""
    root, state = workspace.root, workspace.places.state
    values = {
        "capture.exclude": [*map(str, rules.exclude)],
        "capture.include": [*map(str, rules.include)],
    }
    if is_shared:
        return set_for_all(root, state, values, lambda: workspace)
    for key, texts in values.items():
        if texts:
            set_own(state, root, key, texts)
        else:
            unset_own(state, key)
    return ""


def _is_included(rule: CaptureRule, policy: CapturePolicy, *, is_undone: bool) -> bool:
    """Whether what a rule means is captured now; ``is_undone`` where a rule against it was taken
    out.
    """
    match rule.kind:
        case RuleKind.PATH:
            return policy.decide(expanded(rule.value)).may
        case RuleKind.PATTERN:
            return is_undone
        case RuleKind.PROJECT:
            place = CapturePlace((), projects=(rule.value,), remotes=())
        case _:
            place = CapturePlace((), projects=(), remotes=(rule.value,))
    return policy.decide_place(place).may and is_undone


def pause(places: Places, until: str) -> None:
    """Capture nothing on this machine until then (RFC 3339, UTC), "" for until it is ended. Raises
    ConfigError or OSError.
    """
    at = now()
    pauses = Pauses.load(places).with_pause(at, until)
    pauses.save(places)
    pauses.tell_clients(places, at)


def end_pause(places: Places) -> bool:
    """Capture again. Returns whether there was a pause. Raises ConfigError or OSError."""
    at = now()
    pauses = Pauses.load(places)
    if was_paused := pauses.at(at) is not None:
        pauses = pauses.with_current_ended(at)
        pauses.save(places)
    pauses.tell_clients(places, at)
    return was_paused


def known_places(registry: Registry) -> list[KnownPlace]:
    """What rules can mean on this machine. Raises ConfigError."""
    found = []
    for workspace in _workspaces(registry):
        for project in load_projects(workspace.store):
            place = place_of(project)
            found.append(
                KnownPlace(workspace, project.name, expanded(project.path), place)
            )
    origins = Cursors(registry.places.sessions).latest(LOOKED_AT)
    directories = dict.fromkeys(origin.cwd for origin in origins if origin.cwd)
    return [*found, *(_known_place(registry, cwd) for cwd in directories)]


def _known_place(registry: Registry, cwd: str) -> KnownPlace:
    workspace = registry.for_directory(Path(cwd))
    place = workspace.capture_policy.place(cwd)
    return KnownPlace(workspace, next(iter(place.projects), ""), cwd, place)


def held_rules(registry: Registry, workspace: Workspace, cwd: Path) -> list[HeldRule]:
    """The rules of this machine and of a workspace, with what they mean here and elsewhere. Raises
    ConfigError.
    """
    policy = workspace.capture_policy
    known = [*known_places(registry), _known_place(registry, str(cwd))]
    own: list[tuple[CaptureRule, bool, str]] = []
    for rules, whose in ((policy.own, "machine"), (policy.shared, workspace.name)):
        own += [(rule, False, whose) for rule in rules.exclude]
        own += [(rule, True, whose) for rule in rules.include]
    return [
        HeldRule(rule, may, whose, _meant_places(rule, known))
        for rule, may, whose in own
    ]


def _meant_places(rule: CaptureRule, known: Sequence[KnownPlace]) -> tuple[str, ...]:
    names = [one.name for one in known if closeness(rule, one.place)]
    path = expanded(rule.value)
    if rule.kind is RuleKind.PATH and not names and Path(path).is_dir():
        names = [rule.value]
    return tuple(dict.fromkeys(names))


def captured_before(registry: Registry, rules: Rules) -> list[CapturedProject]:
    """The projects that these rules leave out and of which there is memory. Raises ConfigError or
    IndexUnavailable.
    """
    meant = {
        (place.workspace.name, place.project): place
        for place in known_places(registry)
        if place.project and _is_meant(place, rules)
    }
    found = []
    for one in meant.values():
        if _is_left_out(one):
            rows = _rows(one.workspace, one.project)
            if rows:
                found.append(CapturedProject(one.workspace, one.project, tuple(rows)))
    return found


def _is_meant(place: KnownPlace, rules: Rules) -> bool:
    return any(closeness(rule, place.place) for rule in rules)


def _is_left_out(place: KnownPlace) -> bool:
    """Whether a rule leaves out the whole project, and not a folder of it."""
    policy = place.workspace.capture_policy
    if not place.directory:
        return not policy.decide_place(place.place).may
    _, root = policy.place_and_root(Path(place.directory))
    return not policy.decide(expanded(root) or place.directory).may


def _rows(workspace: Workspace, project: str) -> list[MemoryRow]:
    """All memories of a project, with their versions."""
    workspace.index.refresh()
    names = {project}
    for entry in load_projects(workspace.store):
        names.update(entry.also if entry.name == project else ())
    allowed = ScopeFilter(tuple(("project", name) for name in sorted(names)))
    wanted = MemoryFilter(allowed, archived="with", superseded=True)
    return workspace.index.listed(wanted)


def forget_captured(projects: Iterable[CapturedProject]) -> None:
    """Forget them, each project in one commit. Raises RepositoryError or OSError."""
    for one in projects:
        machine = one.workspace.machine
        one.workspace.store.remove(f"projects/{one.project}/manifests/{machine}.json")
        forget_many(
            one.workspace,
            tuple(row.id for row in one.rows),
            f"Forget what was captured of {one.project}",
        )


def _workspaces(registry: Registry) -> Iterator[Workspace]:
    for name in registry.machine.workspaces:
        try:
            yield registry.named(name)
        except KeeploreError:
            continue  # one that is gone must not hide the others
