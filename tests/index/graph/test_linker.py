"""Known names in text: whole words, the longest, and plain words only where the thing is meant."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keeplore.index.graph.code_spans import MAX_LINE
from keeplore.index.graph.evidence import mentions_of
from keeplore.index.graph.graph_values import MAX_NAME, Mention, canonical_name
from keeplore.index.graph.linker import first_word, first_words, names_in
from keeplore.memory import Memory

NAMES = (
    "@scope/kit", "black", "c++", ("claude "
                                  "code"), "click", "fastembed", "go", "java", "kasha-api", "kotlin", "make",
    "postgresql", ("postgresql "
                  "15"), "pytest", "pytest-xdist", "react", "requests", "rich", "server", "vs code",
    "結算系統",
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("We chose fastembed; Fastembed's cache is slow.", ["fastembed"]),
        (
            "myfastembed, fastembeds, other-fastembed, fastembed.py and $fastembed are none",
            [],
        ),
        ("run pytest-xdist, then pytest", ["pytest-xdist", "pytest"]),
        ("PostgreSQL 15 replaced PostgreSQL", ["postgresql 15", "postgresql"]),
        ("open it in VS\n Code", ["vs code"]),
        ("(Java/Kotlin)", ["java", "kotlin"]),
        (
            "see src/fastembed/core and https://example.org/fastembed or `vendor/pytest`",
            [],
        ),
        ("fastembed-based, but no fastembed-rs", ["fastembed"]),
        ("請看結算系統的文件", ["結算系統"]),
        ("import it from @scope/kit, written in C++", ["@scope/kit", "c++"]),
        # plain words
        ("click the rich black server, make requests and react, then go", []),
        ("Click here. Requests come in. Make Server React.", []),
        ("`click` and `rich.print`, but `a rich text`", ["click", "rich"]),
        ("black>=24, requests 2.31 and rich v13", ["black", "requests", "rich"]),
        ("the click package, the requests library", ["click", "requests"]),
        ("pip install rich", ["rich"]),
        ("a service in Go with React in front", ["go", "react"]),
        ("```python\nimport click\nserver = requests\n```", ["click"]),
        ("```bash\nmake server\n```", ["make"]),
    ],
)
def test_a_known_name_is_found_where_it_says_that_thing(
    text: str, found: list[str]
) -> None:
    assert [mention.name for mention in names_in([text], NAMES)] == found


def test_a_name_is_counted_and_spelt_as_it_first_stands_there() -> None:
    texts = ["Claude  Code", "claude code, CLAUDE CODE"]
    assert names_in(texts, NAMES) == [Mention("claude code", "Claude Code", 3)]


def test_every_name_is_looked_for_under_a_word_that_its_text_has() -> None:
    for name in NAMES:
        assert first_word(name) in first_words([f"uses {name.upper()} here"])


HOSTILE = st.lists(
    st.sampled_from([
        *NAMES, "`", "``", "```", "```sh\n", "\n", " ", "/", "./", "a/b.py", "_", "#12", "org/repo#3", "CamelCase()",
        "@", "İ", "\ud800", "\x00", "$(", "'", '"', "&&", "sudo", "npx ", "é", "::", "- ", "**", "<b>", "class Foo_bar",
        "https://x/pull/1",
    ])
    | st.text(max_size=20),
    max_size=60,
).map("".join)  # fmt: skip


@given(HOSTILE, HOSTILE, st.permutations(NAMES))
def test_nothing_that_a_memory_can_hold_raises_and_the_same_text_gives_the_same(
    title: str, body: str, names: list[str]
) -> None:
    memory = Memory(
        {
            "kind": "conversation",
            "title": title,
            "project": "p",
            "entities": [body, None, {}],
        },
        body,
    )
    shown = mentions_of(memory)
    assert shown == mentions_of(memory)
    assert len({mention.name for mention in shown}) == len(shown)
    assert all(
        mention.name == canonical_name(mention.name)
        and len(mention.spelling) <= MAX_NAME
        for mention in shown
    )
    found = names_in([title, body], names)
    assert found == names_in([title, body], sorted(names))
    assert {mention.name for mention in found} <= set(names)
    assert {first_word(mention.name) for mention in found} <= first_words([title, body])
    "".join(mention.spelling + mention.name for mention in (*shown, *found)).encode(
        "utf-8"
    )


def test_lines_and_lists_without_end_are_cut_short() -> None:
    long = [
        "a/" * 300_000,
        "`" * 300_000,
        "@" * 300_000,
        "x_" * 300_000,
        "fastembed " * 100_000,
        "#1 " * 100_000,
    ]
    many = [f"fastembed {number}" for number in range(20_000)]
    assert [mention.name for mention in names_in(long, [*many, "fastembed"])] == []
    assert names_in(["fastembed " * 100_000], ["fastembed"])[
        0
    ].count == MAX_LINE // len("fastembed ")
    body = "\n".join(
        (*long, *(f"`name_{number}` Camel{number}Case" for number in range(5000)))
    )
    assert len(mentions_of(Memory({"kind": "document", "title": ""}, body))) <= 200
