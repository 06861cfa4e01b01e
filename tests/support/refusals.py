"""What is refused, compared whole: what is wrong, and the next step."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest


@contextmanager
def refused(kind: type[Exception], said: str) -> Iterator[None]:
    """What runs within must be refused by an error of exactly this kind, with these words."""
    with pytest.raises(kind) as caught:
        yield
    told = (type(caught.value), str(caught.value))
    assert told == (kind, said), told
