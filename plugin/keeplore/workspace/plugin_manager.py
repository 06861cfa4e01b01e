"""The plugin manager: pluggy, where a failing plugin costs only itself and some steps are
chained.
"""

from __future__ import annotations

import functools
import importlib.metadata
import importlib.util
import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pluggy

from keeplore.errors import ConfigError
from keeplore.index import EmbeddingModels
from keeplore.index.builtin_plugins import BuiltinEmbedders, BuiltinEngines
from keeplore.llm.builtin_models import BuiltinModels
from keeplore.memory import Memory
from keeplore.redact import Redactor
from keeplore.redact.field_redaction import FieldRedaction
from keeplore.workspace.change_counter import ChangeCounter
from keeplore.workspace.plugin_failures import error_kind_and_place, note_failure
from keeplore_hooks import specs
from keeplore_hooks.events import HostEvent

# steps that check a text: what they raise stops the writing
GATES = ("keeplore_redact", "keeplore_before_write")
LOG = logging.getLogger(__name__)


class PluginManager(pluggy.PluginManager):
    """Keeplore's own steps and those that are installed in the entry-point group ``keeplore``."""

    def __init__(self, state: Path | None = None) -> None:
        super().__init__(specs.NAME)
        self._state = state  # where failures are kept, None for nowhere
        self.add_hookspecs(specs)
        self.failures: list[str] = []
        self.changes = ChangeCounter()
        self.clean_id = Redactor().clean_id

    def register(self, plugin: object, name: str | None = None) -> str | None:
        """Add a plugin; one of somebody else is wrapped, so that an exception in it stops nothing
        else.
        """
        registered = super().register(plugin, name)
        if not type(plugin).__module__.startswith("keeplore."):
            for caller in self.get_hookcallers(plugin) or ():
                self._guard(caller, plugin, registered or "")
        return registered

    def load_installed(self) -> None:
        """Register the plugins of installed packages; of those that cannot be loaded, one that
        checks texts lets none through, the others stop nothing else.
        """
        for point in importlib.metadata.entry_points(group=specs.NAME):
            try:
                self.register(point.load(), point.name)
            except Exception as e:  # noqa: BLE001  # anything may come out of somebody else's code
                is_gate = _may_check_texts(point.module)
                self._note_failure(point.name, GATES[0] if is_gate else "", e)
                if is_gate:
                    self.register(UnloadedGate(point.name, e), point.name)

    def emit(self, event: HostEvent) -> None:
        """Call the extension point of this kind of event."""
        getattr(self.hook, f"keeplore_{event.kind}")(**{event.kind: event})

    def redact(self, text: str, project: str = "") -> str:
        """The text without its secrets, and without what its project denies."""
        return self._chain(
            "keeplore_redact", "text", {"text": text, "project": project}
        )

    def fields(self, project: str = "") -> FieldRedaction:
        """A redaction of what has fields: a question, a body, a front matter."""
        return FieldRedaction(lambda text: self.redact(text, project), self.clean_id)

    def before_write(self, memory: Memory) -> Memory:
        """A memory as it may be written: without secrets, and as the plugins want it."""
        meta = self.fields(memory.project).meta(memory.meta)
        return Memory(meta, self.body_before_write(meta, memory.body))

    def body_before_write(self, meta: Mapping[str, Any], body: str) -> str:
        return self._chain(
            "keeplore_before_write", "body", {"meta": meta, "body": body}
        )

    def announce_written(self, memory_id: str, path: str) -> None:
        """Tell the plugins of a file that was written."""
        self.hook.keeplore_memory_written(memory_id=memory_id, path=path)

    def _chain(self, point: str, field: str, arguments: dict[str, Any]) -> str:
        # pluggy hands every implementation the same arguments; here each works on the result of the
        # one before
        for implementation in reversed(getattr(self.hook, point).get_hookimpls()):
            result = implementation.function(
                *(arguments[name] for name in implementation.argnames)
            )
            if result is not None:
                arguments[field] = result
        return str(arguments[field])

    def _guard(self, caller: pluggy.HookCaller, plugin: object, name: str) -> None:
        """Let what a plugin raises at one extension point stop nothing else, but for what checks a
        text: leaving it unchecked would be worse than not writing it.
        """
        guard = self._raise_config_error if caller.name in GATES else self._catch_all
        for implementation in caller.get_hookimpls():
            if implementation.plugin is plugin:
                guarded = guard(implementation.function, name, caller.name)
                object.__setattr__(implementation, "function", guarded)

    def _catch_all(
        self, function: Callable[..., Any], name: str, point: str
    ) -> Callable[..., Any]:
        @functools.wraps(function)
        def call(*args: Any) -> Any:
            try:
                return function(*args)
            except Exception as e:  # noqa: BLE001  # anything may come out of somebody else's code
                self._note_failure(name, point, e)
                return None

        return call

    def _raise_config_error(
        self, function: Callable[..., Any], name: str, point: str
    ) -> Callable[..., Any]:
        @functools.wraps(function)
        def call(*args: Any) -> Any:
            try:
                result = function(*args)
                if not isinstance(result, str | None):
                    raise TypeError(f"{type(result).__name__} is no text")
            except Exception as e:
                self._note_failure(name, point, e)
                raise _plugin_error(name, f"at {point}", e) from e
            return result

        return call

    def _note_failure(self, name: str, point: str, error: Exception) -> None:
        self.failures.append(f"{name}: {point}: {error!r}")
        LOG.warning("plugin %s failed at %s: %r", name, point or "loading", error)
        if self._state:
            note_failure(self._state, name, point, error)


class UnloadedGate:
    """Stands for a plugin that checks texts and could not be loaded."""

    def __init__(self, name: str, error: Exception) -> None:
        self._name, self._error = name, error

    @specs.hookimpl
    def keeplore_redact(self) -> None:
        raise _plugin_error(self._name, "when it was loaded", self._error)

    @specs.hookimpl
    def keeplore_before_write(self) -> None:
        raise _plugin_error(self._name, "when it was loaded", self._error)


def _plugin_error(name: str, when: str, error: Exception) -> ConfigError:
    return ConfigError(
        f"the plugin {name} failed {when} ({error_kind_and_place(error)}), so nothing is written",
        "Mend or uninstall it; `keeplore doctor` lists the plugins",
    )


def _may_check_texts(module: str) -> bool:
    """Whether the sources of a package that cannot be imported mention one of the extension points
    that check texts.
    """
    try:
        spec = importlib.util.find_spec(module.partition(".")[0])
    except (ImportError, ValueError):
        return False
    folders = spec.submodule_search_locations if spec else None
    sources = [path for at in folders or () for path in Path(at).rglob("*.py")]
    if spec and not folders and spec.origin:
        sources = [Path(spec.origin)]
    said = (path.read_bytes() for path in sources if path.is_file())
    return any(gate.encode() in text for text in said for gate in GATES)


def open_plugins(
    redactor: Redactor, models: EmbeddingModels, state: Path
) -> PluginManager:
    """Keeplore's own steps but for those of capture, then what is installed, then what counts.

    ``state`` is this machine's directory in which failures are noted.
    """
    plugins = PluginManager(state)
    plugins.clean_id = redactor.clean_id
    for builtin in (
        redactor,
        BuiltinEmbedders(models),
        BuiltinModels(),
        BuiltinEngines(),
    ):
        plugins.register(builtin)
    plugins.load_installed()
    plugins.register(plugins.changes)
    return plugins
