"""An address that is not followed is told without what could harm, as far as a person reads."""

from __future__ import annotations

import pytest

from keeplore.sync.errors import FailureKind
from keeplore.sync.remote_git import REMEDY, _refused_address


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("ext::sh", "ext::sh"),
        ("ext::\x1b[2J", r"ext::\x1b[2J"),
        ("https://ann:secret@a.example/b", None),
        ("x" * 200, "x" * 200),
        ("x" * 201, "x" * 200),
    ],
    ids=["plain", "signs", "credentials", "long", "too long"],
)
def test_the_words_of_an_address_are_harmless(url: str, shown: str | None) -> None:
    error = _refused_address(url, "is not followed")
    assert (error.kind, error.remedy) == (FailureKind.BLOCKED, REMEDY)
    assert "secret" not in error.message
    assert error.message.endswith(" is not followed")
    if shown is not None:
        assert error.message == f"{shown!r} is not followed"
