"""Plugins of other people can add to a step and fail without harm."""

import pytest

from keeplore.errors import ConfigError
from keeplore.workspace.plugin_failures import FILE, failures
from keeplore.workspace.plugin_manager import PluginManager
from keeplore_hooks.events import Origin, Turn
from keeplore_hooks.specs import hookimpl

TURN = Turn("t1", Origin("host", "session"), "2026-01-01T00:00:00Z", "hello")


class Recorder:
    def __init__(self):
        self.turns = []

    @hookimpl
    def keeplore_turn(self, turn):
        self.turns.append(turn)


class Broken:
    @hookimpl
    def keeplore_turn(self, turn):
        raise RuntimeError("out of order")


class BrokenGate:
    @hookimpl
    def keeplore_redact(self, text):
        raise RuntimeError(f"out of order: {text}")

    @hookimpl
    def keeplore_before_write(self, meta, body):
        raise RuntimeError("must not be written")


class NoText:
    @hookimpl
    def keeplore_redact(self, text):
        return [text]


class Swap:
    def __init__(self, old, new):
        self.old, self.new = old, new

    @hookimpl
    def keeplore_redact(self, text):
        return text.replace(self.old, self.new) if self.old in text else None


class Follower:
    def __init__(self):
        self.written = []

    @hookimpl
    def keeplore_memory_written(self, memory_id, path):
        self.written.append((memory_id, path))


def test_a_plugin_hears_which_memory_was_written_and_where():
    plugins, follower = PluginManager(), Follower()
    plugins.register(follower)
    plugins.announce_written("mem_1", "memory/facts/a.md")
    assert follower.written == [("mem_1", "memory/facts/a.md")]


def test_an_event_reaches_every_plugin_though_one_fails():
    plugins, first, last = PluginManager(), Recorder(), Recorder()
    for plugin in (first, Broken(), last):
        plugins.register(plugin)
    plugins.emit(TURN)
    assert first.turns == [TURN] and last.turns == [TURN]
    assert len(plugins.failures) == 1 and "out of order" in plugins.failures[0]


def test_redaction_steps_work_on_the_result_of_the_one_before():
    plugins = PluginManager()
    for plugin in (Swap("b", "c"), Swap("a", "b")):
        plugins.register(plugin)
    assert plugins.redact("a") == "c"
    assert plugins.redact("unchanged") == "unchanged".replace("a", "c")


def test_a_failing_gate_before_a_write_stops_the_write():
    plugins = PluginManager()
    plugins.register(BrokenGate(), "gate")
    with pytest.raises(ConfigError, match="gate failed at keeplore_before_write"):
        plugins.body_before_write({}, "body")


@pytest.mark.parametrize("plugin", [BrokenGate(), NoText()])
def test_a_redactor_that_fails_lets_no_text_through(plugin, tmp_path):
    plugins = PluginManager(tmp_path)
    plugins.register(plugin, "gate")
    with pytest.raises(ConfigError, match="gate failed at keeplore_redact") as caught:
        plugins.redact("the door is open")
    assert "uninstall" in caught.value.remedy
    [kept] = failures(tmp_path)
    assert (kept.plugin, kept.point) == ("gate", "keeplore_redact")
    assert "door" not in (tmp_path / FILE).read_text()


def test_failures_in_a_workspace_are_noted_on_this_machine(workspace, places):
    workspace.plugins.register(Broken(), "counter")
    workspace.plugins.emit(TURN)
    [kept] = failures(places.state)
    assert (kept.plugin, kept.point) == ("counter", "keeplore_turn")


@pytest.fixture
def loaded(tmp_path, monkeypatch):
    """Plugins after the package in ``tmp_path`` was installed, whose plugin is ``module``."""

    def load(module: str) -> PluginManager:
        installed = tmp_path / "broken_plugin-1.0.dist-info"
        installed.mkdir()
        (installed / "METADATA").write_text(
            "Metadata-Version: 2.1\nName: broken-plugin\nVersion: 1.0\n"
        )
        (installed / "entry_points.txt").write_text(f"[keeplore]\nbroken = {module}\n")
        monkeypatch.syspath_prepend(tmp_path)
        plugins = PluginManager()
        plugins.load_installed()
        return plugins

    return load


def test_an_installed_plugin_that_cannot_be_loaded_is_noted_and_stops_nothing(
    tmp_path, loaded
):
    (tmp_path / "broken_counter.py").write_text("raise OSError('no clock')\n")
    plugins = loaded("broken_counter")
    assert plugins.failures == ["broken: : OSError('no clock')"]
    assert plugins.redact("the door is open") == "the door is open"


def test_a_plugin_that_is_gone_is_noted_and_stops_nothing(loaded):
    plugins = loaded("no_such_module:plugin")
    assert len(plugins.failures) == 1 and "no_such_module" in plugins.failures[0]
    assert plugins.redact("the door is open") == "the door is open"


@pytest.mark.parametrize("module", ["broken_names", "broken_names.steps:plugin"])
def test_a_redactor_that_cannot_be_loaded_lets_no_text_through(
    tmp_path, loaded, module
):
    package = tmp_path / "broken_names"
    package.mkdir()
    (package / "__init__.py").write_text("raise OSError('the list of names is gone')\n")
    (package / "steps.py").write_text("def keeplore_redact(text, project): ...\n")
    plugins = loaded(module)
    assert plugins.failures == [
        "broken: keeplore_redact: OSError('the list of names is gone')"
    ]
    for step in (
        lambda: plugins.redact("the door is open"),
        lambda: plugins.body_before_write({}, "body"),
    ):
        with pytest.raises(ConfigError) as caught:
            step()
        assert str(caught.value) == (
            "the plugin broken failed when it was loaded (OSError at __init__.py:1), "
            "so nothing is written. Mend or uninstall it; `keeplore doctor` lists the plugins"
        )
