"""Questions that were asked before, told apart from what answers them."""

from __future__ import annotations

import re
from functools import lru_cache

from keeplore.index import PassageRow
from keeplore.index.passages import STATEMENTS
from keeplore.recall.question import STOP_STEMS, ParsedQuestion, stems_of, subject_of
from keeplore.text.sentences import Sentence
from keeplore.text.unspaced import word_count

SAME_FROM = 0.8  # share of the words that two questions have in common; judgement
LONGEST_EXCUSE = 60  # words of an answer that may be nothing but "I found nothing"
LONGEST_BARE = 25  # words of a question that tells nothing but what it asks
_SPEAKER = re.compile(r"([A-Z][\w'-]{1,30})(?: [A-Z][\w'-]{1,30})?: ")
_COMMAND = re.compile(r"\A\s*\[?[/$]\w[\w:/-]*\]?\s*")
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


@lru_cache(maxsize=200)  # a search asks it twice of the best passages
def is_unanswered(passage: PassageRow, question: ParsedQuestion) -> bool:
    """Does the passage only ask: what is asked now, or any short question that nobody answered?

    Where people talk by name with each other, the next one's message may answer.
    """
    asked, answer = _asked_and_answered(passage)
    if not is_question(asked):
        return False
    if repeats(asked, question):
        return _says_nothing(asked, answer)
    is_whole = passage.kind == "exchange" and word_count(asked) <= LONGEST_BARE
    is_bare = is_whole and not named_speaker(asked)
    return is_bare and Sentence(asked).is_question and _is_no_answer(answer)


def named_speaker(message: str) -> str:
    """The first name of who speaks, where a message begins with a name and a colon; else ""."""
    found = _SPEAKER.match(message)
    return found[1] if found else ""


def is_echo(sentence: str, question: ParsedQuestion) -> bool:
    """Is a sentence the question that is asked now?"""
    return is_question(sentence) and repeats(sentence, question)


def _asked_and_answered(passage: PassageRow) -> tuple[str, str]:
    """What a passage asks, "" for one that asks nothing, and what it says to that."""
    if passage.kind in STATEMENTS:
        return passage.text, ""
    if passage.kind == "head":
        # what a conversation was about, with the questions that it left open
        lines = [line for line in passage.text.splitlines() if line.startswith("- ")]
        told = (line for line in lines if not ends_with_question_mark(line))
        return passage.title, " ".join(told)
    if passage.kind == "exchange" and passage.text.startswith("User: "):
        said = passage.text.removeprefix("User: ")
        asked, _, answer = said.partition("\n\nAssistant: ")
        return asked, answer
    return "", ""


def ends_with_question_mark(text: str) -> bool:
    return text.rstrip().endswith("?")


def is_question(text: str) -> bool:
    """Whether a text is a question by its end, its first word, or the command that asks it."""
    return ends_with_question_mark(text) or bool(
        _COMMAND.match(text) or _ASKING.match(text)
    )


def repeats(asked: str, question: ParsedQuestion) -> bool:
    """Has one question nearly the same words as the one that is asked now?"""
    words = stems_of(subject_of(_COMMAND.sub("", asked))) - STOP_STEMS
    if not words or len(words & question.stems) < SAME_FROM * len(words):
        return False
    return question.coverage(words) >= SAME_FROM


def _says_nothing(asked: str, answer: str) -> bool:
    """Is it no answer, or the question in other words?"""
    told, wanted = (stems_of(text) - STOP_STEMS for text in (answer, asked))
    is_restated = told <= wanted and len(told) >= SAME_FROM * len(wanted)
    return is_restated or _is_no_answer(answer)


def _is_no_answer(text: str) -> bool:
    is_short = word_count(text) <= LONGEST_EXCUSE
    is_excuse = is_short and _NOTHING_FOUND.search(text) is not None
    return is_excuse or not stems_of(text)
