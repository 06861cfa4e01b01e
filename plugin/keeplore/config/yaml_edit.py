"""Changing one key of a YAML file and nothing else in it: the comments and the order are the
person's.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Mapping
from typing import Any

import yaml
from yaml.nodes import CollectionNode, MappingNode, Node, ScalarNode

_BARE = re.compile(r"[A-Za-z0-9./~][A-Za-z0-9._/~:@+-]*")
_COMMENT = re.compile(r"([^\S\n]+)#")


def with_key(text: str, key: str, value: Any) -> str:
    """The text with ``section.key``, or a key of the top, set to a value.

    Raises ValueError where its form is unusual, and whatever YAML raises.
    """
    wanted = _data(text)
    section, _, name = key.rpartition(".")
    if section:
        wanted[section] = {**(wanted.get(section) or {}), name: value}
    else:
        wanted[name] = value
    return _checked_text(_set(text, section, name, as_yaml(value)), wanted)


def without_key(text: str, key: str) -> str:
    """The text without a key, and without its section where nothing else is in it; raises as
    ``with_key`` does.
    """
    wanted = _data(text)
    section, _, name = key.rpartition(".")
    inside = wanted.get(section) or {} if section else wanted
    if name not in inside:
        return text
    del inside[name]
    if section and not inside:
        del wanted[section]
        section, name = "", section
    return _checked_text(_without_key(text, section, name), wanted)


def line_of(text: str, said: str) -> int:
    """The line, from 1, of the key with which a message begins; of its section where it is not
    there, 0 where that is not either. The text is YAML.
    """
    node, line = yaml.compose(text, Loader=yaml.CSafeLoader), 0
    while isinstance(node, MappingNode):
        names = (
            (key, value) for key, value in node.value if _begins_with_key(said, key)
        )
        key, node = max(
            names, key=lambda pair: len(pair[0].value), default=(None, None)
        )
        if key is not None:
            said, line = said[len(key.value) + 1 :], key.start_mark.line + 1
    return line


def _begins_with_key(said: str, key: Node) -> bool:
    """Whether a message begins with this key as a whole."""
    name = key.value if isinstance(key, ScalarNode) else ""
    return bool(name) and said.startswith((f"{name}.", f"{name}:", f"{name},"))


def _data(text: str) -> dict[str, Any]:
    data: dict[str, Any] = copy.deepcopy(yaml.safe_load(text) or {})
    return data


def _checked_text(text: str, wanted: Mapping[str, Any]) -> str:
    """The text, where it says what is wanted; aliases and the like make it say something else."""
    if (yaml.safe_load(text) or {}) != wanted:
        raise ValueError("it would say something else")
    return text


def _set(text: str, section: str, name: str, value: str) -> str:
    """The text with a key of a section ("" for none) set, whichever of both is there already."""
    top = _root_mapping(text)
    if not section:
        if found := _entry(top, name):
            return _with_value_replaced(text, *found, value)
        return _with_key_added(text, top, name, value)
    found = _entry(top, section)
    if found is None:
        block = f"\n  {name}: {value}"
        is_flow = top is not None and top.flow_style
        return _with_key_added(
            text, top, section, f"{{{name}: {value}}}" if is_flow else block
        )
    heading, inside = found
    if isinstance(inside, MappingNode):
        if one := _entry(inside, name):
            return _with_value_replaced(text, *one, value)
        if inside.flow_style:
            return _with_key_added(text, inside, name, value)
        column = inside.value[0][0].start_mark.column
        return _with_first_line(text, heading, f"{' ' * column}{name}: {value}\n")
    if (
        isinstance(inside, ScalarNode)
        and inside.start_mark.index == inside.end_mark.index
    ):
        return _with_first_line(text, heading, f"  {name}: {value}\n")
    return _with_value_replaced(text, heading, inside, f"{{{name}: {value}}}")


def _root_mapping(text: str) -> MappingNode | None:
    """The mapping that the text is, None where it is empty. Raises ValueError."""
    # the loader in C gives no places of what it read; who calls has bounded the depth
    node = yaml.compose(text, Loader=yaml.SafeLoader)
    if node is not None and not isinstance(node, MappingNode):
        raise ValueError("it is no mapping")
    return node


def _entry(mapping: MappingNode | None, name: str) -> tuple[Node, Node] | None:
    for key, value in mapping.value if mapping is not None else ():
        if isinstance(key, ScalarNode) and key.value == name:
            return key, value
    return None


def _with_value_replaced(text: str, key: Node, old: Node, value: str) -> str:
    """The line with another value, its comment in the same column where there is room."""
    start, end = old.start_mark.index, _end(old)
    if old.start_mark.line != key.end_mark.line or start == end:
        start = text.index(":", key.end_mark.index) + 1
        value = f" {value}"
    was, after = text[start:end], text[end:]
    if gap := _COMMENT.match(after):
        width = 0 if "\n" in was else len(was) + len(gap[1])
        after = " " * max(width - len(value), 2) + after[gap.end(1) :]
    return text[:start] + value + after


def _with_key_added(
    text: str, mapping: MappingNode | None, name: str, value: str
) -> str:
    """A key that a mapping, of one line or the whole file, lacks."""
    if mapping is not None and mapping.flow_style:
        place = (
            _end(mapping.value[-1][1])
            if mapping.value
            else mapping.start_mark.index + 1
        )
        comma = ", " if mapping.value else ""
        return f"{text[:place]}{comma}{name}: {value}{text[place:]}"
    gap = "" if value.startswith("\n") else " "
    return f"{text.rstrip()}\n{name}:{gap}{value}\n".lstrip("\n")


def _with_first_line(text: str, heading: Node, line: str) -> str:
    """A line more, the first one of a section."""
    place = text.find("\n", heading.end_mark.index) + 1
    return f"{text}\n{line}" if place == 0 else text[:place] + line + text[place:]


def _without_key(text: str, section: str, name: str) -> str:
    """The text without a key that is there, and without its line or comma."""
    mapping: Any = _root_mapping(text)
    if section:
        mapping = (_entry(mapping, section) or (None, None))[1]
    entries = mapping.value
    at = next(n for n, (key, _) in enumerate(entries) if key.value == name)
    key, value = entries[at]
    if not mapping.flow_style:
        end = text.find("\n", _end(value))
        start = text.rfind("\n", 0, key.start_mark.index) + 1
        return text[:start] + ("" if end < 0 else text[end + 1 :])
    start, end = key.start_mark.index, _end(value)
    if at + 1 < len(entries):
        end = entries[at + 1][0].start_mark.index
    elif at:
        start = _end(entries[at - 1][1])
    return text[:start] + text[end:]


def _end(node: Node) -> int:
    """Where a value ends: YAML's own mark of a block lies behind the comments that follow it."""
    is_block = isinstance(node, CollectionNode) and not node.flow_style
    if not is_block or not node.value:
        return int(node.end_mark.index)
    last = node.value[-1]
    return _end(last[1] if isinstance(last, tuple) else last)


def as_yaml(value: Any) -> str:
    """A value on one line, as it is written into a file."""
    if isinstance(value, Mapping):
        entries = (f"{as_yaml(name)}: {as_yaml(one)}" for name, one in value.items())
        return f"{{{', '.join(entries)}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(as_yaml, value))}]"
    if isinstance(value, str) and _is_bare(value):
        return value
    return json.dumps(value, ensure_ascii=False)


def _is_bare(text: str) -> bool:
    """Whether nothing in a text means anything else in YAML."""
    is_plain = _BARE.fullmatch(text) and not text.endswith(":")
    return bool(is_plain) and yaml.safe_load(text) == text
