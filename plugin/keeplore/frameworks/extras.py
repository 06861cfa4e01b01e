"""What an adapter says where its framework is missing."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from keeplore.config.install_method import install_hint


@contextlib.contextmanager
def importing_extra(name: str) -> Iterator[None]:
    """Around the imports of a framework. Raises ImportError, which names what to install."""
    try:
        yield
    except ModuleNotFoundError as e:
        raise ImportError(
            f"the adapter needs {e.name}, which is not installed. {install_hint(name)}",
            name=e.name,
        ) from e
