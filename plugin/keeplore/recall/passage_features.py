"""What a passage's own words show beside how well it matches: who speaks, whether it states a rule,
and whether it is the question itself, asked before and not answered.
"""

from __future__ import annotations

import re

from keeplore.index import PassageRow
from keeplore.recall.question import STOP_STEMS, ParsedQuestion, modifiers, stems_of
from keeplore.recall.weights import Weights
from keeplore.text.unspaced import word_count

FEW_WORDS, MANY_WORDS = (
    10,
    40,
)  # of a passage: it says little below, enough from there on
NEIGHBOURS = 2  # sentences in which a rule and what it is about stand together
SAME_FROM = 0.8  # share of the words that two questions have in common; judgement
LONGEST_EXCUSE = 60  # words of an answer that may be nothing but "I found nothing"
_BREAK = re.compile(r"(?<=[.!?;:])\s+|\n+")
_ROLE = re.compile(r"(?:User|Assistant): ")
_SPEAKER = re.compile(r"([A-Z][\w'-]{1,30})(?: [A-Z][\w'-]{1,30})?: ")
_NAME = re.compile(r"\b[A-Z][\w'-]{1,30}")
_RULE = re.compile(
    r"\b(?:from now on|(?:going|moving) forward|no longer|(?:would|'d) like you to|(?:want|need) "
    r"you to|always|never"
    r"|make sure|please|instead|should|must|convention|standard|rule|instruct|avoid|ensure|"
    r"prefer|remember to|let's"
    r"|(?:we're|we are|i'm|i am) (?:now )?(?:using|switching|moving|standardi)"
    r"|(?:we|i) (?:now )?(?:use|decided|switched|moved)|updat)",
    re.IGNORECASE,
)
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


def bonuses(
    passage: PassageRow, question: ParsedQuestion, w: Weights
) -> dict[str, float]:
    """The log-odds that a passage gains or loses by what it is, however it was found, each under
    its reason.
    """
    text = _ROLE.sub("", passage.said, count=1)
    count = word_count(text)
    length = max(-1.0, min(1.0, (count - FEW_WORDS) / (MANY_WORDS - FEW_WORDS)))
    speaker = _SPEAKER.match(text)
    is_named = speaker is not None and speaker[1] in _NAME.findall(question.text)
    return {
        f"{count} words": w.telling * length,
        "it ends with a question": -w.asking if _ends_with_question_mark(text) else 0.0,
        "said by somebody whom the question names": w.speaker if is_named else 0.0,
    }


def closeness(text: str, question: ParsedQuestion) -> tuple[float, bool]:
    """The share of the question's words in the best two sentences, 0..1, and whether these state a
    rule.
    """
    parts = [part for part in _BREAK.split(text) if part.strip()]
    sentences = [(stems_of(part), bool(_RULE.search(part))) for part in parts]
    best = (0.0, False)
    for start in range(len(sentences)):
        near = sentences[start : start + NEIGHBOURS]
        stems = frozenset().union(*(stems for stems, _ in near))
        best = max(
            best, (question.closeness(stems), any(is_rule for _, is_rule in near))
        )
    return best


def is_of_other_thing(text: str, question: ParsedQuestion) -> bool:
    """Does a sentence speak of another thing of a kind that the question names: of the staging
    database, where the question has the production database?
    """
    asked, said = modifiers(question.text), modifiers(text)
    words, other_words = stems_of(question.text), stems_of(text)
    return any(
        asked[kind].isdisjoint(other_words) and said[kind].isdisjoint(words)
        for kind in asked.keys() & said.keys()
    )


def is_unanswered(passage: PassageRow, question: ParsedQuestion) -> bool:
    """Does the passage ask what is asked now, and hold no answer to it?"""
    if passage.kind == "exchange" and passage.text.startswith("User: "):
        asked, _, answer = passage.text.removeprefix("User: ").partition(
            "\n\nAssistant: "
        )
    elif passage.kind == "head":
        # what a conversation was about, with the questions that it left open
        lines = [line for line in passage.text.splitlines() if line.startswith("- ")]
        asked = passage.title
        answer = " ".join(line for line in lines if not _ends_with_question_mark(line))
    else:
        return False
    return (
        _is_question(asked)
        and _is_same(asked, question)
        and _says_nothing(asked, answer)
    )


def _ends_with_question_mark(text: str) -> bool:
    return text.rstrip().endswith("?")


def _is_question(asked: str) -> bool:
    return _ends_with_question_mark(asked) or bool(
        _COMMAND.match(asked) or _ASKING.match(asked)
    )


def _is_same(asked: str, question: ParsedQuestion) -> bool:
    wanted = frozenset().union(
        *(spelling for word in question.words for spelling in word)
    )
    words = stems_of(_COMMAND.sub("", asked, count=1)) - STOP_STEMS
    if not words or len(words & wanted) < SAME_FROM * len(words):
        return False
    return question.coverage(words) >= SAME_FROM


def _says_nothing(asked: str, answer: str) -> bool:
    if word_count(answer) <= LONGEST_EXCUSE and _NOTHING_FOUND.search(answer):
        return True
    return not any(
        len(stem) > 1 for stem in stems_of(answer) - stems_of(asked) - STOP_STEMS
    )
