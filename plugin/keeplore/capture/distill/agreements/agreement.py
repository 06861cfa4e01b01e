"""What one side made its own of the other's words: an option that was picked, a proposal, an offer
or a design that was agreed to, and a way that the person suggested and the agent found right.

A proposal and the agreement to it tell a decision more surely than the form of any sentence
(R. Fernández et al., "Modelling and detecting decisions in multi-party dialogue", SIGdial 2008).
"""

from __future__ import annotations

from collections.abc import Sequence

from keeplore.capture.adjacency import closing_question, last_question
from keeplore.capture.cues import opens_with, says
from keeplore.capture.distill.agreements.agent_proposals import waiting_proposal
from keeplore.capture.distill.agreements.agreed import Agreed, AgreedKind
from keeplore.capture.distill.agreements.agreed_picks import (
    agreed_option,
    choice_with,
    named_by,
    opening_of,
    picked_later,
)
from keeplore.capture.distill.agreements.amendments import (
    VALUE_BACK,
    amended_proposal,
    asks_fact,
    corrected_value,
    value_set,
    valued_itself,
)
from keeplore.capture.distill.agreements.suggestions import own_suggestion
from keeplore.capture.distill.antecedents import (
    NAMED_TERMS,
    ability_named,
    offered_work,
    possible_way,
)
from keeplore.capture.distill.choices.named_picks import named_pick
from keeplore.capture.distill.choices.picks import (
    OPENING,
    TakenOption,
    picked_by_letter,
    picked_option,
    picked_options,
    replacing_pick,
)
from keeplore.capture.distill.choices.reply_options import TAIL
from keeplore.capture.follow_ups import amends_proposal, behind_yes
from keeplore.memory import Exchange
from keeplore.text.sentences import Sentence, answer_line, sentences
from keeplore.text.terms import terms

MAX_YES_WORDS = (
    6  # an agreement to an offer with more words states itself what it agrees to
)


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
    if later := picked_later(message[:OPENING], earlier[-1]):
        return later
    if letter := picked_by_letter(message[:1], earlier[:-1]):
        return _other_pick(letter)
    if asks_fact(earlier[-1]):
        return None
    if named := named_pick(message, earlier):
        text = named.said if named.choice else named.line
        return Agreed(text, AgreedKind.NAMED, named.choice, named.said)
    return corrected_value(message[0], earlier[-VALUE_BACK:])


def _other_pick(taken: TakenOption) -> Agreed:
    return Agreed(taken.answer, AgreedKind.OTHER_PICK, taken.choice, taken.said)


def _agreed_at_once(message: Sequence[Sentence], before: Exchange) -> Agreed | None:
    """What the first sentence of a message agrees to: options, an offer with a change or another
    value, something by its name, or an offer by a plain yes.
    """
    opening = opening_of(message[0])
    if not opening:
        return _other_value(message, before)
    if several := picked_options(opening, before.assistant):
        listed = "; ".join(option.text.rstrip(". ") for option in several)
        return Agreed(listed, AgreedKind.PICK, choice_with(several[0], before))
    option = None if message[0].label else picked_option(opening, before.assistant)
    if option is not None:
        return agreed_option(option, opening, message[0].text, before)
    if amends_proposal(opening):
        return amended_proposal(opening, message[0].text, before)
    if other := _other_value(message, before):
        return other
    if approved := _approved_by_name(opening, message[0].text, before):
        return approved
    return _agreed_by_yes(opening, message, before)


def _other_value(message: Sequence[Sentence], before: Exchange) -> Agreed | None:
    """Another value than the one that a reply names, "why 30? make it 10"."""
    value = value_set(message)
    if not value:
        return None
    return valued_itself(value, message) or amended_proposal(value, value, before)


def _agreed_by_yes(
    opening: str, message: Sequence[Sentence], before: Exchange
) -> Agreed | None:
    """The proposal, the person's own suggestion or the offer that a yes is for."""
    behind = behind_yes(opening)
    if behind is None or _is_no_yes(behind):
        return None
    if any(_corrects(s.text) for s in message[1:3]):
        return None
    if proposal := waiting_proposal(before.assistant):
        return named_by(proposal, before) or Agreed(proposal.text, AgreedKind.PROPOSAL)
    if opens_with(opening, "orders_it") and (own := own_suggestion(before)):
        return Agreed(own, AgreedKind.AMENDED)
    is_yes = len(behind.split()) < MAX_YES_WORDS
    return _accepted_offer(opening, before) if is_yes else None


def _is_no_yes(behind: str) -> bool:
    """Does what stands behind a yes limit it, or tell something else?"""
    return says(behind, "hedged_reply") or opens_with(behind, "goes_elsewhere")


def _corrects(text: str) -> bool:
    """Does a sentence behind a yes take it back? "No retries at all" does not."""
    return says(text, "corrected") and not opens_with(text, "rules_out_all")


def _approved_by_name(opening: str, said: str, before: Exchange) -> Agreed | None:
    """What a reply proposes, where the message says that the way it names is fine; of another way
    the question with the message.
    """
    if not opens_with(opening, "approves_named"):
        return None
    proposal = waiting_proposal(before.assistant)
    if proposal and {*terms(opening)} & {*terms(proposal.text)}:
        if says(opening, "rules_part_out"):
            line = answer_line(proposal.text, said)
            return Agreed(line, AgreedKind.AMENDED, said=said)
        return Agreed(proposal.text, AgreedKind.PROPOSAL, said=said)
    if not (question := last_question(before.assistant)):
        return None
    return Agreed(answer_line(question, said), AgreedKind.AMENDED, said=said)


def _accepted_offer(answer: str, before: Exchange) -> Agreed | None:
    """An offer ("want me to …?") at the end of a reply, with the answer; one that speaks of "it" as
    the sentence before that it is about. None for an offer to look, to go on or to commit.
    """
    is_order = opens_with(answer, "orders_it")
    offer = offered_work(before) or (possible_way(before) if is_order else "")
    offer = offer or ability_named(before, behind_yes(answer) or "")
    if not offer:
        return None
    if opens_with(offer, "offers_to"):
        return Agreed(answer_line(offer, answer), AgreedKind.ANSWERED_OFFER)
    return Agreed(offer, AgreedKind.OFFER)


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
