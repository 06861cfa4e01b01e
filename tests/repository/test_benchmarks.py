"""Benchmarks run rarely: what can be looked at of them without measuring anything."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import sys
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
SCRIPTS = sorted(
    path for path in BENCHMARKS.glob("*.py") if "__main__" in path.read_text("utf-8")
)


def needed_arguments(tree: ast.Module) -> Iterator[str]:
    """What a script cannot do without: an argument that is read without a look whether it is
    there, an option that is required, a place in the order that must be filled.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield from _needed_by_parser(node)
    guarded = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.IfExp | ast.If | ast.BoolOp)
        and "len(sys.argv)" in ast.unparse(getattr(node, "test", node))
        for inner in ast.walk(node)
    }
    read = (node for node in ast.walk(tree) if isinstance(node, ast.Subscript))
    for node in read:
        is_argument = ast.unparse(node.value) == "sys.argv"
        is_one = isinstance(node.slice, ast.Constant)
        if is_argument and is_one and id(node) not in guarded:
            yield ast.unparse(node)


def _needed_by_parser(call: ast.Call) -> Iterator[str]:
    if not ast.unparse(call.func).endswith(".add_argument"):
        return
    said = {keyword.arg: ast.unparse(keyword.value) for keyword in call.keywords}
    name = ast.literal_eval(call.args[0])
    is_placed = not name.startswith("-") and said.get("nargs") not in ("'*'", "'?'")
    if is_placed or said.get("required") == "True":
        yield name


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_benchmark_runs_without_arguments(script: Path) -> None:
    assert list(needed_arguments(ast.parse(script.read_text("utf-8")))) == []


def test_what_benchmarks_import_of_keeplore_is_there() -> None:
    missing = [
        f"{script.name}: {node.module}.{alias.name}"
        for script in sorted(BENCHMARKS.rglob("*.py"))
        for node in _imports(script)
        for alias in node.names
        if not _is_there(node.module or "", alias.name)
    ]
    assert missing == []


def _imports(script: Path) -> Iterator[ast.ImportFrom]:
    for node in ast.walk(ast.parse(script.read_text("utf-8"))):
        is_from = isinstance(node, ast.ImportFrom)
        if is_from and (node.module or "").startswith("keeplore"):
            yield node


def _is_there(module: str, name: str) -> bool:
    found = importlib.import_module(module)
    if hasattr(found, name) or not hasattr(found, "__path__"):
        return hasattr(found, name)
    return importlib.util.find_spec(f"{module}.{name}") is not None


@pytest.mark.parametrize(
    ("text", "needed"),
    [
        ("main(sys.argv[1])", ["sys.argv[1]"]),
        ("main(sys.argv[1] if len(sys.argv) > 1 else 3)", []),
        ("main(*sys.argv[1:])", []),
        ("parser.add_argument('place', type=Path)", ["place"]),
        ("parser.add_argument('sizes', nargs='*', default=[1])", []),
        ("parser.add_argument('--size', required=True)", ["--size"]),
    ],
)
def test_what_cannot_be_left_out_is_seen(text: str, needed: list[str]) -> None:
    assert list(needed_arguments(ast.parse(text))) == needed


class Words:
    """Texts with the same words are near."""

    model = fingerprint = "words"
    dim, floor = 384, 0.3

    def embed(self, texts: Sequence[str]) -> Any:
        counts = np.zeros((len(texts), self.dim), np.float32)
        for row, text in enumerate(texts):
            for word in text.lower().split():
                counts[row, zlib.crc32(word.encode()) % self.dim] += 1
        return counts / np.maximum(np.linalg.norm(counts, axis=1, keepdims=True), 1)


@pytest.fixture(scope="module")
def peers() -> Iterator[None]:
    """The modules of the comparison can be imported."""
    places = [str(BENCHMARKS / "peers"), str(BENCHMARKS)]
    sys.path[:0] = places
    yield
    del sys.path[: len(places)]


@pytest.mark.usefixtures("peers")
def test_a_program_is_given_notes_and_asked_in_a_process_of_its_own(
    tmp_path: Path,
) -> None:
    from peer_process import PeerProcess
    from served_model import serving

    with (
        serving(Words()) as url,
        PeerProcess("keeplore", tmp_path / "home", url) as peer,
    ):
        notes = {
            "port": "2026-03-02: The gateway listens on port 8443.",
            "tea": "2026-03-02: Tea is in the kitchen.",
        }
        assert peer.put(tmp_path / "notes", notes) > 0
        changed = {"port": "2026-05-04: The gateway listens on port 9117."}
        peer.put(tmp_path / "notes", changed)
        hits, spent_s = peer.ask("Which port does the gateway listen on?", 10)
    assert hits[0] == ("port", changed["port"]) and spent_s > 0


@pytest.mark.usefixtures("peers")
def test_a_program_that_gives_up_is_quoted(tmp_path: Path) -> None:
    from peer_process import PeerProcess

    with (
        PeerProcess("keeplore", tmp_path / "home", "no address") as peer,
        pytest.raises(RuntimeError, match="no address"),
    ):
        peer.put(tmp_path / "notes", {"port": "2026-03-02: The port is 1."})


@pytest.mark.usefixtures("peers")
def test_an_answer_is_wrong_where_the_old_value_comes_first_or_none() -> None:
    from peer_notes import FACTS, edited, fact_notes, is_wrong, said_anew

    for number, fact in enumerate(FACTS):
        name = f"a{number}"
        old, new = fact_notes("a")[name], edited("a")[name]
        later = said_anew("b")[f"b{number}"]
        assert fact.old in old and fact.new not in old
        names = [name, f"b{number}"]
        other = ("c1", "2026-03-02: Something else.")
        assert not is_wrong(fact, names, [other, (name, new), (names[1], old)])
        assert not is_wrong(fact, names, [(names[1], later), (name, old)])
        assert is_wrong(fact, names, [(name, old), (names[1], later)])
        assert is_wrong(fact, names, [other])


@pytest.mark.usefixtures("peers")
def test_the_table_says_in_words_why_a_program_has_no_figures() -> None:
    from compare_peers import HEAD, Costs, cells, table

    costs = Costs(18.62, 0.126, 0.98, 0.0123, 0, 9)
    rows = [
        HEAD[:3],
        cells("chroma", costs, (0.4579, 0.2911, 197), None)[:3],
        ("basic-memory", "not run: it needs Python 3.12"),
    ]
    assert table(rows) == [
        "| program | index | 10 changed |",
        "|---|---|---|",
        "| chroma | 18.6 s | 0.13 s |",
        "| basic-memory | not run: it needs Python 3.12 |  |",
    ]
    assert cells("mem0", costs, None, 0.0102)[4:] == (
        "12 ms", "0 of 10", "9 of 10", "no data", "no data", "10 ms",
    )  # fmt: skip
