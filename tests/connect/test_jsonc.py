"""JSON as people write it: comments, trailing commas, and where each part stands."""

from __future__ import annotations

import pytest

from keeplore.connect.jsonc import MAX_DEPTH, NotJson, parse

TEXT = """{
  // who asks
  "agent": {"name": "a/b", /* of two
  lines */ "tools": [1, true, null,]},
  "agent": {"name": "c"}
}
"""


def test_a_lenient_document_has_its_values_and_their_places() -> None:
    document = parse(TEXT)
    agent, later = document.root.items
    assert document.root.value == {"agent": {"name": "c"}}
    assert agent.node.value == {"name": "a/b", "tools": [1, True, None]}
    assert TEXT[agent.node.start : agent.node.end].startswith('{"name": "a/b"')
    assert [TEXT[item.comma] for item in agent.node.items[:1]] == [","]
    assert (agent.node.items[1].comma, later.comma) == (-1, -1)
    assert TEXT[agent.start :].startswith('"agent": {"name": "a/b"')
    assert document.at(("agent", "name")) is later.node.items[0].node
    assert document.at(("agent", "name", "first")) is None
    assert document.at(("tools",)) is None
    assert not document.is_strict


def test_comments_are_found_over_several_lines() -> None:
    gap = "  // one\n/* two\nlines */ "
    found = parse(f"[{gap}1]").comments(1, 1 + len(gap))
    assert [(f"[{gap}"[start:end]) for start, end in found] == [
        "// one",
        "/* two\nlines */",
    ]


@pytest.mark.parametrize("text", ['\ufeff{"a": [1, {}]}', " 1 ", '"//"', "[[], {}]"])
def test_plain_json_is_strict(text: str) -> None:
    assert parse(text).is_strict


@pytest.mark.parametrize("text", ["[1,]", '{"a": 1,}', "[/* */]", "// x\n1"])
def test_what_only_some_hosts_read_is_not(text: str) -> None:
    assert not parse(text).is_strict


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "a value is missing in line 1"),
        ("{\n\n1: 2}", "a key is missing in line 3"),
        ('{"a"\n 1}', "a colon is missing in line 2"),
        ("[1\n2]", "a comma is missing in line 2"),
        ('{\n"a": "b', "a string is not whole in line 2"),
        ("[NaN]", "a value is missing in line 1"),
        ("1\n1", "something follows the value in line 2"),
        ("[1,\n/* on", "a comment is not closed in line 2"),
        ("[" * (MAX_DEPTH + 2), "there are too many brackets in line 1"),
    ],
)
def test_what_is_no_json_says_where(text: str, message: str) -> None:
    with pytest.raises(NotJson) as raised:
        parse(text)
    assert str(raised.value) == message
    assert raised.value.line == int(message.split()[-1])
