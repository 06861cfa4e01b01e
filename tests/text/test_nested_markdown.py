"""A parser of CommonMark says what a document's structure is; no memory in it can change that."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from keeplore.text.nested_markdown import fenced, inline, nest

PARSER = MarkdownIt("commonmark")
PIECES = [
    "# Title", ("###### "
               "x"), "#", "Text", "===", "---", "-", "```", "````", "~~~", "~~~~ py", "``` a`b", "<!--", "-->",
    "<div>", "</div>", "<script>", "<?php", "<![CDATA[", "<!DOCTYPE", "[a]: http://x", "[a", "]: http://x", "> ", "- ",
    "1. ", "  ", "    ", "\t", "\n", "\n\n", "\\", "`", "``", "<b>", "&lt;", "* * *", "| a |",
    "\r", "\x0b", "\u2028", "* ", "+ ",
]  # fmt: skip


def structure(text: str) -> list[Token]:
    return PARSER.parse(f"## Before\n\n{text}\n\n## After\n")


def check(text: str) -> None:
    """Outside of the text there is what was put there; in it, no heading above the fifth level and
    no HTML block.
    """
    tokens = structure(text)
    headings = [(t.tag, t.level) for t in tokens if t.type == "heading_open"]
    assert headings[0] == ("h2", 0) and headings[-1] == ("h2", 0)
    assert all(int(tag[1]) > 4 for tag, _ in headings[1:-1]), text
    assert tokens[-2].content == "After"
    assert "html_block" not in {token.type for token in tokens}
    references: dict[str, object] = {}
    PARSER.parse(text, references)
    assert not references.get("references"), text


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_pieces_of_markup_in_any_order_stay_inside(text: str) -> None:
    check(nest(text, 4))


@given(st.lists(st.sampled_from(PIECES), max_size=8).map("\n".join))
def test_lines_of_markup_in_any_order_stay_inside(text: str) -> None:
    check(nest(text, 4))


@given(st.text(max_size=60))
def test_any_text_stays_inside(text: str) -> None:
    check(nest(text, 4))
    check(fenced(text))
    types = [token.type for token in PARSER.parse(f"x {inline(text)}")]
    assert types == ["paragraph_open", "inline", "paragraph_close"]


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_fenced_text_is_one_block_of_code(text: str) -> None:
    tokens = structure(fenced(text, "markdown"))
    assert [
        token.type for token in tokens if token.level == 0 and token.type == "fence"
    ] == ["fence"]
    assert [token.content for token in tokens if token.type == "inline"] == [
        "Before",
        "After",
    ]


@pytest.mark.parametrize(
    "text",
    ["Plain words.", "- a\n- b\n\n1. c", "> quoted", ("`Vec<T>` and a < "
                                                     "b"), "**bold** [link](https://example.com)",
     "```py\n# no heading\n<b>\n```", "~~~\n```\n~~~", "| a | b |\n| --- | --- |"],
)  # fmt: skip
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert nest(text, 4) == text


def test_headings_keep_their_order_below_the_document() -> None:
    assert nest("# A\n## B\n### C", 4) == "##### A\n###### B\n###### C"
    assert nest("A\n===\nB\n---", 4) == "A\n\\===\nB\n* * *"
    assert nest("```\nopen", 4) == "```\nopen\n```"


def test_code_in_a_list_is_kept_as_it_is_written() -> None:
    text = "- run\n  ```sh\n  # all of it\n  make test\n  ```"
    assert nest(text, 4) == f"~~~markdown\n{text}\n~~~"


def test_empty_lines_around_go_and_code_that_is_indented_stays_code() -> None:
    assert nest("\n\n    make test\n\nit runs  \n\n", 4) == "    make test\n\nit runs  "
    assert [token.type for token in PARSER.parse(nest("    make test", 4))] == [
        "code_block"
    ]
