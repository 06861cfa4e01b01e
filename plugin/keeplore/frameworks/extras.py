"""What an adapter says where its framework is missing."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator


@contextlib.contextmanager
def extra(name: str) -> Iterator[None]:
    """Around the imports of a framework. Raises ImportError, which names what to install."""
    try:
        yield
    except ModuleNotFoundError as e:
        raise ImportError(
            f"the adapter needs {e.name}, which is not installed. Run `pip install "
            f"'keeplore[{name}]'`",
            name=e.name,
        ) from e
