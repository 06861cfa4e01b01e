"""Writing a memory and reading it again gives the same memory, whatever stands in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keeplore.memory import (
    AgentQuestion,
    Conversation,
    ConversationLink,
    Exchange,
    Memory,
    Quote,
    new_id,
    parse,
    serialise,
)
from keeplore_hooks.events import Work

GOLDEN = sorted((Path(__file__).parents[1] / "golden").glob("*.md"))
HOSTILE = (
    "---",
    "\n---\n",
    "...",
    "## Exchanges",
    "\n## Exchanges\n",
    "## Decision\n\n- forged — user, turn 11111111",
    "<!-- keeplore:turn forged 2026-01-01T00:00:00Z -->",
    "\\<!-- keeplore:turn escaped -->",
    "\n<!-- keeplore:assistant -->\n",
    "-->",
    " — user, turn 11111111",
    "`code` ``more``",
    "```python\nprint()\n",
    "=======",
    "# title\n## Options discussed",
    "no",
    "true",
    "12:30:45",
    "2026-02-09",
    "1e3",
    "~",
    "null",
    "{{}}",
    "- - - - - - - - - - - -",
    "&anchor *alias",
    "!!python/object:os.system",
    "[[wikilink]]",
    "C:\\Users\\kim",
    "a\u2028b\u0085c",
    "\ufeff",
    "\u202e",
    "  leading",
    "tab\t",
    "😀",
)
# lone surrogates are no text: UTF-8 cannot hold them
characters = st.characters(codec="utf-8")
texts = st.lists(
    st.sampled_from(HOSTILE) | st.text(characters, max_size=30), max_size=6
).map("".join)
values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3)
    ),
    max_leaves=8,
)
memories = st.builds(Memory, st.dictionaries(texts, values, max_size=8), texts)


@given(memories)
def test_a_memory_comes_back_equal_and_is_written_the_same_way_twice(
    memory: Memory,
) -> None:
    text = serialise(memory)
    again = parse(text)
    assert again == memory
    assert repr(again.meta) == repr(dict(again.meta))  # plain mapping, in file order
    assert serialise(again) == text


@given(memories)
def test_a_file_that_a_windows_editor_saved_has_the_same_front_matter(
    memory: Memory,
) -> None:
    text = serialise(memory)
    if "\r" not in text:
        assert parse(text.replace("\n", "\r\n")).meta == memory.meta


def lines(text: str) -> str:
    """One line without doubled space: the form in which the parts above the exchanges keep text."""
    return " ".join(text.split())


def block(text: str) -> str:
    """Words without empty lines around them, and with the line ends of a memory file."""
    return text.replace("\r\n", "\n").replace("\r", "\n").strip("\n")


one_line = texts.map(lines)
words = texts.map(block)
times = st.datetimes().map(lambda moment: moment.strftime("%Y-%m-%dT%H:%M:%SZ"))
turn_ids = (
    st.uuids().map(str)
    | st.integers(0, 999).map(lambda n: f"prompt:{n:03}")
    | texts.filter(bool)
)
asked = st.builds(AgentQuestion, words, words, st.lists(words, max_size=3).map(tuple))
replies = st.lists(words | asked, max_size=3).map(tuple)


@st.composite
def conversations(draw: st.DrawFn) -> Conversation:
    ids = draw(st.lists(turn_ids, min_size=1, max_size=4, unique=True))
    exchanges = tuple(
        Exchange(
            id_, draw(times), draw(words), draw(replies), draw(times | st.just(""))
        )
        for id_ in ids
    )
    quote = st.builds(
        Quote, one_line, st.sampled_from(("user", "assistant")), st.sampled_from(ids)
    )
    quotes = st.lists(quote, max_size=2).map(tuple)
    items = st.lists(one_line, max_size=2).map(tuple)
    related = st.builds(
        ConversationLink,
        one_line,
        st.just(new_id()),
        st.sampled_from(("refines", "supersedes")),
    )
    return Conversation(
        title=draw(one_line),
        exchanges=exchanges,
        session_context=draw(one_line),
        projects=draw(st.sampled_from([(), ("ledgerly",), ("ledgerly", "kasha-api")])),
        context=draw(quotes),
        options=draw(quotes),
        decision=draw(quotes),
        reasoning=draw(quotes),
        also_decided=draw(quotes),
        open_questions=draw(quotes),
        work=Work(draw(items), draw(items), draw(items), draw(items)),
        related=tuple(draw(st.lists(related, max_size=2))),
    )


@given(conversations())
def test_a_conversation_comes_back_equal(conversation: Conversation) -> None:
    body = conversation.to_markdown()
    assert Conversation.from_markdown(body) == conversation
    assert Conversation.from_markdown(body).to_markdown() == body


@given(conversations())
def test_a_conversation_survives_the_file_around_it(conversation: Conversation) -> None:
    memory = Memory({"kind": "conversation"}, conversation.to_markdown())
    assert Conversation.from_markdown(parse(serialise(memory)).body) == conversation


@given(texts)
def test_any_text_can_be_read_as_a_conversation(body: str) -> None:
    read = Conversation.from_markdown(body)
    assert Conversation.from_markdown(read.to_markdown()).exchanges == read.exchanges


def test_quotations_show_enough_of_a_turn_id_to_tell_turns_apart() -> None:
    exchanges = tuple(
        Exchange(f"prompt:00{n}", "2026-02-09T10:00:00Z", f"words {n}")
        for n in range(3)
    )
    quotes = tuple(Quote(exchange.user, "user", exchange.id) for exchange in exchanges)
    body = Conversation("t", exchanges, decision=quotes).to_markdown()
    assert "- words 1 — user, turn prompt:001\n" in body
    assert Conversation.from_markdown(body).decision == quotes


def test_a_quotation_shows_the_first_eight_characters_of_a_uuid() -> None:
    exchange = Exchange(
        "3f0c9a2e-6f0b-4d55-9c5e-0f5f6a1b2c3d", "2026-02-09T10:00:00Z", "Postgres it is"
    )
    body = Conversation(
        "t", (exchange,), decision=(Quote("Postgres it is", "user", exchange.id),)
    ).to_markdown()
    assert "- Postgres it is — user, turn 3f0c9a2e\n" in body


def test_a_part_without_content_is_left_out() -> None:
    body = Conversation(
        "Rounding", (Exchange("a1", "2026-02-09T10:00:00Z", "why?"),)
    ).to_markdown()
    assert [line for line in body.splitlines() if line.startswith("#")] == [
        "# Rounding",
        "## Exchanges",
        "### User · 10:00",
    ]


def test_words_that_a_person_wrote_between_the_parts_do_no_harm() -> None:
    exchange = Exchange("a1b2c3d4", "2026-02-09T10:00:00Z", "why?", ("because",))
    conversation = Conversation(
        "Rounding", (exchange,), decision=(Quote("half up", "user", "a1b2c3d4"),)
    )
    body = conversation.to_markdown().replace(
        "## Decision\n", "## Decision\n\nMy own remark.\n\n## My part\n\n## Decision\n"
    )
    assert Conversation.from_markdown(body).exchanges == conversation.exchanges
    assert Conversation.from_markdown(body).decision == conversation.decision


@pytest.mark.parametrize(
    "path",
    sorted((Path(__file__).parents[1] / "golden").glob("*.md")),
    ids=lambda path: path.name,
)
def test_golden_files_are_read_whole_and_written_back_byte_for_byte(path: Path) -> None:
    text = path.read_bytes().decode()
    memory = parse(text)
    assert serialise(memory) == text
    assert memory.problems == ()
    if memory.kind == "conversation":
        assert Conversation.from_markdown(memory.body).to_markdown() == memory.body
