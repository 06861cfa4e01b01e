"""A query → ranked memories → a context block for the host."""

from keeplore.recall.brief import Told, View, brief
from keeplore.recall.dedup import words_in
from keeplore.recall.file_context import edit_context
from keeplore.recall.prompt_context import (
    asked_context,
    for_prompt,
    is_worth_asking,
    prompt_context,
)
from keeplore.recall.render import Fenced, Room
from keeplore.recall.request import ALL, Answer, Here, Hit, Unasked, to_json
from keeplore.recall.search import Look, recall

__all__ = [
    "ALL",
    "Answer",
    "Fenced",
    "Here",
    "Hit",
    "Look",
    "Room",
    "Told",
    "Unasked",
    "View",
    "asked_context",
    "brief",
    "edit_context",
    "for_prompt",
    "is_worth_asking",
    "prompt_context",
    "recall",
    "to_json",
    "words_in",
]
