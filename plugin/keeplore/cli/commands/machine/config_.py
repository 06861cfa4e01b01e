"""``keeplore config``."""

from __future__ import annotations

import dataclasses
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from keeplore.cli.output import emit_json, note, say, table
from keeplore.cli.parameters import json_option, pass_registry
from keeplore.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable

    from keeplore.config.setting_layers import SettingValue
    from keeplore.workspace.registry import Registry

UNSET_STATUS = 4  # as where nothing is found
_TRUTH = {"true": True, "false": False}


class SettingKey(click.ParamType[str]):
    """A key such as ``context.threshold``."""

    name = "key"

    def convert(
        self, value: str, _param: click.Parameter | None, _context: click.Context | None
    ) -> str:
        from keeplore.config.setting_layers import known_key  # heavy: YAML

        return known_key(value)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        del ctx, param
        from keeplore.config.settings import setting_keys  # heavy: YAML

        keys = setting_keys()
        return [CompletionItem(key) for key in keys if key.startswith(incomplete)]


_key = click.argument("key", type=SettingKey())
_machine_option: Callable[..., Any] = click.option(
    "--machine",
    "of_machine",
    is_flag=True,
    help="Of this machine alone, in all its workspaces; keeplore.yaml stays as it is.",
)


@click.group(
    short_help="Show and change settings, of the workspace or this machine.",
    invoke_without_command=True,
)
@click.pass_context
def config_command(context: click.Context) -> None:
    """Show and change the settings that hold here: built in, over that those of the workspace
    (keeplore.yaml, which all its machines get), over that those of this machine.

    \b
    keeplore config
    keeplore config get embedding.model
    keeplore config set --machine sync.automatic false
    keeplore config unset --machine sync.automatic
    """
    if context.invoked_subcommand is None:
        context.invoke(list_)


@config_command.command(
    name="list", short_help="Show every setting, its value and where that comes from."
)
@_machine_option
@json_option
@pass_registry
def list_(registry: Registry, *, of_machine: bool, as_json: bool) -> None:
    """List every setting with its value and where that comes from; with --machine those that this
    machine sets.
    """
    found = _setting_values(registry, of_machine=of_machine)
    if as_json:
        emit_json([_as_json(one) for one in found])
        return
    rows = [(one.key, _shown_value(one.value), _origin(one)) for one in found]
    table(("setting", "value", "from"), rows, wide=("value",))
    if not found:
        note("this machine sets nothing for itself: `keeplore config set --machine`")


@config_command.command()
@_key
@_machine_option
@json_option
@pass_registry
def get(registry: Registry, key: str, *, of_machine: bool, as_json: bool) -> None:
    """Print the value of KEY, and on stderr where it comes from.

    With --machine, exit status 4 says that this machine does not set it.
    """
    found = _setting_values(registry, of_machine=of_machine)
    one = next((one for one in found if one.key == key), None)
    if one is None:
        note(f"this machine does not set {key}")
        sys.exit(UNSET_STATUS)
    if as_json:
        emit_json(_as_json(one))
        return
    say(_shown_value(one.value))
    note(_origin(one))


@config_command.command(name="set")
@_key
@click.argument("values", metavar="VALUE...", nargs=-1, required=True)
@_machine_option
@pass_registry
def set_(
    registry: Registry, key: str, values: tuple[str, ...], *, of_machine: bool
) -> None:
    """Set KEY to VALUE; several values are a list. Comments and order of the file stay.

    Nothing is written where the value is wrong.
    """
    from keeplore.config.setting_layers import own_values, set_own  # heavy

    value = _value(key, values)
    if key == "embedding.model":
        from keeplore.index.embedding.embedding_models import expect_possible  # heavy

        expect_possible(str(value))
    if key == "redaction.deny":
        _expect_patterns(values)
    if of_machine:
        set_own(registry.places.state, _root_if_any(registry), key, value)
        say(f"{key} is {_shown_value(value)} on this machine")
        return
    message = _set_for_all(registry, key, value)
    say(f"{key} is {_shown_value(value)} in keeplore.yaml")
    note(message)
    if key in own_values(registry.places.state):
        remedy = f"`keeplore config unset --machine {key}` removes it"
        note(f"this machine has a value of its own; {remedy}")


@config_command.command(short_help="Take back what was set for KEY.")
@_key
@_machine_option
@pass_registry
def unset(registry: Registry, key: str, *, of_machine: bool) -> None:
    """Take back what was set for KEY: with --machine the workspace's value holds again, without it
    keeplore.yaml gets the built-in one.
    """
    from keeplore.config.setting_layers import unset_own  # heavy: YAML
    from keeplore.config.settings import setting_keys

    if of_machine:
        was_there = unset_own(registry.places.state, key)
        say(f"this machine {'no longer sets' if was_there else 'does not set'} {key}")
        return
    value = setting_keys()[key]
    message = _set_for_all(registry, key, value)
    say(f"{key} is {_shown_value(value)} again, as built in")
    note(message)


def _set_for_all(registry: Registry, key: str, value: Any) -> str:
    """What to tell of it. Raises ConfigError."""
    from keeplore.workspace.lifecycle.shared_settings import set_for_all  # heavy: git

    root = _root(registry)
    opened = partial(registry.for_directory, root)
    return set_for_all(root, registry.places.state, {key: value}, opened)


def _root(registry: Registry) -> Path:
    """The root of this directory's workspace, even where its settings are broken. Raises
    NoWorkspace.
    """
    here = Path.cwd()
    if around := registry.machine.workspace_around(here):
        return registry.machine.workspaces[around]
    return registry.for_directory(here).root


def _root_if_any(registry: Registry) -> Path | None:
    return _root(registry) if registry.machine.workspaces else None


def _setting_values(registry: Registry, *, of_machine: bool) -> list[SettingValue]:
    from keeplore.config.setting_layers import SettingOrigin, setting_values  # heavy

    root = _root_if_any(registry) if of_machine else _root(registry)
    found = setting_values(root, registry.places.state)
    own = [one for one in found if one.origin == SettingOrigin.MACHINE]
    return own if of_machine else found


def _value(key: str, values: tuple[str, ...]) -> Any:
    """What was typed, as the key wants it. Raises ConfigError."""
    from keeplore.config.settings import setting_keys  # heavy: YAML

    built_in = setting_keys()[key]
    if isinstance(built_in, tuple):
        return list(values)
    if len(values) > 1:
        raise ConfigError(f"{key} has one value", "Put quotes around it")
    if isinstance(built_in, str):
        return values[0]
    if isinstance(built_in, bool):
        return _TRUTH.get(values[0].lower(), values[0])
    return _from_yaml(values[0])


def _expect_patterns(texts: tuple[str, ...]) -> None:
    """Raise ConfigError for one that cannot be searched for: no memory could be written then."""
    from keeplore.redact.rules import pattern  # heavy: RE2

    for text in texts:
        try:
            pattern(text)
        except ConfigError as e:
            remedy = "`keeplore config get redaction.deny` prints what holds"
            raise ConfigError(e.message, f"Nothing was changed; {remedy}") from e


def _from_yaml(text: str) -> Any:
    """A number or a mapping, the text itself where it is neither: the check names what is
    wanted.
    """
    import yaml  # heavy

    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError):
        return text


def _shown_value(value: Any) -> str:
    from keeplore.config.yaml_edit import as_yaml  # heavy: YAML

    return value if isinstance(value, str) and value else as_yaml(_plain_value(value))


def _plain_value(value: Any) -> Any:
    """The value as YAML and JSON write it: prices are records."""
    if isinstance(value, dict):
        return {name: dataclasses.asdict(price) for name, price in value.items()}
    return list(value) if isinstance(value, tuple) else value


def _origin(setting: SettingValue) -> str:
    from keeplore.config.setting_layers import SettingOrigin  # heavy: YAML

    if setting.origin == SettingOrigin.MACHINE:
        return f"this machine; without that {_shown_value(setting.below)}"
    return "keeplore.yaml" if setting.origin == SettingOrigin.WORKSPACE else "built-in"


def _as_json(setting: SettingValue) -> dict[str, Any]:
    return {
        "key": setting.key,
        "value": _plain_value(setting.value),
        "origin": str(setting.origin),
        "below": _plain_value(setting.below),
    }
