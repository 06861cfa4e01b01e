"""What is built in, over that the workspace's file, over that this machine's."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from keeplore.config.setting_layers import (
    MACHINE_FILE,
    SettingOrigin,
    own_values,
    set_own,
    set_shared,
    setting_values,
    settings_here,
    unset_own,
)
from keeplore.config.settings import (
    FILE,
    EmbeddingSettings,
    LlmSettings,
    Settings,
    SyncSettings,
    TokenPrice,
    load_settings,
)
from keeplore.errors import ConfigError

TEMPLATE = Path(__file__).parents[2] / "workspace_template" / FILE


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "memory"
    root.mkdir()
    shutil.copy(TEMPLATE, root / FILE)
    return root


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


def test_this_machine_comes_before_the_workspace_and_that_before_what_is_built_in(
    root: Path, state: Path
) -> None:
    set_shared(root, state, "embedding.model", "ollama:shared")
    set_shared(root, state, "llm.model", "shared")
    set_own(state, root, "embedding.model", "~/own")
    set_own(state, root, "sync.automatic", value=False)
    set_own(state, root, "llm.prices", {"m": {"input": 1}})
    expected = replace(
        Settings(),
        embedding=EmbeddingSettings("~/own"),
        llm=LlmSettings(model="shared", prices={"m": TokenPrice(1.0, 0.0, 1.0)}),
        sync=SyncSettings(automatic=False),
    )
    assert settings_here(root, state) == expected
    assert load_settings(root).embedding.model == "ollama:shared"
    assert (state / MACHINE_FILE).read_text().splitlines() == [
        (
            "# Settings of this machine alone, over those of its workspaces; see "
            "`keeplore config list --machine`"
        ),
        "schema: 1",
        "embedding:",
        "  model: ~/own",
        "sync:",
        "  automatic: false",
        "llm:",
        "  prices: {m: {input: 1}}",
    ]
    found = {one.key: one for one in setting_values(root, state)}
    told = {
        key: (found[key].value, found[key].origin, found[key].below)
        for key in ("embedding.model", "llm.model", "sync.automatic", "branch")
    }
    assert told == {
        "embedding.model": ("~/own", SettingOrigin.MACHINE, "ollama:shared"),
        "llm.model": ("shared", SettingOrigin.WORKSPACE, "shared"),
        "sync.automatic": (False, SettingOrigin.MACHINE, True),
        "branch": ("main", SettingOrigin.BUILT_IN, "main"),
    }
    assert unset_own(state, "embedding.model") and not unset_own(state, "llm.model")
    assert settings_here(root, state).embedding.model == "ollama:shared"
    assert own_values(state) == {
        "schema": 1,
        "sync.automatic": False,
        "llm.prices": {"m": {"input": 1}},
    }


def test_a_machine_without_a_workspace_has_settings_too(state: Path) -> None:
    assert settings_here(None, state) == Settings()
    set_own(state, None, "context.related", 2)
    assert settings_here(None, state).context.related == 2


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("context.related", 9, "context.related: it should be 0 to 3"),
        ("context.related", "two", "context.related: it should be a whole number"),
        ("llm.base_url", "ftp://x", "llm.base_url: that is not the address"),
        ("branch", "mine", "branch: it cannot be set for one machine: all machines"),
        ("inherits", ["a"], "inherits: it cannot be set for one machine"),
        ("index.name", "a", "index.name: it cannot be set for one machine"),
        ("redaction.deny", ["a"], "what one machine lets through is pushed to all"),
        ("redaction.allow", ["a"], "what one machine lets through is pushed to all"),
    ],
)
def test_a_value_that_is_wrong_is_not_written(
    root: Path, state: Path, key: str, value: object, told: str
) -> None:
    with pytest.raises(ConfigError, match=told):
        set_own(state, root, key, value)
    assert not (state / MACHINE_FILE).exists()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("redaction: {deny: []}", "redaction.deny: it cannot be set for one machine"),
        ("name: x", "name: it cannot be set for one machine"),
        ("embedding: {modle: x}", r"no such key \(did you mean embedding.model\?\)"),
        ("model: x", r"no such key \(did you mean embedding.model or llm.model\?\)"),
        ("schema: 2", "2 is of a newer Keeplore"),
        ("a: [", "no YAML"),
        ("x: " + "y" * 20000, "larger than"),
        ("[1]", "the file: it should be"),
    ],
)
def test_a_machine_file_that_is_wrong_is_named(
    root: Path, state: Path, text: str, told: str
) -> None:
    state.mkdir()
    (state / MACHINE_FILE).write_text(text)
    with pytest.raises(ConfigError, match=told) as error:
        settings_here(root, state)
    assert str(state / MACHINE_FILE) in error.value.message


@pytest.mark.parametrize(
    "text", ["a: &a {model: x}\nembedding: *a\n", "embedding: x\n", "[1]\n"]
)
def test_a_file_of_an_unusual_form_stays_and_the_line_is_told(
    root: Path, state: Path, text: str
) -> None:
    (root / FILE).write_text(text)
    with pytest.raises(ConfigError, match=r"Write `embedding: \{model: ollama:m\}`"):
        set_shared(root, state, "embedding.model", "ollama:m")
    assert (root / FILE).read_text() == text


def test_a_section_without_keys_changes_nothing(root: Path, state: Path) -> None:
    (root / FILE).write_text("embedding:\n  # model: x\n")
    assert settings_here(root, state) == Settings()
