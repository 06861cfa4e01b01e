"""How densely code is packed: what a reader has to hold in mind at once, counted over the tree.

    python tests/repository/density.py [FOLDER…]

prints the figures of the folders, and each place that is over a limit. A node is an AST node other
than contexts, operators, annotations and decorators.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

NODES_A_FUNCTION = 200
NODES_A_FUNCTION_P90 = 90  # lower it with the code, never raise it
NODES_A_LINE = 5.0  # of a function, the median
COLUMNS = 100
MODULE_LINES = 500
FUNCTION_LINES = 60
PARAMETERS = 8  # self and cls left out
ATTRIBUTES = (
    12  # that methods assign on self, or fields of a dataclass that is not frozen
)
MODULES_A_FOLDER = 20
BUSY = 3  # of `for` and `if` on a line

_LEFT_OUT = (ast.expr_context, ast.operator, ast.cmpop, ast.boolop, ast.unaryop)
_ANNOTATIONS = ("annotation", "returns", "decorator_list", "type_comment")
_FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef
_COMPREHENSION = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
SHARED_NAMES = ("__init__", "__main__", "base", "errors", "model")


@dataclass(frozen=True)
class Module:
    """One file: its name in messages, its text and its tree."""

    name: str
    text: str
    tree: ast.Module

    @cached_property
    def nodes(self) -> list[ast.AST]:
        return [*ast.walk(self.tree)]

    @cached_property
    def functions(self) -> dict[_FUNCTION, int]:
        """Each function, and how many nodes it has."""
        found = (node for node in self.nodes if isinstance(node, _FUNCTION))
        return {function: nodes(function) for function in found}


def nodes(root: ast.AST) -> int:
    """How many nodes there are below and with ``root``."""
    return sum(1 for _ in _walk(root))


def _walk(root: ast.AST) -> Iterator[ast.AST]:
    left = [root]
    while left:
        node = left.pop()
        if isinstance(node, _LEFT_OUT):
            continue
        yield node
        for field in node._fields:
            if field not in _ANNOTATIONS:
                value = getattr(node, field, None)
                values = value if isinstance(value, list) else [value]
                left += [one for one in values if isinstance(one, ast.AST)]


def lines_of(node: _FUNCTION) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def problems(module: Module) -> Iterator[str]:
    """Each place of a module that is over a limit."""
    rows = module.text.splitlines()
    if len(rows) > MODULE_LINES:
        yield f"{module.name}: {len(rows)} lines, {MODULE_LINES} at most"
    for number, row in enumerate(rows, 1):
        if len(row) > COLUMNS:
            yield f"{module.name}:{number} has {len(row)} columns, {COLUMNS} at most"
    yield from _busy_lines(module)
    for function, size in module.functions.items():
        place = f"{module.name}:{function.lineno} {function.name}"
        yield from _heavy(function, size, place)
    for node in _crowded(module):
        place = f"{module.name}:{node.lineno}"
        yield f"{place} a comprehension with several for or if has company"
    for node in module.nodes:
        if (
            isinstance(node, ast.ClassDef)
            and (held := len(attributes(node))) > ATTRIBUTES
        ):
            place = f"{module.name}:{node.lineno} {node.name}"
            yield f"{place} has {held} attributes, {ATTRIBUTES} at most"


def _heavy(function: _FUNCTION, size: int, place: str) -> Iterator[str]:
    if size > NODES_A_FUNCTION:
        yield f"{place} has {size} nodes, {NODES_A_FUNCTION} at most"
    if (length := lines_of(function)) > FUNCTION_LINES:
        yield f"{place} has {length} lines, {FUNCTION_LINES} at most"
    if (count := _parameters(function)) > PARAMETERS:
        yield f"{place} takes {count} parameters, {PARAMETERS} at most"


def _busy_lines(module: Module) -> Iterator[str]:
    for number, row in enumerate(module.text.splitlines(), 1):
        if row.count(" for ") + row.count(" if ") >= BUSY:
            yield f"{module.name}:{number} has {BUSY} or more for and if on one line"


def _parameters(function: _FUNCTION) -> int:
    arguments = function.args
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return sum(one.arg not in ("self", "cls") for one in named)


def _crowded(module: Module) -> Iterator[ast.stmt]:
    """Where a comprehension with more than one ``for`` or ``if`` shares the statement with another
    comprehension or conditional expression.
    """
    lines = [node.lineno for node in module.nodes if _has_clauses(node)]
    for node in module.nodes:
        if not isinstance(node, ast.stmt):
            continue
        last = node.end_lineno or node.lineno
        if any(node.lineno <= line <= last for line in lines) and _is_crowded(node):
            yield node


def _is_crowded(statement: ast.stmt) -> bool:
    found = [
        node for node in _own(statement) if isinstance(node, _COMPREHENSION | ast.IfExp)
    ]
    return len(found) > 1 and any(map(_has_clauses, found))


def _has_clauses(node: ast.AST) -> bool:
    if not isinstance(node, _COMPREHENSION):
        return False
    return sum(1 + len(one.ifs) for one in node.generators) > 1


def _own(statement: ast.stmt) -> Iterator[ast.AST]:
    """The expressions of a statement, those of the statements inside it left out."""
    left = [
        child
        for child in ast.iter_child_nodes(statement)
        if not isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case)
    ]
    while left:
        node = left.pop()
        yield node
        left += [
            child
            for child in ast.iter_child_nodes(node)
            if not isinstance(child, ast.stmt)
        ]


def attributes(node: ast.ClassDef) -> set[str]:
    """What methods assign on ``self``; of a dataclass that is not frozen also its fields: a frozen
    one is a record, whose fields are no state to keep in mind.
    """
    found = {
        target.attr
        for target in ast.walk(node)
        if isinstance(target, ast.Attribute) and isinstance(target.ctx, ast.Store)
        if isinstance(target.value, ast.Name) and target.value.id == "self"
    }
    decorators = [ast.unparse(one) for one in node.decorator_list]
    if any("dataclass" in one and "frozen=True" not in one for one in decorators):
        found |= {
            field.target.id
            for field in node.body
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        }
    return found


def twice(modules: Iterable[Module]) -> Iterator[str]:
    """Class and module names that stand in several places, and folders that hold too much."""
    classes, stems, folders = Counter[str](), Counter[str](), Counter[str]()
    for module in modules:
        classes.update({n.name for n in module.nodes if isinstance(n, ast.ClassDef)})
        folder, _, file = module.name.rpartition("/")
        stems[file.removesuffix(".py")] += 1
        folders[folder] += 1
    for name, count in sorted(classes.items()):
        if count > 1:
            yield f"the class name {name} stands in {count} modules"
    for name, count in sorted(stems.items()):
        if count > 1 and name not in SHARED_NAMES:
            yield f"the module name {name} stands {count} times"
    for name, count in sorted(folders.items()):
        if count > MODULES_A_FOLDER:
            yield f"{name} holds {count} modules, {MODULES_A_FOLDER} at most"


@dataclass(frozen=True)
class Figures:
    nodes: int
    function_p90: int
    line_median: float


def figures(modules: Iterable[Module]) -> Figures:
    modules = list(modules)
    found = [
        (size, lines_of(function))
        for module in modules
        for function, size in module.functions.items()
    ]
    sizes = sorted(size for size, _ in found)
    density = sorted(size / length for size, length in found)
    whole = sum(nodes(module.tree) for module in modules)
    return Figures(whole, sizes[int(0.9 * len(sizes))], density[len(density) // 2])


def main(folders: list[str]) -> int:
    paths = sorted(path for folder in folders for path in Path(folder).rglob("*.py"))
    texts = [(path, path.read_text(encoding="utf-8")) for path in paths]
    modules = [Module(str(path), text, ast.parse(text)) for path, text in texts]
    for module in modules:
        for problem in problems(module):
            print(problem)
    for problem in twice(modules):
        print(problem)
    print(figures(modules))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or ["hooks", "plugin"]))
