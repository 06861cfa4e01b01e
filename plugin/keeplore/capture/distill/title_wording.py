"""A sentence of talk in the words of a title: address and politeness off, an imperative or a noun
phrase left.
"""

from __future__ import annotations

import functools
import re

from keeplore.capture.cues import meanings, opens_with, pattern, says, words
from keeplore.capture.distill.key_phrases import plain
from keeplore.text.sentences import Sentence
from keeplore.text.terms import stems, terms

MAX_TITLE = 70  # characters
_EDGES = " .,;:!?-–—…\"'|/，。；：！、"
_NUMBER = re.compile(r"\A\(?(?:\d{1,2}|[A-E])[.):]\)?\s+")
# arrows and pictographs
_SIGNS = re.compile(
    r"\s*[\u2190-\u21ff\u2600-\u27bf\U0001f300-\U0001faff].*|\s+->.*|\s+<-.*"
)
_STRUCTURE = re.compile(
    r"^\s{0,3}(?:#{1,6}\s+\S|\d{1,2}[.)]\s+\S|[-*]\s+\S|</?[a-z_]+>\s*$)", re.MULTILINE
)
_ADDRESS_CHARS, _STRUCTURE_CHARS = 600, 20_000
_STRUCTURED = 3  # headings and list items from which a message is a document
_COMMIT_KIND = re.compile(
    r"\A(?P<kind>[a-z]{2,10})(?:\([^)]{1,40}\))?!?:\s+", re.IGNORECASE
)
_HASH = re.compile(r"\A[0-9a-f]{7,40} ")


def imperative(text: str) -> str:
    """The request or statement that a plain sentence makes, cut to a title's length."""
    text = _without(_without(text, "title_heading_label"), "title_asides")
    text = _without(pattern("title_why").sub("why ", text), "title_address")
    text = _opened(text)
    is_asked = text.rstrip().endswith("?")
    text = pattern("title_how").sub("how to ", text)
    title = fit(re.sub(r",? please\b(?=[ ,.?!]|\Z)", "", text))
    if (
        is_asked
        and opens_with(title, "title_asking")
        and not title.startswith("how to")
    ):
        return f"{title}?"
    return title


def _opened(text: str) -> str:
    """The text from its point on: openers stand one before the other ("ok, so could you
    please").
    """
    for _ in range(8):
        shorter = pattern("title_openers").sub("", text, count=1)
        shorter = pattern("title_for_me").sub(r"\1 ", shorter)
        if shorter == text:
            shorter = text.removeprefix("to ")
        if shorter == text:
            break
        text = shorter
    return text


def _without(text: str, name: str) -> str:
    """The text without the phrases of this name."""
    return pattern(name).sub("", text)


def decided(text: str) -> str:
    """What a sentence that decides says, without "we decided"."""
    return imperative(_without(plain(text), "title_decision_openers"))


def committed(commit: str) -> str:
    """The subject of a commit ("hash Subject", or that alone) without the kind in front; "" for a
    chore.
    """
    subject = plain(_HASH.sub("", commit))
    kind = _COMMIT_KIND.match(subject)
    if kind and kind["kind"].lower() in words("chores"):
        return ""
    subject = subject[kind.end() :] if kind else subject
    subject = _without(subject, "title_heading_label")
    subject = re.sub(r"\s*\(#\d+\)\Z", "", subject).strip(_EDGES)
    return subject if len(subject) <= MAX_TITLE else fit(subject)


def told(sentence: Sentence) -> str:
    """What the agent says that it did, as an order, or the heading of its report; "" for any other
    sentence.
    """
    text = plain(sentence.text)
    did = pattern("title_did").match(_NUMBER.sub("", text))
    if did is None:
        head = heading(text) if sentence.is_heading else ""
        return head if len(terms(head)) < 9 else ""
    if len(stems(did["did"])) < 3:
        return ""
    verb = did["verb"].lower()
    order = meanings("imperatives").get(verb) or verb.removesuffix("ed")
    what = did["did"][len(verb) :].replace(": ", " ", 1)
    return fit(_without(order + what, "title_asides"))


def heading(text: str) -> str:
    """A heading without its label ("Plan:"), "" for one that would head any page."""
    head = _without(_NUMBER.sub("", plain(text)), "title_heading_label")
    if opens_with(head, "title_generic_heading") or len(terms(head)) < 2:
        return ""
    return fit(head)


def is_pasted(message: str) -> bool:
    """True where a message is a document: a plan, a skill, a page."""
    is_page = message.lstrip().startswith("#")
    return is_page or opens_with(message, "title_pasted") or is_instructions(message)


def is_instructions(message: str) -> bool:
    """True for a skill or a prompt that was written for agents: its rules are not what the person
    says today.
    """
    head = message.lstrip()[:_ADDRESS_CHARS]
    if opens_with(head, "skill_head"):
        return True
    structure = _STRUCTURE.findall(message[:_STRUCTURE_CHARS])
    return len(structure) >= _STRUCTURED and says(head, "title_addressed")


def named(phrase: str) -> set[str]:
    """Stems of the words that say which thing is meant, and not only that there is a change, a
    file, a test.
    """
    return stems(phrase) - _generic()


@functools.cache
def _generic() -> set[str]:
    return stems(" ".join(words("generic")))


def vagueness(title: str) -> float:
    """How much a title leans on what only those know who were there, 0 for none."""
    loose = sum(
        len(pattern(name).findall(title)) for name in ("title_vague", "title_person")
    )
    start = 0.0
    if opens_with(title, "title_no_start"):
        start = 2.0
    elif opens_with(title, "title_preposition"):
        start = 1.2
    return 0.45 * loose + start


def fit(text: str) -> str:
    """Cut at a clause, then between words, without a dangling small word."""
    head = _SIGNS.sub("", text)
    text = (head if len(stems(head)) > 1 else text).strip(_EDGES)
    text = _cut_between_words(_cut_at_clause(text))
    if text.count("(") > text.count(")"):
        text = text[: text.rfind("(")]
    text = _without(text.strip(_EDGES), "title_dangling").strip(_EDGES)
    return text.replace('"', "") if text.count('"') == 1 else text


def _cut_at_clause(text: str) -> str:
    for clause in pattern("title_cut").finditer(text):
        if len(stems(text[: clause.start()])) > 1:
            is_far = len(text) > MAX_TITLE or clause.start() > MAX_TITLE // 3
            return text[: clause.start()] if is_far else text
    return text


def _cut_between_words(text: str) -> str:
    if len(text) <= MAX_TITLE:
        return text
    head = text[: MAX_TITLE + 1]
    softer = [found.start() for found in pattern("title_and").finditer(head)]
    if softer and softer[-1] > MAX_TITLE // 2:
        return text[: softer[-1]]
    return text[: max(head.rfind(" "), 0) or MAX_TITLE]
