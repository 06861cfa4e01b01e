"""A table that is put at the end of a person's TOML file, and taken out of it."""

from __future__ import annotations

from typing import Any

import pytest

from keeplore.connect.toml_edit import MARK, append, as_read, block, cut, table_at

NAME = "mcp_servers.keeplore"
REFUSED = r"\Aa table \[mcp_servers\.keeplore\] cannot be added to it"
VALUES = (("command", 'a "b"\x7f'), ("args", ("x", "é")), ("on", True), ("limit", 5))
TABLE = (
    f"{MARK}\n[{NAME}]\n"
    'command = "a \\"b\\"\\u007f"\nargs = ["x", "é"]\non = true\nlimit = 5\n'
)
READ = {"command": 'a "b"\x7f', "args": ["x", "é"], "on": True, "limit": 5}


@pytest.mark.parametrize(
    ("text", "before"),
    [("", ""), ("a = 1\n", "\n"), ("a = 1", "\n\n"), ("a = 1\r\n", "\r\n")],
)
def test_a_table_stands_below_what_is_there_in_its_line_ends(
    text: str, before: str
) -> None:
    piece = block(text, NAME, VALUES)
    newline = "\r\n" if "\r" in text else "\n"
    assert piece == (before + TABLE.replace("\n", newline)).replace("\r\r", "\r")
    whole = append(text, NAME, piece)
    assert whole == text + piece
    assert cut(whole, NAME, (piece,), VALUES) == text
    assert as_read(VALUES) == READ


@pytest.mark.parametrize(
    ("text", "piece", "why"),
    [
        (f"[{NAME}.env]\nA = 1\n", f"[{NAME}]\nb = 1\n", REFUSED + r"\Z"),
        (f"[{NAME}]\n", f"[{NAME}]\n", REFUSED + r" \(Cannot declare .*\)\Z"),
        ("mcp_servers = 1\n", f"[{NAME}]\n", REFUSED + r" \(Cannot .*\)\Z"),
        ("", "[mcp_servers]\nb = 1\n", REFUSED + r"\Z"),
        ("", f"[{NAME}]\n[other]\nb = 1\n", REFUSED + r"\Z"),
        ("a = [\n", f"[{NAME}]\n", r"\AInvalid value"),
    ],
)
def test_what_would_mean_something_else_is_not_added(
    text: str, piece: str, why: str
) -> None:
    with pytest.raises(ValueError, match=why):
        append(text, NAME, piece)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (f"a = 1\n\n{TABLE}", "a = 1\n"),
        (f"a = 1\n\n{TABLE}\n[b]\n", "a = 1\n\n[b]\n"),
        (f"a = 1\n{TABLE}[b]\n", "a = 1\n[b]\n"),
        (TABLE.replace(f"{MARK}\n", "").replace("[mcp", " [ mcp"), ""),
        (TABLE.replace("keeplore]", '"keeplore"] # mine'), ""),
        (TABLE.replace("mcp_servers.", "'mcp_servers'."), ""),
        (TABLE.replace("limit = 5", "limit = 6"), None),
        (TABLE.replace("limit = 5", "\nlimit = 5"), None),
        (f"{TABLE}[{NAME}.env]\nA = 1\n", None),
        ("a = 1\n", None),
    ],
)
def test_a_table_is_cut_out_where_it_says_what_was_written(
    text: str, left: str | None
) -> None:
    assert cut(text, NAME, (), VALUES) == left


@pytest.mark.parametrize(
    ("data", "found"),
    [
        ({}, None),
        ({"mcp_servers": 1}, None),
        ({"mcp_servers": {}}, None),
        ({"mcp_servers": {"keeplore": {"a": 1}}}, {"a": 1}),
    ],
)
def test_a_table_is_found_by_its_name(data: dict[str, Any], found: Any) -> None:
    assert table_at(data, NAME) == found
