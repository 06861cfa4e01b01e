"""The words of a title: verbs of the work, words that name something, and words that lean on what
only those know who were there.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator

from keeplore.capture.cues import pattern, says, word_list, word_map
from keeplore.text.terms import is_identifier, stems

MAX_SENTENCE = 400  # characters of one that are looked at
_LEADS = 8  # words of address and politeness that stand one before the other
# of an item of a list
NUMBER = re.compile(r"\A\(?(?:\d{1,2}|[A-E])[.):]\)?\s+")
# what stands before a verb: "rebuild", "pre-load"
_AGAIN = re.compile(r"\A(?:re|pre|un|de|auto)-?")
ARTICLE = re.compile(
    r"\A(?:a (?:lot|bunch|couple) of(?: the)?|an?|(?:all )?(?:the|these|those|our|my)|some|any|"
    r"all)\s+",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"(?<!\w)(['\"])[^'\"]+\1(?!\w)|[‘“][^’”]+[’”]")


def distinctive_stems(phrase: str) -> set[str]:
    """Stems of the words that tell one conversation from another, and not only that there is a
    change, a file, a test.
    """
    return stems(phrase) - _generic_stems()


def naming_stems(phrase: str) -> set[str]:
    """The words of a phrase that say which thing is meant, so not the verb of an order."""
    verb, _, rest = phrase.partition(" ")
    return distinctive_stems(rest if is_verb(verb.lower()) else phrase)


@functools.cache
def _generic_stems() -> set[str]:
    return stems(" ".join(word_list("generic")))


def subject_of(line: str) -> str:
    """The name of its subject that a line begins with, "" for none."""
    found = pattern("title_subject").match(line)
    name = found[1] if found else ""
    is_name = not says(name, "title_wanting") and not says(name, "title_leaning")
    return name if is_name and naming_stems(name) else ""


def looseness(title: str) -> int:
    """How many of its words lean on what only those know who were there, or on who speaks."""
    return count_loose_words(title) + len(pattern("title_personal").findall(title))


def count_loose_words(title: str) -> int:
    """How many of its words, outside of quotations, lean on what was there."""
    return len(pattern("title_loose").findall(_QUOTED.sub("", title)))


def is_step(phrase: str) -> bool:
    """True for an order that only says what to do next."""
    return phrase.partition(" ")[0].lower() in word_list("title_steps")


def is_on_the_way(verb: str) -> bool:
    """True for a verb of looking and of other steps that lead up to the work."""
    return verb in word_list("title_steps") or verb in word_list("title_looking")


def is_verb(word: str) -> bool:
    """True for a verb of the work, in small letters."""
    verbs = word_list("title_verbs")
    return word in verbs or _AGAIN.sub("", word) in verbs


@functools.cache
def verbs_by_past_form() -> dict[str, str]:
    """Verbs by their past forms."""
    regular = {form: verb for verb in _verbs() for form in _with_ending(verb, "ed")}
    return regular | {past: str(verb) for past, verb in word_map("title_past").items()}


@functools.cache
def verbs_by_gerund() -> dict[str, str]:
    """Verbs by their forms in "-ing"."""
    return {form: verb for verb in _verbs() for form in _with_ending(verb, "ing")}


def _verbs() -> list[str]:
    return sorted(word_list("title_verbs"))


def _with_ending(verb: str, ending: str) -> Iterator[str]:
    """How a form may be written: "added", "cached", "copied", "dropped"."""
    yield verb + ending
    yield verb.removesuffix("e") + ending
    yield verb + verb[-1] + ending
    if ending == "ed" and verb.endswith("y"):
        yield verb[:-1] + "ied"


def without_lead(text: str, *names: str) -> str:
    """The text from its point on: leads stand one before the other ("ok, so could you please")."""
    for _ in range(_LEADS):
        shorter = text
        for name in names:
            shorter = without_phrases(shorter, name)
        if shorter == text:
            break
        text = shorter
    return text


def without_phrases(text: str, name: str) -> str:
    """The text without the phrases of this name."""
    return pattern(name).sub("", text)


def capitalised(text: str) -> str:
    """First letter large, unless the first word is an identifier whose case matters."""
    first = text.split(" ", 1)[0].rstrip(".,;:!?")
    return text if not text or is_identifier(first) else text[0].upper() + text[1:]
