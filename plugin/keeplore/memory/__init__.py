"""A memory: one markdown file with YAML front matter. Pure values and text; nothing here touches a
disk.
"""

from keeplore.memory.conversation_body import (
    AgentQuestion,
    Conversation,
    ConversationLink,
    Exchange,
    Quote,
)
from keeplore.memory.foreign_files import as_memory
from keeplore.memory.frontmatter import parse, serialise
from keeplore.memory.model import (
    CATEGORIES,
    KINDS,
    RELATIONSHIPS,
    SCOPES,
    WIDE_SCOPES,
    Memory,
    MemoryKind,
    Scope,
    Trust,
    new_meta,
)
from keeplore.memory.names import file_name, is_id, new_id, relative_path
from keeplore.text.slugs import slugify

__all__ = [
    "CATEGORIES",
    "KINDS",
    "RELATIONSHIPS",
    "SCOPES",
    "WIDE_SCOPES",
    "AgentQuestion",
    "Conversation",
    "ConversationLink",
    "Exchange",
    "Memory",
    "MemoryKind",
    "Quote",
    "Scope",
    "Trust",
    "as_memory",
    "file_name",
    "is_id",
    "new_id",
    "new_meta",
    "parse",
    "relative_path",
    "serialise",
    "slugify",
]
