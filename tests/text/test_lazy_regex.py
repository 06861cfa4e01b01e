"""A pattern that is compiled later is the same pattern."""

from __future__ import annotations

import re

import pytest

from keeplore.text.lazy_regex import pattern


def test_it_finds_what_a_compiled_one_finds() -> None:
    late, early = (
        pattern(r"\bdeci(ded|sion)\b", re.IGNORECASE),
        re.compile(r"\bdeci(ded|sion)\b", re.IGNORECASE),
    )
    text = "We DECIDED that; the decision stands."
    for _ in range(2):
        assert [m.span() for m in late.finditer(text)] == [m.span() for m in early.finditer(text)]
        assert late.sub("-", text) == early.sub("-", text)
        assert late.pattern == early.pattern and late.search("") is None


def test_a_faulty_one_raises_when_it_is_used() -> None:
    with pytest.raises(re.error):
        pattern("(").search("x")
