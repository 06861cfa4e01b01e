"""The hosts and other sources of sessions that plugins bring, ours the first of them; an adapter is
made when it is first asked for.
"""

from __future__ import annotations

import functools
import importlib.metadata
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import pluggy

from keeplore_hooks import builtin_hosts, specs
from keeplore_hooks.contracts import AdapterPlugin, HostPlugin, SourcePlugin
from keeplore_hooks.hosts.base import Host, SessionSource

NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")

_Adapter = TypeVar("_Adapter", bound=SessionSource)
_Brought = TypeVar("_Brought")
_Plugins = tuple[tuple[str, object], ...]


@dataclass(frozen=True, slots=True)
class PluginProblem:
    """What an installed plugin did not bring; ``point`` is "" where it could not be loaded."""

    plugin: str
    point: str
    error: str


@functools.cache
def _load_plugins() -> tuple[_Plugins, tuple[PluginProblem, ...]]:
    """The plugins of installed packages, and what could not be loaded."""
    plugins, problems = [], []
    points = importlib.metadata.entry_points(group=specs.NAME)
    for point in sorted(points, key=lambda point: point.name):
        try:
            plugins.append((point.name, point.load()))
        except Exception as e:  # noqa: BLE001  # anything may come out of somebody else's code
            problems.append(PluginProblem(point.name, "", repr(e)))
    return tuple(plugins), tuple(problems)


def plugin_items(
    point: str, kind: type[_Brought], builtin: object
) -> tuple[list[tuple[str, _Brought]], list[PluginProblem]]:
    """What plugins return at an extension point that lists things, each with its plugin's name, the
    built-in ones first under ""; one that fails costs its own.
    """
    plugins, problems = _load_plugins()
    found: list[tuple[str, _Brought]] = []
    flaws = list(problems)
    for name, plugin in (("", builtin), *plugins):
        try:
            found += [(name, one) for one in _brought_by(point, plugin, kind)]
        except Exception as e:  # noqa: BLE001  # as above
            flaws.append(PluginProblem(name, point, repr(e)))
    return found, flaws


def _brought_by(point: str, plugin: object, kind: type[_Brought]) -> list[_Brought]:
    manager = pluggy.PluginManager(specs.NAME)
    manager.add_hookspecs(specs)
    manager.register(plugin)
    answers: list[Iterable[Any]] = getattr(manager.hook, point)()
    listed = [one for answer in answers for one in answer]
    for one in listed:
        if not isinstance(one, kind):
            raise TypeError(f"{type(one).__name__} is no {kind.__name__}")
    return listed


class Adapters(Mapping[str, _Adapter]):
    """Name → adapter; the plugins are asked when the first name is needed."""

    def __init__(
        self, collect: Callable[[], Iterable[tuple[str, AdapterPlugin]]], what: str
    ) -> None:
        self._collect = collect
        self._what = what  # the adapters are of, in messages
        self._made: dict[str, _Adapter] = {}
        self._lock = threading.RLock()
        self.problems: list[PluginProblem] = []

    @functools.cached_property
    def plugins(self) -> dict[str, tuple[str, AdapterPlugin]]:
        """Name → who brought it, and what."""
        known: dict[str, tuple[str, AdapterPlugin]] = {}
        for plugin, adapter in self._collect():
            if not NAME.fullmatch(adapter.name):
                error = (
                    f"{adapter.name!r} is no name of small letters, digits and dashes"
                )
                self.problems.append(PluginProblem(plugin, self._what, error))
            elif adapter.name in known:
                error = (
                    f"{adapter.name} is taken by {known[adapter.name][0] or 'Keeplore'}"
                )
                self.problems.append(PluginProblem(plugin, self._what, error))
            else:
                known[adapter.name] = plugin, adapter
        return known

    def __getitem__(self, name: str) -> _Adapter:
        plugin, one = self.plugins[name]
        with self._lock:
            if name not in self._made:
                try:
                    made: Any = one.adapter()
                except Exception as e:
                    self.problems.append(PluginProblem(plugin, self._what, repr(e)))
                    raise KeyError(f"the adapter of {name} fails: {e!r}") from e
                self._made[name] = made
            return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.plugins)

    def __len__(self) -> int:
        return len(self.plugins)

    def named(self, name: str) -> _Adapter:
        """The adapter of that name; KeyError that lists the names otherwise."""
        if name not in self.plugins:
            names = ", ".join(sorted(self))
            raise KeyError(f"no {self._what} is called {name!r}; use one of: {names}")
        return self[name]

    def usable(self) -> Iterator[_Adapter]:
        """Every adapter that can be made."""
        for name in self.plugins:
            try:
                yield self[name]
            except KeyError:
                continue  # it is among the problems


@functools.cache
def _hosts() -> tuple[list[tuple[str, HostPlugin]], list[PluginProblem]]:
    return plugin_items("keeplore_hosts", HostPlugin, builtin_hosts)


@functools.cache
def _sources() -> tuple[list[tuple[str, SourcePlugin]], list[PluginProblem]]:
    return plugin_items("keeplore_sources", SourcePlugin, builtin_hosts)


def _all_sources() -> list[tuple[str, AdapterPlugin]]:
    hosts = [(plugin, host) for plugin, host in _hosts()[0] if host.keeps_sessions]
    return [*hosts, *_sources()[0]]


HOSTS: Adapters[Host] = Adapters(lambda: _hosts()[0], "host")
# what sessions can be imported from: hosts that keep theirs, and what keeps sessions and reports
# nothing itself
SOURCES: Adapters[SessionSource] = Adapters(_all_sources, "source")
host_named = HOSTS.named
source_named = SOURCES.named


def problems() -> list[PluginProblem]:
    """What plugins of others failed to bring in this process."""
    every = [*_hosts()[1], *_sources()[1], *HOSTS.problems, *SOURCES.problems]
    return list(dict.fromkeys(every))
