"""Everything derived from a workspace's text: passages, full text, vectors. It may be deleted and
comes back.
"""

from keeplore.index.consistency import Flaw
from keeplore.index.embedding.embedder import Deferred, Embedder, Models, embedder_for
from keeplore.index.index import Index
from keeplore.index.refresh import Source
from keeplore.index.rows import Allowed, Match, MemoryRow, PassageRow, Refreshed, Stamp, Wanted

__all__ = [
    "Allowed",
    "Deferred",
    "Embedder",
    "Flaw",
    "Index",
    "Match",
    "MemoryRow",
    "Models",
    "PassageRow",
    "Refreshed",
    "Source",
    "Stamp",
    "Wanted",
    "embedder_for",
]
