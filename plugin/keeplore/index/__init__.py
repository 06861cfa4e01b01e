"""Everything derived from a workspace's text: passages, full text, vectors. It may be deleted and comes back."""

from keeplore.index.embedder import BuiltinEmbedder, Deferred, Embedder, embedder_for
from keeplore.index.index import Index, Source
from keeplore.index.proof import Flaw
from keeplore.index.rows import Allowed, Match, MemoryRow, PassageRow, Refreshed, Stamp, Wanted

__all__ = [
    "Allowed",
    "BuiltinEmbedder",
    "Deferred",
    "Embedder",
    "Flaw",
    "Index",
    "Match",
    "MemoryRow",
    "PassageRow",
    "Refreshed",
    "Source",
    "Stamp",
    "Wanted",
    "embedder_for",
]
