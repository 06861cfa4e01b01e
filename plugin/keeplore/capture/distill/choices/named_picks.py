"""What the person takes of what was talked about by its name, without another word of a decision:
"postgres then", "ok so a queue", "the tape, yes".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from keeplore.capture.cues import opens_with, pattern, says, weight_of
from keeplore.capture.distill.choices.choice import Choice, asked_choice, choice_of
from keeplore.capture.distill.choices.option_names import named_option
from keeplore.capture.distill.choices.reply_options import (
    RECOMMENDING,
    TAIL,
    last_options,
    puts_several,
)
from keeplore.memory import Exchange
from keeplore.text.sentences import Sentence, answer_line, sentences
from keeplore.text.terms import terms

OPENING = 4  # sentences of a message in which it takes what it names
LONGEST = 8  # sentences; a longer message is about more
LOOK_BACK = 3  # exchanges in which the name was told
NO_CHOICE = ("undecided", "workflow", "chore", "courtesy")


@dataclass(frozen=True, slots=True)
class NamedPick:
    line: str  # what is taken behind what it answers
    said: str  # the sentence that takes it
    choice: Choice | None = None  # that was open


def named_pick(
    message: Sequence[Sentence], earlier: Sequence[Exchange]
) -> NamedPick | None:
    """The first thing that a message takes by its name of what was told before it."""
    if len(message) > LONGEST:
        return None
    recent = earlier[-LOOK_BACK:]
    for sentence in message[:OPENING]:
        if ordered := _ordered_option(sentence.text, recent[-1]):
            return ordered
        if sentence.is_question or not _may_take(sentence.text):
            continue
        pick = (
            _way_taken(sentence.text, recent)
            or _named_pick(sentence.text, recent)
            or _refused(sentence.text, recent[-1])
        )
        if pick:
            return pick
    return None


def _ordered_option(text: str, before: Exchange) -> NamedPick | None:
    """The one way of those that a reply puts that a sentence orders by its name."""
    found = pattern("orders_option").match(text)
    is_asked = text.endswith("?") and not opens_with(text, "task")
    if found is None or is_asked or says(text, "chore"):
        return None
    named = {*terms(found["name"])}
    put = last_options(sentences(before.assistant))
    meant = [way for way in put if named & {*terms(way.text.partition(":")[0])}]
    if len(meant) != 1:
        return None
    line = answer_line(meant[0].text, text)
    return NamedPick(line, text, choice_of(before, put))


def _may_take(text: str) -> bool:
    is_work = opens_with(text, "task") or opens_with(text, "next_step")
    return not is_work and not any(says(text, kind) for kind in NO_CHOICE)


def _way_taken(text: str, recent: Sequence[Exchange]) -> NamedPick | None:
    """One of the ways between which the person just asked, behind a reason or without one."""
    choice = asked_choice(recent[-1].user)
    if choice is None:
        return None
    for words in (text, text.rpartition(" so ")[2]):
        if named_option(words, choice.options):
            return NamedPick(choice.line(text), text, choice)
    return None


def _named_pick(text: str, recent: Sequence[Exchange]) -> NamedPick | None:
    """What a sentence takes by its name of what the agent told, behind the person's question which
    way to go or else behind what was told. A mere name is enough only where a choice was open.
    """
    found = pattern("takes_by_name").match(text)
    about = {*terms(found["name"])} if found else set[str]()
    if found is None or not about or says(text, "trouble"):
        return None
    is_taken = bool(found["so"] or found["end"])
    asked = recent
    for before in reversed(recent):
        told = (
            s.text for s in sentences(before.assistant) if about <= {*terms(s.text)}
        )
        if source := next(told, ""):
            return _pick_of(source, text, asked, is_taken=is_taken)
        asked = asked[:-1]
    return None


def _refused(text: str, before: Exchange) -> NamedPick | None:
    """What a sentence turns down by its name of what the agent just put as a way to go."""
    found = pattern("refuses_name").match(text)
    about = {*terms(found["name"])} if found else set[str]()
    if not about:
        return None
    for sentence in reversed(sentences(before.assistant)[-TAIL:]):
        if about <= {*terms(sentence.text)} and _is_way(sentence):
            return NamedPick(answer_line(sentence.text, text), text)
    return None


def _is_way(sentence: Sentence) -> bool:
    """Does a sentence put what could be done?"""
    is_put = any(weight_of(sentence.text, name) for name in RECOMMENDING)
    return is_put or says(sentence.text, "could_do")


def _pick_of(
    source: str, text: str, asked: Sequence[Exchange], *, is_taken: bool
) -> NamedPick | None:
    """The named way with the question that it answers, else with what the agent told of it."""
    for exchange in reversed(asked):
        if choice := asked_choice(exchange.user) or _question(exchange.user):
            return NamedPick(choice.line(text), text, choice)
    if is_taken or puts_several(last_options(sentences(asked[-1].assistant))):
        return NamedPick(answer_line(source, text), text)
    return None


def _question(message: str) -> Choice | None:
    """A question of the person's which way to go, that names none; "not sure how to call it" is
    one.
    """
    # a sentence with its mark first
    said = sorted(sentences(message), key=lambda s: not s.is_question)
    asked = (s.text for s in said if s.is_question or says(s.text, "undecided"))
    for text in asked:
        if says(text, "asks_choice") and not says(text, "asks_how_to"):
            return Choice(text, ())
    return None
