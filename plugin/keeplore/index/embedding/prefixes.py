"""What some models want to read before a question and before a passage, by the model's name.

They were trained so, and find less without it. Each entry is what the model's card says on
https://huggingface.co/.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

_INSTRUCTION = "Represent this sentence for searching relevant passages: "
_TASK = (
    "Instruct: Given a web search query, retrieve relevant passages that answer the "
    "query\nQuery: "
)


@dataclass(frozen=True, slots=True)
class Prefixes:
    """What a model wants before a text; both may be empty."""

    question: str = ""
    passage: str = ""

    @property
    def mark(self) -> str:
        """What tells them from others in a fingerprint, "" for none."""
        said = f"{self.question}\0{self.passage}"
        return (
            f"-{hashlib.sha256(said.encode()).hexdigest()[:8]}"
            if self.question or self.passage
            else ""
        )


# the first that fits, of a name without its owner, small
_BY_NAME = (
    (
        r"nomic-embed-text",
        Prefixes("search_query: ", "search_document: "),
    ),  # nomic-ai/nomic-embed-text-v1.5
    (
        r"(?:multilingual-)?e5-[\w.-]*instruct",
        Prefixes(_TASK),
    ),  # intfloat/multilingual-e5-large-instruct
    (
        r"(?:multilingual-)?e5-(?:small|base|large)",
        Prefixes("query: ", "passage: "),
    ),  # intfloat/e5-base-v2
    (
        r"bge-(?:small|base|large)-en",
        Prefixes(_INSTRUCTION),
    ),  # BAAI/bge-small-en-v1.5; bge-m3 wants none
    (
        r"mxbai-embed-large",
        Prefixes(_INSTRUCTION),
    ),  # mixedbread-ai/mxbai-embed-large-v1
    (
        r"snowflake-arctic-embed[\w.-]*v2|snowflake-arctic-embed2",
        Prefixes("query: "),
    ),  # Snowflake, l-v2.0
    (r"snowflake-arctic-embed", Prefixes(_INSTRUCTION)),  # Snowflake, m
    (
        r"embeddinggemma",
        Prefixes("task: search result | query: ", "title: none | text: "),
    ),  # google
    (r"qwen3-embedding", Prefixes(_TASK)),  # Qwen, 0.6B
)


def prefixes_of(model: str) -> Prefixes:
    """The prefixes of a model, given by its name in a list, its name on a server, or its
    directory.
    """
    name = model.rstrip("/").rpartition("/")[2].lower()
    return next(
        (prefixes for pattern, prefixes in _BY_NAME if re.match(pattern, name)),
        Prefixes(),
    )
