"""The options that a message picks by their label, place or name: of what the reply before it put,
and of an earlier choice in place of what was picked first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from keeplore.capture.cues import opens_with, pattern, says, weight_of
from keeplore.capture.distill.choices.choice import (
    LOOK_BACK,
    Choice,
    asked_choice,
    choice_of,
)
from keeplore.capture.distill.choices.option_names import named_option, way_named
from keeplore.capture.distill.choices.reply_options import (
    TAIL,
    asks_to_pick,
    awaits_pick,
    last_options,
    nth_option,
    offered_ways,
    option_with_label,
    place_of,
    puts_several,
)
from keeplore.memory import AgentQuestion, Exchange
from keeplore.text.sentences import Sentence, answer_line, sentences
from keeplore.text.terms import terms

LETTERS_BACK = 3  # the same for a letter
MAX_PICK_WORDS = 12  # a pick with more words than that states its choice itself
MAX_CHANGED_WORDS = 25  # one with what shall be otherwise
OPENING = 3  # sentences of a message in which it takes another option
FIRST_LABELS = ("1", "A")
TELLING_MORE = 2  # content words beside an option's own
_LETTER_APART = re.compile(r"\A\W*(?P<label>[A-Ea-e])[.:)]\s+(?P<text>\S.*)", re.DOTALL)
_ONE_LABEL = re.compile(r"\b(?:[A-Ea-e]|\d{1,2})\b")
# "1 and 3", "a + c": labels, whatever the language joins them with
_SEVERAL = re.compile(
    r"\W*(?:[\w'’]+\s+){0,3}?(?P<labels>(?:[A-Ea-e]|\d{1,2})"
    r"(?:\s*(?:,|&|\+|/|、|\b(?:and|plus|und|et|y|e)\b|和|と)\s*(?:[A-Ea-e]|\d{1,2})\b)+)"
)


def picked_option(opening: str, reply: str) -> Sentence | None:
    """The option of the reply that the opening of a message names, and says little else."""
    pick = _pick_in(opening)
    count = len(opening.split())
    goes_on = pick and opens_with(opening[pick.end() :], "behind_a_pick")
    if count > (MAX_CHANGED_WORDS if goes_on else MAX_PICK_WORDS):
        return None
    if pick is None:
        return _option_by_name(opening, reply)
    if pick["ordinal"]:
        return nth_option(reply, pick["ordinal"]) if _is_taken(opening, pick) else None
    label = (pick["named"] or pick["bare"]).upper()
    # "a" can be an article, "2" a number of things
    is_meant = count <= 3 or pick["word"] or goes_on or "(" in pick.group()
    if is_meant or (label.isdigit() and asks_to_pick(reply)):
        return option_with_label(reply, label)
    return _option_by_name(opening, reply)


def _option_by_name(opening: str, reply: str) -> Sentence | None:
    """The one option of the last list that the opening begins with, where the reply asks which;
    else the way that it names, of those that a sentence of the reply puts.
    """
    said = sentences(reply)
    options = [option for option in last_options(said) if not option.is_question]
    if not (awaits_pick(reply) or puts_several(options)):
        options = []
    name = named_option(opening, [option.text for option in options])
    listed = next((option for option in options if option.text == name), None)
    return listed or way_named(opening, offered_ways(said[-TAIL:]))


def _is_taken(opening: str, pick: re.Match[str]) -> bool:
    """Is an option taken by its place, and is it no "first run the tests"?"""
    rest = opening[pick.end() :]
    is_named = pick.group().split()[-1].lower() != pick["ordinal"].lower()
    return (is_named and not says(rest, "trouble")) or opens_with(rest, "after_option")


def _pick_in(text: str) -> re.Match[str] | None:
    """The label or place of an option that a text begins with; None where it rules it out."""
    pick = pattern("picked").match(text)
    is_out = pick and opens_with(text[pick.end() :], "denies_pick")
    return None if is_out else pick


def picked_options(opening: str, reply: str) -> list[Sentence]:
    """The options of a reply that the opening of a message names by their labels ("1 and 3"); none
    where it names one alone, or one that is not there.
    """
    picks = _SEVERAL.match(opening)
    if picks is None or not opens_with(opening[picks.end() :], "after_option"):
        return []
    labels = _ONE_LABEL.findall(picks["labels"])
    found = [option_with_label(reply, label.upper()) for label in labels]
    options = [option for option in found if option]
    return options if len(options) == len(labels) else []


def with_label_apart(message: Sequence[Sentence], reply: str) -> list[Sentence]:
    """A message that begins with the number of an option, "2. Also cap retries", with the number by
    itself: it is no list.
    """
    first, *others = message
    label = first.label.upper()
    if not label and (lettered := _LETTER_APART.match(first.text)):
        label, text = lettered["label"].upper(), lettered["text"]
        first = replace(first, text=text)
    is_list = not label.isalnum() or any(sentence.label for sentence in others)
    if is_list or not _is_pickable(label, reply) or says(first.text, "trouble"):
        return [*message]
    return [Sentence(label), replace(first, label=""), *others]


def _is_pickable(label: str, reply: str) -> bool:
    """Does a reply put an option of this label? A message that begins with the first one may begin
    a list.
    """
    option = option_with_label(reply, label)
    if option is None or weight_of(option.text, "done"):
        return False
    asked = [s.text for s in sentences(reply)[-TAIL:] if s.is_question]
    if any(says(text, "asks_next_work") for text in asked):
        return False
    return awaits_pick(reply) or label not in FIRST_LABELS


def mere_label(text: str) -> str:
    """The letter or number of an option that a sentence names alone, in capitals; "" for none."""
    pick = pattern("picked").fullmatch(text.rstrip(" .!"))
    return (pick["named"] or pick["bare"] or "").upper() if pick else ""


@dataclass(frozen=True, slots=True)
class TakenOption:
    """An option with its choice, and the sentence that took it."""

    choice: Choice
    option: str
    said: str

    @property
    def answer(self) -> str:
        """The option; the person's words where they tell more than its name, behind it where they
        name it by its label alone.
        """
        said, option = {*terms(self.said)}, {*terms(self.option)}
        if len(said - option) < TELLING_MORE:
            return self.option
        return self.said if said & option else answer_line(self.option, self.said)


def replacing_pick(
    message: Sequence[Sentence], earlier: Sequence[Exchange]
) -> TakenOption | None:
    """The option of an earlier choice that a message takes in place of another; None where it
    corrects nothing or names no option.
    """
    opening = [s for s in message[:OPENING] if not s.label]
    if not any(_takes_another(sentence) for sentence in opening):
        return None
    choices = [*_recent_choices(earlier, LOOK_BACK)]
    for sentence in opening:
        if sentence.is_question:
            continue
        named = pattern("takes_option").sub("", sentence.text, count=1)
        for place, choice in enumerate(choices):
            option = _option_at_start(named, choice, by_label=place == 0)
            if option:
                return TakenOption(choice, option, sentence.text)
    return None


def _takes_another(sentence: Sentence) -> bool:
    text = sentence.text
    return not sentence.is_question and (
        says(text, "corrected") or says(text, "taken_instead")
    )


def _option_at_start(text: str, choice: Choice, *, by_label: bool) -> str:
    """The option that a text begins with, by its name or, in the latest choice, by its label or
    place; "" for none.
    """
    if by_label and (option := _option_by_label(text, choice)):
        return option
    return named_option(text, choice.options)


def _option_by_label(text: str, choice: Choice) -> str:
    """The option whose label or place a text begins with ("B", "the second one"); "" for none."""
    pick = _pick_in(text)
    if pick is None or not opens_with(text[pick.end() :], "after_option"):
        return ""
    if pick["ordinal"]:
        index = place_of(pick["ordinal"])
        return choice.options[index] if index < len(choice.options) else ""
    label = (pick["named"] or pick["bare"]).upper()
    return choice.options[choice.labels.index(label)] if label in choice.labels else ""


def picked_by_letter(
    message: Sequence[Sentence], earlier: Sequence[Exchange]
) -> TakenOption | None:
    """The option whose letter is all that a sentence says ("ok, that is fine. Then B"), of the
    latest choice between letters; None where there is none.
    """
    picks = [sentence.text for sentence in message if mere_label(sentence.text)]
    if not picks:
        return None
    recent = _recent_choices(earlier, LETTERS_BACK)
    choice = next((c for c in recent if "".join(c.labels).isalpha()), None)
    if choice is None:
        return None
    taken = ((text, _option_by_label(text, choice)) for text in picks)
    return next(
        (TakenOption(choice, option, text) for text, option in taken if option), None
    )


def _recent_choices(earlier: Sequence[Exchange], back: int) -> Iterator[Choice]:
    """The choices of the last ``back`` exchanges, the last one first."""
    for exchange in reversed(earlier[-back:]):
        yield from _choices(exchange)


def _choices(exchange: Exchange) -> Iterator[Choice]:
    """The choices that a reply put, the last one first."""
    for reply in reversed(exchange.replies):
        if isinstance(reply, AgentQuestion):
            if len(reply.options) > 1:
                yield Choice(" ".join(reply.question.split()), reply.options)
            continue
        options = last_options(sentences(reply))
        if len(options) > 1 and not all(option.is_question for option in options):
            yield choice_of(exchange, options)
    if asked := asked_choice(exchange.user):
        yield asked
