"""What a message settles that the agent then states as set, or asked at the end of its reply.

"Make it 20" decides by its form alone in few messages that do so; that the agent says next "the
limit is 20 minutes now" tells that it did, and of what. A reply that takes up what it grounds is
what makes an utterance common ground (H. H. Clark and E. F. Schaefer, "Contributing to discourse",
Cognitive Science 1989). "90 days" is a decision behind "how long do you want to keep raw rows?": of
two adjacent turns the second is read in the light of the first (E. Schegloff and H. Sacks, "Opening
up closings", Semiotica 1973).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from keeplore.capture.adjacency import (
    ANSWER_WORDS,
    asks_in_return,
    closing_question,
    closing_questions,
    last_reply,
)
from keeplore.capture.cues import opens_with, pattern, says, weight_of
from keeplore.capture.distill.agreements.agent_proposals import proposals
from keeplore.capture.distill.antecedents import NAMED_TERMS, stands_alone
from keeplore.capture.distill.choices.choice import asked_by
from keeplore.capture.distill.choices.reply_options import TAIL, last_options
from keeplore.capture.distill.decision_weights import is_left
from keeplore.capture.follow_ups import behind_yes
from keeplore.memory import Exchange
from keeplore.text.revisions import refused_in, revision_of
from keeplore.text.sentences import Sentence, answer_line, sentences
from keeplore.text.terms import count_terms, terms

MOST_WORDS = 40  # of a message that settles something in passing
MOST_TOLD = 150  # of one that settles it among much else
TAKEN_UP = 2  # content words that a statement has in common with such a message
STATING = 6  # sentences at the beginning of the last reply that can state what is set
TERSE = 6  # words of a sentence whose figure or name is taken up in any form
BRIEF = 3  # words of a sentence that is taken up by half of its content words
SHARED = 2  # content words of a longer one, numbers and names apart
SPEAKS_FOR_ITSELF = 5  # content words from which a message needs no restatement
# what settles nothing: work, trouble, doubts, questions, what is told of what was done
NO_SETTLING = (
    "workflow",
    "workflow_question",
    "trouble",
    "tells_symptom",
    "undecided",
    "far_off",
    "chore",
    "slipped",
    "tells_course",
    "tells_contents",
)
NO_OPENING = (
    "errand",
    "task",
    "work_order",
    "tells_background",
    "courtesy",
    "defers",
    "not_known",
    "tells_result",
    "introduces",
    "exclaims",
    "points_only",
    "reproaches",
    "asks_openly",
    "takes_leave",
)
# what of a reply states nothing of how a thing is from now on
NO_STATING = ("announced", "states_aim", "idle_offer", "only_seen", "takes_leave")
# what is no question about how a thing shall be
NO_MATTER = (
    "offer",
    "courtesy",
    "workflow_question",
    "asks_next_work",
    "asks_which",
    "asks_for_facts",
)
ANSWERS = ("turns_down", "answers_in_part")  # beside a yes
# what is no answer
NO_ANSWER = (
    "task",
    "work_order",
    "next_step",
    "defers",
    "not_known",
    "left_to_agent",
    "tells_result",
    "tells_state",
    "points_only",
    "reproaches",
)
_SAYS_MORE = re.compile(r"[\s\d`]")  # than one word, or a figure or a name in code
_WORD = re.compile(r"\w+")
_NAMED = re.compile(
    r"\d+(?:[.,:]\d+)*|\b\w*[a-z][A-Z]\w*\b|\b(?!OK\b)[A-Z]{2,}\b|`[^`]+`"
)


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """A sentence of the person's, "" for a long message as a whole, and what the agent states of
    it, "" for a word that it is so.
    """

    said: str
    stated: str
    asked: str = ""  # that it answers

    @property
    def line(self) -> str:
        """The sentence, with what it came to where it says too little by itself; an answer with
        that, or else with what was asked.
        """
        if not self.said:
            return self.stated
        if self.asked:
            if self.stated:
                return answer_line(self.said, self.stated)
            return answer_line(self.asked, self.said)
        is_same = {*terms(self.stated)} <= {*terms(self.said)}
        is_enough = is_same or count_terms(self.said) >= SPEAKS_FOR_ITSELF
        if not self.stated or (is_enough and stands_alone(self.said)):
            return self.said
        return answer_line(self.said, self.stated)


def sentences_taken_up(
    message: Sequence[Sentence], exchange: Exchange
) -> Iterator[Acknowledged]:
    """What a message settles by what the reply to it confirms: the sentence that each confirmation
    takes up most of.
    """
    reply = _taking_up(message, exchange)
    settling = [s.text for s in message if may_settle(s)]
    is_confirmed = bool(reply) and _is_confirmation(reply[0].text)
    if not is_confirmed:
        settling = [text for text in settling if _is_terse(text)]
    found = [*_pair_with_statements(settling, reply)]
    yield from found
    # what says itself that something shall be otherwise, and is no reason for something else
    told = [pair.said for pair in found]
    for text in settling if is_confirmed else ():
        is_other = revision_of(text) and not weight_of(text, "reason")
        if text not in told and (is_other or _puts_it_there(text, exchange)):
            yield Acknowledged(text, "")


def _puts_it_there(text: str, exchange: Exchange) -> bool:
    """Does a sentence say of what is talked about where to put it, and the reply show that?"""
    replies = [reply for reply in exchange.replies if isinstance(reply, str)]
    shown = "".join(replies[-1:])
    return opens_with(text, "puts_it") and any(name in shown for name in _names(text))


def answers_taken_up(
    message: Sequence[Sentence], before: Exchange, exchange: Exchange
) -> Iterator[Acknowledged]:
    """What a message answers to what the reply before it asked or proposed: each sentence that
    rules something with the statement by which the next reply takes it up, else the message as one;
    nothing where that reply takes up nothing.
    """
    reply = last_reply(exchange)[:STATING]
    rulings = [s.text for s in message if _may_rule(s)]
    is_telling = bool(rulings) or _is_long(exchange.user)
    if not (reply and is_telling) or is_asking(exchange.user):
        return
    asked = _put_to_person(before)
    rulings = [text for text in rulings if not asks_in_return(text, asked)]
    if not _is_settled_by(reply[0].text, asked):
        rulings = [text for text in rulings if _rules_first(text)]
        if not _answers_open_choice(reply[0].text, before):
            return
    found = [
        replace(pair, asked=asked) for pair in _pair_with_statements(rulings, reply)
    ]
    yield from found
    if not found:
        as_one = _answered_as_one(message, rulings, reply, asked, exchange)
        yield from (one for one in as_one if not _repeats(one, before.user))


def _repeats(one: Acknowledged, earlier: str) -> bool:
    """Does it stand behind nothing but what the person said themselves before?"""
    return bool(one.asked) and not one.stated and one.asked in " ".join(earlier.split())


def _is_settled_by(reply: str, asked: str) -> bool:
    """Does a reply say that it is so, of what was put, or that it is otherwise now?"""
    is_set = opens_with(reply, "confirms_change") or opens_with(reply, "it_is")
    return is_set or bool(asked and _is_confirmation(reply))


def _rules_first(text: str) -> bool:
    """Does a sentence begin by saying how a thing shall be, and with no fact or trouble?"""
    return not (says(_clauses(text)[0], "states_fact") or says(text, "trouble"))


def _is_long(message: str) -> bool:
    return len(message.split()) > MOST_WORDS


def is_asking(message: str) -> bool:
    """Does a message ask, a long one at its end? The reply may be the answer to that alone."""
    said = [s for s in sentences(message) if not opens_with(s.text, "tells_background")]
    asked = map(_asks, said[-1:] if _is_long(message) else said)
    return not said or any(asked) or len(message.split()) > MOST_TOLD


def _asks(sentence: Sentence) -> bool:
    return sentence.is_question or says(sentence.text, "asks_unmarked")


def _answers_open_choice(stated: str, before: Exchange) -> bool:
    """Does a reply that begins with this say how things are from now on, without a word that it
    does? It can where the reply before left a choice or a proposal open.
    """
    is_other = any(opens_with(stated, name) for name in ("objected", "finds_out"))
    if is_other or says(stated, "hedged_reply") or stated.endswith("?"):
        return False
    asked = closing_question(before.assistant)
    is_asked = says(asked, "asks_how_it_shall_be") or says(asked, "asks_which")
    options = last_options(last_reply(before))
    return is_asked or len(options) > 1 or bool(proposals(before.assistant))


def _answered_as_one(
    message: Sequence[Sentence],
    rulings: Sequence[str],
    reply: Sequence[Sentence],
    asked: str,
    exchange: Exchange,
) -> Iterator[Acknowledged]:
    """A message with its reasons and with what the reply states first, a long one in the agent's
    words alone; where a part of it is told elsewhere only what is added to that.
    """
    stated = _first_telling(reply)
    is_long = _is_long(exchange.user)
    if is_long and stated and _follows_from(stated, exchange.user):
        yield Acknowledged("", stated)
    elif len(message) < len(sentences(exchange.user)):
        added = (text for text in rulings if opens_with(text, "adds_to_it"))
        yield from (Acknowledged(text, "") for text in added)
    elif not is_long and any(map(_SAYS_MORE.search, rulings)):
        yield Acknowledged(_as_said(message, rulings, exchange.user), stated, asked)


def _as_said(
    message: Sequence[Sentence], rulings: Sequence[str], whole_text: str
) -> str:
    """The rulings of a message with its no and its facts, where nothing was left out between them;
    else the longest ruling.
    """
    whole = " ".join(s.text for s in message if s.text in rulings or _is_kept(s.text))
    return whole if whole in " ".join(whole_text.split()) else max(rulings, key=len)


def _follows_from(stated: str, message: str) -> bool:
    """Does a statement tell what follows from a long message, or take up some of its words?"""
    shared = {*terms(message)} & {*terms(stated)}
    return len(shared) >= TAKEN_UP or opens_with(stated, "concludes")


def _first_telling(reply: Sequence[Sentence]) -> str:
    """What a reply states first, apart from checks and from what stays; "" for nothing."""
    stated = (text for text in statements(reply) if not _is_aside(text))
    return next((text for text in stated if count_terms(text) >= NAMED_TERMS), "")


def _is_aside(stated: str) -> bool:
    return weight_of(stated, "outcome") > 0 or says(stated, "is_still_so")


def _taking_up(message: Sequence[Sentence], exchange: Exchange) -> Sequence[Sentence]:
    """What a reply begins with that can take up a short message; nothing where it answers a
    question.
    """
    words = sum(len(s.text.split()) for s in message)
    is_asking = any(s.is_question for s in sentences(exchange.user))
    return () if words > MOST_WORDS or is_asking else last_reply(exchange)[:STATING]


def _pair_with_statements(
    texts: Sequence[str], reply: Sequence[Sentence]
) -> Iterator[Acknowledged]:
    """Each statement of a reply with the one text that it takes up most of."""
    left = [*texts]
    for stated in statements(reply):
        of_it = [(_in_common(text, stated), text) for text in left]
        shared, text = max(of_it, default=(0, ""), key=lambda pair: pair[0])
        if shared:
            left.remove(text)
            yield Acknowledged(text, stated)


def _may_rule(sentence: Sentence) -> bool:
    """Can a sentence be an answer that says how a thing shall be, and is it no order of work?"""
    text = sentence.text
    if sentence.label or _opens_otherwise(sentence):
        return False
    if says(text, "workflow") or says(text, "undone_by_person"):
        return False
    is_unsure = any(says(text, name) for name in ("defers", "hedged"))
    is_unsure = is_unsure or opens_with(text, "left_to_agent")
    if is_left(text) or is_unsure or _objects(text):
        return False
    if any(opens_with(part, "orders_it") for part in text.split(", ")):
        return False
    return any(not says(clause, "states_fact") for clause in _clauses(text))


def _objects(text: str) -> bool:
    """Does a sentence say yes and then tell what speaks against it, or something else?"""
    behind = behind_yes(text)
    if behind is None:
        return False
    is_hedged = says(text, "hedged_reply") and not says(text, "with_change")
    return is_hedged or opens_with(behind, "goes_elsewhere")


def _clauses(text: str) -> list[str]:
    """What a sentence says before it goes on to tell why, and what it says there."""
    clauses = filter(None, pattern("goes_on_to_tell").split(text))
    return [c for c in clauses if terms(c) or _NAMED.search(c)]


def _is_kept(text: str) -> bool:
    is_fact = count_terms(text) >= NAMED_TERMS and says(text, "states_fact")
    return is_fact or opens_with(text, "turns_down")


def _put_to_person(before: Exchange) -> str:
    """The sentence by which a reply leaves something for the person to choose, to agree to or to
    answer; "" for none, and where it asks how things are.
    """
    asked = [
        s for s in closing_questions(before.assistant) if not says(s.text, "courtesy")
    ]
    if asked and opens_with(asked[-1].text, "asks_fact"):
        return ""
    if asked:
        return asked[-1].text
    said = last_reply(before)
    options = last_options(said)
    if len(options) > 1 and (matter := asked_by(before, options) or options[0].lead):
        return matter
    left = [s for s in said[-TAIL:] if _leaves_to_say(s.text)]
    put = [*proposals(before.assistant)[:1], *left[-1:]]
    return put[0].text if put else ""


def _leaves_to_say(text: str) -> bool:
    return opens_with(text, "able") or says(text, "leaves_to_say")


def settled_by_reply(
    before: Exchange | None, message: Sequence[Sentence], exchange: Exchange
) -> list[Acknowledged]:
    """What a message settles as the reply to it shows; nothing behind a question for facts. Of a
    conversation's first message, which is mostly a task, only another value ("make it 8").
    """
    if before is None:
        first = sentences_taken_up(message, exchange)
        return [pair for pair in first if opens_with(pair.said, "another_value")]
    if says(closing_question(before.assistant), "asks_for_facts"):
        return []
    answers = [*answers_taken_up(message, before, exchange)]
    return answers or [*sentences_taken_up(message, exchange)]


def may_settle(sentence: Sentence) -> bool:
    text = sentence.text
    if not (terms(text) or _NAMED.search(text)) or is_left(text):
        return False
    is_other = any(says(text, name) for name in NO_SETTLING)
    return not (is_other or _opens_otherwise(sentence))


def _opens_otherwise(sentence: Sentence) -> bool:
    """Is it work, or told of what was done, or an item of such a list ("Fix:")?"""
    opening, lead = sentence.text, sentence.lead
    if opening.endswith((":", "：")):
        return True
    return any(
        opens_with(opening, name) or opens_with(lead, name) for name in NO_OPENING
    )


def _is_terse(text: str) -> bool:
    return len(text.split()) <= TERSE and _NAMED.search(text) is not None


def statements(reply: Sequence[Sentence]) -> list[str]:
    """What a reply states, without what it is about to do, offers, sees and tells back."""
    stating = (s for s in reply if not (s.is_question or s.is_heading))
    return [s.text for s in stating if _states_something(s.text)]


def _states_something(text: str) -> bool:
    return bool(terms(text)) and not any(says(text, name) for name in NO_STATING)


def _is_confirmation(text: str) -> bool:
    return (
        opens_with(text, "confirms")
        or opens_with(text, "concludes")
        or says(text, "now_set")
        or says(text, "says_now")
        or weight_of(text, "done") > 0
    )


def _in_common(said: str, stated: str) -> int:
    """How many words a statement takes up of a sentence, 0 for too few."""
    own = {*terms(said)}
    shared = len(own & {*terms(stated)})
    is_brief = len(said.split()) <= BRIEF and stands_alone(said)
    least = len(own) / 2 if is_brief else SHARED
    is_refused = bool(refused_in(said) & refused_in(stated))
    is_enough = shared >= least or is_refused or _shared_names(said, stated)
    return words_taken_up(said, stated) if is_enough else 0


def words_taken_up(said: str, stated: str) -> int:
    """How many content words and names a statement has of a sentence."""
    return len(_shared_names(said, stated) | ({*terms(said)} & {*terms(stated)}))


def _shared_names(said: str, stated: str) -> set[str]:
    """The names and figures of both, also those that the person types in small letters ("csv")."""
    typed = {*_WORD.findall(said)}
    named = _names(stated)
    return named & _names(said) | {
        n for n in named if n.isupper() and n.lower() in typed
    }


def _names(text: str) -> set[str]:
    """The figures and names of a text, also those within code and without their 0 (".6")."""
    inside = _NAMED.findall(text.replace("`", " "))
    return {name.removeprefix("0.") for name in (*_NAMED.findall(text), *inside)}


def closing_answer(message: Sequence[Sentence], before: Exchange) -> str:
    """The question how a thing shall be that ends a reply, with what a message answers; "" where it
    asks something else, or where the message begins with something else.
    """
    question = closing_question(before.assistant)
    if not message or not _asks_how_it_shall_be(question):
        return ""
    first = message[0]
    may_answer = _may_answer(first) or opens_with(first.text, "turns_down")
    may_answer = may_answer and not asks_in_return(first.text, question)
    if not may_answer or not _is_answer(question, first.text):
        return ""
    words = sum(len(s.text.split()) for s in message)
    is_brief = words <= ANSWER_WORDS and all(_may_answer(s) for s in message)
    answer = " ".join(s.text for s in message) if is_brief else first.text
    return answer_line(question, answer)


def _asks_how_it_shall_be(text: str) -> bool:
    is_telling = count_terms(text) >= NAMED_TERMS or _NAMED.search(text)
    if not is_telling or opens_with(text, "offers_to"):
        return False
    if says(text, "asks_what_counts"):
        return True
    if any(says(text, name) for name in NO_MATTER):
        return False
    return says(text, "asks_how_it_shall_be")


def _may_answer(sentence: Sentence) -> bool:
    text = sentence.text
    if sentence.is_question or sentence.is_heading:
        return False
    if says(text, "workflow") or says(text, "hedged"):
        return False
    return not (is_left(text) or any(opens_with(text, name) for name in NO_ANSWER))


def _is_answer(question: str, text: str) -> bool:
    """Does it say yes and nothing else, or no, take a word of the question, or name the number that
    it asks for?
    """
    behind = behind_yes(text)
    if behind is not None:
        return not opens_with(behind, "goes_elsewhere")
    if any(opens_with(text, form) for form in ANSWERS):
        return True
    if {*terms(question)} & {*terms(text)}:
        return True
    return says(question, "asks_value") and says(text, "value")
