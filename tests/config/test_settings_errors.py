"""In which words a settings file is refused that cannot be used."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from keeplore.config.settings import (
    MAX_FILE,
    did_you_mean,
    flat_settings,
    load_settings,
    setting_keys,
)
from keeplore.errors import ConfigError

NO_NODE = (
    "while parsing a flow node did not find expected node content in "
    '"<byte string>", line 2, column 1'
)
KINDS = "path:…, project:…, remote:…, pattern:…"
MEND = "Mend or remove that key; a newer Keeplore may know it"


@pytest.mark.parametrize(
    ("text", "message", "remedy"),
    [
        ("a: [", "FILE is no YAML: " + NO_NODE, "Mend that line"),
        ("[" * 99, "FILE is no YAML: it nests too deeply", "Mend that line"),
        ("x" * (MAX_FILE + 1), "FILE is larger than 16384 bytes", "Compare it with the template"),
        ("frozen: perhaps\n", "FILE, line 1: frozen: it should be true or false", MEND),
        (
            "branch: main\ncontext:\n  threshold: much\n",
            "FILE, line 3: context.threshold: it should be a number",
            MEND,
        ),
        (
            "capture: {exclude: ['path:~/clients']}\ncapture:\n  notes: false\n",
            "FILE, line 2: capture: it stands twice",
            "Join the two, or remove one",
        ),
        (
            "recall:\n  graph: true\n  graph: false\n",
            "FILE, line 3: graph: it stands twice",
            "Join the two, or remove one",
        ),
        ("branch: release 1\n", "FILE, line 1: branch: git knows no branch of such a name", MEND),
        (
            "capture:\n  include: ['path:~/a']\n  exclude: [clients]\n",
            "FILE, line 3: capture.exclude: 'clients' should be one of " + KINDS,
            MEND,
        ),
        (
            "thresholds: 1\n",
            "FILE, line 1: thresholds: there is no such key (did you mean recall.threshold?)",
            MEND,
        ),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_used_says_why(
    tmp_path: Path, text: str, message: str, remedy: str
) -> None:
    file = tmp_path / "keeplore.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as refused:
        load_settings(tmp_path)
    assert refused.value.message == message.replace("FILE", str(file))
    assert refused.value.remedy == remedy


def test_a_directory_without_one_is_no_workspace(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as refused:
        load_settings(tmp_path)
    assert refused.value.message == (
        f"{tmp_path} is no workspace: keeplore.yaml cannot be read"
    )
    anew = f"`keeplore init {tmp_path}` makes one with what is built in"
    assert refused.value.remedy == anew
    (tmp_path / ".git").mkdir()
    with pytest.raises(ConfigError) as refused:
        load_settings(tmp_path)
    back = f"`git -C {tmp_path} checkout -- keeplore.yaml` brings it back"
    assert refused.value.remedy == f"{back}; {anew}"


@pytest.mark.parametrize("text", ["", "# nothing\n", "#" * MAX_FILE])
def test_one_that_says_nothing_leaves_what_is_built_in(
    tmp_path: Path, text: str
) -> None:
    (tmp_path / "keeplore.yaml").write_text(text, encoding="utf-8")
    assert flat_settings(load_settings(tmp_path)) == setting_keys()


@pytest.mark.parametrize(
    ("key", "hint"),
    [
        ("threshold", " (did you mean context.threshold or recall.threshold?)"),
        ("frozn", " (did you mean frozen?)"),
        ("zzzz", ""),
    ],
)
def test_a_key_that_may_have_been_meant_is_named(key: str, hint: str) -> None:
    assert did_you_mean(key) == hint


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_settings_that_are_no_file_are_refused_at_once(tmp_path, make):
    """Opening a pipe would wait for its writer."""
    make(tmp_path / "keeplore.yaml")
    with pytest.raises(ConfigError) as caught:
        load_settings(tmp_path)
    assert str(caught.value) == (
        f"{tmp_path} is no workspace: its keeplore.yaml is no file. "
        "Move it away; take yours from git, or run `keeplore init DIR`"
    )
