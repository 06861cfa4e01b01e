"""Mutation tests over a random sample: does a test fail where the program is changed by a little?

    make mutants [SAMPLE=40] [SEED=1] [JOBS=2] [WITHIN=plugin/keeplore/recall] [NEAR=1]

Each mutant is one change of one place: an operator, a number, a condition, an argument, a result.
The words of messages are left alone, and so is what no test can tell apart (annotations,
docstrings).
A mutant runs in a copy of the tree, first against the tests that import its module, then against
the tests of its package, then against all others (left out with NEAR). Printed are those that
lived, and the share that died. The exit status is 1 where less than ``WANTED`` died.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import Queue

import libcst as cst
from libcst.metadata import MetadataWrapper
from mutmut.file_mutation import Mutation, MutationVisitor
from mutmut.node_mutation import mutation_operators, operator_string

ROOT = Path(__file__).resolve().parents[2]
PRODUCT = ("hooks", "plugin")
WANTED = 0.95
LONGEST_S = 1800.0  # a mutant that makes a test run for ever has died
# whatever a mutant does, these tell at once: they look at the text of the tree, not at what it does
TEXTUAL = ("tests/repository", "tests/demo")


class _Visitor(MutationVisitor):
    """Mutates decorated functions too: a mutant is written to its file, so nothing is copied."""

    def _skip_node_and_children(self, node: cst.CSTNode) -> bool:
        return isinstance(
            node, cst.Annotation | cst.Decorator | cst.Import | cst.ImportFrom
        )


@dataclass(frozen=True)
class Mutant:
    """One file, how it reads with the change, and the change as it is shown."""

    path: str
    text: str
    line: int
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}\n  - {self.before.strip()}\n  + {self.after.strip()}"


def mutants_of(path: str, rng: random.Random) -> Mutant | None:
    """One random mutant of a file; None where nothing in it can be changed."""
    text = (ROOT / path).read_text(encoding="utf-8")
    operators = [
        (kind, one) for kind, one in mutation_operators if one is not operator_string
    ]
    visitor = _Visitor(operators, set())
    module = MetadataWrapper(cst.parse_module(text)).visit(visitor)
    candidates: list[Mutation] = visitor.mutations
    rng.shuffle(candidates)
    for mutation in candidates:
        changed = module.deep_replace(mutation.original_node, mutation.mutated_node)
        assert isinstance(changed, cst.Module)
        if _means(changed.code) not in (None, _means(text)):
            return Mutant(path, changed.code, *_difference(text, changed.code))
    return None


def _means(text: str) -> str | None:
    """What Python makes of a text, without annotations and docstrings; None for no Python."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.arg | ast.AnnAssign):
            node.annotation = ast.Constant(None)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            node.returns = None
        body = getattr(node, "body", None)
        if isinstance(body, list):
            body[:] = [one for one in body if not _is_text(one)]
    return ast.dump(tree)


def _is_text(statement: ast.AST) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _difference(before: str, after: str) -> tuple[int, str, str]:
    pairs = zip(before.splitlines(), after.splitlines(), strict=False)
    for number, (old, new) in enumerate(pairs, 1):
        if old != new:
            return number, old, new
    return 0, "", ""


def sample(size: int, seed: int, within: str) -> Iterator[Mutant]:
    """``size`` mutants of random modules, the longer ones more often."""
    rng = random.Random(seed)
    listed = subprocess.run(
        ["git", "ls-files", "*.py"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.splitlines()
    paths = [
        path for path in listed if path.startswith(PRODUCT) and path.startswith(within)
    ]
    sizes = [(ROOT / path).stat().st_size for path in paths]
    found = 0
    while found < size:
        mutant = mutants_of(rng.choices(paths, sizes)[0], rng)
        if mutant is not None:
            found += 1
            yield mutant


def nearest(path: str) -> list[list[str]]:
    """Files and folders of tests, in the order in which they are asked about a module."""
    dotted = path.split("/", 1)[1].removesuffix(".py").replace("/", ".")
    package, _, stem = dotted.rpartition(".")
    spellings = (f"from {dotted} import", f"import {dotted}", f'"{dotted}')
    importing = [
        str(test.relative_to(ROOT))
        for test in sorted((ROOT / "tests").rglob("test_*.py"))
        if any(spelling in test.read_text(encoding="utf-8") for spelling in spellings)
        or f"from {package} import {stem}\n" in test.read_text(encoding="utf-8")
    ]
    room = (
        ROOT
        / "tests"
        / ("hooks" if path.startswith("hooks/") else dotted.split(".")[1])
    )
    stages = [
        importing,
        [str(room.relative_to(ROOT))] if room.is_dir() else [],
        ["tests"],
    ]
    return [stage for stage in stages if stage]


class Copy:
    """A copy of the tree with an environment of its own, in which mutants are tried one by one."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        subprocess.run(["git", "clone", "-q", str(ROOT), str(folder)], check=True)
        venv.create(folder / ".venv", symlinks=True)
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        site = folder / ".venv" / "lib" / version / "site-packages"
        installed = ROOT / ".venv" / "lib" / version / "site-packages"
        (site / "a.pth").write_text(
            f"{folder / 'hooks'}\n{folder / 'plugin'}\n{installed}\n"
        )
        for beside in (ROOT / ".venv").glob("mcp-*"):
            (folder / ".venv" / beside.name).symlink_to(beside)

    def dies(self, mutant: Mutant, *, near: bool) -> bool:
        """Does any test notice? ``near`` leaves the tests of other packages out."""
        target = self._folder / mutant.path
        original = target.read_text(encoding="utf-8")
        target.write_text(mutant.text, encoding="utf-8")
        try:
            stages = nearest(mutant.path)
            return any(
                not self._passes(one) for one in (stages[:-1] if near else stages)
            )
        finally:
            target.write_text(original, encoding="utf-8")

    def _passes(self, tests: list[str]) -> bool:
        command = [
            ".venv/bin/python",
            "-m",
            "pytest",
            "-q",
            "-x",
            "-n0",
            "-m",
            "not soak",
            *tests,
        ]
        command += [f"--ignore={one}" for one in TEXTUAL]
        environment = dict(
            os.environ, KEEPLORE_DATA=str(ROOT.parent / "shared" / "data")
        )
        try:
            done = subprocess.run(
                command,
                cwd=self._folder,
                env=environment,
                capture_output=True,
                timeout=LONGEST_S,
            )
        except subprocess.TimeoutExpired:
            return False
        return done.returncode in (0, 5)  # 5: no test was collected


def main() -> int:
    parser = argparse.ArgumentParser(description="Try mutants of a random sample.")
    parser.add_argument("--sample", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--within", default="")
    parser.add_argument("--near", action="store_true")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="keeplore-mutants-"))
    copies: Queue[Copy] = Queue()
    for number in range(options.jobs):
        copies.put(Copy(folder / str(number)))

    def tried(mutant: Mutant) -> bool:
        copy, began = copies.get(), time.monotonic()
        try:
            died = copy.dies(mutant, near=options.near)
        finally:
            copies.put(copy)
        verdict = "died " if died else "LIVED"
        print(f"{verdict} {time.monotonic() - began:5.0f} s  {mutant}", flush=True)
        return died

    try:
        chosen = list(sample(options.sample, options.seed, options.within))
        with ThreadPoolExecutor(options.jobs) as pool:
            results = list(pool.map(tried, chosen))
    finally:
        shutil.rmtree(folder)
    share = sum(results) / len(results)
    print(
        f"{sum(results)} of {len(results)} mutants died ({share:.0%}), seed {options.seed}"
    )
    return 0 if share >= WANTED else 1


if __name__ == "__main__":
    sys.exit(main())
