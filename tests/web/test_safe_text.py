"""The text of memories on a page: nothing in it becomes markup but what is made here."""

from __future__ import annotations

from typing import Any

import pytest
from markupsafe import Markup

from keeplore.web.links import PageLinks, ServedLinks
from keeplore.web.safe_text import (
    MAX_RENDERED,
    SafeMarkdown,
    highlighted,
    template_value,
    with_code,
)

ID = "mem_12345678-1234-1234-1234-123456789012"
FILE = "../x/2026-02-09-we-use-12345678.md"
OUTSIDE = 'class="outside" rel="noreferrer noopener" target="_blank"'
LINKS: PageLinks = ServedLinks()
TEXTS = {
    "# T\n## U\n##### V\n###### W": "<h2>T</h2>\n<h3>U</h3>\n<h6>V</h6>\n<h6>W</h6>",
    "a\nb": "<p>a<br />\nb</p>",
    "~~a~~": "<p><s>a</s></p>",
    "<b>a & b</b>": "<p>&lt;b&gt;a &amp; b&lt;/b&gt;</p>",
    "a\u202eb": "<p>a⟨U+202E⟩b</p>",
    "<!-- keeplore: part -->\na": "<p>a</p>",
    "![p](https://a/b.png)": (
        '<p><span class="picture">[picture: p https://a/b.png]</span></p>'
    ),
    # links
    "[x](https://a.example/b)": f'<p><a href="https://a.example/b" {OUTSIDE}>x</a></p>',
    "[x](http://a.example)": f'<p><a href="http://a.example" {OUTSIDE}>x</a></p>',
    f"[x]({FILE})": '<p><a href="/m/12345678">x</a></p>',
    "[x](a.md)": '<p><span class="place" title="a.md">x</span></p>',
    # which stay the text that they are
    "[x](javascript:alert\\(1\\))": "<p>[x](javascript:alert(1))</p>",
    "[x](ftp://a.example)": "<p>[x](ftp://a.example)</p>",
    "[x](https:nohost)": "<p>[x](https:nohost)</p>",
    "[x](/etc/passwd)": "<p>[x](/etc/passwd)</p>",
    "[x](//a.example)": "<p>[x](//a.example)</p>",
    "[x](a:b.md)": "<p>[x](a:b.md)</p>",
    # ids and receipts
    f"see {ID}, <it>": '<p>see <a href="/m/12345678">12345678</a>, &lt;it&gt;</p>',
    f"{ID} turn abc": '<p><a href="/m/12345678#turn-abc">12345678</a></p>',
    "“we” — user, turn abc": (
        '<p>“we” <a class="receipt" href="#turn-abc">user, today</a></p>'
    ),
    "“we” — user, turn other": "<p>“we” — user, turn other</p>",
    "“we” — page, turn abc": "<p>“we” — page, turn abc</p>",
}


def rendered(text: str, said_in: str = "") -> str:
    when = {"turn-abc": "today"}
    return str(SafeMarkdown(LINKS, when, said_in).render(text)).strip()


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_is_shown_as_what_it_is(text: str) -> None:
    assert rendered(text) == TEXTS[text]


def test_a_table_is_one() -> None:
    assert "<table>" in rendered("|a|\n|-|\n|b|")


def test_a_receipt_of_another_memory_leads_there() -> None:
    assert rendered("“we” — assistant, turn abc", ID) == (
        '<p>“we” <a class="receipt" href="/m/12345678#turn-abc">assistant, today</a></p>'
    )


def test_a_very_long_text_is_shown_as_it_is_written() -> None:
    longest = "# " + "x" * (MAX_RENDERED - 2)
    assert rendered(longest).startswith("<h2>")
    assert rendered(longest + "<").startswith("<pre># x")
    assert rendered(longest + "<").endswith("x&lt;</pre>")


@pytest.mark.parametrize(
    ("question", "shown"),
    [
        (
            "queue redis",
            "We use &lt;<mark>Redis</mark>&gt; <mark>queues</mark>⟨U+202E⟩",
        ),
        ("postgres", "We use &lt;Redis&gt; queues⟨U+202E⟩"),
        ("", "We use &lt;Redis&gt; queues⟨U+202E⟩"),
    ],
)
def test_the_words_of_a_question_are_set_off(question: str, shown: str) -> None:
    assert highlighted("We use <Redis> queues\u202e", question) == shown


def test_what_stands_between_backticks_is_code() -> None:
    assert with_code("run `a <b>` & `c`, not `d") == (
        "run <code>a &lt;b&gt;</code> &amp; <code>c</code>, not `d"
    )


@pytest.mark.parametrize(
    ("value", "printed"),
    [
        ("a\u202e<", "a⟨U+202E⟩<"),  # a template escapes it afterwards
        (Markup("<b>\u202e"), Markup("<b>\u202e")),
        (None, ""),
        (0, 0),
        (False, False),
    ],
)
def test_a_template_prints_nothing_for_what_is_not_there(
    value: Any, printed: Any
) -> None:
    assert template_value(value) == printed
    assert type(template_value(value)) is type(printed)
