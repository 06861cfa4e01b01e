"""A query → ranked memories → a context block for the host."""

from keeplore.recall.briefing import brief
from keeplore.recall.context import asked_context, prompt_context
from keeplore.recall.engine import recall
from keeplore.recall.values import Answer, Here, Hit, to_json

__all__ = ["Answer", "Here", "Hit", "asked_context", "brief", "prompt_context", "recall", "to_json"]
