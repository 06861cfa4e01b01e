"""Everything derived from a workspace's text: passages, full text, vectors. It may be deleted and
comes back.
"""

from keeplore.index.consistency import IndexFlaw
from keeplore.index.embedding.embedding_models import (
    DeferredEmbedder,
    EmbeddingModels,
    embedder_for,
)
from keeplore.index.file_rows import TextSource, load_or_none
from keeplore.index.index import Index
from keeplore.index.rows import (
    IndexState,
    MemoryFilter,
    MemoryRow,
    PassageRow,
    RefreshResult,
)
from keeplore_hooks.contracts import Embedder, PassageMatch, ScopeFilter

__all__ = [
    "DeferredEmbedder",
    "Embedder",
    "EmbeddingModels",
    "Index",
    "IndexFlaw",
    "IndexState",
    "MemoryFilter",
    "MemoryRow",
    "PassageMatch",
    "PassageRow",
    "RefreshResult",
    "ScopeFilter",
    "TextSource",
    "embedder_for",
    "load_or_none",
]
