"""Making a directory a workspace, cloning one, and telling this machine about it."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from keeplore.config.installation import register
from keeplore.config.machine import Machine
from keeplore.config.places import Places
from keeplore.config.setting_layers import is_frozen
from keeplore.config.settings import FILE, load_settings
from keeplore.errors import ConfigError
from keeplore.memory import slugify
from keeplore.memory.names import is_project_name
from keeplore.store import create, run
from keeplore.store.git.git_command import ignored
from keeplore.store.merge import merge_driver
from keeplore.sync import checks_out_workspace, clone
from keeplore.text.fences import without_surrogates

FOLDERS_LOOKED_AT = 1000  # for files of code
# how the names of files end in which programs are written
_CODE = re.compile(
    r"\.(c|cc|clj|cpp|cs|dart|erl|exs?|f90|go|h|hpp|hs|ipynb|java|jl|jsx?|kt|lua|m|mjs|ml|php"
    r"|pl|py|r|rb|rs|scala|svelte|swift|tf|tsx?|vue|zig)\Z",
    re.IGNORECASE,
)
_PACKAGE = Path(__file__).resolve().parents[2]
# an installed wheel carries the template inside the package; in a checkout it stands at the top,
# where people see it
_PLACES = (_PACKAGE / "workspace_template", _PACKAGE.parents[1] / "workspace_template")


@dataclass(frozen=True, slots=True)
class SetupResult:
    name: str
    root: Path
    is_new: bool
    is_home: bool


def initialise(
    places: Places,
    directory: Path,
    name: str | None = None,
    *,
    beside_code: bool = False,
) -> SetupResult:
    """Create a workspace in a directory, or register the one that is there.

    Raises ConfigError for a name that is taken or a directory that holds something else: also code,
    unless the workspace is to stand ``beside_code``, and another workspace.
    """
    root = _checked_root(directory)
    if root.exists() and not root.is_dir():
        raise ConfigError(f"{root} is a file", "Name a directory")
    is_new = not (root / FILE).exists() and not _was_cloned(root)
    if is_new:
        machine = Machine.load(places)
        _expect_place_for_new(root, machine, beside_code=beside_code)
        _chosen_name(machine, root, name)  # before anything is written
        # its branch stays whatever the person's own repository has
        create(root, template_dir())
    return _register(places, root, name or load_settings(root).name, is_new=is_new)


def _checked_root(directory: Path) -> Path:
    """The whole path of a workspace. Raises ConfigError for one that is no text, as settings and
    the search index hold text alone.
    """
    root = directory.expanduser().resolve()
    if str(root) != (text := without_surrogates(str(root))):
        raise ConfigError(
            f"the name of {text} is no text in UTF-8", "Choose another directory"
        )
    return root


def _expect_place_for_new(root: Path, machine: Machine, *, beside_code: bool) -> None:
    """Raise ConfigError where no new workspace may begin."""
    _expect_no_workspace_around(root)
    _expect_folder_of_its_own(root, machine)
    if not beside_code:
        _expect_no_code(root)


def _expect_no_workspace_around(root: Path) -> None:
    """Raise ConfigError within another workspace, which would find what is written in this one and
    never push it. What that one's git ignores may be one.
    """
    for above in root.parents:
        is_workspace = (above / FILE).exists() and (above / ".git").exists()
        if is_workspace and not ignored(above, [str(root)]):
            raise ConfigError(
                f"{root} lies in the workspace {above}, whose sync leaves out a repository within "
                "it",
                f"Name a directory outside of {above}",
            )


def _expect_folder_of_its_own(root: Path, machine: Machine) -> None:
    """Raise ConfigError for the home directory and one that holds a workspace: whatever lies below
    would count as part of the new one, and belong to no project.
    """
    if root == Path.home().resolve():
        raise ConfigError(
            f"{root} is the home directory, and all in it would count as the workspace",
            "Name a directory of its own: `keeplore init ~/memory`",
        )
    for other in machine.workspaces.values():
        if root in other.parents and (other / FILE).exists():
            raise ConfigError(
                f"{root} holds the workspace {other}, which would count as part of it",
                f"Name a directory of its own, as {root / 'memory'}",
            )


def _expect_no_code(root: Path) -> None:
    """Raise ConfigError where a person's code is: all their memory would come among it, or into a
    repository within that of the code.
    """
    elsewhere = (
        "`keeplore init ~/memory` makes a workspace of its own, and `keeplore projects in-repo` "
        "keeps notes of this project with its code; --beside-code insists"
    )
    if path := _first_code(root):
        raise ConfigError(
            f"{root} holds code ({path}): what you talk about anywhere would be committed there",
            elsewhere,
        )
    around = _repository_around(root)
    if around and (path := _first_code(around)):
        raise ConfigError(
            f"{root} lies in a repository of code ({around}, {path}): it would be a repository "
            "within that one",
            elsewhere,
        )


def _repository_around(root: Path) -> Path | None:
    """The git repository that a directory would be part of. None for one that has a repository of
    its own or is ignored by git, and for that of the home directory, where people keep settings.
    """
    if (root / ".git").exists():
        return None
    above = next(path for path in root.parents if path.is_dir())
    found = run(above, "rev-parse --show-toplevel").text.strip()
    if not found or Path(found) == Path.home().resolve():
        return None
    return None if ignored(above, [str(root)]) else Path(found)


def _first_code(root: Path) -> str:
    """Where a file of code is below a directory, "" where none is found."""
    for folder, folders, names in islice(os.walk(root), FOLDERS_LOOKED_AT):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if _CODE.search(name):
                return (Path(folder) / name).relative_to(root).as_posix()
    return ""


def _was_cloned(root: Path) -> bool:
    """Whether it is a clone with nothing checked out, which is on its workspace's branch now."""
    if not (root / ".git").exists() or run(root, "rev-parse --verify -q HEAD").text:
        return False
    return checks_out_workspace(root)


def clone_workspace(
    places: Places, url: str, directory: Path | None, name: str | None = None
) -> SetupResult:
    """Clone a workspace and register it.

    Raises RemoteError, or ConfigError where it is no workspace. One whose settings are not valid is
    there and registered then too.
    """
    if directory is None:
        last = re.split(r"[/:]", url.rstrip("/").removesuffix(".git"))[-1]
        directory = Path(slugify(last))
    root = _checked_root(directory)
    _expect_no_workspace_around(root)
    clone(url, root)
    try:
        called = load_settings(root).name
    except ConfigError as e:
        made = _register(places, root, name, is_new=True)
        raise ConfigError(
            f"{root} is cloned and registered as {made.name!r}, but {e.message}",
            e.remedy,
        ) from e
    return _register(places, root, name or called, is_new=True)


def _register(
    places: Places, root: Path, name: str | None, *, is_new: bool
) -> SetupResult:
    places.create()
    machine = Machine.load(places)
    chosen = _chosen_name(machine, root, name)
    machine = machine.with_workspace(chosen, root)
    machine.save(places)
    register(places.state)
    if not is_frozen(root, places.state):
        merge_driver.install(root)
    return SetupResult(chosen, root, is_new, machine.home == chosen)


def _chosen_name(machine: Machine, root: Path, name: str | None) -> str:
    known = next(
        (known for known, path in machine.workspaces.items() if path == root), None
    )
    chosen = known or name or slugify(root.name)
    if not is_project_name(chosen):  # folders are called after it
        raise ConfigError(
            f"{chosen!r} cannot be the name of a workspace",
            "Choose one of lower-case letters, digits, dots and dashes with --name",
        )
    taken_by = machine.workspaces.get(chosen, root)
    # one that is gone was moved here, or was removed
    if taken_by != root and (taken_by / FILE).exists():
        raise ConfigError(
            f"this machine has another workspace named {chosen!r}",
            "Choose another name with --name",
        )
    return chosen


def template_dir() -> Path:
    """The directory whose files a new workspace starts with.

    Raises ConfigError where the installation lacks it.
    """
    for place in _PLACES:
        if (place / "keeplore.yaml").is_file():
            return place
    raise ConfigError(
        f"the workspace template is not at {_PLACES[0]}", "Install keeplore again"
    )
