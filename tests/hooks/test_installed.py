"""What plugins bring, what became of those that fail, and how adapters are found by name."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from keeplore_hooks import builtin_hosts, installed
from keeplore_hooks.contracts import HostPlugin
from keeplore_hooks.installed import Adapters, PluginProblem, plugin_items
from keeplore_hooks.specs import hookimpl


def fails() -> Any:
    raise ValueError("broken")


class Brings:
    def __init__(self, *names: object) -> None:
        self._names = names

    @hookimpl
    def keeplore_hosts(self) -> list[object]:
        return [
            HostPlugin(name, lambda name=name: f"adapter of {name}")  # type: ignore[arg-type,misc]  # no host is needed
            if isinstance(name, str)
            else name
            for name in self._names
        ]


class Broken:
    @hookimpl
    def keeplore_hosts(self) -> list[object]:
        return list(fails())


@pytest.fixture
def plugins(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """``plugins(name=plugin)`` are the installed ones; one that is None cannot be loaded."""

    def install(**found: object) -> None:
        points = [
            SimpleNamespace(name=name, load=(lambda one=one: one) if one else fails)
            for name, one in found.items()
        ]
        monkeypatch.setattr(
            importlib.metadata,
            "entry_points",
            lambda **wanted: points if wanted == {"group": "keeplore"} else [],
        )
        installed._load_plugins.cache_clear()

    yield install
    installed._load_plugins.cache_clear()


def test_one_that_fails_costs_its_own_and_is_told(plugins: Callable[..., None]) -> None:
    plugins(
        zeta=Brings("b", "c"),
        beta=None,
        alpha=Brings("a"),
        odd=Brings("d", 3),
        torn=Broken(),
    )
    found, problems = plugin_items("keeplore_hosts", HostPlugin, builtin_hosts)
    ours = [one.name for by, one in found if by == ""]
    assert ours == [one.name for one in builtin_hosts.keeplore_hosts()]
    assert [(by, one.name) for by, one in found[len(ours) :]] == [
        ("alpha", "a"),
        ("zeta", "b"),
        ("zeta", "c"),
    ]
    assert problems == [
        PluginProblem("beta", "", "ValueError('broken')"),
        PluginProblem("odd", "keeplore_hosts", "TypeError('int is no HostPlugin')"),
        PluginProblem("torn", "keeplore_hosts", "ValueError('broken')"),
    ]


def test_adapters_are_made_once_when_they_are_asked_for() -> None:
    made: list[str] = []

    def plugin(name: str, adapter: Callable[[], Any]) -> Any:
        return SimpleNamespace(name=name, adapter=adapter)

    def first() -> str:
        made.append("first")
        return "the first"

    brought = [
        ("", plugin("first", first)),
        ("acme", plugin("first", fails)),
        ("acme", plugin("Second", fails)),
        ("acme", plugin("x" * 65, fails)),
        ("acme", plugin("torn", fails)),
        ("other", plugin("torn", fails)),
    ]
    adapters: Adapters[Any] = Adapters(lambda: brought, "host")
    assert made == []
    assert (len(adapters), [*adapters]) == (2, ["first", "torn"])
    assert [adapters["first"], adapters.named("first")] == ["the first"] * 2
    assert made == ["first"]
    assert [*adapters.usable()] == ["the first"]
    with pytest.raises(
        KeyError, match=r"the adapter of torn fails: ValueError\('broken'\)"
    ):
        adapters.named("torn")
    with pytest.raises(
        KeyError, match="no host is called 'second'; use one of: first, torn"
    ):
        adapters.named("second")
    no_name = "is no name of small letters, digits and dashes"
    assert adapters.problems == [
        PluginProblem("acme", "host", "first is taken by Keeplore"),
        PluginProblem("acme", "host", f"'Second' {no_name}"),
        PluginProblem("acme", "host", f"'{'x' * 65}' {no_name}"),
        PluginProblem("other", "host", "torn is taken by acme"),
        *[PluginProblem("acme", "host", "ValueError('broken')")] * 2,
    ]
