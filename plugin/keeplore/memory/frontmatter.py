"""Text of a memory file ↔ Memory: lossless for every field, stable, and safe on text from
strangers.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping
from typing import Any

import yaml

from keeplore.errors import Corrupt
from keeplore.memory.model import Memory, in_order
from keeplore.memory.validation import problems_of

MAX_FILE = 32 * 1024 * 1024  # bytes; a conversation is far below
MAX_FRONT_MATTER = 64 * 1024  # characters; larger mappings take the loader minutes
# the C loader overflows its stack at some ten thousand nested lists, whatever their notation
MAX_DEPTH = 20
_FENCE = re.compile(
    r"\A---[ \t]*\r?\n(.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE
)
# the three lines that a failed merge leaves, in their order
# git makes the marks longer where a conflict holds another one or the file was renamed
_CONFLICT = re.compile(r"^<{7,}(?=\s|\Z)", re.MULTILINE)
# what anchors, aliases and deep nesting need; a sound front matter seldom has it, and looking
# closer costs time
_SUSPICIOUS = re.compile(r"[&*]|(?:[-?:][ \t]+){10}|(?:[\[{][^\[{]*){20}")
_REMEDY = "Mend the lines between the two --- and run `keeplore doctor`"
_PLAIN_TAGS = {
    "tag:yaml.org,2002:null": (re.compile(r"^(?:~|null|)\Z"), ["~", "n", ""]),
    "tag:yaml.org,2002:bool": (re.compile(r"^(?:true|false)\Z"), ["t", "f"]),
    "tag:yaml.org,2002:int": (
        re.compile(r"^-?(?:0|[1-9][0-9]{0,17})\Z"),
        list("-0123456789"),
    ),
    "tag:yaml.org,2002:float": (
        re.compile(r"^-?[0-9]+\.[0-9]+(?:e[-+][0-9]+)?\Z"),
        list("-0123456789"),
    ),
}


Resolvers = dict[str, list[tuple[str, re.Pattern[str]]]]


class _Loader(yaml.CSafeLoader):
    """YAML without its surprises: dates, ``no`` and ``12:30`` stay text; aliases and duplicate keys
    are refused.
    """

    yaml_implicit_resolvers: Resolvers = {}  # noqa: RUF012  # as the base class has it

    def construct_mapping(
        self,
        node: yaml.MappingNode,
        deep: bool = False,  # noqa: FBT001, FBT002  # the base class says so
    ) -> dict[Hashable, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise yaml.MarkedYAMLError(
                    problem="a key must be plain text", problem_mark=key.start_mark
                )
            if key.value in seen:
                raise yaml.MarkedYAMLError(
                    problem=f"the key {key.value!r} stands twice",
                    problem_mark=key.start_mark,
                )
            seen.add(key.value)
        return super().construct_mapping(node, deep)


class _Dumper(yaml.CSafeDumper):
    yaml_implicit_resolvers: Resolvers = {}  # noqa: RUF012  # as the base class has it

    def ignore_aliases(self, _data: Any) -> bool:
        return True


for _tag, (_pattern, _first) in _PLAIN_TAGS.items():
    _Loader.add_implicit_resolver(_tag, _pattern, _first)
    _Dumper.add_implicit_resolver(_tag, _pattern, _first)
_Dumper.add_representer(tuple, yaml.CSafeDumper.represent_list)


def parse(text: str) -> Memory:
    """Read a memory file's text; what is missing or wrong in the fields is listed in ``problems``.

    Raises Corrupt where there is no front matter that can be read; the text is then left as it is.
    """
    text = text.removeprefix("\ufeff")
    match = _FENCE.match(text)
    if match is None:
        raise Corrupt(
            "no front matter between two lines of ---",
            "Add one, or move the file out of the memory folders",
        )
    meta = _load(match[1])
    body = text[match.end() :].removeprefix("\n")
    return Memory(meta, body, (*problems_of(meta), *conflict(body)))


def serialise(memory: Memory) -> str:
    """The text of the file; parsing it gives an equal memory, and serialising that gives the same
    text.

    Raises Corrupt where the front matter could not be read again, so that no such file is ever
    written.
    """
    front = dump(in_order(memory.meta))
    _check(front)
    return f"---\n{front}---\n\n{memory.body}"


def load_mapping(text: str) -> dict[str, Any]:
    """The keys and values of a YAML file, read as carefully as a front matter. Raises Corrupt."""
    try:
        return _load(text)
    except Corrupt as e:
        # what is said of a front matter counts lines from the fence above it
        line = max(e.line - 1, 1)
        said = e.message.replace("the front matter", "the file").replace(
            f"in line {e.line}", f"in line {line}"
        )
        raise Corrupt(said, "Mend it, or take it out of the folder", line) from e


def dump(meta: Mapping[str, Any]) -> str:
    """The YAML of keys and values, in the order that they have."""
    return yaml.dump(
        dict(meta),
        Dumper=_Dumper,
        sort_keys=False,
        allow_unicode=True,
        width=2**31 - 1,
        default_flow_style=False,
    )


def _load(front: str) -> dict[str, Any]:
    _check(front)
    try:
        # _Loader derives from the safe C loader
        meta = yaml.load(front, Loader=_Loader)  # noqa: S506
    except (yaml.YAMLError, ValueError, RecursionError) as e:
        raise _no_yaml(e, front) from e
    if not isinstance(meta, dict):
        raise Corrupt("the front matter is no mapping of keys to values", _REMEDY)
    if not all(isinstance(key, str) for key in meta):
        raise Corrupt("a key of the front matter is no text", _REMEDY)
    if not _is_plain(meta):
        raise Corrupt(
            "the front matter holds what is no text, number, list or mapping, or nests too deeply",
            _REMEDY,
        )
    return meta


def _check(front: str) -> None:
    """Refuse what the loader cannot read safely, before it reads it."""
    if len(front) > MAX_FRONT_MATTER:
        raise Corrupt(
            f"the front matter is larger than {MAX_FRONT_MATTER // 1024} KB", _REMEDY
        )
    if line := conflict_line(front):
        raise Corrupt(
            "conflict markers stand in the front matter",
            "Keep one side and delete the markers",
            line + 1,
        )
    if _SUSPICIOUS.search(front):
        try:
            _check_structure(front)
        except (yaml.YAMLError, ValueError) as e:
            raise _no_yaml(e, front) from e


def _check_structure(front: str) -> None:
    """Raise Corrupt for aliases and for deep nesting."""
    depth = 0
    for event in yaml.parse(front, Loader=yaml.CSafeLoader):
        # an alias costs nothing to load and explodes when the result is walked or written
        if getattr(event, "anchor", None):
            line = event.start_mark.line + 2 if event.start_mark else 1
            raise Corrupt(
                "anchors and aliases are not allowed in the front matter", _REMEDY, line
            )
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH:
            raise Corrupt("the front matter nests too deeply", _REMEDY)


def _no_yaml(error: Exception, front: str) -> Corrupt:
    """The error for what the loader refused, with its line in the file."""
    problem, line = " ".join(str(error).split()), 1
    # the counts begin at 0, and the fence is a line too
    if isinstance(error, yaml.MarkedYAMLError) and error.problem and error.problem_mark:
        line = error.problem_mark.line + 2
        problem = f"{error.problem} in line {line}"
    elif isinstance(error, yaml.reader.ReaderError):
        line = front.encode("utf-8", "replace").count(b"\n", 0, error.position) + 2
        problem = f"a control character stands in line {line}"
    return Corrupt(f"the front matter is no YAML: {problem}", _REMEDY, line)


def conflict(body: str) -> tuple[str, ...]:
    """The problem of a text in which the marks of a failed merge stand, none for others."""
    said = "conflict markers stand in the text; keep one side and delete the markers"
    return (said,) if conflict_line(body) else ()


def conflict_line(text: str) -> int:
    """The line, from 1, on which the marks of a failed merge begin; 0 where there are none."""
    for start in _CONFLICT.finditer(text):
        length, position = len(start[0]), start.end()
        for sign in "=>":
            mark = re.compile(rf"^{sign}{{{length}}}(?:\s|\Z)", re.MULTILINE)
            found = mark.search(text, position)
            if found is None:
                break
            position = found.end()
        else:
            return text.count("\n", 0, start.start()) + 1
    return 0


def _is_plain(value: Any, depth: int = 0) -> bool:
    """Whether JSON and a later version can hold a value, as they cannot what tags such as
    ``!!timestamp`` make.
    """
    if isinstance(value, dict | list):
        items = value.values() if isinstance(value, dict) else value
        return depth < MAX_DEPTH and all(_is_plain(item, depth + 1) for item in items)
    return value is None or isinstance(value, str | int | float)
