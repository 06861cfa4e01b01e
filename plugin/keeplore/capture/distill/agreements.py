"""What one side made its own of the other's words: an option that was picked, a proposal, an offer
or a design that was agreed to, and a way that the person suggested and the agent found right.

A proposal and the agreement to it tell a decision more surely than the form of any sentence
(R. Fernández et al., "Modelling and detecting decisions in multi-party dialogue", SIGdial 2008).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import groupby
from operator import attrgetter

from keeplore.capture.adjacency import (
    closing_question,
    closing_questions,
    last_question,
    last_reply,
)
from keeplore.capture.cues import opens_with, pattern, says, weight_of
from keeplore.capture.distill.antecedents import (
    INFORMATIVE_TERMS,
    NAMED_TERMS,
    offered_work,
    stands_alone,
)
from keeplore.capture.distill.choices import (
    OPENING,
    TAIL,
    Choice,
    TakenOption,
    asked_by,
    asks_to_pick,
    choice_of,
    last_options,
    offered_ways,
    option_with_label,
    picked_by_letter,
    picked_option,
    picked_options,
    replacing_pick,
)
from keeplore.capture.distill.named_picks import named_pick
from keeplore.capture.follow_ups import amends_proposal, behind_yes
from keeplore.memory import AgentQuestion, Exchange
from keeplore.text.revisions import CHANGING
from keeplore.text.sentences import Sentence, answer_line, sentences
from keeplore.text.terms import count_terms, terms

MAX_YES_WORDS = (
    6  # an agreement to an offer with more words states itself what it agrees to
)
PLAN_HEADINGS = 3  # from which a message is a plan
IN_REPLY = 3  # sentences at the beginning of a message that answer what was said before
VALUE_BACK = 2  # exchanges in which the number was named that a message corrects
MOST_POINTS = 4  # of a proposal
_BREAK = re.compile(r"\.{3}|…|\s[-–—]\s")
_BEHIND_REASON = re.compile(
    r", (?:so|but(?= (?:let['’]?s|i['’]d|we['’]ll|use|take|go)\b)) ", re.IGNORECASE
)
# before what a sentence asks that began as an answer: "the first, but do we need both?"
_BEFORE_QUESTION = re.compile(r",\s+(?=(?:but|and|though|although|except)\b)")


class AgreedKind(StrEnum):
    PICK = "pick"  # one option of several
    OTHER_PICK = "other pick"  # another one than before
    PROPOSAL = "proposal"  # the one that waited
    AMENDED = "amended"  # likewise, with what shall be otherwise
    NEW_VALUE = "new value"  # another number than was proposed or decided
    NAMED = "named"  # what a message takes by its name
    OFFER = "offer"  # what the agent would do next
    ANSWERED_OFFER = "answered offer"  # likewise, the text with the person's answer


@dataclass(frozen=True, slots=True)
class Agreed:
    """What the person made their own of the agent's words."""

    text: str
    kind: AgreedKind
    choice: Choice | None = None  # that a pick was made of
    said: str = (
        ""  # the sentence that changed it, or took it where that was not the first
    )

    @property
    def line(self) -> str:
        """An option behind the question that it answers; anything else by itself."""
        return self.choice.line(self.text) if self.choice else self.text

    @property
    def is_offer(self) -> bool:
        return self.kind in {AgreedKind.OFFER, AgreedKind.ANSWERED_OFFER}


def agreement_in(
    message: Sequence[Sentence], earlier: Sequence[Exchange]
) -> Agreed | None:
    """The agent's option that a message picks, or its proposal that the message agrees to, and None
    where that is only what the work goes on with; ``earlier`` are the exchanges before the message,
    at least one.
    """
    if says(closing_question(earlier[-1].assistant), "asks_next_work"):
        return None
    following = [s for s in message[1:OPENING] if not s.label]
    if other := replacing_pick(message, earlier) or picked_by_letter(
        following, earlier
    ):
        return _other_pick(other)
    if labelled := _sentence_named_by(message[0], earlier[-1].assistant):
        return Agreed(labelled.text, AgreedKind.PROPOSAL)
    if at_once := _agreed_at_once(message, earlier[-1]):
        return at_once
    if later := _picked_later(message[:OPENING], earlier[-1]):
        return later
    if letter := picked_by_letter(message[:1], earlier[:-1]):
        return _other_pick(letter)
    if _asks_fact(earlier[-1]):
        return None
    if named := named_pick(message, earlier):
        text = named.said if named.choice else named.line
        return Agreed(text, AgreedKind.NAMED, named.choice, named.said)
    return _corrected_value(message[0], earlier[-VALUE_BACK:])


def _asks_fact(before: Exchange) -> bool:
    """Does a reply end by asking how things are? A figure is the answer to that, and no choice."""
    return opens_with(closing_question(before.assistant), "asks_fact")


def _other_pick(taken: TakenOption) -> Agreed:
    return Agreed(taken.answer, AgreedKind.OTHER_PICK, taken.choice, taken.said)


def _agreed_at_once(message: Sequence[Sentence], before: Exchange) -> Agreed | None:
    """What the first sentence of a message agrees to: options, an offer with a change or another
    value, something by its name, or an offer by a plain yes.
    """
    opening = _opening(message[0])
    if not opening:
        return None
    if several := picked_options(opening, before.assistant):
        listed = "; ".join(option.text.rstrip(". ") for option in several)
        return Agreed(listed, AgreedKind.PICK, _choice_with(several[0], before))
    option = None if message[0].label else picked_option(opening, before.assistant)
    if option is not None:
        return _agreed_option(option, opening, message[0].text, before)
    if amends_proposal(opening):
        return _amended_proposal(opening, message[0].text, before)
    if value := _value_set(message):
        return _valued_itself(value, message) or _amended_proposal(value, value, before)
    if approved := _approved_by_name(opening, message[0].text, before):
        return approved
    return _agreed_by_yes(opening, message, before)


def _agreed_by_yes(
    opening: str, message: Sequence[Sentence], before: Exchange
) -> Agreed | None:
    """The proposal, the person's own suggestion or the offer that a yes is for."""
    behind = behind_yes(opening)
    if behind is None or _is_no_yes(behind):
        return None
    if any(_corrects(s.text) for s in message[1:3]):
        return None
    if proposal := _waiting_proposal(before.assistant):
        return _named_by(proposal, before) or Agreed(proposal.text, AgreedKind.PROPOSAL)
    if opens_with(opening, "orders_it") and (own := _own_suggestion(before)):
        return Agreed(own, AgreedKind.AMENDED)
    is_yes = len(behind.split()) < MAX_YES_WORDS
    return _accepted_offer(opening, before) if is_yes else None


def _is_no_yes(behind: str) -> bool:
    """Does what stands behind a yes limit it, or tell something else?"""
    return says(behind, "hedged_reply") or opens_with(behind, "goes_elsewhere")


def _opening(sentence: Sentence) -> str:
    """What a message begins with that may answer: of "yes, A ... and what about B?" the yes; ""
    for a mere question.
    """
    opening = _BREAK.split(sentence.text, maxsplit=1)[0]
    if sentence.is_question and opening == sentence.text:
        opening = _BEFORE_QUESTION.split(opening, maxsplit=1)[0]
    is_asking = opening == sentence.text and sentence.is_question
    return "" if is_asking or opening.endswith("?") else opening


def _picked_later(message: Sequence[Sentence], before: Exchange) -> Agreed | None:
    """The option that a message picks behind what it says first: "who runs that? 1 for now", "we
    have no ops person, so the first".
    """
    for sentence in message:
        if ended := _picked_behind_reason(sentence, before):
            return ended
    for sentence in message[1:]:
        opening = "" if sentence.label else _opening(sentence)
        pick = pattern("picked").match(opening)
        is_plain = pick is None or opens_with(opening[pick.end() :], "after_option")
        if is_plain and (option := picked_option(opening, before.assistant)):
            picked = _agreed_option(option, opening, sentence.text, before)
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
    return Agreed(text, AgreedKind.AMENDED, _choice_with(option, before), sentence.text)


def _agreed_option(
    option: Sentence, opening: str, said: str, before: Exchange
) -> Agreed:
    """An option, with the words that picked it where they change it."""
    choice = _choice_with(option, before)
    if says(opening, "with_change"):
        text = answer_line(option.text, opening)
        return Agreed(text, AgreedKind.AMENDED, choice, said=said)
    return Agreed(option.text, AgreedKind.PICK, choice)


def _approved_by_name(opening: str, said: str, before: Exchange) -> Agreed | None:
    """What a reply proposes, where the message says that the way it names is fine; of another way
    the question with the message.
    """
    if not opens_with(opening, "approves_named"):
        return None
    proposal = _waiting_proposal(before.assistant)
    if proposal and {*terms(opening)} & {*terms(proposal.text)}:
        if says(opening, "rules_part_out"):
            line = answer_line(proposal.text, said)
            return Agreed(line, AgreedKind.AMENDED, said=said)
        return Agreed(proposal.text, AgreedKind.PROPOSAL, said=said)
    if not (question := last_question(before.assistant)):
        return None
    return Agreed(answer_line(question, said), AgreedKind.AMENDED, said=said)


def _corrected_value(first: Sentence, earlier: Sequence[Exchange]) -> Agreed | None:
    """Another value than the one that the person last named, "no, 20"."""
    text = first.text
    is_other = opens_with(text, "another_value") and says(text, "corrected")
    if first.is_question or not is_other or says(text, "undecided"):
        return None
    named = [value for exchange in earlier for value in _naming_value(exchange.user)]
    if not named:
        return None
    return Agreed(answer_line(named[-1], text), AgreedKind.NEW_VALUE, said=text)


def _value_set(message: Sequence[Sentence]) -> str:
    """What a first sentence ends with that sets another value, "... make it 25 km"; "" for none."""
    ends = (_BREAK.split(s.text)[-1] for s in message[:IN_REPLY] if not s.is_question)
    return next((end for end in ends if opens_with(end, "sets_value")), "")


def _valued_itself(value: str, message: Sequence[Sentence]) -> Agreed | None:
    """A value behind what the message itself says of it, "it times out on phones. make it 20"."""
    place = next(n for n, s in enumerate(message) if value in s.text)
    if not place:
        return None
    about = message[place - 1]
    if about.is_question or count_terms(about.text) < NAMED_TERMS:
        return None
    return Agreed(answer_line(about.text, value), AgreedKind.NEW_VALUE, said=value)


def _corrects(text: str) -> bool:
    """Does a sentence behind a yes take it back? "No retries at all" does not."""
    return says(text, "corrected") and not opens_with(text, "rules_out_all")


def _own_suggestion(before: Exchange) -> str:
    """The way that the person asked about last, with what the agent said of it who found that it
    can be done; "" for none.
    """
    put = [s.text for s in sentences(before.user) if says(s.text, "suggested_way")]
    answer = last_reply(before)
    if not put or not answer or not opens_with(answer[0].text, "affirmed"):
        return ""
    told = next(
        (s.text for s in answer if count_terms(s.text) >= INFORMATIVE_TERMS), ""
    )
    return answer_line(put[-1], told) if told else ""


def _named_by(proposal: Sentence, before: Exchange) -> Agreed | None:
    """The option that a proposal names by its label alone, "I recommend approach 1"."""
    text = proposal.text.rstrip(".! ")
    named = _label_in(text)
    is_advised = pattern("advised_label").search(text) is not None
    if named is None or (len(terms(text)) > NAMED_TERMS and not is_advised):
        return None
    label = next(filter(None, named.groups())).upper()
    option = option_with_label(before.assistant, label)
    if option is None:
        return None
    # the question names it by its label, too
    choice = replace(_choice_with(option, before), question="")
    return Agreed(option.text, AgreedKind.PICK, choice)


def _label_in(text: str) -> re.Match[str] | None:
    """The label of an option that a text names, or takes: "approach 1", "I'd go with (a)"."""
    return pattern("advised_label").search(text) or pattern("labels").search(text)


def _amended_proposal(opening: str, said: str, before: Exchange) -> Agreed | None:
    """What a reply proposes, with the change that the message makes; behind the question where only
    a value is another one.
    """
    is_value = opens_with(opening, "another_value")
    values = _naming_value(before.assistant)
    if is_value and (_asks_fact(before) or not values):
        return None
    if says(opening, "undecided"):
        return None
    proposal = _waiting_proposal(before.assistant)
    amended = [proposal.text] if proposal else []
    asked = [asked_by(before, ()), last_question(before.user)]
    if is_value:
        questions = [text for text in asked if text.endswith(("?", "？"))]
        about_it = [text for text in values if {*terms(text)} & {*terms(said)}]
        amended = [*questions, *about_it, *asked, *amended, *values]
    else:
        is_plain = says(opening, "with_plain_change")
        amended += [offered_work(before)] * is_plain + asked
    first = next((text for text in amended if " " in text), "")  # and no "nope."
    kind = AgreedKind.NEW_VALUE if is_value else AgreedKind.AMENDED
    return Agreed(answer_line(first, said), kind, said=said) if first else None


def _naming_value(reply: str) -> list[str]:
    return [s.text for s in sentences(reply)[-TAIL:] if says(s.text, "value")]


def agreed_designs(message: Sequence[Sentence], before: Exchange) -> list[Sentence]:
    """What a design says first under its headings that the agent asked about ("does this look
    right?") and the message agrees to.
    """
    asked = any(
        says(s.text, "design_question") for s in closing_questions(before.assistant)
    )
    first = message[0]
    is_other = first.is_question or first.label or says(first.text, "hedged_reply")
    if not asked or is_other or not opens_with(first.text, "affirmed"):
        return []
    prose = [s for s in last_reply(before) if s.heading and _is_informative(s)]
    return _first_under_headings(prose)


def points_of(proposal: str, before: Exchange) -> list[Sentence]:
    """What a proposal that was agreed to introduces as its points."""
    listed = [s for s in last_reply(before) if s.lead == proposal]
    telling = [s for s in listed if s.is_first and count_terms(s.text) >= NAMED_TERMS]
    return [] if asks_to_pick(before.assistant) else telling[:MOST_POINTS]


def conditions(message: Sequence[Sentence]) -> Iterator[str]:
    """What the sentences behind a yes say that shall be otherwise, without their "but"."""
    for sentence in message[1:IN_REPLY]:
        if found := pattern("adds_condition").match(sentence.text):
            text = sentence.text[found.end() :]
            is_telling = count_terms(text) >= INFORMATIVE_TERMS and stands_alone(text)
            is_other = any(
                says(text, kind) for kind in ("undecided", "trouble", "workflow")
            )
            if is_telling and not (is_other or sentence.is_question):
                yield text


def suggestion(message: Sequence[Sentence], exchange: Exchange) -> str:
    """The one way that the person puts as a question, or what they say with a doubt, with what the
    agent says of it who finds it right; else "".
    """
    put = [s for s in message if s.is_question and says(s.text, "suggested_way")]
    answer = sentences(exchange.assistant)[:IN_REPLY]
    if len(put) > 1 or not answer or not opens_with(answer[0].text, "assented"):
        return ""
    put = put or [s for s in message if _is_put_softly(s)]
    if not put or count_terms(put[0].text) < NAMED_TERMS:
        return ""
    said_of_it = (s.text for s in answer if not (s.is_heading or s.is_question))
    telling = (text for text in said_of_it if count_terms(text) >= NAMED_TERMS)
    return answer_line(put[0].text, next(telling, answer[0].text))


def _is_put_softly(sentence: Sentence) -> bool:
    """Does the person speak for a way or against one, without being sure?"""
    if sentence.is_question or not stands_alone(sentence.text):
        return False
    return says(sentence.text, "doubts_it") or says(sentence.text, "puts_softly")


def agrees_to_plan(asked: AgentQuestion) -> bool:
    return asked.answer == "Yes" and opens_with(asked.question, "plan_question")


def planned_approach(message: Sequence[Sentence]) -> list[Sentence]:
    """The first sentences of a plan under the headings that say how it will be done."""
    if sum(s.is_heading for s in message) < PLAN_HEADINGS:
        return []
    prose = [
        s for s in message if not (s.is_heading or s.label) and len(terms(s.text)) > 2
    ]
    planned = [s for s in prose if says(s.heading, "approach_heading")]
    planned = [s for s in planned if not says(s.heading, "goal_heading")] or planned
    return _first_under_headings(planned)


def _first_under_headings(message: Sequence[Sentence]) -> list[Sentence]:
    """The first sentence under each heading, of two at most."""
    return [next(under) for _, under in groupby(message, key=attrgetter("heading"))][:2]


def proposals(message: str) -> list[Sentence]:
    """The agent's sentences that propose something, the strongest first."""
    found = []
    for n, sentence in enumerate(sentences(message)[-3 * TAIL :]):
        if weight := _proposal_weight(sentence.text):
            found.append((-weight, -n, sentence))
    return [sentence for _, _, sentence in sorted(found, key=lambda ranked: ranked[:2])]


def _proposal_weight(text: str) -> float:
    # "should I switch?" is of what was said before
    is_labelled = not terms(text) and _label_in(text)
    if CHANGING.issuperset(terms(text)) and not is_labelled:
        return 0.0
    is_telling = count_terms(text) >= INFORMATIVE_TERMS
    return weight_of(text, "proposed") or is_telling * weight_of(text, "would_do")


def _accepted_offer(answer: str, before: Exchange) -> Agreed | None:
    """An offer ("want me to …?") at the end of a reply, with the answer; one that speaks of "it" as
    the sentence before that it is about. None for an offer to look, to go on or to commit.
    """
    offer = offered_work(before)
    if not offer:
        return None
    if opens_with(offer, "offers_to"):
        return Agreed(answer_line(offer, answer), AgreedKind.ANSWERED_OFFER)
    return Agreed(offer, AgreedKind.OFFER)


def _is_informative(sentence: Sentence) -> bool:
    text = sentence.text
    is_option = opens_with(text, "option_labelled")
    is_prose = not (sentence.is_heading or sentence.is_question or is_option)
    is_whole = not text.endswith((":", "：")) or ": " in text
    return is_prose and is_whole and count_terms(text) >= INFORMATIVE_TERMS


def _choice_with(option: Sentence, before: Exchange) -> Choice:
    said = sentences(before.assistant)
    put = (last_options(said), offered_ways(said[-TAIL:]))
    return choice_of(before, next((ways for ways in put if option in ways), [option]))


def _sentence_named_by(first: Sentence, reply: str) -> Sentence | None:
    """The sentence of a reply that begins with the words of ``first`` and a colon: "The simple way"
    names "the simple way: …".
    """
    named = {*terms(first.text)}
    if len(named) < NAMED_TERMS or first.is_question:
        return None
    for sentence in reversed(sentences(reply)[-TAIL:]):
        beginning, colon, _ = sentence.text.partition(": ")
        if colon and not sentence.label and named == {*terms(beginning)}:
            return sentence
    return None


def _waiting_proposal(reply: str) -> Sentence | None:
    """The proposal at the end of a reply that waits for a yes; None where two rival ones leave open
    which one it would be for.
    """
    tail = sentences(reply)[-TAIL:]
    waiting = [s for s in proposals(reply) if s in tail and not says(s.text, "offer")]
    labels = {s.label for s in waiting}
    are_rivals = len(labels) > 1 and not labels <= {"", "-"}
    return waiting[0] if waiting and not are_rivals else None
