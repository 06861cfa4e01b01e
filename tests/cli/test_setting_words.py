"""Settings as a person types and reads them on the command line."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from keeplore.cli.commands.machine import config_
from keeplore.config.setting_layers import SettingOrigin
from keeplore.config.settings import TokenPrice
from keeplore.errors import ConfigError

NOWHERE: Any = None


@pytest.mark.parametrize(
    ("typed", "keys"),
    [
        ("worker.l", ["worker.lease_minutes", "worker.look_seconds"]),
        ("tidy", ["tidy.nightly", "tidy.archive_after_days"]),
        ("nothing", []),
    ],
)
def test_a_key_is_completed_from_its_beginning(typed: str, keys: list[str]) -> None:
    found = config_.SettingKey().shell_complete(NOWHERE, NOWHERE, typed)
    assert [item.value for item in found] == keys


@pytest.mark.parametrize(
    ("key", "typed", "value"),
    [
        ("capture.exclude", ("path:a", "path:b"), ["path:a", "path:b"]),
        ("capture.exclude", ("path:a",), ["path:a"]),
        ("llm.model", ("12",), "12"),
        ("sync.automatic", ("FALSE",), False),
        ("sync.automatic", ("true",), True),
        ("sync.automatic", ("perhaps",), "perhaps"),  # the check says what is wanted
        ("sync.every_minutes", ("15",), 15),
        ("context.threshold", ("0.5",), 0.5),
        ("llm.prices", ("{m: {input: 1.0}}",), {"m": {"input": 1.0}}),
        ("sync.every_minutes", ("{",), "{"),
    ],
)
def test_a_value_is_read_as_its_key_wants_it(
    key: str, typed: tuple[str, ...], value: Any
) -> None:
    read = config_._value(key, typed)
    assert (read, type(read)) == (value, type(value))


def test_a_key_with_one_value_takes_no_list() -> None:
    with pytest.raises(ConfigError) as caught:
        config_._value("llm.model", ("gpt", "5"))
    assert caught.value.message == "llm.model has one value"
    assert caught.value.remedy == "Put quotes around it"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("main", "main"),
        ("", '""'),
        (True, "true"),
        (5, "5"),
        ((), "[]"),
        (("a", "b"), "[a, b]"),
        (
            {"m": TokenPrice(1.0, 2.0)},
            "{m: {input: 1.0, output: 2.0, cached: 0.0}}",
        ),
    ],
)
def test_a_value_is_shown_as_it_could_be_typed(value: Any, shown: str) -> None:
    assert config_._shown_value(value) == shown


@pytest.mark.parametrize(
    ("origin", "words"),
    [
        (SettingOrigin.MACHINE, "this machine; without that 5"),
        (SettingOrigin.WORKSPACE, "keeplore.yaml"),
        (SettingOrigin.BUILT_IN, "built-in"),
    ],
)
def test_a_value_says_where_it_comes_from(origin: SettingOrigin, words: str) -> None:
    setting: Any = SimpleNamespace(
        key="sync.every_minutes", value=7, below=5, origin=origin
    )
    assert config_._origin(setting) == words
    assert config_._as_json(setting) == {
        "key": "sync.every_minutes",
        "value": 7,
        "origin": str(origin),
        "below": 5,
    }
