"""Choices that the agent put to the person: the options of a list or of a question in form, and the
one that a later message takes in place of what was picked first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import takewhile, zip_longest

from keeplore.capture.cues import opens_with, pattern, says, weight_of, word_map
from keeplore.capture.follow_ups import is_confirmation
from keeplore.memory import AgentQuestion, Exchange
from keeplore.text.sentences import (
    Sentence,
    answer_line,
    clip,
    question_and_answer,
    sentences,
)
from keeplore.text.terms import count_terms, terms

LOOK_BACK = 8  # exchanges in which is looked for what a message refers to
LETTERS_BACK = 3  # the same for a letter
TAIL = 8  # sentences at the end of a reply in which it puts its ways and waits for an answer
MAX_PICK_WORDS = 12  # a pick with more words than that states its choice itself
MAX_CHANGED_WORDS = 25  # one with what shall be otherwise
OPENING = 3  # sentences of a message in which it takes another option
QUESTION_TERMS = 3  # content words of a question that tells what the choice is of
REQUEST_SENTENCES = 4  # of a message whose first sentence tells it where nothing asks
NAME_WORDS = 5
ASKED_WORDS = 12  # of a sentence that is little but the ways between which it asks
TELLING_MORE = 2  # content words beside an option's own
RECOMMENDING = ("proposed", "would_do")  # tables of cues
_NAME_END = re.compile(r"\s[-–—(]|[:：,;.(]")
# a name in other letters stands out of Chinese and Japanese, which have no spaces
_WORD = re.compile(r"[぀-ヿ一-鿿]+|(?:[^\W_぀-ヿ一-鿿]+(?:[-.'’][^\W_぀-ヿ一-鿿]+)*)")
_LABEL = re.compile(
    r"\A(?:\*\*|__)?\w+\s*#?(?:[A-Ea-e]|\d)(?:\*\*|__)?\s*[:.)—–-]+(?:\*\*|__)?\s+"
)
_NAME = re.compile(r"`[^`]+`")
_LETTER_APART = re.compile(r"\A\W*(?P<label>[A-Ea-e])[.:)]\s+(?P<text>\S.*)", re.DOTALL)
_INLINE_LABEL = re.compile(r"\((?P<label>[A-Ea-e]|\d)\)\s+")
_ONE_LABEL = re.compile(r"\b(?:[A-Ea-e]|\d{1,2})\b")
# "1 and 3", "a + c": labels, whatever the language joins them with
_SEVERAL = re.compile(
    r"\W*(?:[\w'’]+\s+){0,3}?(?P<labels>(?:[A-Ea-e]|\d{1,2})"
    r"(?:\s*(?:,|&|\+|/|、|\b(?:and|plus|und|et|y|e)\b|和|と)\s*(?:[A-Ea-e]|\d{1,2})\b)+)"
)
# "`a`, `b`, or stick with `c`"
_NAMES_PUT = re.compile(
    r"(?:`[^`]+`,? (?:(?!or )\w+ ){0,2}?)+or (?:\w+ ){0,2}?`[^`]+`", re.IGNORECASE
)
_NEXT_TOLD = re.compile(r"[,;]\s+(?:and|or)\s+|;\s+|\s+or\s+")
# how a sentence or a list goes on from one of its options to the next
_OR = re.compile(r"[,;]?\s+(?:or|and)\W*\Z|[;,:：]\Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Choice:
    """Options that were put at once; ``labels`` are their letters or numbers, in the same order."""

    question: str
    options: tuple[str, ...]
    labels: tuple[str, ...] = ()

    def line(self, option: str) -> str:
        """An option behind the question that it answers."""
        option = _OR.sub("", pattern("note_recommended").sub("", _OR.sub("", option)))
        if not self.question:
            return clip(option)
        return answer_line(self.question.rstrip(".:：。 "), option)

    def rejected_terms(self, taken: Set[str]) -> frozenset[str]:
        """Content words of the options that the terms of the taken one lack."""
        return frozenset(t for option in self.options for t in terms(option)) - taken

    def names_another(self, text: str, taken: str) -> bool:
        """Does a text speak of an option that is a name in code and was not the taken one, and not
        of that?
        """
        named = [option for option in self.options if _NAME.fullmatch(option)]
        spoken = [name for name in named if name.strip("`") in text]
        return bool(spoken) and taken in named and taken not in spoken


def named_choice(line: str) -> tuple[Choice, str]:
    """The choice between names in code that a line of question and answer tells, and the answer."""
    question, answer = question_and_answer(line)
    return Choice(question, tuple(_NAME.findall(question))), answer


def choice_of(exchange: Exchange, options: Sequence[Sentence]) -> Choice:
    """The choice between listed options of a reply, with what it is of: the question behind them,
    the person's question or request before them.
    """
    texts = tuple(option.text for option in options)
    labels = tuple(option.label for option in options)
    return Choice(asked_by(exchange, options), texts, labels)


def without_label(option: str) -> str:
    """An option without the name that only its list gives it, "Option B: "."""
    if not opens_with(option, "option_labelled"):
        return option
    return _LABEL.sub("", option, count=1)


def asked_by(exchange: Exchange, options: Sequence[Sentence]) -> str:
    """The question that leads to the options or that a reply puts last, else the person's question
    or request; "" where neither tells what a choice is of.
    """
    leads = [option.lead for option in options[:1] if says(option.lead, "asks_choice")]
    listed = {option.text for option in options}
    questions = [
        s.text
        for s in sentences(exchange.assistant)
        if s.is_question and s.text not in listed
    ]
    asking = next(iter(leads or questions[-1:]), "")
    is_telling = count_terms(asking) >= QUESTION_TERMS
    return asking if is_telling else _asked_by_person(exchange.user)


def _asked_by_person(message: str) -> str:
    """The last question of a message that asks for a choice, else what it says first; "" for
    neither.
    """
    said = sentences(message)
    asked = [s.text for s in said if s.is_question]
    questions = [text for text in asked if not opens_with(text, "asks_advice")]
    fitting = [text for text in questions if says(text, "asks_choice")]
    # "we need a queue. Which one do we take?" asks of what was told before it
    least = 1 if said and said[0].is_question else 2
    named = [text for text in fitting if count_terms(text) >= least]
    if named:
        return named[-1]
    if len(said) > REQUEST_SENTENCES or (questions and not fitting):
        return ""
    told = (s.text for s in said if not (s.is_question or is_confirmation(s.text)))
    request = next(told, "")
    return "" if _is_no_request(request) else request


def _is_no_request(text: str) -> bool:
    """Does it say nothing, or what only those know who were there, or lead to what is pasted?"""
    is_empty = len(terms(text)) < 2 and not text.endswith("?")
    return is_empty or says(text, "pointer") or text.endswith((":", "："))


def _is_option(sentence: Sentence) -> bool:
    is_item = bool(sentence.label) and sentence.is_first
    return is_item or opens_with(sentence.text, "option_labelled")


def last_options(message: Sequence[Sentence]) -> list[Sentence]:
    """The options of the last list of options."""
    listed = [s for s in message if _is_option(s)]
    place = (listed[-1].lead, listed[-1].heading) if listed else ("", "")
    return [s for s in listed if (s.lead, s.heading) == place]


def offered_ways(message: Sequence[Sentence]) -> list[Sentence]:
    """The ways that the last sentence with an "or" between them names, two in words or several
    names in code; none where there is no such sentence.
    """
    for sentence in reversed(message):
        if found := pattern("two_ways").search(sentence.text):
            return [Sentence(way.strip()) for way in found.groups() if way]
        if len(told := _told_ways(sentence.text, "ways_told")) > 1:
            return told
        if sentence.is_question and (names := _NAMES_PUT.search(sentence.text)):
            return [Sentence(name) for name in _NAME.findall(names[0])]
    return []


def asked_choice(message: str) -> Choice | None:
    """The choice that the person's own question puts, "a queue or a cron job?"; None for a message
    without one.
    """
    for sentence in sentences(message):
        is_order = opens_with(sentence.text, "task")
        if is_order or len(sentence.text.split()) > ASKED_WORDS:
            continue
        if found := pattern("names_ways").search(sentence.text):
            return Choice(sentence.text, tuple(way.strip() for way in found.groups()))
    return None


def way_named(text: str, ways: Sequence[Sentence]) -> Sentence | None:
    """The one way that a text begins with, after words that take it, by some of its words."""
    found = _named_first(text, [_lower_words(way.text) for way in ways])
    return ways[found] if found is not None else None


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


def mere_label(text: str) -> str:
    """The letter or number of an option that a sentence names alone, in capitals; "" for none."""
    pick = pattern("picked").fullmatch(text.rstrip(" .!"))
    return (pick["named"] or pick["bare"] or "").upper() if pick else ""


def _takes_another(sentence: Sentence) -> bool:
    text = sentence.text
    return not sentence.is_question and (
        says(text, "corrected") or says(text, "taken_instead")
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


def _option_at_start(text: str, choice: Choice, *, by_label: bool) -> str:
    """The option that a text begins with, by its name or, in the latest choice, by its label or
    place; "" for none.
    """
    if by_label and (option := _option_by_label(text, choice)):
        return option
    return named_option(text, choice.options)


def named_option(text: str, options: Sequence[str]) -> str:
    """The one option whose name a text begins with, after words that take it; "" for none."""
    found = _named_first(text, [_name_words(option) for option in options])
    return options[found] if found is not None else ""


def _name_words(option: str) -> tuple[str, ...]:
    name = _lower_words(_NAME_END.split(option.strip("*_` "), maxsplit=1)[0])
    return name if len(name) <= NAME_WORDS else ()


def _lower_words(text: str) -> tuple[str, ...]:
    return tuple(word.lower() for word in _WORD.findall(text))


def _named_first(text: str, names: Sequence[tuple[str, ...]]) -> int | None:
    """The place of the one name that a text begins with; None for none and for several."""
    spoken = [*_WORD.finditer(pattern("takes_option").sub("", text, count=1))]
    found = [n for n in range(len(names)) if _begins_with(spoken, names, n)]
    return found[0] if len(found) == 1 else None


def _begins_with(
    spoken: Sequence[re.Match[str]], names: Sequence[tuple[str, ...]], place: int
) -> bool:
    """Do the first words of a text belong to this name and to no other, and end a clause there?"""
    name = names[place]
    named = [*takewhile(lambda word: word.group().lower() in name, spoken)]
    others = (other for n, other in enumerate(names) if n != place)
    own = {word.group().lower() for word in named}.difference(*others)
    if not terms(" ".join(own)):
        return False
    rest = named[-1].string[named[-1].end() :]
    return opens_with(rest, "after_option") and not opens_with(rest, "denies_pick")


def _pick_in(text: str) -> re.Match[str] | None:
    """The label or place of an option that a text begins with; None where it rules it out."""
    pick = pattern("picked").match(text)
    is_out = pick and opens_with(text[pick.end() :], "denies_pick")
    return None if is_out else pick


def _option_by_label(text: str, choice: Choice) -> str:
    """The option whose label or place a text begins with ("B", "the second one"); "" for none."""
    pick = _pick_in(text)
    if pick is None or not opens_with(text[pick.end() :], "after_option"):
        return ""
    if pick["ordinal"]:
        index = _place_of(pick["ordinal"])
        return choice.options[index] if index < len(choice.options) else ""
    label = (pick["named"] or pick["bare"]).upper()
    return choice.options[choice.labels.index(label)] if label in choice.labels else ""


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
    is_pick = not is_list and option_with_label(reply, label) and _awaits_pick(reply)
    if not is_pick or says(first.text, "trouble"):
        return [*message]
    return [Sentence(label), replace(first, label=""), *others]


def _awaits_pick(reply: str) -> bool:
    """Does a reply ask which, or list several ways and recommend one?"""
    said = sentences(reply)
    tail = said[-TAIL:]
    recommends = any(weight_of(s.text, name) for s in tail for name in RECOMMENDING)
    is_several = len(last_options(said)) > 1
    return asks_to_pick(reply) or (is_several and recommends)


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
        return _nth_option(reply, pick["ordinal"]) if _is_taken(opening, pick) else None
    label = (pick["named"] or pick["bare"]).upper()
    # "a" can be an article, "2" a number of things
    is_meant = count <= 3 or pick["word"] or goes_on or "(" in pick.group()
    if is_meant or (label.isdigit() and asks_to_pick(reply)):
        return option_with_label(reply, label)
    return _option_by_name(opening, reply)


def _is_taken(opening: str, pick: re.Match[str]) -> bool:
    """Is an option taken by its place, and is it no "first run the tests"?"""
    rest = opening[pick.end() :]
    is_named = pick.group().split()[-1].lower() != pick["ordinal"].lower()
    return (is_named and not says(rest, "trouble")) or opens_with(rest, "after_option")


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


def _option_by_name(opening: str, reply: str) -> Sentence | None:
    """The one option of the last list that the opening begins with, where the reply asks which;
    else the way that it names, of those that a sentence of the reply puts.
    """
    said = sentences(reply)
    options = [option for option in last_options(said) if not option.is_question]
    if not (_awaits_pick(reply) or puts_several(options)):
        options = []
    name = named_option(opening, [option.text for option in options])
    listed = next((option for option in options if option.text == name), None)
    return listed or way_named(opening, offered_ways(said[-TAIL:]))


def puts_several(options: Sequence[Sentence]) -> bool:
    """Do options stand below a line or a heading that says that they are some?"""
    if len(options) < 2:
        return False
    lead, heading = options[0].lead, options[0].heading
    return says(lead, "options_lead") or says(heading, "options_heading")


def asks_to_pick(reply: str) -> bool:
    return any(
        s.is_question and says(s.text, "asks_which") for s in sentences(reply)[-TAIL:]
    )


def option_with_label(reply: str, label: str) -> Sentence | None:
    """The last option of this letter or number, of a list or within a sentence."""
    said = sentences(reply)
    for sentence in reversed(said):
        labelled = pattern("option_labelled").match(sentence.text)
        labels = (sentence.label, labelled["label"].upper() if labelled else "")
        if sentence.is_first and label in labels:
            return sentence
    for sentence in reversed(said):
        inline = _options_within(sentence.text)
        if label in inline and len(inline) > 1:
            return Sentence(inline[label])
    return None


def _options_within(text: str) -> dict[str, str]:
    """The labels of the options that a sentence lists, "(a) a queue, or (b) a cron job"."""
    found = [*_INLINE_LABEL.finditer(text)]
    ends = [label.start() for label in found[1:]]
    return {
        label["label"].upper(): _OR.sub("", text[label.end() : end]).rstrip(" .;,")
        for label, end in zip_longest(found, ends)
    }


def _place_of(ordinal: str) -> int:
    """The place, counted from 0, that "the second" or "option two" names."""
    name = ordinal.lower().split()[-1]
    places: Mapping[str, int] = word_map("ordinals")
    return next(place for word, place in places.items() if name.startswith(word))


def _nth_option(reply: str, ordinal: str) -> Sentence | None:
    """An option by its place, of the last list or of those that a sentence tells in a row."""
    said = sentences(reply)
    options = last_options(said)
    if len(options) < 2:
        options = _told_in_a_row(said[-TAIL:])
    index = _place_of(ordinal)
    return options[index] if 1 < len(options) <= 6 and index < len(options) else None


def _told_in_a_row(message: Sequence[Sentence]) -> list[Sentence]:
    """What the last sentence lists that says that it is several, "two ways: A, and B"."""
    for sentence in reversed(message):
        if told := _told_ways(sentence.text, "several_told"):
            return told
    return []


def _told_ways(text: str, lead: str) -> list[Sentence]:
    """The ways that a sentence lists behind a lead."""
    found = pattern(lead).match(text)
    if found is None:
        return []
    parts = _NEXT_TOLD.split(text[found.end() :].rstrip(" ."))
    return [Sentence(part.strip()) for part in parts]
