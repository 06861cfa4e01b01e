"""Options that a message picks, with what it changes of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from keeplore.capture.cues import opens_with, pattern, says
from keeplore.capture.distill.agreements.agent_proposals import label_named
from keeplore.capture.distill.agreements.agreed import Agreed, AgreedKind
from keeplore.capture.distill.antecedents import NAMED_TERMS
from keeplore.capture.distill.choices.choice import Choice, choice_of
from keeplore.capture.distill.choices.picks import picked_option
from keeplore.capture.distill.choices.reply_options import (
    TAIL,
    last_options,
    offered_ways,
    option_with_label,
)
from keeplore.memory import Exchange
from keeplore.text.sentences import Sentence, answer_line, sentences
from keeplore.text.terms import terms

CLAUSE_END = re.compile(r"\.{3}|…|\s[-–—]\s")
WORK = ("task", "work_order", "next_step")
_ADDED = re.compile(r",? (?:and|plus) ")
_BEHIND_REASON = re.compile(
    r", (?:so|but(?= (?:let['’]?s|i['’]d|we['’]ll|use|take|go)\b)) ", re.IGNORECASE
)
# before what a sentence asks that began as an answer: "the first, but do we need both?"
_BEFORE_QUESTION = re.compile(r",\s+(?=(?:but|and|though|although|except)\b)")


def picked_later(message: Sequence[Sentence], before: Exchange) -> Agreed | None:
    """The option that a message picks behind what it says first: "who runs that? 1 for now", "we
    have no ops person, so the first".
    """
    for sentence in message:
        if ended := _picked_behind_reason(sentence, before):
            return ended
    for sentence in message[1:]:
        opening = "" if sentence.label else opening_of(sentence)
        pick = pattern("picked").match(opening)
        is_plain = pick is None or opens_with(opening[pick.end() :], "after_option")
        if is_plain and (option := picked_option(opening, before.assistant)):
            picked = agreed_option(option, opening, sentence.text, before)
            return replace(picked, said=sentence.text)
    return None


def _picked_behind_reason(sentence: Sentence, before: Exchange) -> Agreed | None:
    reason, *opening = _BEHIND_REASON.split(sentence.text)
    option = (
        picked_option(opening[-1], before.assistant) if opening and reason else None
    )
    if option is None or sentence.is_question:
        return None
    text = answer_line(option.text, sentence.text)
    return Agreed(text, AgreedKind.AMENDED, choice_with(option, before), sentence.text)


def agreed_option(
    option: Sentence, opening: str, said: str, before: Exchange
) -> Agreed:
    """An option, with the words that picked it where they change it."""
    choice = choice_with(option, before)
    rest = _behind_pick(opening)
    is_changed = says(opening, "with_change") or says(rest, "with_change")
    if is_changed or _added_to(option.text, opening):
        text = answer_line(option.text, opening)
        return Agreed(text, AgreedKind.AMENDED, choice, said=said)
    return Agreed(option.text, AgreedKind.PICK, choice)


def _added_to(option: str, opening: str) -> bool:
    """Does a message name more behind the option, "the old name, and a guard on all of them"?"""
    added = " ".join(_ADDED.split(opening, maxsplit=1)[1:])
    if says(added, "workflow") or any(opens_with(added, name) for name in WORK):
        return False
    return len({*terms(added)} - {*terms(option)}) >= NAMED_TERMS


def _behind_pick(opening: str) -> str:
    """What stands behind the label of an option, "A with server timestamps"."""
    pick = pattern("picked").match(opening)
    return opening[pick.end() :] if pick else ""


def named_by(proposal: Sentence, before: Exchange) -> Agreed | None:
    """The option that a proposal names by its label alone, "I recommend approach 1"."""
    text = proposal.text.rstrip(".! ")
    named = label_named(text)
    is_advised = pattern("advised_label").search(text) is not None
    if named is None or (len(terms(text)) > NAMED_TERMS and not is_advised):
        return None
    label = next(filter(None, named.groups())).upper()
    option = option_with_label(before.assistant, label)
    if option is None:
        return None
    # the question names it by its label, too
    choice = replace(choice_with(option, before), question="")
    return Agreed(option.text, AgreedKind.PICK, choice)


def choice_with(option: Sentence, before: Exchange) -> Choice:
    said = sentences(before.assistant)
    put = (last_options(said), offered_ways(said[-TAIL:]))
    return choice_of(before, next((ways for ways in put if option in ways), [option]))


def opening_of(sentence: Sentence) -> str:
    """What a message begins with that may answer: of "yes, A ... and what about B?" the yes; ""
    for a mere question.
    """
    opening = CLAUSE_END.split(sentence.text, maxsplit=1)[0]
    if sentence.is_question and opening == sentence.text:
        opening = _BEFORE_QUESTION.split(opening, maxsplit=1)[0]
    is_asking = opening == sentence.text and sentence.is_question
    return "" if is_asking or opening.endswith("?") else opening
