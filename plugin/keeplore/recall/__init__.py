"""A query → ranked memories → a context block for the host."""

from keeplore.recall.briefing import Told, View, brief
from keeplore.recall.context import asked_context, prompt_context
from keeplore.recall.editing import edit_context
from keeplore.recall.engine import recall
from keeplore.recall.render import Room
from keeplore.recall.values import Answer, Here, Hit, to_json

__all__ = [
    "Answer",
    "Here",
    "Hit",
    "Room",
    "Told",
    "View",
    "asked_context",
    "brief",
    "edit_context",
    "prompt_context",
    "recall",
    "to_json",
]
