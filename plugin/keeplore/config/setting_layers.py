"""The settings that hold on this machine: what is built in, over that what the workspace's
``keeplore.yaml`` says, over that this machine's own ``settings.yaml``.

The machine's file lies in the state directory, has the form of ``keeplore.yaml``, and holds in all
workspaces of this machine. It is never synced.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import yaml

from keeplore.config.capture_choice import CaptureRules
from keeplore.config.settings import (
    FILE,
    MAX_FILE,
    Settings,
    did_you_mean,
    filled_settings,
    flat_settings,
    load_settings,
    parse_settings,
    setting_keys,
)
from keeplore.config.yaml_edit import as_yaml, with_key, without_key
from keeplore.errors import ConfigError, WorkspaceFrozen, reason_of
from keeplore_hooks import durable

MACHINE_FILE = "settings.yaml"
FROZEN = "frozen"
_BEGINNING = (
    "# Settings of this machine alone, over those of its workspaces; see "
    "`keeplore config list --machine`\nschema: 1\n"
)
# key or section → why no machine has a value of its own
SHARED = {
    "name": "it is what a workspace is called",
    "branch": "all machines commit on one branch",
    "inherits": "it belongs to one workspace",
    "wikilinks": "all machines write the same files",
    "index.name": "it names one workspace, on all machines alike",
    "redaction": "what one machine lets through is pushed to all",
}


class SettingOrigin(StrEnum):
    BUILT_IN = "built-in"
    WORKSPACE = "workspace"
    MACHINE = "machine"


@dataclass(frozen=True, slots=True)
class SettingValue:
    """``below`` is what would hold if this machine had no value of its own."""

    key: str
    value: Any
    origin: SettingOrigin
    below: Any


def settings_here(root: Path | None, state: Path) -> Settings:
    """What holds in a workspace on this machine, or without one. Raises ConfigError that names the
    file and the key.
    """
    return settings_over(load_settings(root) if root else Settings(), state)


def settings_over(below: Settings, state: Path) -> Settings:
    """``below`` with what this machine's own file says. Raises ConfigError."""
    return filled_settings(below, _own_text(state), state / MACHINE_FILE)


def capture_layers(root: Path, state: Path) -> tuple[CaptureRules, CaptureRules]:
    """The rules of this machine and those of a workspace: of these neither takes the place of the
    other. Raises ConfigError.
    """
    own = settings_over(Settings(), state)
    return own.capture.rules, load_settings(root).capture.rules


def setting_values(root: Path | None, state: Path) -> list[SettingValue]:
    """Every setting, in the order of the template. Raises ConfigError."""
    below = flat_settings(load_settings(root) if root else Settings())
    here, own = flat_settings(settings_here(root, state)), own_values(state)
    built_in = setting_keys()
    del here["schema"]
    found = []
    for key, value in here.items():
        origin = SettingOrigin.MACHINE
        if key not in own:
            is_built_in = value == built_in[key]
            origin = SettingOrigin.BUILT_IN if is_built_in else SettingOrigin.WORKSPACE
        found.append(SettingValue(key, value, origin, below[key]))
    return found


def own_values(state: Path) -> dict[str, Any]:
    """What this machine's file says: key → value. Raises ConfigError."""
    return _dotted_values(_own_data(state))


def set_shared(root: Path, state: Path, key: str, value: Any) -> None:
    """Write one key of ``keeplore.yaml``. Raises ConfigError, and writes nothing, where the value
    is wrong, the file's form unusual, or the workspace frozen, but to end that.
    """
    if key != FROZEN and is_frozen(root, state):
        raise WorkspaceFrozen(root)
    _change(root / FILE, "", key, value, below=Settings())


def is_frozen(root: Path, state: Path) -> bool:
    """Whether nothing may be written into a workspace: the machine's own setting counts before the
    shared one, and settings that cannot be read freeze nothing.
    """
    try:
        shared = parse_settings(root / FILE, _text(root / FILE).encode())
        layers = (_own_data(state), shared)
    except ConfigError:
        return False
    said = [
        data[FROZEN] for data in layers if isinstance(data, Mapping) and FROZEN in data
    ]
    return said[:1] == [True]


def set_own(state: Path, root: Path | None, key: str, value: Any) -> None:
    """Write one key of this machine's file, as it would hold in a workspace; raises as
    ``set_shared`` does, and for a key that machines share.
    """
    _check_own(key, state / MACHINE_FILE)
    below = load_settings(root) if root else Settings()
    durable.make_private(state)
    _change(state / MACHINE_FILE, _BEGINNING, key, value, below=below)


def unset_own(state: Path, key: str) -> bool:
    """Remove one key from this machine's file; returns whether it was there. Raises ConfigError."""
    path = state / MACHINE_FILE
    before = _text(path)
    try:
        after = without_key(before, key)
    except (ValueError, TypeError, AttributeError, RecursionError, yaml.YAMLError) as e:
        raise ConfigError(f"{path} is of an unusual form", f"Remove {key} there") from e
    if after != before:
        durable.write(path, after.encode(), 0o600)
    return after != before


def known_key(key: str) -> str:
    """The key, once it is known that a setting is called so. Raises ConfigError where none is."""
    if key == "schema" or key not in setting_keys():
        raise ConfigError(
            f"there is no setting {key!r}{did_you_mean(key)}",
            "`keeplore config list` shows all",
        )
    return key


def _own_data(state: Path) -> Any:
    """What this machine's file says, {} where there is none. Raises ConfigError."""
    return parse_settings(state / MACHINE_FILE, _own_text(state))


def _own_text(state: Path) -> bytes:
    """The text of this machine's file, empty where there is none. Raises ConfigError."""
    path = state / MACHINE_FILE
    text = _text(path).encode()
    for key in _dotted_values(parse_settings(path, text)):
        _check_own(key, path)
    return text


def _check_own(key: str, path: Path) -> None:
    """Raise ConfigError for a setting that a machine may not have for itself."""
    why = SHARED.get(key) or SHARED.get(key.partition(".")[0])
    if why is not None:
        raise ConfigError(
            f"{path}: {key}: it cannot be set for one machine: {why}",
            f"Set it in the workspace's {FILE}, without --machine",
        )


def _dotted_values(data: Any) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, value in data.items() if isinstance(data, Mapping) else ():
        is_section = isinstance(value, Mapping) and str(name) not in setting_keys()
        inside = value.items() if is_section else [("", value)]
        for part, item in inside:
            values[f"{name}.{part}" if is_section else str(name)] = item
    return values


def _change(
    path: Path, beginning: str, key: str, value: Any, *, below: Settings
) -> None:
    by_hand = ConfigError(
        f"{path} is not written as the template is", f"Write `{_by_hand(key, value)}`"
    )
    before = _text(path) or beginning
    try:
        after = with_key(before, key, value)
    except (ValueError, TypeError, AttributeError, RecursionError, yaml.YAMLError) as e:
        raise by_hand from e
    _check_value(key, after, path, below)
    if path.is_symlink() or len(after.encode()) > MAX_FILE:
        raise by_hand
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o600
    durable.write(path, after.encode(), mode)


def _check_value(key: str, after: str, path: Path, below: Settings) -> None:
    """Raise ConfigError for a value that is not right: of the key that was to be changed by its
    name alone, of another one with its place in the file.
    """
    try:
        filled_settings(below, after.encode(), path)
    except ConfigError as e:
        _, is_this_one, why = e.message.partition(f": {key}: ")
        if not is_this_one:
            raise
        raise ConfigError(
            f"{key}: {why}",
            f"Nothing was changed; `keeplore config get {key}` prints what holds",
        ) from e


def _by_hand(key: str, value: Any) -> str:
    section, _, name = key.rpartition(".")
    line = f"{name}: {as_yaml(value)}"
    return f"{section}: {{{line}}}" if section else line


def _text(path: Path) -> str:
    """The file's text, "" where there is none. Raises ConfigError."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_FILE + 1)
        if len(data) > MAX_FILE:
            raise ConfigError(f"{path} is larger than {MAX_FILE} bytes", "Shorten it")
        text = data.decode()
        parse_settings(path, data)  # of a depth that the editor may walk
    except FileNotFoundError:
        return ""
    except (OSError, ValueError) as e:
        raise ConfigError(f"{path} cannot be read: {reason_of(e)}", "Mend it") from e
    return text
