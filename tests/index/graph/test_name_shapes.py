"""Every name that is told by its shape, in each kind of text, as it is written down.

To write it anew: WRITE_GOLDEN=1 pytest tests/index -k name_shapes, then read the difference.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from written_down import written_lines

from keeplore.index.graph.code_spans import BLOCK, INLINE, PROSE, SHELL, TextSpan
from keeplore.index.graph.name_shapes import (
    file_name,
    is_plain,
    is_shaped,
    shapes,
)

PIECES = (
    *("snake_case", "__init__", "_private_name", "camelCase", "CamelCase", "HTTPServer", "IDs"),
    *("URLs", "v2beta", "OKs", "getURL()", "name()", "run_it()", "Redis", "redis", "api", "kafka"),
    *("x86", "E501", "SHA256", "UTF16", "HTTP404", "ABCDE1", "AB123", "a12", "v12", "q1w2e3", "ab"),
    *("deadbeef12", "deadbee", "1f0c9a2e-aa", "3f0c9a2e-1f0c-4aaa", "TODO", "JSON", "parse"),
    *("pytest-xdist", "write-ahead", "CamelCase-based", "a-b", "PROJ-12", "RFC-7231", "UTF-8"),
    *("CVE-2024-1234", "CVE-2024-12345678", "AB-1234567", "ann/kasha#12", "kasha#1234567"),
    *("kasha#12345678", "#12", "fixes #12", "Fixed: #12.", "the pr #7", "see #7", "and #7", "(#7)"),
    *("done (#7)", "issue {#7}", "$name_here", "<some_name>", "%some_name", "\\some_name"),
    *("some_name*", "**some_name**", "*some_name*", "{some_name}", "some_name}"),
    *("https://forge.example/ann/kasha/pull/12", "https://forge.example/ann/kasha/issues/3#x"),
    *("https://gitlab.example/a/b/kasha/-/merge_requests/4", "https://example.org/some_page"),
    *("example.org/some_page", "docs.python.org", "app.py", "src/app.py", "./src/app.py", "a.c"),
    *("lib/a.c", "queue.h", "Makefile", "makefile", "src/Dockerfile", "dockerfile", "Jenkinsfile"),
    *("README.MD", "app.Py", "notes.md", ".py", ".gitignore", ".eslintrc", ".env", ".envx", ".rc"),
    *("...py", "-.py", "Node.js", "Next.js", "node.js", "jquery.min.js", "config.yaml", "index.ts"),
    *("web/config.yaml", "a/b/index.ts", "~/.ssh/config", "C:\\x\\app.py", "@app.py", "src/"),
    *("src/keeplore/text", "/etc/nginx/sites", "/etc/nginx", "~/code/kasha", "kasha/jobs", "and/or"),
    *("tests/unit", "user/repo", "a/b", "12/34", "foo/bar", "@scope/kit", "@Scope/kit", "@ann"),
    *("ann@example.org", "PostgreSQL/MySQL", "PostgreSQL/MySQL/Redis", "fastApi@2", "some_name#x"),
    *("json.loads", "os.path.join", "self.store_all", "this.fetchAll", "db.run_query", "a.b", "x.y.z"),
    *("Store.put()", "store.open_all", "ab.cd", "App.Main", "__main__.run", "one.two.three.four"),
    *("1f0c9a2e-1f0c-4aaa-8000-000000000001.json", "20260131.log", "a-20260131-b.md", "2026.md"),
    *("my_REDACTED_name", "ABC", "ABC_DEF", "Ab", "a_b", "_x", "x__y", "t_o", "+some_name+", "-name-"),
    *("some_name.", "~some_name~", "some_name-", "some-Name.", "camelCase,", "look at camelCase"),
    *("class KeepIt:", "def run_it(self):", "pass\nclass KeepIt: pass", "class runItÄpfel:", "func (s *Store) putAll() {", "    fn sumUp()", "def run"),
    *("export default function loadAll() {", "+ async def load_all():", "type rowKind = x", "klass"),
    *("grep some_name src/app.py | sort", "x = fetch_all(load)", "PyTorch", "pyTorchX", "iOS", "eBay"),
    *("some_name" * 40, "Vue", "go", "C", "R2", "h2", "D3", "s3cr", "self", "None", "py", "toml", "TOML"),
)  # fmt: skip
WORDS = (
    *("a", "12", "the", "running", "deploys", "schemas", "kafka", "Docs", "keeplore", "zzyzx"),
    *("snake_case", "Snake_Case", "a__b", "_a", "_a_b_", "camelCase", "ABCs", "ABc", "a1B", "v2X"),
)  # fmt: skip
PATHS = (
    *("", "/", "~", "../..", "app.py", "src/app.py", "./src/index.ts", "a\\b\\main.go", "jobs/queue.py"),
    *("x/Makefile", "x/README.md", "x/setup", "~/conftest.py", "README.md"),
)  # fmt: skip


@pytest.mark.parametrize("project", ["", "kasha"])
def test_the_names_in_each_kind_of_text(project: str) -> None:
    seen = [*_names(project)] if project else [*_names(""), *_words()]
    assert seen == written_lines(f"graph/shapes{project and '-of'}.txt", seen)


def _names(project: str) -> Iterator[str]:
    for piece in PIECES:
        if "#" in piece or not project:
            kinds = (PROSE, INLINE, BLOCK, SHELL)
            told = (f"{kind}: {_told(kind, piece, project)}" for kind in kinds)
            yield " | ".join((f"{piece[:60]!r}", *told))


def _told(kind: str, piece: str, project: str) -> str:
    return "; ".join(
        f"{one.name} as {one.spelling}, {one.type or 'unsure'}{', word' * one.is_word}"
        for one in shapes(TextSpan(kind, piece), project)
    )


def _words() -> Iterator[str]:
    for word in WORDS:
        yield f"word {word}: plain {is_plain(word)}, shaped {is_shaped(word)}"
    yield from (f"path {path!r}: {file_name(path)!r}" for path in PATHS)
