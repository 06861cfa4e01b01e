"""What is put into a person's JSON file and taken out again leaves every byte as it was."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keeplore.connect.json_edit import (
    JsonEntry,
    JsonTrace,
    find,
    put,
    replace_value,
    take,
)
from keeplore.connect.jsonc import NotJson, parse

OURS = {"hooks": [{"type": "command", "command": "sh 'a b' || exit 0", "timeout": 5}]}
ENTRIES = (
    JsonEntry(("hooks", "Stop"), OURS, is_element=True),
    JsonEntry(("hooks", "Start"), {"matcher": "x", **OURS}, is_element=True),
    JsonEntry(("hooks", "Start"), OURS, is_element=True),
    JsonEntry(("mcpServers", "keeplore"), {"command": "python3", "args": ["ü"]}),
    JsonEntry(("flag",), True),
)
GAPS = st.sampled_from(
    [
        "",
        "",
        " ",
        "\n",
        "\n\t",
        "\r\n  ",
        "\n    ",
        "/* [{ */",
        '// "}], \n',
        " // ü\n  ",
    ]
)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.text(max_size=5),
    st.just("// no comment"),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=2),
        st.dictionaries(st.text(max_size=3), inner, max_size=2),
    ),
    max_leaves=4,
)
HOOKS = st.dictionaries(
    st.sampled_from(["Stop", "Start", "Other"]),
    st.lists(VALUES, max_size=3),
    max_size=3,
)
SERVERS = st.dictionaries(st.sampled_from(["a", "b"]), VALUES, max_size=2)
DOCUMENTS = st.fixed_dictionaries(
    {},
    optional={"hooks": HOOKS, "mcpServers": SERVERS, "other": VALUES, "more": VALUES},
)


@st.composite
def written(draw: st.DrawFn, value: Any) -> str:
    """The value as JSON with white space, comments and trailing commas anywhere they may stand."""

    def gap() -> str:
        return draw(GAPS)

    def write(value: Any) -> str:
        if isinstance(value, dict):
            parts = [
                f"{json.dumps(key)}{gap()}:{gap()}{write(one)}"
                for key, one in value.items()
            ]
        elif isinstance(value, list):
            parts = [write(one) for one in value]
        else:
            return json.dumps(value, ensure_ascii=draw(st.booleans()))
        brackets = "{}" if isinstance(value, dict) else "[]"
        inside = ",".join(gap() + part + gap() for part in parts)
        trailing = "," + gap() if parts and draw(st.booleans()) else ""
        return brackets[0] + (inside + trailing if parts else gap()) + brackets[1]

    bom = "\ufeff" if draw(st.booleans()) else ""
    return bom + gap() + write(value) + gap()


TEXTS = DOCUMENTS.flatmap(written)
PLAIN = st.builds(
    lambda value, indent, newline, end: (
        json.dumps(value, indent=indent).replace("\n", newline) + end
    ),
    DOCUMENTS,
    st.sampled_from([None, 0, 1, 2, 4, "\t"]),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["", "\n", "\n\n", " "]),
)


@given(st.one_of(TEXTS, PLAIN), st.permutations(ENTRIES))
def test_taking_out_what_was_put_in_gives_the_same_text(
    text: str, entries: list[JsonEntry]
) -> None:
    after, trace = put(text, entries, JsonTrace())
    document = parse(after)
    assert all(find(document, entry) for entry in entries)
    assert put(after, entries, trace) == (after, trace)
    assert take(after, entries, trace) == text


@given(st.one_of(TEXTS, PLAIN))
def test_nothing_else_changes_its_value(text: str) -> None:
    before, after = (
        parse(text).root.value,
        parse(put(text, ENTRIES, JsonTrace())[0]).root.value,
    )
    for entry in ENTRIES:
        holder = after
        for key in entry.holder:
            holder = holder[key]
        if entry.is_element:
            holder.remove(entry.value)
        else:
            del holder[entry.path[-1]]
    for name in ("Stop", "Start"):
        if name not in before.get("hooks", {}):
            assert after["hooks"].pop(name) == []
    for name in ("hooks", "mcpServers"):
        if name not in before:
            assert after.pop(name) == {}
    assert after == before


@given(TEXTS, st.data())
def test_what_is_added_afterwards_stays_when_ours_is_taken_out(
    text: str, data: st.DataObject
) -> None:
    mine, trace = put(text, ENTRIES, JsonTrace())
    theirs = JsonEntry(("hooks", "Start"), {"theirs": True}, is_element=True)
    both, _ = put(mine, [theirs, JsonEntry(("mcpServers", "theirs"), 1)], JsonTrace())
    left = parse(take(both, ENTRIES, trace))
    assert find(left, theirs) and find(left, JsonEntry(("mcpServers", "theirs"), 1))
    assert not any(find(left, entry) for entry in ENTRIES)


@given(st.one_of(TEXTS, PLAIN))
def test_a_value_that_is_swapped_can_be_swapped_back_and_taken_out(text: str) -> None:
    after, trace = put(text, ENTRIES, JsonTrace())
    new = {"hooks": [{"type": "command", "command": "another", "timeout": 7}]}
    changed = replace_value(after, ENTRIES[0], new)
    swapped = (JsonEntry(ENTRIES[0].path, new, is_element=True), *ENTRIES[1:])
    assert all(find(parse(changed), entry) for entry in swapped)
    assert take(changed, swapped, trace) == text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("{}\n", '{\n  "flag": true\n}\n'),
        ('{"a":1}', '{"a":1,"flag":true}'),
        ('{"a": 1}', '{"a": 1, "flag": true}'),
        ('{\r\n\t"a": 1\r\n}\r\n', '{\r\n\t"a": 1,\r\n\t"flag": true\r\n}\r\n'),
        ('{\n    "a": 1, // one\n}\n', '{\n    "a": 1, // one\n    "flag": true,\n}\n'),
        ('{\n    "a": 1 // one\n}\n', '{\n    "a": 1, // one\n    "flag": true\n}\n'),
        ("{\n  // nothing yet\n}\n", '{\n  // nothing yet\n  "flag": true\n}\n'),
    ],
)
def test_an_entry_is_written_as_the_file_is_written(before: str, after: str) -> None:
    assert put(before, [JsonEntry(("flag",), True)], JsonTrace())[0] == after


SERVER = JsonEntry(("servers", "größe"), {"command": "/home/jürgen/py", "args": ["ü"]})
SERVER_INLINE = '"größe": {"command": "/home/jürgen/py", "args": ["ü"]}'
HOOK = JsonEntry(("hooks", "Stop"), {"größe": ["ü"]}, is_element=True)


@pytest.mark.parametrize(
    ("entry", "before", "after"),
    [
        (
            SERVER,
            "{}",
            """{
  "servers": {
    "größe": {
      "command": "/home/jürgen/py",
      "args": [
        "ü"
      ]
    }
  }
}""",
        ),
        (SERVER, '{"a": 1}', '{"a": 1, "servers": {' + SERVER_INLINE + "}}"),
        (
            SERVER,
            '{"a":1}',
            '{"a":1,"servers":{"größe":{"command":"/home/jürgen/py","args":["ü"]}}}',
        ),
        (SERVER, '{"servers": {}}', '{"servers": {' + SERVER_INLINE + "}}"),
        (
            SERVER,
            '{\n    "servers": {"b": 1}\n}',
            '{\n    "servers": {"b": 1, ' + SERVER_INLINE + "}\n}",
        ),
        (
            SERVER,
            '{"servers": {/* none */}}',
            '{"servers": {/* none */' + SERVER_INLINE + "}}",
        ),
        (
            SERVER,
            '{"servers": {/* a\n */ /* b */ }}',
            """{"servers": {/* a
 */ /* b */
  "größe": {
    "command": "/home/jürgen/py",
    "args": [
      "ü"
    ]
  }
}}""",
        ),
        (HOOK, '{"a": 1}', '{"a": 1, "hooks": {"Stop": [{"größe": ["ü"]}]}}'),
        (
            HOOK,
            '{\n\t"a": 1\n}\n',
            """{
\t"a": 1,
\t"hooks": {
\t\t"Stop": [
\t\t\t{
\t\t\t\t"größe": [
\t\t\t\t\t"ü"
\t\t\t\t]
\t\t\t}
\t\t]
\t}
}
""",
        ),
        (
            HOOK,
            '{\n   "hooks": {\n      "Stop": [\n         {"a": 1}\n      ]\n   }\n}\n',
            """{
   "hooks": {
      "Stop": [
         {"a": 1},
         {
            "größe": [
               "ü"
            ]
         }
      ]
   }
}
""",
        ),
        (
            HOOK,
            '{\n  "hooks": {"Stop": [1,  2]}\n}',
            '{\n  "hooks": {"Stop": [1,  2,  {"größe": ["ü"]}]}\n}',
        ),
        (
            HOOK,
            '{"hooks":{"Stop":[1,\t2]},"x":3}',
            '{"hooks":{"Stop":[1,\t2,\t{"größe":["ü"]}]},"x":3}',
        ),
        (
            HOOK,
            '\ufeff  {\r\n   "hooks": {\r\n   "Stop": [ // none\r\n   ]\r\n }}',
            (
                '\ufeff  {\r\n   "hooks": {\r\n   "Stop": [ // none\r\n'
                '    {\r\n     "größe": [\r\n      "ü"\r\n     ]\r\n    }\r\n   ]\r\n }}'
            ),
        ),
        (
            HOOK,
            '{"hooks": {"Stop": [1 // one\n]}}',
            '{"hooks": {"Stop": [1, // one\n{"größe": ["ü"]}\n]}}',
        ),
        (
            HOOK,
            '{"hooks": {"Stop": [1, // one\n]}}',
            '{"hooks": {"Stop": [1, // one\n{"größe": ["ü"]},\n]}}',
        ),
    ],
)
def test_what_is_put_in_reads_like_its_neighbours_and_goes_without_a_trace(
    entry: JsonEntry, before: str, after: str
) -> None:
    text, trace = put(before, [entry], JsonTrace())
    assert text == after
    assert take(text, [entry], trace) == before


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{"a": [1, 2], "b": 0}', '{"a": {"größe": ["ü"]}, "b": 0}'),
        ('{"a":[1,2],"b":0}', '{"a":{"größe":["ü"]},"b":0}'),
        (
            '{\n\t"a": [\n\t\t1, 2\n\t], // two\n\t"b": 0\n}\n',
            """{
\t"a": {
\t\t"größe": [
\t\t\t"ü"
\t\t]
\t}, // two
\t"b": 0
}
""",
        ),
        ('{\n  "a": [1, 2]\n}', '{\n  "a": {"größe": ["ü"]}\n}'),
        ('{"a": [2, 1]}', '{"a": [2, 1]}'),
    ],
)
def test_another_value_is_written_as_the_one_before_was(
    before: str, after: str
) -> None:
    assert replace_value(before, JsonEntry(("a",), [1, 2]), {"größe": ["ü"]}) == after


@pytest.mark.parametrize(
    "text", ['{"hooks": []}', '{"hooks": {"Stop": {}}}', "[]", "3", '{"hooks": null}']
)
def test_what_stands_in_the_way_is_an_error_and_no_guess(text: str) -> None:
    with pytest.raises(ValueError, match="is no"):
        put(text, [ENTRIES[0]], JsonTrace())


def test_a_member_with_another_value_is_not_written_over() -> None:
    with pytest.raises(ValueError, match="another value"):
        put('{"flag": 1}', [JsonEntry(("flag",), True)], JsonTrace())


@pytest.mark.parametrize(
    "text",
    ["", "{", '{"a" 1}', '{"a": 1 "b": 2}', '{"a": 01}', "{a: 1}", ("{} "
                                                                   "{}"), '{"a": "\n"}', "/* ", '{"a": nul}', "[,]",
     "[" * 200 + "]" * 200],
)  # fmt: skip
def test_what_is_no_json_is_refused_with_its_line(text: str) -> None:
    with pytest.raises(NotJson, match="in line"):
        parse(text)


@given(st.one_of(DOCUMENTS.map(json.dumps), st.text(max_size=30)))
def test_whatever_python_reads_is_read_alike(text: str) -> None:
    try:
        expected = json.loads(text, parse_constant=pytest.fail)
    except (ValueError, pytest.fail.Exception):
        return
    document = parse(text)
    assert document.root.value == expected and document.is_strict


@pytest.mark.parametrize("text", ["{} // x", "[1,]", "/* */ {}"])
def test_comments_and_trailing_commas_are_noted(text: str) -> None:
    assert not parse(text).is_strict


@pytest.mark.parametrize(
    ("text", "is_there"),
    [
        ('{"a": [{"timeout": 5, "on": true, "args": [1, 2]}]}', True),
        ('{"a": [0, {"args": [1, 2], "on": true, "timeout": 5}, 1]}', True),
        ('{"a": [{"timeout": 5, "on": 1, "args": [1, 2]}]}', False),
        ('{"a": [{"timeout": 5.5, "on": true, "args": [1, 2]}]}', False),
        ('{"a": [{"timeout": 5, "on": true, "args": [2, 1]}]}', False),
        ('{"a": [{"timeout": 5, "on": true}]}', False),
        ('{"a": {"timeout": 5, "on": true, "args": [1, 2]}}', False),
        ("{}", False),
    ],
)
def test_an_entry_is_found_in_whatever_order_its_keys_stand(
    text: str, is_there: bool
) -> None:
    value = {"timeout": 5, "on": True, "args": [1, 2]}
    found = find(parse(text), JsonEntry(("a",), value, is_element=True))
    assert (found is not None) == is_there
