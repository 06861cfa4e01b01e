"""What an agent found out and the person let stand: how systems, files and commands behave.

A finding is a sentence in the present tense about something that it names, and not about the steps
of the work. How likely it lasts is weighed by ``lasting_model``; what is needed to read it alone,
the sentence before or the heading above, is put before it.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from keeplore.capture.cues import opens_with, pattern, says, weight_of
from keeplore.capture.discourse.instructions import is_document
from keeplore.capture.discourse.standing import sent_back
from keeplore.capture.notes.lasting_model import (
    MOST_ECHOES,
    PlacedSentence,
    chance,
    names,
)
from keeplore.capture.notes.note_wording import capitalised, points_elsewhere
from keeplore.memory import Exchange
from keeplore.text.sentences import Sentence, sentences
from keeplore.text.terms import overlap, terms

SURE = 0.6  # chance from which a finding is written unasked; docs/benchmarks.md has the figures
OFFERED = 0.4  # and from which it is offered for review
MOST_SURE = 3  # findings of one conversation that are written unasked
MOST = 12  # that are written or offered
SHORTEST, LONGEST = 5, 60  # words of a sentence that states something
NOTE_CHARS = 500  # of a note with the sentence that it leans on
READ_CHARS = 400  # of a person's message that say what it asks for
OFTEN = 60  # sentences; a term that stands in more of them tells none from another
LEAST_TERMS = 3  # content words that a sentence shares with another that says it again
SAME = 0.6  # share of its content words
TOLD = 0.5  # likewise of the shorter of two notes, of which one is enough
# what a sentence says that is sure to be over soon, or is not the agent's to lay down
NOT_SURE = (
    *("moment", "states_failure", "states_ruling"),
    *("states_stance", "states_handed_over"),
)
# a sentence that tells of the work and not of what was found
NO_EXPLANATION = ("first_person", "on_the_way", "states_of_tests")
_BEGINS = re.compile(r"[\w`*“\"(~.-]|/(?!/)")
_ASIDE = re.compile(r"\([^()\n]*\)")
_LABEL = re.compile(
    r"\A\*\*(?P<label>[^*\n]{2,80})\*\*(?:\s\([^)\n]{0,80}\))?\s?(?::|[—–-]\s)\s*"
)


@dataclass(frozen=True, slots=True)
class Finding:
    """``text`` can be read alone; ``said`` is the sentence that it is taken from."""

    text: str
    said: str
    turn: str
    chance: float  # 0..1, that it lasts
    is_sure: bool  # enough to be written unasked


@dataclass(frozen=True, slots=True)
class CandidateSentence:
    """A sentence that may be a finding, with the piece of an answer that it stands in."""

    statement: PlacedSentence
    said: Sequence[Sentence]  # all of the piece
    at: int  # its number among them
    exchange: int
    piece: tuple[int, int]  # exchange, number in it

    @property
    def sentence(self) -> Sentence:
        return self.said[self.at]

    @property
    def before(self) -> Sequence[Sentence]:
        """What its paragraph or list item says before it."""
        start = self.at
        while start and not self.said[start].is_first:
            start -= 1
        return self.said[start : self.at]

    @property
    def after(self) -> Iterator[Sentence]:
        """What its paragraph or list item says after it."""
        rest = self.said[self.at + 1 :]
        return takewhile(lambda s: not (s.is_first or s.is_heading), rest)


def findings(exchanges: Sequence[Exchange]) -> list[Finding]:
    """The findings of a conversation that may last, the likeliest first; each is told once."""
    weighed = [
        (chance(candidate.statement), candidate)
        for candidate in candidate_sentences(exchanges)
    ]
    rejected = sent_back(exchanges)
    likely = [(weight, candidate) for weight, candidate in weighed if weight >= OFFERED]
    likely.sort(key=lambda found: -found[0])
    kept: list[Finding] = []
    for weight, candidate in likely:
        text = _standalone_text(candidate)
        if len(kept) == MOST or not text or is_restated(text, (f.text for f in kept)):
            continue
        is_sure = (
            weight >= SURE
            and sum(finding.is_sure for finding in kept) < MOST_SURE
            and _is_sure(candidate)
            and candidate.exchange not in rejected
        )
        turn = exchanges[candidate.exchange].id
        plain = capitalised(text.replace("**", ""))
        kept.append(Finding(plain, candidate.sentence.text, turn, weight, is_sure))
    return kept


def candidate_sentences(exchanges: Sequence[Exchange]) -> list[CandidateSentence]:
    """The sentences that may be findings, with all that is weighed."""
    found = [
        candidate
        for at, exchange in enumerate(exchanges)
        for candidate in _sentences_of_exchange(exchange, at)
    ]
    return _with_echoes(found)


def core_of(sentence: Sentence) -> str:
    """What a sentence states, without the words that lead up to it and the step that follows from
    it; "" where it states nothing.
    """
    text = sentence.text
    if sentence.is_question or sentence.is_heading or text.endswith(":"):
        return ""
    if not _BEGINS.match(text):
        return ""
    label = _label_of(text)
    core = _LABEL.sub("", text, count=1)
    core = pattern("states_step").sub("", core)
    for name in ("states_opener", "states_label", "states_opener"):
        core = pattern(name).sub("", core, count=1)
    core = _announced_finding(core)
    if not SHORTEST <= len(core.split()) <= LONGEST or says(core, "first_person"):
        return ""
    is_order = opens_with(core, "states_order") or opens_with(core, "states_change")
    if is_order or not says(_ASIDE.sub("", core), "states_present"):
        return ""
    return core if names(core) or names(label) else ""


def _sentences_of_exchange(exchange: Exchange, at: int) -> Iterator[CandidateSentence]:
    """Each sentence of the agent's replies that may be a finding; pasted replies have none."""
    asks = says(exchange.user[:READ_CHARS], "asks")
    replies = [reply for reply in exchange.replies if isinstance(reply, str)]
    for number, reply in enumerate(replies):
        if is_document(reply):
            continue
        said = sentences(reply)
        is_final = number == len(replies) - 1
        for n, sentence in enumerate(said):
            if core := core_of(sentence):
                statement = PlacedSentence(
                    core,
                    heading=sentence.heading,
                    label=_label_of(sentence.text),
                    is_item=bool(sentence.label),
                    is_answer=asks,
                    is_final=is_final,
                )
                yield CandidateSentence(statement, said, n, at, (at, number))


def _announced_finding(core: str) -> str:
    """What was found, of "the review found one thing: …"; any other text as it is."""
    lead, _, finding = core.partition(": ")
    is_tale = len(finding.split()) >= SHORTEST and says(lead, "states_past")
    return finding if is_tale and says(finding, "states_present") else core


def _label_of(text: str) -> str:
    label = _LABEL.match(text)
    return label["label"].rstrip(" :") if label else ""


def _with_echoes(candidates: Sequence[CandidateSentence]) -> list[CandidateSentence]:
    """Each with how many other exchanges name the same, and how many other pieces say it again."""
    named = [names(candidate.statement.text) for candidate in candidates]
    said = [frozenset(terms(candidate.statement.text)) for candidate in candidates]
    by_name: dict[str, set[int]] = defaultdict(set)
    by_term: dict[str, list[int]] = defaultdict(list)
    for n, candidate in enumerate(candidates):
        for name in named[n]:
            if len(by_name[name]) <= MOST_ECHOES:
                by_name[name].add(candidate.exchange)
        for term in said[n]:
            by_term[term].append(n)
    listed = []
    for n, candidate in enumerate(candidates):
        elsewhere = set[int]().union(*(by_name[name] for name in named[n]))
        again = _rephrasings(said[n], by_term)
        statement = replace(
            candidate.statement,
            echoes=len(elsewhere - {candidate.exchange}),
            repeats=len({candidates[m].piece for m in again} - {candidate.piece}),
        )
        listed.append(replace(candidate, statement=statement))
    return listed


def _rephrasings(
    said: frozenset[str], by_term: Mapping[str, Sequence[int]]
) -> list[int]:
    """The sentences that say the same in other words."""
    shared: Counter[int] = Counter()
    for term in said:
        if len(by_term[term]) <= OFTEN:
            shared.update(by_term[term])
    least = max(LEAST_TERMS, SAME * len(said))
    return [n for n, count in shared.items() if count >= least]


def _standalone_text(candidate: CandidateSentence) -> str:
    """The statement as it can be read without its conversation, with what its paragraph says of it;
    "" where that cannot be had.
    """
    core, label = candidate.statement.text, candidate.statement.label
    text = f"{label}: {core}" if names(label) else capitalised(core)
    for sentence in takewhile(_is_explanation, candidate.after):
        text = _joined_text(text, sentence.text) or text
    leads = _leads(candidate)
    for sentence in leads:
        text = _joined_text(sentence.text, text) or text
    if leads or not points_elsewhere(core):
        return text
    previous = candidate.said[candidate.at - 1] if candidate.at else None
    if previous and _can_lead(previous):
        return _joined_text(previous.text, text) or text
    heading = candidate.sentence.heading.rstrip(" :")
    return f"{heading}: {text}" if names(heading) else ""


def _leads(candidate: CandidateSentence) -> list[Sentence]:
    """What its paragraph says right before it that belongs to it, the nearest first."""
    return [*takewhile(_can_lead, reversed(candidate.before))]


def _is_explanation(sentence: Sentence) -> bool:
    """True for what belongs to the statement before it, False for what the agent does next."""
    if sentence.is_question or sentence.text.endswith(":"):
        return False
    return not any(says(sentence.text, name) for name in NO_EXPLANATION)


def _can_lead(before: Sentence) -> bool:
    """True where what a sentence leans on is named by the one before it."""
    is_said_alone = _is_explanation(before) and not before.is_heading
    if not is_said_alone or points_elsewhere(before.text):
        return False
    return bool(names(before.text))


def _joined_text(first: str, second: str) -> str:
    """The two texts as one, "" where that would be too long."""
    whole = f"{first} {second}"
    return whole if len(whole) <= NOTE_CHARS else ""


def is_restated(text: str, statements: Iterable[str]) -> bool:
    """True where one of the texts says the same."""
    said = frozenset(terms(text))
    others = (frozenset(terms(other)) for other in statements)
    return any(
        len(said & other) >= LEAST_TERMS and overlap(said, other) >= TOLD
        for other in others
    )


def _is_sure(candidate: CandidateSentence) -> bool:
    """False for what hangs on what was said before, is soon over, or tells of work done, and where
    its paragraph tells before it how things were, or goes on to guess at the cause.
    """
    core = candidate.statement.text
    if any(says(sentence.text, "states_past") for sentence in _leads(candidate)):
        return False
    if any(says(sentence.text, "states_alternatives") for sentence in candidate.after):
        return False
    if opens_with(core, "states_bare") or weight_of(candidate.sentence.text, "done"):
        return False
    if says(pattern("states_condition").sub("", core), "states_observed"):
        return False
    return not any(says(core, name) for name in NOT_SURE)
