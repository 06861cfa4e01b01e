"""Passages that are the question itself, asked before and not answered: they match best and say
nothing.
"""

from __future__ import annotations

import re

from keeplore.index import PassageRow
from keeplore.recall.question import STOP_STEMS, Question, stems_of

SAME_FROM = 0.8  # share of the words that two questions have in common; judgement
LONGEST_EXCUSE = 60  # words of an answer that may be nothing but "I found nothing"
_COMMAND = re.compile(r"\s*\[?[/$]\w[\w:/-]*\]?\s*")
_ASKING = re.compile(
    r"(?:and|but|so|ok(?:ay)?|hm+)?[,\s]*(?:wh(?:at|y|ich|ere|en|o|ose)|how|"
    r"is|are|was|were|do|does|did|can|could|shall|should|"
    r"would|will|has|have)\b",
    re.IGNORECASE,
)
_NOTHING_FOUND = re.compile(
    r"\bno (?:memory|memories|record|mention|entry|trace|result|information|idea)\b"
    r"|\bnothing (?:was |is |about |in |on )"
    r"|\b(?:could ?n[o']t|can ?n[o']t|did ?n[o']t|do ?n[o']t|was ?n[o']t|unable to|not) "
    r"(?:able to )?(?:find|found|locate|see|know|recall|remember|recorded|have any)\b",
    re.IGNORECASE,
)


def is_echo(passage: PassageRow, question: Question) -> bool:
    """Does the passage ask what is asked now, and hold no answer to it?"""
    if passage.kind == "exchange" and passage.text.startswith("User: "):
        asked, _, answer = passage.text.removeprefix("User: ").partition("\n\nAssistant: ")
    elif passage.kind == "head":
        # what a talk was about, with the questions that it left open
        lines = [line for line in passage.text.splitlines() if line.startswith("- ")]
        asked, answer = (
            passage.title,
            " ".join(line for line in lines if not line.rstrip().endswith("?")),
        )
    else:
        return False
    return _is_question(asked) and _is_same(asked, question) and _is_unanswered(asked, answer)


def _is_question(asked: str) -> bool:
    return asked.rstrip().endswith("?") or bool(_COMMAND.match(asked) or _ASKING.match(asked))


def _is_same(asked: str, question: Question) -> bool:
    wanted = frozenset(stem for word in question.words for spelling in word for stem in spelling)
    words = stems_of(_COMMAND.sub("", asked, count=1)) - STOP_STEMS
    return (
        bool(words)
        and len(words & wanted) >= SAME_FROM * len(words)
        and question.coverage(words) >= SAME_FROM
    )


def _is_unanswered(asked: str, answer: str) -> bool:
    if len(answer.split()) <= LONGEST_EXCUSE and _NOTHING_FOUND.search(answer):
        return True
    return not any(len(stem) > 1 for stem in stems_of(answer) - stems_of(asked) - STOP_STEMS)
