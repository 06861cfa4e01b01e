from __future__ import annotations

from pathlib import Path

import pytest

from keeplore.config.settings import FILE, load_settings
from keeplore.config.yaml_edit import write_setting
from keeplore.errors import ConfigError

TEMPLATE = Path(__file__).parents[2] / "workspace_template" / FILE
NAMES = (
    "ollama:nomic-embed-text",
    "http://127.0.0.1:8080/v1#BAAI/bge-m3",
    "/models/with a space/#1",
    "~/m",
    "yes",
    "12",
)


@pytest.mark.parametrize("name", NAMES)
def test_one_key_is_changed_and_every_comment_stays(tmp_path: Path, name: str) -> None:
    before = TEMPLATE.read_text()
    (tmp_path / FILE).write_text(before)
    write_setting(tmp_path, "embedding", "model", name)
    assert load_settings(tmp_path).embedding.model == name
    after = (tmp_path / FILE).read_text()
    changed = [
        (old, new)
        for old, new in zip(before.splitlines(), after.splitlines(), strict=True)
        if old.strip() != new.strip()
    ]
    assert [new.partition("  #")[2] for _, new in changed] == [
        old.partition("  #")[2] for old, _ in changed
    ]
    assert len(changed) == 1
    write_setting(tmp_path, "embedding", "model", "packaged")
    assert load_settings(tmp_path).embedding.model == "packaged"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "schema: 1\n",
        "embedding: {model: packaged}  # mine\n",
        "embedding:\n",
        "embedding:\n  # none yet\nschema: 1\n",
    ],
)
def test_a_file_that_a_person_has_shortened_gets_the_key(
    tmp_path: Path, text: str
) -> None:
    (tmp_path / FILE).write_text(text)
    write_setting(tmp_path, "embedding", "model", "ollama:m")
    assert load_settings(tmp_path).embedding.model == "ollama:m"
    assert ("# mine" in text) == ("# mine" in (tmp_path / FILE).read_text())


@pytest.mark.parametrize(
    "text",
    ["embedding: &a\n  model: packaged\n", "embedding: packaged\n", "[1]\n", "a: [\n"],
)
def test_an_unusual_file_stays_as_it_is_and_the_line_is_told(
    tmp_path: Path, text: str
) -> None:
    (tmp_path / FILE).write_text(text)
    with pytest.raises(ConfigError, match=r"Write `embedding: \{model: ollama:m\}`"):
        write_setting(tmp_path, "embedding", "model", "ollama:m")
    assert (tmp_path / FILE).read_text() == text
