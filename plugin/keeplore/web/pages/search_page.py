"""Search: recall itself, with the words of the question set off and the reasons of each hit."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

from keeplore.recall.render import since_then
from keeplore.recall.request import AnswerStatus, RecallRequest
from keeplore.web.page_context import PageContext
from keeplore.workspace.reading.explain import explain

SHOWN = 20  # hits
MAX_QUESTION = 2_000  # characters
SILENCE = {
    AnswerStatus.NOTHING: "No memory is about that. Try other words, or fewer.",
    AnswerStatus.EMPTY: "There is no memory yet. `keeplore import --all` reads the sessions that "
    "you already have.",
    AnswerStatus.STALE: "The index is behind the text and could not catch up. Run `keeplore "
    "doctor`.",
}


def search_values(context: PageContext, question: str) -> dict[str, Any]:
    """The answer to a question; without one an empty page. Raises IndexUnavailable."""
    question = question[:MAX_QUESTION].strip()
    if not question:
        return {"question": "", "answer": None, "hits": [], "silence": "", "took_ms": 0}
    began = time.monotonic()
    answer = context.registry.recall(request(context, question))
    return {
        "question": question,
        "answer": answer,
        "hits": [
            (hit, since_then(hit.files_changed, hit.files_gone)) for hit in answer.hits
        ],
        "silence": "" if answer.hits else SILENCE[answer.status],
        "took_ms": round((time.monotonic() - began) * 1000),
    }


def why_values(context: PageContext, question: str, reference: str) -> dict[str, Any]:
    """What each part gave to the score of a memory. Raises NotFound, IndexUnavailable."""
    explanation = explain(context.registry, reference, request(context, question))
    parts = explanation.shown_parts
    widest = max((abs(part.odds) for part in parts), default=1.0)
    return {"told": explanation, "parts": parts, "widest": widest, "question": question}


def request(context: PageContext, question: str) -> RecallRequest:
    """The request of a person who waits: in all projects, with what the index has."""
    asked = RecallRequest(question, cwd=context.cwd, limit=SHOWN, wide=True)
    return replace(asked, at_once=context.is_followed)
