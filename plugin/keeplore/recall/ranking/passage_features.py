"""What a passage's own words show beside how well it matches: who speaks, and whether it states a
rule.
"""

from __future__ import annotations

import re

from keeplore.index import PassageRow
from keeplore.recall.question import ParsedQuestion, modifiers, stems_of
from keeplore.recall.repeated_questions import ends_with_question_mark, named_speaker
from keeplore.recall.weights import Weights
from keeplore.text.unspaced import word_count

FEW_WORDS, MANY_WORDS = (
    10,
    40,
)  # of a passage: it says little below, enough from there on
NEIGHBOURS = 2  # sentences in which a rule and what it is about stand together
_BREAK = re.compile(r"(?<=[.!?;:])\s+|\n+")
ROLE = re.compile(r"(?:User|Assistant): ")
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


def feature_bonuses(
    passage: PassageRow, question: ParsedQuestion, w: Weights
) -> dict[str, float]:
    """The log-odds that a passage gains or loses by what it is, however it was found, each under
    its reason.
    """
    text = ROLE.sub("", passage.said, count=1)
    count = word_count(text)
    length = max(-1.0, min(1.0, (count - FEW_WORDS) / (MANY_WORDS - FEW_WORDS)))
    is_named = named_speaker(text) in _NAME.findall(question.text)
    return {
        f"{count} words": w.telling * length,
        "it ends with a question": -w.asking if ends_with_question_mark(text) else 0.0,
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
