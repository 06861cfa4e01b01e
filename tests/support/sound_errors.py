"""Errors as a person reads them: what is wrong in words, and the next step in words or not at all.

Where a test sees only of which class an error is, its words are looked at all the same.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any


def in_words(build: Callable[..., None]) -> Callable[..., None]:
    """The ``__init__`` of an error, which fails where it is given anything but words."""

    @functools.wraps(build)
    def checked(error: Any, *arguments: Any, **named: Any) -> None:
        build(error, *arguments, **named)
        said = error.message, error.remedy
        assert all(isinstance(one, str) for one in said), f"{said} are no words"
        assert error.message.strip(), "an error says what is wrong"
        assert not error.message.endswith("."), f"{error.message!r} ends as a sentence"

    return checked
