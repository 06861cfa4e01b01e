"""Pages and budgets of answers, for text of any kind."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from keeplore.mcp_server.answer_text import (
    FRAME,
    MAX_TOKENS,
    MIN_TOKENS,
    fenced,
    fitting,
    pages,
    room,
    size,
)
from keeplore.text.fences import escape, sanitise, strip_fenced

TEXTS = st.text(st.characters(codec="utf-8"), max_size=6_000) | st.text(
    "日本語<a\n", max_size=6_000
)


@given(TEXTS)
def test_pages_lose_nothing_and_none_is_longer_than_the_budget(text: str) -> None:
    found = pages(text, MIN_TOKENS)
    assert "".join(found) == escape(sanitise(text)).replace("![", "[")
    assert max(map(size, found)) <= room(MIN_TOKENS)


@given(
    st.lists(
        st.text(st.characters(codec="utf-8"), min_size=1, max_size=400),
        min_size=1,
        max_size=60,
    )
)
def test_the_first_items_are_shown_and_one_in_any_case(items: list[str]) -> None:
    kept = fitting(items, MIN_TOKENS)
    assert kept == items[: len(kept)] and kept
    assert len(kept) == 1 or sum(map(size, kept)) <= room(MIN_TOKENS)
    assert len(kept) == len(items) or sum(map(size, items[: len(kept) + 1])) + len(
        kept
    ) + 1 > room(MIN_TOKENS)


def test_pages_end_with_a_line_where_they_can() -> None:
    text = "\n".join(f"line {number}" for number in range(2_000))
    assert all(page.endswith("\n") for page in pages(text, MIN_TOKENS)[:-1])


def test_the_frame_has_room_for_the_fence_and_our_own_words() -> None:
    told = fenced("x" * 200, "y", "z" * 250)
    assert size(told) - 1 <= FRAME
    assert strip_fenced(told) == f"{'x' * 200}\n\n\n\n{'z' * 250}"


def test_the_largest_answer_is_below_what_hosts_take() -> None:
    assert MAX_TOKENS < 10_000
    # even where a token were two bytes alone, as in a list of digests
    assert MAX_TOKENS * 3 / 2 < 25_000
