"""How a statement is worded as a note: without the words that lead up to it, and readable alone."""

from __future__ import annotations

import re

from keeplore.capture.cues import pattern, says, word_list
from keeplore.memory.note import TITLE_CHARS, shortened
from keeplore.text.sentences import ARROW, bare, plain_words
from keeplore.text.terms import count_terms, terms

QUESTION_CHARS = 32  # that a question keeps in the title of its answer
FEW_TERMS = 3  # content words; a statement has that many, or its verb
_LOWER_WORD = re.compile(r"[a-z]+(?:['’][a-z]+)?[,;:]?(?:\s|\Z)")


def points_elsewhere(text: str) -> bool:
    """True where a word stands for what was said before, so that the sentence cannot be read
    alone.
    """
    text = pattern("led_in").sub("", text)
    text = pattern("in_project").sub(r"\g<what>", text)
    if any(says(text, name) for name in ("pointer", "demonstrative", "subjectless")):
        return True
    pronoun = pattern("pronoun").search(text)
    return pronoun is not None and count_terms(text[: pronoun.start()]) < 2


def without_lead(text: str) -> str:
    """What follows "ok", "also", "btw" and the like."""
    return pattern("note_loose").sub("", text)


def without_opener(text: str) -> str:
    """The statement without the small words that lead up to it."""
    rest = pattern("opener").sub("", without_lead(text), count=1)
    led = text[: len(text) - len(rest)]
    # "no tests on Friday" says the opposite without its "no"
    is_part = says(led, "note_negation")
    return capitalised(text if is_part or len(terms(rest)) < 2 else rest)


def capitalised(text: str) -> str:
    """The text with a capital where it begins with a word in lower case."""
    text = bare(text)
    if text.startswith("(") and text.endswith(")") and text.count("(") == 1:
        text = text[1:-1]
    return text[:1].upper() + text[1:] if _LOWER_WORD.match(text) else text


def is_bare(text: str) -> bool:
    """True for a few words that hold no statement and no order."""
    if len(terms(text)) >= FEW_TERMS:
        return False
    if says(text, "states_present") or says(text, "of_all"):
        return False
    return text.partition(" ")[0].lower() not in word_list("title_verbs")


def answer_title(question: str, answer: str) -> str:
    """Question and answer as a title, the answer as whole as there is room for."""
    room = TITLE_CHARS - len(ARROW)
    answer = plain_words(answer).rstrip(":：")
    answer = shortened(answer, room - min(len(question), QUESTION_CHARS))
    question = capitalised(without_lead(question.rstrip(".:：。 ")))
    return f"{shortened(question, room - len(answer))}{ARROW}{answer}"
