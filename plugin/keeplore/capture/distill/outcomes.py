"""What came of a talk: what the agent reports that it found and did, and what it left.

A report is known by its cue phrases, its headings and its place at the end of an answer (H.
Edmundson, 1969); what the person sent back right after is no outcome, and neither is a guess or a
step on the way.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from keeplore.capture.cues import outcome_cues, talk_cues
from keeplore.capture.segmenter import is_again
from keeplore.memory import Exchange
from keeplore.text.sentences import Sentence, sentences
from keeplore.text.terms import overlap, stems, terms

LISTED = 1.9  # weight of an item of a report's list
AT_END = 0.5  # what the last fifth of an answer adds
LAST_WORD = 0.6  # what the last report of a talk adds
OPENING = 0.4  # what a list's first item has before the others
LEANING = 1.2  # what a sentence loses that begins with "this", "and", "it"
UNNAMED = 0.8  # likewise one that names nothing: no file, no function, no figure
MIN_WEIGHT = 1.8
MIN_WORDS = 3
SETTLED = 0.6  # share of a question's terms that a later answer has
SENT_BACK = 200  # characters of a message in which it objects

Weighed = Iterator[
    tuple[float, int, int, Sentence]
]  # weight, number of the exchange, of the sentence


def outcomes(exchanges: Sequence[Exchange]) -> Weighed:
    """The agent's sentences that tell what came of the talk."""
    reports = [n for n in range(len(exchanges)) if not is_sent_back(exchanges, n)]
    spoke = [n for n in reports if exchanges[n].assistant]
    for at in spoke:
        said = _before_plan(sentences(exchanges[at].assistant))
        has_done = any(talk_cues.weight_of(s.text, outcome_cues.DONE) for s in said)
        for n, sentence in enumerate(said):
            weight = _weight(sentence)
            if weight <= 0 or (_is_only_state(sentence) and not has_done):
                continue
            weight += AT_END * (n >= 0.8 * len(said)) + LAST_WORD * (at == spoke[-1])
            if weight >= MIN_WEIGHT:
                yield weight, at, n, sentence


def _before_plan(said: Sequence[Sentence]) -> Sequence[Sentence]:
    plans = (
        n for n, s in enumerate(said) if s.is_heading and outcome_cues.PLAN_HEADING.search(s.text)
    )
    return said[: next(plans, len(said))]


def is_sent_back(exchanges: Sequence[Exchange], at: int) -> bool:
    """True where the person's next message says that it is not so, or not good, or the agent takes
    it back itself.
    """
    following = exchanges[at + 1] if at + 1 < len(exchanges) else None
    if following is None:
        return False
    # asked again in the same words: the talk was rewound, and the answer with it
    is_objected = outcome_cues.OBJECTED.search(following.user[:SENT_BACK]) or is_again(
        following.user, exchanges[at].user
    )
    return bool(is_objected or outcome_cues.TAKEN_BACK.search(following.assistant[:SENT_BACK]))


def is_claim(sentence: Sentence) -> bool:
    """True for a whole statement of the agent's: no question, no announcement of a step, no
    offer.
    """
    text = sentence.text
    if (
        sentence.is_heading
        or sentence.is_question
        or text.endswith((":", "...", "…"))
        or len(stems(text)) < MIN_WORDS
    ):
        return False
    return not (outcome_cues.ON_THE_WAY.search(text) or talk_cues.OFFER.search(text))


def _weight(sentence: Sentence) -> float:
    text = sentence.text
    if (
        not is_claim(sentence)
        or outcome_cues.GUESSED.search(text)
        or talk_cues.weight_of(text, talk_cues.PROPOSED)
    ):
        return 0.0
    weight = talk_cues.weight_of(text, outcome_cues.OUTCOME)
    is_listed = sentence.label and sentence.is_first
    if outcome_cues.TO_DO.search(text) or outcome_cues.PLANNED.search(
        sentence.heading or sentence.lead
    ):
        return 0.0
    is_report = outcome_cues.REPORT_HEADING.search(
        sentence.heading
    ) or outcome_cues.REPORT_LEAD.search(sentence.lead)
    if is_report and (weight or outcome_cues.REPORTED.search(text)):
        weight = max(weight, LISTED if is_listed else LISTED - 0.3) + 0.3 * bool(weight)
    if not weight:
        return 0.0
    if outcome_cues.LEANING.search(text):
        weight -= LEANING
    return weight - UNNAMED * (not _names_something(text))


def _is_only_state(sentence: Sentence) -> bool:
    """True for a list's "X is now Y" outside a report: a step of a tale of how things happen."""
    is_report = outcome_cues.REPORT_HEADING.search(
        sentence.heading
    ) or outcome_cues.REPORT_LEAD.search(sentence.lead)
    told = talk_cues.weight_of(sentence.text, outcome_cues.OUTCOME)
    return (
        bool(sentence.label)
        and not is_report
        and told == talk_cues.weight_of(sentence.text, outcome_cues.STATE)
    )


def _names_something(text: str) -> bool:
    return (
        any(c in text for c in "`/_=→") or any(map(str.isdigit, text)) or len(set(terms(text))) > 4
    )


def left(said: Sequence[tuple[int, str, Sentence]]) -> Iterator[tuple[float, int]]:
    """Of all that was said, as (exchange, speaker, sentence): (weight, number) of what is told as
    not done.
    """
    for n, (_, speaker, sentence) in enumerate(said):
        if (
            speaker == "assistant"
            and not sentence.is_question
            and len(terms(sentence.text)) >= MIN_WORDS
        ):
            weight = talk_cues.weight_of(sentence.text, outcome_cues.LEFT)
            if weight and not outcome_cues.LEANING.search(sentence.text):
                yield weight, n


def is_settled(said: Sequence[tuple[int, str, Sentence]], n: int) -> bool:
    """True where a later statement, in another message, has most of the words of the ``n``-th
    sentence.
    """
    at, speaker, sentence = said[n]
    asked = set(terms(sentence.text))
    return any(
        (later_at, later_speaker) != (at, speaker)
        and not later.is_question
        and overlap(asked, terms(later.text)) >= SETTLED
        for later_at, later_speaker, later in said[n + 1 :]
        if len(set(terms(later.text))) >= MIN_WORDS
    )
