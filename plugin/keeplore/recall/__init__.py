"""A query → ranked memories → a context block for the host."""

from keeplore.recall.briefing import Told, View, brief
from keeplore.recall.context import asked_context, for_prompt, is_worth_asking, prompt_context
from keeplore.recall.editing import edit_context
from keeplore.recall.engine import Look, recall
from keeplore.recall.render import Fenced, Room
from keeplore.recall.repeated import words_in
from keeplore.recall.values import ALL, Answer, Here, Hit, Unasked, to_json

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
