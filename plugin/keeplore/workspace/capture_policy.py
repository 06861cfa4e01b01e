"""May this be captured? One answer for live sessions, imports, notes of agents, manifests and
ingested files, from the choice of the person.
"""

from __future__ import annotations

import fnmatch
import itertools
import os
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePath

from keeplore.config.capture_choice import (
    FILE,
    CaptureRule,
    CaptureRules,
    Pause,
    Pauses,
    RuleKind,
)
from keeplore.config.places import Places, expanded, stamp
from keeplore.config.project_file import (
    UnreadableProjectFile,
    load_project_file,
    project_file,
)
from keeplore.text.dates import minute_of
from keeplore.workspace.identity import IdentityResolver, Project, normalise_remote
from keeplore_hooks.events import HostEvent

GLOB = "*?["
# by the file system two names may be one directory
IS_FOLDED = sys.platform in ("darwin", "win32")

# how far down a rule reaches, and whether it names the place itself
Closeness = tuple[int, bool]


@dataclass(frozen=True, slots=True)
class CaptureDecision:
    """``reason`` says what decided, "" where nothing had to."""

    may: bool
    reason: str = ""


ALLOWED = CaptureDecision(may=True)


@dataclass(frozen=True, slots=True)
class CapturePlace:
    """What rules are held against: a directory under all its names, and the project it is of."""

    paths: tuple[str, ...]
    projects: tuple[str, ...]
    remotes: tuple[str, ...] = ()
    depth: int = 0  # of the project's root, in folders


class CapturePolicy:
    """What of one workspace's projects this machine captures. Thread-safe; ``own`` and ``shared``
    are the rules of the machine and of the workspace.

    The machine's come first, then those of the workspace together with the files ``.keeplore`` of
    the project. Among these the closest to the place decides, an inclusion before an exclusion.
    """

    def __init__(
        self,
        places: Places,
        identities: IdentityResolver,
        own: CaptureRules,
        shared: CaptureRules,
        *,
        switched_off: str = "",
    ) -> None:
        """``switched_off`` says what has switched capture off, "" where nothing has."""
        self.own, self.shared = own, shared
        self._places = places
        self._identities = identities
        self._switched_off = switched_off
        self._seen: tuple[int, int] | None = None
        self._pauses = Pauses()

    @property
    def pauses(self) -> Pauses:
        """The pauses of this machine, read again where the file has changed. Raises ConfigError."""
        seen = stamp(self._places.state / FILE)
        if seen != self._seen:
            self._pauses = Pauses.load(self._places)
            self._seen = seen
        return self._pauses

    def allows(self, event: HostEvent) -> bool:
        """Whether a host event may be captured. Raises ConfigError."""
        end = getattr(event, "ended_at", "")
        return self.decide(event.origin.cwd, event.at, end).may

    def was_paused(self, begin: str, end: str) -> bool:
        """Whether there was a pause between two moments. Raises ConfigError."""
        return any(pause.overlaps(begin, end) for pause in self.pauses.known)

    def decide(self, directory: str, at: str = "", end: str = "") -> CaptureDecision:
        """Whether to capture what happened in a directory, "" for an unknown one, at a time (RFC
        3339, UTC), or at any time where none is given. Raises ConfigError.
        """
        for pause in self.pauses.known if at else ():
            if pause.overlaps(at, end or at):
                return CaptureDecision(may=False, reason=pause_reason(pause))
        return self.decide_place(self.place(directory))

    def place(self, directory: str) -> CapturePlace:
        """What rules are held against, of a directory."""
        return self.place_and_root(Path(directory or Path.home()))[0]

    def place_and_root(self, cwd: Path) -> tuple[CapturePlace, str]:
        """What rules are held against, of a directory, and the root of its project, "" where it
        belongs to none.
        """
        identity = self._identities.of(cwd)
        root = expanded(identity.root)
        paths = [*_path_spellings(str(cwd)), *_same_place_in_main(cwd, root)]
        place = CapturePlace(
            tuple(dict.fromkeys(paths)),
            tuple(filter(None, (identity.project, *identity.also))),
            identity.remotes,
            _depth(root or str(cwd)),
        )
        return place, root

    def decide_place(self, place: CapturePlace) -> CaptureDecision:
        """Whether to capture what happens in a place, whatever the time. Raises ConfigError."""
        if self._switched_off:
            return CaptureDecision(may=False, reason=self._switched_off)
        own = _closest_rule(self.own, place, "on this machine")
        if own:
            return own[1]
        shared = _closest_rule(self.shared, place, "by the workspace")
        found = [one for one in (*map(_by_file, _folders(place.paths)), shared) if one]
        # of two that are as close the inclusion
        return (
            max(found, key=lambda one: (*one[0], one[1].may))[1] if found else ALLOWED
        )


def pause_reason(pause: Pause) -> str:
    """The reason that a pause is, for a person."""
    until = f" until {minute_of(pause.until)}" if pause.until else ""
    return f"paused since {minute_of(pause.since)}{until}"


def place_of(project: Project) -> CapturePlace:
    """What rules are held against, of a project as its entry has it."""
    root = expanded(project.path)
    paths = _path_spellings(root) if root else ()
    names = (project.name, *project.also)
    return CapturePlace(tuple(paths), names, project.remotes, _depth(root))


def closeness(rule: CaptureRule, place: CapturePlace) -> Closeness | None:
    """How close a rule comes to a place, None where it does not mean it."""
    if rule.kind is RuleKind.PATH:
        return _path_closeness(rule.value, place)
    if rule.kind is RuleKind.PATTERN:
        return _pattern_closeness(rule.value, place)
    if rule.kind is RuleKind.REMOTE:
        return _name_closeness(remote_rule(rule.value), place.remotes, place.depth)
    return _name_closeness(rule.value.lower(), place.projects, place.depth)


def remote_rule(value: str) -> str:
    """A remote of a rule as those of checkouts are normalised; it may have no scheme, and globs."""
    return (
        normalise_remote(value) or normalise_remote(f"https://{value}") or value.lower()
    )


def _closest_rule(
    known: CaptureRules, place: CapturePlace, whose: str
) -> tuple[Closeness, CaptureDecision] | None:
    """What these rules say of a place, and how close the one is that says it."""
    found = [
        ((*close, may), rule)
        for rules, may in ((known.exclude, False), (known.include, True))
        for rule in rules
        if (close := closeness(rule, place))
    ]
    if not found:
        return None
    (depth, is_exact, may), rule = max(found, key=lambda one: one[0])
    word = "included" if may else "excluded"
    return (depth, is_exact), CaptureDecision(may, f"{rule} is {word} {whose}")


def _path_closeness(value: str, place: CapturePlace) -> Closeness | None:
    names = [*map(_path_parts, _path_spellings(expanded(value)))]
    is_meant = any(
        _path_parts(path)[: len(wanted)] == wanted
        for path in place.paths
        for wanted in names
    )
    # where its links lead, as the root of a checkout is known
    return (len(names[-1]), True) if is_meant else None


def _pattern_closeness(value: str, place: CapturePlace) -> Closeness | None:
    """A pattern with a slash is one of whole paths, any other one of a folder's name; what lies
    below is meant too.
    """
    pattern = _path_parts(expanded(value))
    is_whole = "/" in value or os.sep in value
    depths: list[int] = []
    for parts in map(_path_parts, place.paths):
        for depth in range(1, len(parts) + 1):
            if _matches_parts(pattern, parts[0 if is_whole else depth - 1 : depth]):
                depths.append(depth)  # noqa: PERF401 # it reads better
    return (max(depths), False) if depths else None


def _name_closeness(value: str, names: Sequence[str], depth: int) -> Closeness | None:
    if any(fnmatch.fnmatchcase(name.lower(), value) for name in names):
        return depth, not any(mark in value for mark in GLOB)
    return None


@lru_cache(maxsize=4096)
def _matches_parts(pattern: tuple[str, ...], parts: tuple[str, ...]) -> bool:
    """``**`` stands for any number of folders."""
    if not pattern or not parts:
        return not parts and all(part == "**" for part in pattern)
    if pattern[0] == "**":
        return _matches_parts(pattern[1:], parts) or _matches_parts(pattern, parts[1:])
    return fnmatch.fnmatchcase(parts[0], pattern[0]) and _matches_parts(
        pattern[1:], parts[1:]
    )


def _path_spellings(path: str) -> tuple[str, ...]:
    """A path as it is written, and where its links lead; a host may call anything a directory."""
    written = os.path.normpath(path)
    try:
        real = os.path.realpath(path)
    except (OSError, ValueError):
        real = written
    return tuple(dict.fromkeys((written, real)))


@lru_cache(maxsize=1024)
def _path_parts(path: str) -> tuple[str, ...]:
    folded = unicodedata.normalize("NFC", path)
    return PurePath(folded.casefold() if IS_FOLDED else folded).parts


def _depth(path: str) -> int:
    return len(PurePath(path).parts)


def _same_place_in_main(cwd: Path, root: str) -> Iterator[str]:
    """Where a directory of another worktree would lie in the main one."""
    if not root:
        return
    real = Path(_path_spellings(str(cwd))[-1])
    ancestors = (place for place in (real, *real.parents))
    top = next((place for place in ancestors if os.path.lexists(place / ".git")), None)
    yield root
    if top is not None:
        yield str(Path(root, real.relative_to(top)))


def _folders(paths: Iterable[str]) -> list[Path]:
    """The directories and all above them."""
    above = itertools.chain.from_iterable(
        (Path(path), *Path(path).parents) for path in paths
    )
    return [*dict.fromkeys(above)]


def _by_file(folder: Path) -> tuple[Closeness, CaptureDecision] | None:
    """What the project file in a folder says, None where there is none or it says nothing about
    capture.

    Whoever wrote it, it can only leave out. One that cannot be read may have meant to.
    """
    path = project_file(folder)
    try:
        if load_project_file(folder).get("capture", True) not in (False, "off"):
            return None
        reason = f"{path} says capture: off"
    except UnreadableProjectFile:
        reason = f"{path} cannot be read; it should be YAML, like capture: off"
    depth = _depth(_path_spellings(str(folder))[-1])
    return (depth, True), CaptureDecision(may=False, reason=reason)
