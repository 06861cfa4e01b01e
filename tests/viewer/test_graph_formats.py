"""The picture in each format, byte for byte; and names that try to be more than names."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from keeplore.viewer import page
from keeplore.viewer.dot import as_dot
from keeplore.viewer.mermaid import MOST_CHARACTERS, MOST_EDGES, as_mermaid
from keeplore.viewer.page import as_page
from keeplore.viewer.picture import (
    GraphNode,
    GraphPicture,
    GraphRelation,
    MentionedIn,
    NodeAspect,
    SharedMemories,
    as_data,
    as_json,
)
from keeplore.viewer.tree import as_tree

VENDOR = Path(page.__file__).parent / "vendor"
GOLDEN = Path(__file__).parents[1] / "golden" / "graph"
HOSTILE = (
    'a "quoted" name',
    "back\\slash\\N\\G\\",
    "a --> b",
    '%%{init: {"theme": "forest"}}%%',
    "</script><!--<script>alert(1)</script>",
    "end",
    "1. `item` *of* a list",
    "style x:#fff;",
    "&lt;b&gt;#35;",
    "{{script}}",
    'click n0 href "javascript:alert(1)"',
    "direction TB",  # which Mermaid's own lexer would see in a string too
    "ünïcödé 漢字 🎉",
)
# of the files that the npm packages of these names and versions hold in dist/, and of their licence
VENDORED = {
    "LICENSE": "2a6d2d5f32ba0b755ddbc1c833f766e30cdbe6ebe9a6d4e3e24427721f0b63d3",
    # 3.0.2
    "d3-dispatch.min.js": "5afe071dad74c14cd580f540c9ec85b0755eed78b7f9ed3e9f63b989fc41aa4b",
    "d3-force.min.js": "ed05b52ecfe280d753ebab954e4e1f24097952480a9d277be55b6ba297bf4a9b",  # 3.0.1
    # 3.0.2
    "d3-quadtree.min.js": "6bd9974b3efdf9c22942a6fb9a5a027ee39f81a6c27b09a3444c9e911796f439",
    "d3-timer.min.js": "f6b80ed73b21d01658db60d1c04adb88adc70f885346ae07d59ed69ba0348849",  # 3.0.2
}


def small() -> GraphPicture:
    """fastembed in the middle, two hops around it, one of them tied to two others."""
    told = (
        MentionedIn(
            "mem_1f0c9a2e-0000", "Vectors are derived data", "2026-02-09T10:12:30Z"
        ),
        MentionedIn("mem_2", "Why hnswlib", "2026-01-02T08:00:00Z"),
    )
    aspects = (NodeAspect("start-up time", "constraint", 2),)
    return GraphPicture(
        "memory",
        (
            GraphNode(
                "fastembed",
                "fastembed",
                "tool",
                "",
                12,
                0,
                ("fast-embed", "FastEmbed"),
                aspects,
                told,
            ),
            GraphNode("onnxruntime", "onnxruntime", "tool", "", 5, 1),
            GraphNode(
                "kasha-api", "kasha-api", "project", "kasha-api", 4, 1, (), (), told[:1]
            ),
            GraphNode("hnswlib", "hnswlib", "tool", "", 1, 1),
            GraphNode("postgresql 15", "PostgreSQL 15", "system", "kasha-api", 3, 2),
            GraphNode("postgresql 15", "PostgreSQL 15", "system", "", 2, 2),
        ),
        (
            GraphRelation(0, 1, "uses", 0.9, 3),
            GraphRelation(2, 0, "uses", 0.95, 1),
            GraphRelation(2, 1, "uses", 0.5, 2),
            GraphRelation(2, 4, "stores in", 1.0, 2),
            GraphRelation(5, 2, "serves", 1.0, 1),
        ),
        (SharedMemories(0, 3, 4),),
        has_more=True,
        has_middle=True,
    )


def hostile() -> GraphPicture:
    nodes = tuple(
        GraphNode(
            name.lower(),
            name,
            "tool",
            name,
            2,
            min(i, 1),
            (name,),
            (NodeAspect(name, name, 1),),
            (MentionedIn(name, name, name),),
        )
        for i, name in enumerate(HOSTILE)
    )
    relations = tuple(
        GraphRelation(0, i, name, 0.5, 1) for i, name in enumerate(HOSTILE) if i
    )
    return GraphPicture(
        HOSTILE[4], nodes, relations, (SharedMemories(1, 2, 2),), has_middle=True
    )


FORMATS: dict[str, Callable[[GraphPicture], str]] = {
    "tree.txt": lambda picture: "\n".join(as_tree(picture)) + "\n",
    "graph.dot": lambda picture: "".join(as_dot(picture)),
    "graph.mmd": lambda picture: "".join(as_mermaid(picture)),
    "graph.json": as_json,
}


@pytest.mark.parametrize("name", FORMATS)
def test_a_picture_has_the_same_bytes_each_time(name: str) -> None:
    made = FORMATS[name](small())
    if os.environ.get("WRITE_GOLDEN"):
        (GOLDEN / name).write_text(made, encoding="utf-8")
    assert made == (GOLDEN / name).read_text(encoding="utf-8")


def test_graphviz_draws_every_name_as_it_is(tmp_path: Path) -> None:
    if not shutil.which("dot"):
        pytest.skip("Graphviz is not installed: no `dot` in PATH")
    drawn = subprocess.run(
        ("dot", "-Kdot", "-Tsvg"),
        input="".join(as_dot(hostile())),
        capture_output=True,
        text=True,
        check=True,
    )
    texts = {
        text.text
        for text in ET.fromstring(drawn.stdout).iter("{http://www.w3.org/2000/svg}text")
    }
    assert set(HOSTILE) - texts == set()


def test_a_node_of_a_type_that_dot_has_no_colour_for_looks_unknown() -> None:
    picture = small()
    node = replace(picture.nodes[0], type="galaxy")
    strange = replace(picture, nodes=(node, *picture.nodes[1:]))
    unknown = replace(
        picture, nodes=(replace(node, type="unknown"), *picture.nodes[1:])
    )
    assert list(as_dot(strange)) == [
        text.replace('"unknown,', '"galaxy,') for text in as_dot(unknown)
    ]


def test_a_name_in_dot_ends_where_its_string_ends() -> None:
    """The grammar's own: a string ends at the first quote without a backslash before it."""
    line = re.compile(
        r'  n\d+(?: -> n\d+)? \[(?:\w+=(?:"(?:[^"\\]|\\\\|\\")*"|[\w.]+)(?:, )?)+\];'
    )
    lines = "".join(as_dot(hostile())).splitlines()
    names = [
        text
        for text in lines
        if text.startswith("  n") and not text.startswith("  node")
    ]
    assert len(names) == 2 * len(HOSTILE)
    assert [text for text in names if not line.fullmatch(text)] == []


def test_a_name_in_mermaid_holds_no_sign_of_its_language() -> None:
    lines = "".join(as_mermaid(hostile())).splitlines()
    label = r'"(?:[0-9A-Za-z]|#\d+;|(?<=[0-9A-Za-z])[-._/](?=[0-9A-Za-z]))*"'
    known = re.compile(
        rf"  (?:n\d+\[{label}\]:::\w+|n\d+ -->\|{label}\| n\d+|n\d+ -\.- n\d+)"
    )
    drawn = [text for text in lines[2:] if not text.startswith("  classDef ")]
    assert len(drawn) == 2 * len(HOSTILE)
    assert [text for text in drawn if not known.fullmatch(text)] == []
    decoded = [
        re.sub(r"#(\d+);", lambda code: chr(int(code[1])), text) for text in drawn
    ]
    assert [
        f'["{name}"]' in text for name, text in zip(HOSTILE, decoded, strict=False)
    ] == [True] * len(HOSTILE)


@pytest.mark.parametrize(
    ("name", "drawn"), [("x" * 40, "x" * 40), ("x" * 41, f"{'x' * 39}#8230;")]
)
def test_a_name_in_mermaid_is_short(name: str, drawn: str) -> None:
    node = GraphNode("one", name, "tool", "", 1)
    picture = replace(small(), nodes=(node,), relations=(), together=())
    assert [*as_mermaid(picture)][-1] == f'  n0["{drawn}"]:::tool\n'


def test_mermaid_is_given_no_more_than_it_draws() -> None:
    nodes = tuple(GraphNode(f"{i}", "é" * 100, "tool", "", 1) for i in range(900))
    pairs = tuple(SharedMemories(a, b, 1) for a in range(40) for b in range(a + 1, 40))
    text = "".join(as_mermaid(GraphPicture("memory", nodes, (), pairs)))
    assert len(text) <= MOST_CHARACTERS
    assert text.count(" -.- ") == MOST_EDGES


class Structure(HTMLParser):
    """The tags of a page and the text of its scripts, read by the rules of HTML."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.texts: dict[str, str] = {}
        self._within = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        self._within = f"{tag}#{dict(attrs).get('id', '')}"

    def handle_endtag(self, tag: str) -> None:
        self._within = ""

    def handle_data(self, data: str) -> None:
        self.texts[self._within] = self.texts.get(self._within, "") + data


def test_no_name_changes_the_structure_of_the_page_and_each_arrives_whole() -> None:
    plain, bad = Structure(as_page(small())), Structure(as_page(hostile()))
    assert bad.tags == plain.tags
    assert json.loads(bad.texts["script#data"]) == as_data(hostile())
    assert bad.texts["title#"] == hostile().title
    assert (
        bad.texts["script#"] == plain.texts["script#"]
        and bad.texts["style#"] == plain.texts["style#"]
    )
    assert all(ord(sign) < 128 for sign in bad.texts["script#data"])


def test_the_page_allows_its_own_script_and_style_and_nothing_else() -> None:
    text = as_page(hostile())
    structure = Structure(text)
    (policy,) = re.findall(
        r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', text
    )
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert (
        rules["default-src"] == "'none'"
        and rules["base-uri"] == "'none'"
        and rules["form-action"] == "'none'"
    )
    for rule, part in (("script-src", "script#"), ("style-src", "style#")):
        digest = base64.b64encode(
            hashlib.sha256(structure.texts[part].encode()).digest()
        ).decode()
        assert rules[rule] == f"'sha256-{digest}'"
    assert (
        text.index("Content-Security-Policy")
        < text.index("<style")
        < text.index("<script")
    )
    loading = {
        "src",
        "href",
        "srcset",
        "action",
        "data",
        "style",
        "poster",
        "background",
    }
    assert [
        name
        for name, _ in structure.attributes
        if name in loading or name.startswith("on")
    ] == []
    asking = (
        r"\b(?:https?|wss?|ftp):|//[\w-]+\.\w|url\(|@import|\bfetch\(|"
        r"XMLHttp|innerHTML|\beval\("
    )
    assert re.findall(asking, text) == []


def test_the_library_is_the_one_that_was_published() -> None:
    found = {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in VENDOR.iterdir()
    }
    assert found == VENDORED
    notice = (Path(__file__).parents[2] / "NOTICE").read_text(encoding="utf-8")
    for name in page.LIBRARIES:
        first_line = (
            (VENDOR / f"{name}.min.js").read_text(encoding="utf-8").partition("\n")[0]
        )
        version = re.match(r"// \S+ v(\S+) Copyright", first_line)
        assert version and f"{name} {version[1]}" in notice
    licence = (VENDOR / "LICENSE").read_text(encoding="utf-8").strip()
    assert licence in as_page(small())
