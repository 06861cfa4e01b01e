"""What is wrong with data that came from outside, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import ValidationError


def described_flaws(
    error: ValidationError, whole: str, most: int, *, below: int = 0
) -> str:
    """Field and reason of each flaw, ``most`` at most, without what stands there: it may be a
    secret.

    ``whole`` is how data is called that is wrong altogether; of each place the first ``below``
    names are left out.
    """
    flaws = error.errors(include_url=False, include_context=False, include_input=False)
    messages = [
        f"{'.'.join(map(str, flaw['loc'][below:])) or whole}: {flaw['msg']}"
        for flaw in flaws
    ]
    more = f"; and {len(messages) - most} more" if len(messages) > most else ""
    return "; ".join(messages[:most]) + more
