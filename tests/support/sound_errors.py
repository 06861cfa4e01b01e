"""Errors as a person reads them: what is wrong in words, and the next step in words or not at all.

Where a test sees only of which class an error is, its words are looked at all the same.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

PRODUCT = str(Path(__file__).resolve().parents[2] / "plugin")
# what is said of a host's payload, beside an answer, or to a caller of ours that goes on
WITHOUT_STEP = ("TranscriptError", "EngineUnavailable", "BadRequest")


def in_words(build: Callable[..., None]) -> Callable[..., None]:
    """The ``__init__`` of an error, which fails where it is given anything but words."""

    @functools.wraps(build)
    def checked(error: Any, *arguments: Any, **named: Any) -> None:
        build(error, *arguments, **named)
        said = error.message, error.remedy
        assert all(isinstance(one, str) for one in said), f"{said} are no words"
        assert error.message.strip(), "an error says what is wrong"
        assert not error.message.endswith("."), f"{error.message!r} ends as a sentence"
        is_ours = sys._getframe(1).f_code.co_filename.startswith(PRODUCT)
        if is_ours and type(error).__name__ not in WITHOUT_STEP:
            assert len(arguments) + len(named) > 1, f"{error.message!r} names no step"

    return checked
