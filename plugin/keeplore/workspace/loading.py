"""Looking up memories of a workspace that may be gone or damaged meanwhile."""

from __future__ import annotations

from keeplore.errors import StoreError
from keeplore.index import Index
from keeplore.memory import Memory
from keeplore.memory.chains import Chain
from keeplore.store import Store


def load_or_none(store: Store, path: str) -> Memory | None:
    """The memory in a file; None where it cannot be read."""
    try:
        return store.load(path)
    except (StoreError, OSError):
        return None


def chain_of(index: Index, memory_id: str) -> Chain:
    """The versions that a memory is one of; itself alone where there are no others."""
    for chain in index.chains():
        if memory_id in chain.members:
            return chain
    return Chain((memory_id,), (memory_id,), memory_id, has_cycle=False)
