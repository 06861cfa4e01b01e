"""Text taken apart into prose and code."""

from __future__ import annotations

import pytest

from keeplore.index.graph.code_spans import MAX_INLINE, MAX_LINE, markdown_spans

LONGEST, TOO_LONG = "y" * MAX_INLINE, "x" * (MAX_INLINE + 1)


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("", [("prose", "")]),
        (
            "one\ntwo ` x ` and ``a`b`` end",
            [
                ("prose", "one\ntwo "),
                ("inline", "x"),
                ("prose", " and "),
                ("inline", "a`b"),
                ("prose", " end"),
            ],
        ),
        (
            "a\n```sh\nls\n`x`\n```\nb",
            [("prose", "a"), ("shell", "ls\n`x`"), ("prose", "b")],
        ),
        # in a quotation and in a list
        (
            "> ```py\n> x = 1\n> ```\n> after",
            [("prose", ""), ("block", "> x = 1"), ("prose", "> after")],
        ),
        (
            "1. ~~~Bash\nls\n```\n \t~~~ \nrest",
            [("prose", ""), ("shell", "ls\n```"), ("prose", "rest")],
        ),
        ("````\n```\n````\nb", [("prose", ""), ("block", "```"), ("prose", "b")]),
        ("```\nnever ends", [("prose", ""), ("block", "never ends")]),
        # a blank of another kind is a letter as any other
        ("```\nx\n\xa0```\ny", [("prose", ""), ("block", "x\n\xa0```\ny")]),
        (
            "```js `x`\nno block",
            [("prose", "``"), ("inline", "js"), ("prose", "x`\nno block")],
        ),
        (
            f"`{LONGEST}` or `{TOO_LONG}",
            [("prose", ""), ("inline", LONGEST), ("prose", f" or `{TOO_LONG}")],
        ),
        (f"``{TOO_LONG}``", [("prose", f"``{TOO_LONG}``")]),
        (
            f"{'a' * (MAX_LINE + 1)}\n- ```console\nx",
            [("prose", "a" * MAX_LINE), ("shell", "x")],
        ),
    ],
)
def test_the_pieces_of_a_text(text: str, spans: list[tuple[str, str]]) -> None:
    assert [(span.kind, span.text) for span in markdown_spans(text)] == spans
