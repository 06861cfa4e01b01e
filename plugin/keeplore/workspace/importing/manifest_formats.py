"""The names of packages and tools in the manifests of a project: pure, from file name and text,
whatever stands there.

What the standard library or a dependency can parse is parsed; the rest is read by simple patterns,
line by line.
"""

from __future__ import annotations

import configparser
import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from keeplore_hooks.hosts.jsonl import mapping, sequence
from keeplore_hooks.hosts.jsonl import text as text_at

# what a project publishes itself, packages that it uses, servers and other systems, tools and
# languages
OWN, PACKAGES, SYSTEMS, TOOLS = "own", "packages", "systems", "tools"
Named = Iterator[tuple[str, str]]  # one of the above, and a name

# characters; a manifest that a person wrote has no longer ones, and patterns stay quick
MAX_LINE = 1000
MAX_DOTS = 200  # in a line of TOML
MAX_NESTED = 250  # elements of XML in each other
_NAME = re.compile(r"(?=.*[A-Za-z])[@A-Za-z0-9][\w@/.+#-]{1,99}\Z", re.ASCII)
_PEP508 = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:[\[;@(<>=!~]|\Z)")
_GO_REQUIRED = re.compile(r"\s*(?:require\s+)?([\w.-]+\.[\w-]+/\S+)\s+v\d")
_GO_VERSION = re.compile(r"/v\d+\Z|\.v\d+\Z")
_GEM = re.compile(r"\s*gem\s*\(?\s*[\"'](?P<name>[^\"']+)[\"']")
_GRADLE = re.compile(
    r"\s*\w*(?:[iI]mplementation|"
    r"[aA]pi|[oO]nly|[cC]lasspath)\s*\(?\s*(?:platform\()?[\"'][^:\"']+:(?P<name>[^:\"']+)"
)
_FROM = re.compile(r"\s*FROM\s+(?:--\S+\s+)*(\S+)(?:\s+AS\s+(\S+))?", re.IGNORECASE)
_IMAGE = re.compile(r"\s*(?:-\s+)?image:\s*[\"']?([^\s\"'#]+)")
# of an image's path the last part says little
_VAGUE = {
    "api",
    "app",
    "base",
    "client",
    "core",
    "image",
    "images",
    "latest",
    "main",
    "release",
    "runtime",
    "sdk",
}
_VAGUE |= {"server", "service", "web", "worker"}
_SPECIAL = {"python", "php"}  # among the dependencies stands the language itself


def names_in(file_name: str, text: str) -> set[tuple[str, str]]:
    """What a manifest says, by its file's name; nothing where it cannot be read as what it should
    be.
    """
    reader = next(
        (
            reader
            for pattern, reader in _READERS.items()
            if fnmatchcase(file_name, pattern)
        ),
        None,
    )
    if reader is None:
        return set()
    found: set[tuple[str, str]] = set()
    try:
        found.update(
            (kind, name)
            for kind, name in reader(text)
            if isinstance(name, str) and _NAME.match(name)
        )
    except (ValueError, RecursionError, configparser.Error, SyntaxError):
        return found
    return found


def is_manifest(file_name: str) -> bool:
    return any(fnmatchcase(file_name, pattern) for pattern in _READERS)


def _pyproject(text: str) -> Named:
    data = _toml(text)
    project, tool = mapping(data, "project"), mapping(data, "tool")
    poetry = mapping(tool, "poetry")
    yield OWN, text_at(project, "name") or text_at(poetry, "name")
    if "requires-python" in project:
        yield TOOLS, "python"
    for requirements in _requirement_lists(data, project, tool):
        yield from _requirements(requirements if isinstance(requirements, list) else [])
    for table in (poetry, *mapping(poetry, "group").values()):
        if isinstance(table, dict):
            yield from _keys(table, "dependencies", "dev-dependencies")
    yield from ((TOOLS, name) for name in tool)


def _requirement_lists(
    data: Mapping[str, Any], project: Mapping[str, Any], tool: Mapping[str, Any]
) -> Iterator[object]:
    """What should be a list of requirements, wherever the tools let people write one."""
    yield sequence(project, "dependencies")
    yield sequence(data, "build-system", "requires")
    yield from mapping(project, "optional-dependencies").values()
    yield from mapping(data, "dependency-groups").values()
    yield from mapping(tool, "pdm", "dev-dependencies").values()
    yield sequence(tool, "uv", "dev-dependencies")


def _requirements(items: Iterable[object]) -> Named:
    for item in items:
        match = (
            _PEP508.match(item.split(" #")[0].rstrip())
            if isinstance(item, str)
            else None
        )
        if match and not match[1].startswith("types-"):  # as below
            yield PACKAGES, match[1]


def _setup_cfg(text: str) -> Named:
    # a line without a value is no error: those are gathered into one message in quadratic time
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
    parser.read_string(text)
    yield OWN, parser.get("metadata", "name", fallback="") or ""
    lists = [parser.get("options", "install_requires", fallback="")]
    if parser.has_section("options.extras_require"):
        lists += [value for _, value in parser.items("options.extras_require")]
    for value in lists:
        yield from _requirements((value or "").splitlines())


def _package_json(text: str) -> Named:
    data = _json(text)
    yield OWN, text_at(data, "name")
    for key in (
        "dependencies",
        "devDependencies",
        "peerDependencies",
        "optionalDependencies",
    ):
        # the types of a package say no more than the package
        yield from (
            (PACKAGES, name)
            for name in mapping(data, key)
            if not name.startswith("@types/")
        )
    yield from ((TOOLS, name) for name in mapping(data, "engines"))
    yield TOOLS, text_at(data, "packageManager").split("@")[0]


def _composer(text: str) -> Named:
    data = _json(text)
    yield OWN, text_at(data, "name")
    yield from (
        (kind, name)
        for kind, name in _keys(data, "require", "require-dev")
        if not name.startswith("ext-")
    )


def _cargo(text: str) -> Named:
    data = _toml(text)
    yield OWN, text_at(data, "package", "name")
    targets = [
        value for value in mapping(data, "target").values() if isinstance(value, dict)
    ]
    for table in (data, mapping(data, "workspace"), *targets):
        for key in ("dependencies", "dev-dependencies", "build-dependencies"):
            for name, value in mapping(table, key).items():
                yield (
                    PACKAGES,
                    (text_at(value, "package") if isinstance(value, dict) else "")
                    or name,
                )


def _go_mod(text: str) -> Named:
    for line in _lines(text):
        if line.startswith("module "):
            yield OWN, _module_name(line.split()[-1])
        elif (match := _GO_REQUIRED.match(line)) and "// indirect" not in line:
            yield PACKAGES, _module_name(match[1])


def _module_name(path: str) -> str:
    """The name that people use for a module, the last part of its path; Go's own extensions keep
    the whole path, since its last part says too little.
    """
    short = _GO_VERSION.sub("", path)
    return short if short.startswith("golang.org/x/") else short.rsplit("/", 1)[-1]


def _gemfile(text: str) -> Named:
    return _packages_by_line(text, _GEM)


def _gradle(text: str) -> Named:
    return _packages_by_line(text, _GRADLE)


def _packages_by_line(text: str, pattern: re.Pattern[str]) -> Named:
    """The packages of a file that names one a line; ``pattern`` has a group ``name``."""
    for line in _lines(text):
        if match := pattern.match(line):
            yield PACKAGES, match["name"]


def _maven(text: str) -> Named:
    for parents, tag, value, _ in _elements(text):
        if tag == "artifactId":
            kind = {"project": OWN, "dependency": PACKAGES, "plugin": TOOLS}.get(
                parents[-1] if parents else ""
            )
            yield from [(kind, value)] if kind else []


def _msbuild(text: str) -> Named:
    for _, tag, _, attributes in _elements(text):
        if tag == "PackageReference":
            yield PACKAGES, attributes.get("Include", "")


def _dockerfile(text: str) -> Named:
    stages = {"scratch"}
    for line in _lines(text):
        if match := _FROM.match(line):
            if match[1].lower() not in stages:
                yield TOOLS, _image_name(match[1])
            stages.add((match[2] or "").lower())


def _compose(text: str) -> Named:
    # by a pattern, since such files are full of anchors, which the loader of YAML is told to refuse
    yield from (
        (SYSTEMS, _image_name(match[1]))
        for line in _lines(text)
        if (match := _IMAGE.match(line))
    )


def _image_name(reference: str) -> str:
    """``postgres`` for ``registry.example/library/postgres:16@sha256:…``; "" for what a variable
    says.
    """
    if "$" in reference:
        return ""
    parts = reference.split("@")[0].split("/")
    parts[-1] = parts[-1].split(":")[0]
    named = [part for part in parts if part.lower() not in _VAGUE]
    return named[-1] if named else ""


def _tool_versions(text: str) -> Named:
    yield from (
        (TOOLS, line.split()[0])
        for line in _lines(text)
        if line.strip() and line[0] not in "# \t"
    )


@dataclass(slots=True)
class _XmlElement:
    """``text`` is what it says before its first element."""

    around: list[str]
    tag: str
    attributes: Mapping[str, str]
    text: str = ""
    has_inside: bool = False


def _elements(text: str) -> Iterator[tuple[list[str], str, str, Mapping[str, str]]]:
    """Each element with the names of those around it, its own, its text and its attributes. Raises
    ValueError.
    """
    from xml.parsers import expat  # here, because few projects have XML

    found: list[_XmlElement] = []
    open_: list[_XmlElement] = []

    def start(tag: str, attributes: dict[str, str]) -> None:
        if len(open_) >= MAX_NESTED:
            raise ValueError("it nests too deeply")
        if open_:
            open_[-1].has_inside = True
        element = _XmlElement([one.tag for one in open_], _local(tag), attributes)
        found.append(element)
        open_.append(element)

    def add_text(words: str) -> None:
        if open_ and not open_[-1].has_inside:
            open_[-1].text += words

    # what the text declares is not asked: it is decoded
    parser = expat.ParserCreate("utf-8", "}")
    parser.StartElementHandler = start
    parser.EndElementHandler = lambda _tag: open_.pop()
    parser.CharacterDataHandler = add_text
    # what an entity stands for, a file or a billion words, is left out
    parser.DefaultHandler = lambda _text: None
    try:
        parser.Parse(text.encode(), True)  # noqa: FBT003  # it takes no name
    except expat.ExpatError as e:
        raise ValueError(str(e)) from e
    for one in found:
        yield one.around, one.tag, one.text.strip(), one.attributes


def _local(tag: str) -> str:
    return tag.rpartition("}")[2]


def _keys(data: Mapping[str, Any], *tables: str) -> Named:
    for table in tables:
        yield from (
            (TOOLS if name in _SPECIAL else PACKAGES, name)
            for name in mapping(data, table)
        )


def _toml(text: str) -> Mapping[str, Any]:
    """The keys of a TOML text. Raises ValueError for text that is not TOML, or that no person would
    write.
    """
    # a key of a hundred thousand parts takes the parser ten seconds
    if any(line.count(".") > MAX_DOTS for line in text.splitlines()):
        raise ValueError("this is no manifest of a person's")
    return tomllib.loads(text)


def _json(text: str) -> Mapping[str, Any]:
    """The object in a JSON text, an empty one for any other value. Raises ValueError where the text
    is not JSON.
    """
    data = json.loads(text)
    return data if isinstance(data, dict) else {}


def _lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if len(line) <= MAX_LINE]


_READERS: Mapping[str, Callable[[str], Named]] = {
    "pyproject.toml": _pyproject,
    "requirements*.txt": lambda text: _requirements(_lines(text)),
    "setup.cfg": _setup_cfg,
    "package.json": _package_json,
    "Cargo.toml": _cargo,
    "go.mod": _go_mod,
    "Gemfile": _gemfile,
    "composer.json": _composer,
    "pom.xml": _maven,
    "build.gradle": _gradle,
    "build.gradle.kts": _gradle,
    "*.csproj": _msbuild,
    "Dockerfile": _dockerfile,
    "Dockerfile.*": _dockerfile,
    "docker-compose*.y*ml": _compose,
    "compose*.y*ml": _compose,
    ".tool-versions": _tool_versions,
}
