"""The tables of cue phrases: each name that capture asks for is there, and nothing else."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from keeplore.capture import cues

ASKED = {
    "weight_of": "cues",
    "says": "patterns",
    "opens_with": "patterns",
    "pattern": "patterns",
    "rules": "rules",
    "word_list": "lists",
    "word_map": "maps",
    "without_phrases": "patterns",
    "without_lead": "patterns",
}
FOLDER = Path(cues.__file__).parent
MOST_COLUMNS = 100  # of a line
TABLES = {
    name: yaml.load(
        (FOLDER / f"{name}.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader
    )
    for name in cues.LANGUAGES
}


def test_english_has_each_table_that_another_language_has() -> None:
    for kind in ("cues", "patterns", "rules", "lists", "maps"):
        for tables in TABLES.values():
            assert set(tables.get(kind, ())) <= set(TABLES["en"][kind])


def test_each_file_is_read() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.yaml")) == sorted(cues.LANGUAGES)


def test_each_table_is_asked_for_somewhere() -> None:
    strings = set()
    for path in FOLDER.parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                strings.add(node.value)
    english = {
        name
        for kind, tables in TABLES["en"].items()
        if kind != "words"
        for name in tables
    }
    assert english - strings == set()


def test_each_table_that_is_asked_for_is_there() -> None:
    for path in FOLDER.parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                kind = ASKED.get(node.func.id)
                name = node.args[-1] if kind and node.args else None
                if (
                    kind
                    and isinstance(name, ast.Constant)
                    and isinstance(name.value, str)
                ):
                    assert name.value in TABLES["en"][kind], path.name


def test_each_phrase_compiles_alone_and_with_the_others() -> None:
    for tables in TABLES.values():
        for phrases in tables.get("patterns", {}).values():
            for phrase in phrases:
                re.compile(cues._expand_names(phrase), re.IGNORECASE)
    for name in TABLES["en"]["patterns"]:
        assert cues.pattern(name).flags & re.IGNORECASE
    for name in TABLES["en"]["cues"]:
        assert cues.weight_of("", name) == 0.0
    assert all(rule.category for rule in cues.rules("subjects")) and cues.rules("notes")


def test_the_heaviest_cue_counts() -> None:
    assert (
        cues.weight_of("Let's go with Postgres, that is decided for good", "decided")
        == 2.8
    )
    assert cues.weight_of("wir nehmen Postgres", "decided") == 2.7
    assert cues.weight_of("nothing of the kind", "decided") == 0.0


def test_a_name_in_braces_stands_for_the_phrases_of_all_languages() -> None:
    assert cues.pattern("labels").findall("Punkt B, 方案2, option C") == [
        ("B", ""),
        ("2", ""),
        ("C", ""),
    ]


def test_a_table_that_nobody_wrote_raises() -> None:
    with pytest.raises(KeyError, match="patterns: nonsense"):
        cues.pattern("nonsense")


def test_the_files_are_not_read_at_import() -> None:
    code = (
        "from keeplore.capture import cues, segmenter\n"
        "from keeplore.capture.notes import note_taker\n"
        "print(cues._languages.cache_info().currsize)\n"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "0\n"


def test_each_line_can_be_read_at_a_glance() -> None:
    """A long phrase is broken behind a bar, where a break says nothing."""
    long = [
        f"{path.name}:{number}"
        for path in FOLDER.glob("*.yaml")
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1)
        if len(line) > MOST_COLUMNS
    ]
    assert long == []
