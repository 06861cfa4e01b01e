"""Which decisions still stand: those that nothing later took back, corrected or replaced."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import pairwise

from keeplore.capture.cues import opens_with, pattern, says
from keeplore.capture.discourse.undoing import Undoing, undoing
from keeplore.capture.distill.agreements.amendments import IN_REPLY
from keeplore.capture.distill.antecedents import INFORMATIVE_TERMS, NAMED_TERMS
from keeplore.capture.distill.choices.choice import Choice
from keeplore.capture.distill.decision_weights import is_left, without_next_steps
from keeplore.memory import Exchange, Quote
from keeplore.text.revisions import Revision, is_correction, replaces, revision_of
from keeplore.text.sentences import (
    MAX_QUOTE,
    Sentence,
    answer_in,
    answer_line,
    bare,
    clip,
    question_and_answer,
    sentences,
)
from keeplore.text.terms import count_terms, figures, overlap, stems, terms

CONFIRMED = (
    2.4  # weight of what somebody said yes to, or put in the place of something else
)
SAME_MATTER = 0.5  # share of terms from which a later decision replaces an earlier one
OWN_MATTER = 3  # terms; a correction with more says itself what it is about
# of a decision's terms, so many to each that it has in common with what a later one drops
IN_PASSING = 9
# exchanges in which a correction finds what it corrects without a shared word
RECENT = 3
FEW_OTHERS = 1  # content words of a reply that the message before it lacks, "Ok, done."


@dataclass(frozen=True, slots=True)
class Decision:
    quote: Quote
    weight: float
    at: int  # number of the exchange in which it was made
    terms: frozenset[str] = field(default=frozenset())
    # to a question of the agent's, and not of the person's own accord
    is_answer: bool = False
    takes_back: bool = True  # False for what only tells how things are
    lasts: bool = False  # only a later word on the same matter replaces it
    choice: Choice | None = None  # that it was picked of
    is_new_value: bool = False  # another number than was proposed or decided

    def rejects(self, named: Set[str]) -> bool:
        """Do these terms name an option that was not picked?"""
        return bool(self.choice and named & self.choice.rejected_terms(self.terms))


# number of an exchange → what the person, and what the agent settled in it
Made = Callable[[int], tuple[Sequence[Decision], Sequence[Decision]]]


def decision_of(text: str, speaker: str, turn: str, weight: float, at: int) -> Decision:
    return Decision(
        Quote(clip(text), speaker, turn), weight, at, frozenset(terms(text))
    )


def standing_decisions(
    exchanges: Sequence[Exchange], decisions_at: Made
) -> list[Decision]:
    """What ``decisions_at`` finds in the exchanges, without what was taken back or replaced later;
    oldest first.
    """
    in_force: list[Decision] = []
    for at, exchange in enumerate(exchanges):
        of_person, of_agent = decisions_at(at)
        if at and (undone := undoing(exchange, exchanges[at - 1])):
            in_force = [old for old in in_force if not _is_undone(old, undone, at)]
            of_person = [*of_person, _undoing_decision(undone, exchanges, at)]
        of_person = [_of_same_value(decision, in_force) for decision in of_person]
        settling = [decision for decision in of_person if decision.takes_back]
        if not settling:
            settling = [*_correction(exchange, at, in_force)]
            of_person = [*of_person, *settling]
        instead = [*_taken_instead(exchanges, at, in_force, of_person)]
        in_force = _without_corrected(in_force, settling, exchange.user[:MAX_QUOTE], at)
        for taken, old in instead:
            in_force = [other for other in in_force if other is not old]
            of_person = [*_with_taken(of_person, taken, old)]
        for decision in (*of_person, *of_agent):
            in_force = [old for old in in_force if not _replaces(decision, old)]
            if not any(_is_repetition(decision, old) for old in in_force):
                in_force.append(decision)
    return in_force


def _is_undone(old: Decision, undone: Undoing, at: int) -> bool:
    is_before = old.at == at - 1 and not old.lasts
    return is_before and undone.is_about(old.terms)


def _undoing_decision(
    undone: Undoing, exchanges: Sequence[Exchange], at: int
) -> Decision:
    """What the person undid, behind the sentence with which they had asked for it."""
    said = (s.text for s in reversed(sentences(exchanges[at - 1].user)))
    about = (text for text in said if undone.is_about(terms(text)))
    wanted = next((t for t in about if count_terms(t) >= NAMED_TERMS), "")
    line = answer_line(wanted, undone.text) if wanted else undone.text
    return decision_of(line, "user", exchanges[at].id, CONFIRMED, at)


def _of_same_value(new: Decision, in_force: Sequence[Decision]) -> Decision:
    """A new value behind what the one that it replaces stands behind; any other decision as it
    is.
    """
    for old in reversed(in_force):
        if _is_value_before(new, old):
            return _in_place_of(old, new)
    return new


def _in_place_of(old: Decision, new: Decision) -> Decision:
    """What was decided anew, behind what the decision before it stands behind, or that one."""
    before = old.quote.text
    matter = question_and_answer(before)[0] or before
    line = answer_line(matter, answer_in(new.quote.text))
    return replace(new, quote=replace(new.quote, text=line))


def _is_value_before(new: Decision, old: Decision) -> bool:
    """Is an earlier decision the value in the place of which a new one was put?"""
    is_recent = new.is_new_value and 0 < new.at - old.at <= RECENT
    matter = question_and_answer(new.quote.text)[0]
    if matter.endswith(("?", "？")):  # it says itself what its value is of
        return is_recent and overlap({*terms(matter)}, old.terms) >= SAME_MATTER
    value = answer_in(old.quote.text)
    if figures(matter) and not figures(matter) & figures(value):  # it is of another one
        return False
    return is_recent and bool(new.terms & old.terms) and says(value, "value")


def _correction(
    exchange: Exchange, at: int, in_force: Sequence[Decision]
) -> Iterator[Decision]:
    """What a message says instead of what was decided lately, where it opens as a correction and
    has no other word of a decision.
    """
    said = sentences(exchange.user)[:IN_REPLY]
    if not said or not opens_with(said[0].text, "takes_back"):
        return
    for sentence in said:
        about = {*terms(sentence.text)}
        if sentence.is_question or len(about) < INFORMATIVE_TERMS:
            continue
        if any(about & old.terms for old in _recent(in_force, at)):
            yield decision_of(sentence.text, "user", exchange.id, CONFIRMED, at)
            return


def _recent(in_force: Sequence[Decision], at: int) -> list[Decision]:
    return [old for old in in_force if at - old.at <= RECENT and not old.lasts]


def _without_corrected(
    in_force: list[Decision], newest: Sequence[Decision], opening: str, at: int
) -> list[Decision]:
    """Decisions less those that a message with this opening takes back."""
    is_withdrawn = says(opening, "withdrawn")
    if not (is_withdrawn or (newest and says(opening, "corrected"))):
        return in_force
    recent = _recent(in_force, at)
    rejected = _rejected_terms(opening)
    corrected = [
        *_rejected(in_force, recent, rejected),
        *_decided_anew(in_force, recent, newest),
    ]
    if opens_with(opening, "takes_back"):
        said = frozenset[str]().union(*(new.terms for new in newest))
        corrected += [old for old in recent if said & old.terms]
    # "no, SQLite" is about what was said last; what names its own matter or what it rejects, and
    # "let's not", need not be
    names_its_own = bool(newest) and min(len(new.terms) for new in newest) > OWN_MATTER
    is_about_last = is_withdrawn or not (
        names_its_own or rejected or opens_with(opening, "declined")
    )
    if not corrected and is_about_last:
        corrected = recent[-1:]
    return [old for old in in_force if old.lasts or old not in corrected]


def _taken_instead(
    exchanges: Sequence[Exchange],
    at: int,
    in_force: Sequence[Decision],
    of_person: Sequence[Decision],
) -> Iterator[tuple[Decision, Decision]]:
    """What a message puts in the place of a decision, "let's take Redis instead", "replace Postgres
    with Redis", each with that decision; ``of_person`` is what it decides as far as is known.
    """
    is_pick = any(new.choice for new in of_person)
    earlier = [old for old in reversed(in_force) if old.at < at and not old.lasts]
    for text, revision in _revisions(exchanges[at].user):
        others = [old for old in earlier if not revision.chosen & _taken_words(old)]
        recent = _recent(others, at)
        old = next(_ruled_out(revision, others if revision.rejected else recent), None)
        if old is None and not (revision.rejected or revision.about):
            old = _spoken_before(revision, recent, exchanges)
            if old is None and not is_pick and says(text, "in_its_place"):
                old = _just_accepted(revision, recent, exchanges[at - 1], at - 1)
        if old:
            yield decision_of(text, "user", exchanges[at].id, CONFIRMED, at), old


def _revisions(message: str) -> Iterator[tuple[str, Revision]]:
    """The sentences of a message that put something in the place of something else."""
    said = without_next_steps(sentences(message))
    for sentence in said[:IN_REPLY]:
        text = sentence.text
        if is_left(text) and not sentence.is_question:
            continue
        revision = _revision_in(text)
        if revision and not revision.permits:
            yield text, revision
    yield from replacing_choice(said)


def _revision_in(text: str) -> Revision | None:
    """What a sentence replaces; why something is taken is said behind a comma."""
    clause = text.partition(",")[0]
    if says(clause, "taken_instead") and (taken := revision_of(clause, corrects=True)):
        return taken
    is_other = says(text, "taken_instead") or is_correction(text)
    return revision_of(text, corrects=is_other)


def replacing_choice(message: Sequence[Sentence]) -> Iterator[tuple[str, Revision]]:
    """What the beginning of a message first takes in the place of what it speaks against right
    before that, "Redis loses jobs. → Postgres instead."
    """
    for before, taking in pairwise(message[: IN_REPLY + 1]):
        line = answer_line(before.text, taking.text)
        parts = (revision_of(before.text), revision_of(taking.text))
        revision = None if any(parts) or taking.is_question else revision_of(line)
        if revision and revision.rejected and revision.chosen:
            yield line, revision
            return


def _taken_words(decision: Decision) -> Set[str]:
    return stems(answer_in(decision.quote.text))


def _ruled_out(revision: Revision, earlier: Sequence[Decision]) -> Iterator[Decision]:
    """The decisions that take what is rejected, or something else for the matter that is named."""
    for old in earlier:
        text = answer_in(old.quote.text)
        if replaces(revision, text, frozenset(), decides=True):
            taken = revision_of(text, corrects=True)
            is_it = taken is not None and taken.chosen <= revision.rejected
            if revision.about or is_it:
                yield old


def _spoken_before(
    revision: Revision, recent: Sequence[Decision], exchanges: Sequence[Exchange]
) -> Decision | None:
    """The last decision before which the new choice was spoken of."""
    for old in recent:
        if revision.chosen <= stems(_leading_to(old, exchanges)):
            return old
    return None


def _leading_to(old: Decision, exchanges: Sequence[Exchange]) -> str:
    """What was said right before a decision, and with it."""
    before = exchanges[old.at - 1].assistant if old.at else ""
    return f"{before}\n{exchanges[old.at].user}"


def _just_accepted(
    revision: Revision, recent: Sequence[Decision], before: Exchange, at: int
) -> Decision | None:
    """The one decision of the exchange before, where its reply names nothing else that may be
    meant, and a mere name is taken.
    """
    is_name = len(revision.chosen) == 1 and not revision.about
    others = stems(before.assistant) - stems(before.user)
    made = [old for old in recent if old.at == at]
    if is_name and len(others) <= FEW_OTHERS and len(made) == 1:
        return made[0]
    return None


def _with_taken(
    of_person: Sequence[Decision], taken: Decision, old: Decision
) -> Iterator[Decision]:
    """The decisions with what was taken in the place of an old one, which is a pick or stands
    behind that, unless it says itself of what it is.
    """
    is_pick = any(new.choice for new in of_person)
    same = [new for new in of_person if taken.quote.text in new.quote.text]
    yield from (new for new in of_person if new not in same)
    for new in same or ([] if is_pick else [taken]):
        is_told = new.choice or new.terms & old.terms
        yield new if is_told else _in_place_of(old, new)


def _rejected_terms(opening: str) -> frozenset[str]:
    """The content words of what a message rejects."""
    texts = pattern("rejected_after").findall(opening)
    return frozenset(term for text in texts for term in terms(text))


def _rejected(
    in_force: Sequence[Decision], recent: Sequence[Decision], rejected: Set[str]
) -> Iterator[Decision]:
    """The standing decisions that are about what the message rejects; of those made long ago the
    ones that share two words with it.
    """
    for old in in_force:
        is_about = _is_about(old, rejected)
        if is_about if old in recent else len(rejected & old.terms) > 1:
            yield old


def _decided_anew(
    in_force: Sequence[Decision], recent: Sequence[Decision], newest: Sequence[Decision]
) -> Iterator[Decision]:
    """The standing decisions that are decided anew, in a matter that may be told by fewer words
    where it was not long ago.
    """
    for old in in_force:
        least = SAME_MATTER / 2 if old in recent else SAME_MATTER
        if any(
            old.at < new.at and overlap(new.terms, old.terms) >= least for new in newest
        ):
            yield old


def _replaces(new: Decision, old: Decision) -> bool:
    """A later word of the person on the same matter stands; so does an explicit one over the
    agent's own.
    """
    is_recent = 0 <= new.at - old.at <= RECENT
    picked = answer_in(new.quote.text)
    if new.choice and is_recent and new.choice.names_another(old.quote.text, picked):
        return True
    if new.at <= old.at or new.quote == old.quote or new.weight < 1.0:
        return False
    if new.choice and new.choice == old.choice:
        return True
    if _is_value_before(new, old) or _changes_value(new, old) or _rules_out(new, old):
        return True
    return old.quote.speaker == new.quote.speaker and _is_repetition(new, old)


def _changes_value(new: Decision, old: Decision) -> bool:
    """Does a decision change the one value of an earlier one, "lower the retries to 3"?"""
    change = pattern("changes_value").search(new.quote.text)
    values = pattern("value").findall(answer_in(old.quote.text))
    if change is None or old.lasts or len(values) != 1:
        return False
    matter = stems(change["matter"])
    return matter <= stems(old.quote.text) if matter else new.at - old.at == 1


def _rules_out(new: Decision, old: Decision) -> bool:
    """Does a decision name something else in the place of an earlier one, "SQLite, not Redis"?"""
    if old.lasts or not new.takes_back:
        return False
    line = bare(new.quote.text)
    taken = answer_in(line) if new.choice else line
    chosen, *dropped = pattern("instead_of").split(taken, maxsplit=1)
    kept = {*terms(chosen)}
    if not kept or overlap(kept, old.terms) >= SAME_MATTER:
        return False
    # what stands on both sides is the matter, and not what was dropped
    return any(_is_about(old, {*terms(text)} - kept) for text in dropped)


def _is_about(old: Decision, dropped: Set[str]) -> bool:
    """Is a decision about what was dropped, and does not only name it in passing?"""
    is_alike = overlap(dropped, old.terms) >= SAME_MATTER
    return is_alike and len(dropped & old.terms) * IN_PASSING > len(old.terms)


def _is_repetition(new: Decision, old: Decision) -> bool:
    is_telling = min(len(new.terms), len(old.terms)) > 1
    return is_telling and overlap(new.terms, old.terms) >= SAME_MATTER + 0.25
