"""Mutation tests over a random sample: does a check fail where the program is changed by a little?

    make mutants [SAMPLE=40] [SEED=1] [JOBS=2] [WITHIN=plugin/keeplore/recall] [NEAR=1]

Each mutant is one change of one place: an operator, a number, a condition, an argument, a result.
The words of messages are left alone, and so is what no test can tell apart (annotations, type
variables, what type checkers alone read, docstrings, what a module offers to ``import *``, a flag
that is None in place of False).
A mutant stands in a copy of the tree: first its types are checked, then the tests run that import
its module or are named after it, then those of a few modules that use it and of its package, then
all (left out with NEAR). It died where its types are wrong, where a test fails that also fails
alone, or with those of its file, and passes without the mutant, or where no test can be read with
it; one that hangs fails at its limit of time. Any other test that fails says nothing, and is left
out from then on. Printed is what became of each, with the check that failed, and the share that
died. The exit status is 1 where less than ``WANTED`` died.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from queue import Queue

import libcst as cst
from libcst.metadata import MetadataWrapper
from mutmut.file_mutation import Mutation, MutationVisitor
from mutmut.node_mutation import mutation_operators, operator_string

ROOT = Path(__file__).resolve().parents[2]
PRODUCT = ("hooks", "plugin")
WANTED = 0.95
TEST_S = 120  # how long one test may take
NEAR_S = 600.0  # and all that are near a module
EVERY_S = 3600.0  # and all that there are
FEW = 4  # modules that use one which is tested through them
# whatever a mutant does, these tell at once: they look at the text of the tree, not at what it does
TEXTUAL = ("tests/repository", "tests/demo")
IGNORED = tuple(f"--ignore={one}" for one in TEXTUAL)
OPTIONS = ("-q", "-x", "-n0", f"--timeout={TEST_S}", "-m", "not soak", *IGNORED)
DATA = str(ROOT.parent / "shared" / "data")
_TYPE = cst.Name("TypeVar")  # read by type checkers alone


class _Visitor(MutationVisitor):
    """Mutates decorated functions too: a mutant is written to its file, so nothing is copied."""

    def _skip_node_and_children(self, node: cst.CSTNode) -> bool:
        value = node.value if isinstance(node, cst.Assign) else node
        is_type = isinstance(value, cst.Call) and value.func.deep_equals(_TYPE)
        return is_type or isinstance(
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
    """What Python makes of a text, without what no test can tell apart; None for no Python."""
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
            body[:] = [one for one in body if not _is_text(one) and not _is_offer(one)]
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.keyword) and _is_false(
            node.value
        ):
            node.value = ast.Constant(None)
        if isinstance(node, ast.If) and _is_for_checkers(node.test):
            node.body = [ast.Pass()]
    return ast.dump(tree)


def _is_text(statement: ast.AST) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _is_offer(statement: ast.AST) -> bool:
    return isinstance(statement, ast.Assign) and any(
        isinstance(target, ast.Name) and target.id == "__all__"
        for target in statement.targets
    )


def _is_for_checkers(test: ast.expr) -> bool:
    return isinstance(test, ast.Name) and test.id == "TYPE_CHECKING"


def _is_false(value: ast.AST | None) -> bool:
    return isinstance(value, ast.Constant) and value.value is False


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


def nearest(root: Path, path: str) -> list[list[str]]:
    """Files and folders of tests, in the order in which they are asked about a module: those about
    it, about the few modules that use it, of its package, and all.
    """
    top = _dotted(path).split(".")[1]
    room = root / "tests" / ("hooks" if path.startswith("hooks/") else top)
    about = _about(root, path)
    users = _users(root, path)
    few = users if len(users) <= FEW else []
    through = {test for user in few for test in _about(root, user)}
    stages = [
        about,
        sorted(through.difference(about)),
        [str(room.relative_to(root))] if room.is_dir() else [],
        ["tests"],
    ]
    return [stage for stage in stages if stage]


def _dotted(path: str) -> str:
    module = path.split("/", 1)[1].removesuffix(".py").removesuffix("/__init__")
    return module.replace("/", ".")


def _about(root: Path, path: str) -> list[str]:
    """The tests that import a module or are named after it."""
    stem = _dotted(path).rpartition(".")[2].strip("_")
    spellings = _spellings(path)
    tests = {
        str(test.relative_to(root)): test
        for test in sorted((root / "tests").rglob("test_*.py"))
    }
    return [
        name
        for name, test in tests.items()
        if not name.startswith(TEXTUAL)
        and (stem in test.stem or _holds(test, spellings))
    ]


def _users(root: Path, path: str) -> list[str]:
    """The modules that import a module."""
    spellings = _spellings(path)
    modules = (one for top in PRODUCT for one in sorted((root / top).rglob("*.py")))
    return [
        str(one.relative_to(root))
        for one in modules
        if one != root / path and _holds(one, spellings)
    ]


def _spellings(path: str) -> tuple[str, ...]:
    """How an import of a module begins."""
    dotted = _dotted(path)
    package, _, stem = dotted.rpartition(".")
    return (
        f"from {dotted} import",
        f"import {dotted}",
        f'"{dotted}',
        f"from {package} import {stem}\n",
    )


def _holds(test: Path, spellings: tuple[str, ...]) -> bool:
    text = test.read_text(encoding="utf-8")
    return any(spelling in text for spelling in spellings)


class Fate(StrEnum):
    """What became of a mutant: a test failed, none noticed, or nobody knows."""

    DIED = "died"
    LIVED = "LIVED"
    UNSURE = "UNSURE"


@dataclass(frozen=True)
class Judgement:
    fate: Fate
    failed: str = ""


@dataclass(frozen=True)
class TestRun:
    """``code`` is pytest's exit status, None where it was ended at its limit of time."""

    __test__ = False
    code: int | None
    said: str = ""

    @property
    def is_green(self) -> bool:
        return self.code in (0, 5)  # 5: no test was collected

    @property
    def failed(self) -> str:
        """The first test that failed, or the file that could not be read, and why."""
        found = re.search(r"^(?:FAILED|ERROR) \S+\.py.*", self.said, re.MULTILINE)
        return found[0][:200] if found else ""

    @property
    def failed_test(self) -> str:
        """What pytest calls that test or file."""
        found = re.search(
            r"^\w+ (\S+?\.py(?:::\w+)*(?:\[.*?\](?= - |$))?)", self.failed
        )
        return found[1] if found else ""


class Copy:
    """A copy of the tree with an environment of its own, in which mutants are tried one by one."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        # PYTHONPATH leads to what makes mutants, which no test may find
        self._environment = {"KEEPLORE_DATA": DATA, **os.environ}
        self._environment.pop("PYTHONPATH", None)
        self._silent: set[str] = set()  # tests that say nothing of a mutant
        self._written = 1_600_000_000  # seconds, as times of files are
        subprocess.run(["git", "clone", "-q", str(ROOT), str(folder)], check=True)
        venv.create(folder / ".venv", symlinks=True)
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        site = folder / ".venv" / "lib" / version / "site-packages"
        # of an environment that reads another one's packages too, as that of a worktree may
        installed = [one for one in sys.path if Path(one).name == site.name]
        lines = [str(folder / top) for top in PRODUCT] + installed
        (site / "a.pth").write_text("\n".join(lines) + "\n")
        for beside in (ROOT / ".venv").glob("mcp-*"):
            (folder / ".venv" / beside.name).symlink_to(beside)
        if fault := self.type_error():
            raise SystemExit(f"the types are wrong without a mutant: {fault}")

    def judged(self, mutant: Mutant, *, near: bool) -> Judgement:
        """What the checks say. ``near`` leaves the tests of other packages out."""
        with self._changed(mutant):
            if fault := self.type_error():
                return Judgement(Fate.DIED, fault)
        *stages, every = nearest(self._folder, mutant.path)
        timed = [(tests, NEAR_S) for tests in stages]
        if not (near and stages):
            timed.append((every, EVERY_S))
        for tests, limit_s in timed:
            judgement = self._judged_by(tests, mutant, limit_s)
            if judgement.fate is not Fate.LIVED:
                return judgement
        return Judgement(Fate.LIVED)

    def _judged_by(self, tests: list[str], mutant: Mutant, limit_s: float) -> Judgement:
        while True:
            without = [f"--deselect={test}" for test in sorted(self._silent)]
            with self._changed(mutant):
                run = self.tested([*tests, *without], limit_s)
                if run.is_green:
                    return Judgement(Fate.LIVED)
                test = run.failed_test
                again = next(
                    (few for few in _alone(test, tests) if self._fails(few, limit_s)),
                    [],
                )
            if again and not self._fails(again, limit_s):
                return Judgement(Fate.DIED, run.failed or "no test can be read")
            if not test or test in self._silent:
                return Judgement(Fate.UNSURE, run.said[-2000:])
            self._silent.add(test)
            print(f"left out: {test}", flush=True)

    def _fails(self, tests: list[str], limit_s: float) -> bool:
        return not self.tested(tests, limit_s).is_green

    @contextmanager
    def _changed(self, mutant: Mutant) -> Iterator[None]:
        target = self._folder / mutant.path
        original = target.read_bytes()
        self._write(target, mutant.text.encode())
        try:
            yield
        finally:
            self._write(target, original)

    def _write(self, target: Path, data: bytes) -> None:
        """Each state of a file gets a time of its own: Python takes a compiled module for current
        whose source has the time and size that it had.
        """
        target.write_bytes(data)
        self._written += 1
        os.utime(target, (self._written, self._written))

    def type_error(self) -> str:
        """What is first found wrong with the types of the copy as it is now, "" for nothing."""
        command = (".venv/bin/python", "-m", "mypy", "--no-error-summary")
        done = subprocess.run(
            command,
            cwd=self._folder,
            env=self._environment,
            check=False,
            capture_output=True,
            text=True,
        )
        said = done.stdout or done.stderr
        return said.partition("\n")[0] if done.returncode else ""

    def tested(self, tests: list[str], limit_s: float) -> TestRun:
        """Run tests as the copy is now; all that they started in their group ends with them."""
        process = subprocess.Popen(
            (".venv/bin/python", "-m", "pytest", *OPTIONS, *tests),
            cwd=self._folder,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            said, _ = process.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            return TestRun(None)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        return TestRun(process.returncode, said)


def _alone(test: str, tests: list[str]) -> list[list[str]]:
    """What is asked again of what failed: a test, then all of its file; without a name, whether the
    tests can be read.
    """
    if not test:
        return [["--collect-only", *tests]]
    return [[test], [test.partition("::")[0]]]


def main() -> int:
    parser = argparse.ArgumentParser(description="Try mutants of a random sample.")
    parser.add_argument("--sample", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--within", default="")
    parser.add_argument("--near", action="store_true")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="keeplore-mutants-"))
    try:
        copies: Queue[Copy] = Queue()
        for number in range(options.jobs):
            copies.put(Copy(folder / str(number)))
        chosen = list(sample(options.sample, options.seed, options.within))
        fates = tried(chosen, copies, options)
    finally:
        shutil.rmtree(folder)
    died = fates.count(Fate.DIED)
    counts = ", ".join(f"{fates.count(fate)} {fate}" for fate in Fate)
    print(
        f"{died / len(fates):.0%} of {len(fates)} mutants died ({counts}), seed {options.seed}"
    )
    return 0 if died / len(fates) >= WANTED else 1


def tried(
    chosen: list[Mutant], copies: Queue[Copy], options: argparse.Namespace
) -> list[Fate]:
    """What became of each mutant; each is told as soon as it is known."""

    def fate_of(mutant: Mutant) -> Fate:
        copy, began = copies.get(), time.monotonic()
        try:
            judgement = copy.judged(mutant, near=options.near)
        finally:
            copies.put(copy)
        took = time.monotonic() - began
        print(
            f"{judgement.fate:7} {took:5.0f} s  {mutant}\n    {judgement.failed}",
            flush=True,
        )
        return judgement.fate

    with ThreadPoolExecutor(options.jobs) as pool:
        return list(pool.map(fate_of, chosen))


if __name__ == "__main__":
    sys.exit(main())
