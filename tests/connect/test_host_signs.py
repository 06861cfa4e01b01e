"""What in a host's directory tells of Keeplore from elsewhere, or switches it off."""

from __future__ import annotations

from pathlib import Path

import pytest

from keeplore.connect.host_locations import (
    LOCATIONS,
    installed_otherwise,
    left_behind,
    problems,
    switched_off,
)


def written(directory: Path, name: str, text: str) -> Path:
    file = directory / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("host", "name", "text", "sign"),
    [
        (
            "claude-code",
            "settings.json",
            '{"enabledPlugins": {"other@m": true, "keeplore@skills-dir": true, "keeplore@m": true}}',
            "its plugin keeplore@m is enabled",
        ),
        ("claude-code", "settings.json", '{"enabledPlugins": {"keeplore@m": false}}', ""),
        ("claude-code", "settings.json", '{"enabledPlugins": 1} // no', ""),
        ("codex", "config.toml", '[plugins."keeplore@m"]', "its plugin keeplore@m is enabled"),
        ("codex", "config.toml", '[plugins."keeplore@m"]\nenabled = false', ""),
        ("codex", "config.toml", 'plugins.keeplore = 1', "its plugin keeplore is enabled"),
        ("codex", "config.toml", "no toml", ""),
        (
            "copilot",
            "settings.json",
            '{"enabledPlugins": {"keeplore": true,}} // mine',
            "its plugin keeplore is enabled",
        ),
        ("copilot", "installed-plugins/m/keeplore/x", "", "its plugin is in DIR/installed-plugins/m/keeplore"),
        (
            "copilot",
            "installed-plugins/_direct/me--keeplore/x",
            "",
            "its plugin is in DIR/installed-plugins/_direct/me--keeplore",
        ),
        ("copilot", "installed-plugins/m/keeplore-2/x", "", ""),
        ("cursor", "plugins/local/keeplore/x", "", "its plugin is in DIR/plugins/local/keeplore"),
        ("cursor", "plugins/local/other/x", "", ""),
        (
            "opencode",
            "opencode.json",
            '{"plugin": [1, "other", "keeplore@1"]} // mine',
            "its plugin keeplore@1 is in DIR/opencode.json",
        ),
        ("opencode", "opencode.json", '{"plugin": "keeplore"}', ""),
        ("gemini-cli", "extensions/keeplore/x", "", ""),
    ],
)  # fmt: skip
def test_a_host_that_has_it_from_elsewhere(
    tmp_path: Path, host: str, name: str, text: str, sign: str
) -> None:
    assert installed_otherwise(host, tmp_path) == ""
    written(tmp_path, name, text)
    assert installed_otherwise(host, tmp_path) == sign.replace("DIR", str(tmp_path))


@pytest.mark.parametrize(
    ("text", "setting"),
    [
        ('{"disableAllHooks": true}', "disableAllHooks in FILE"),
        ('{"disableAllHooks": 1}', ""),
        (
            '{"enabledPlugins": {"keeplore@skills-dir": false}}',
            "keeplore@skills-dir in enabledPlugins of FILE",
        ),
        ('{"enabledPlugins": {"keeplore@skills-dir": true}}', ""),
        ("[]", ""),
    ],
)
def test_what_switches_the_hooks_of_claude_code_off(
    tmp_path: Path, text: str, setting: str
) -> None:
    file = written(tmp_path, "settings.json", text)
    assert switched_off("claude-code", tmp_path) == setting.replace("FILE", str(file))


def test_what_codex_says_of_hooks(tmp_path: Path) -> None:
    assert (switched_off("codex", tmp_path), left_behind("codex", tmp_path)) == ("", "")
    hooks = tmp_path / "hooks.json"
    file = written(
        tmp_path,
        "config.toml",
        f'[features]\nhooks = false\n[hooks.state."other:a"]\n'
        f'[hooks.state."{hooks}:stop:0"]\n[hooks.state."{hooks}:stop:1"]\n',
    )
    assert switched_off("codex", tmp_path) == f"hooks under [features] in {file}"
    assert left_behind("codex", tmp_path) == (
        f'Codex itself has noted what you trusted: [hooks.state."{hooks}:stop:0"] and what '
        f"begins so (2 in all) stay in {file}. Without the entries they do nothing; take them "
        f"out by hand if you like"
    )
    file.write_text("[features]\nhooks = true\n", encoding="utf-8")
    assert (switched_off("codex", tmp_path), left_behind("codex", tmp_path)) == ("", "")


def test_what_opencode_leaves_behind(tmp_path: Path) -> None:
    written(tmp_path, "package.json", "{}")
    assert left_behind("opencode", tmp_path) == ""
    written(tmp_path, "node_modules/x", "")
    assert left_behind("opencode", tmp_path) == (
        f"node_modules, package.json in {tmp_path} were put there by OpenCode for plugins, and "
        f"stay: remove them by hand where no other plugin needs them"
    )


@pytest.mark.parametrize("host", [*LOCATIONS, "no-such-host"])
def test_a_host_that_has_nothing_says_nothing(tmp_path: Path, host: str) -> None:
    asked = (installed_otherwise, switched_off, left_behind)
    assert [ask(host, tmp_path) for ask in asked] == ["", "", ""]
    assert problems() == []
