"""What came of a conversation: what the agent reports that it found and did, and what it left.

A report is known by its cue phrases, its headings and its place at the end of an answer (H.
Edmundson, 1969); what the person sent back right after is no outcome, and neither is a guess or a
step on the way.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from itertools import pairwise

from keeplore.capture.cues import opens_with, says, weight_of, word_list
from keeplore.capture.discourse.statements import is_in_idle_list
from keeplore.memory import Exchange, Quote
from keeplore.text.sentences import Sentence, sentences
from keeplore.text.terms import count_terms, overlap, stems, terms

LISTED = 1.9  # weight of an item of a report's list
TOLD = 1.6  # of any other sentence of a report
CUED = 0.3  # what either gains by a cue of its own
AT_END = 0.5  # what the last fifth of an answer adds
LAST_WORD = 0.6  # what the last report of a conversation adds
LEANING = 1.2  # what a sentence loses that begins with "this", "and", "it"
UNNAMED = 0.8  # likewise one that names nothing: no file, no function, no figure
REMEDIED = 2.0  # what was found, right before what was done about it
FINDING_TERMS = 4  # content words of such a sentence
OPENING = 3  # sentences of a message in which it tells of a trouble
MIN_WEIGHT = 1.8
MIN_WORDS = 3
SETTLED = 0.6  # share of a question's terms that a later answer has
_WORD = re.compile(r"\w+")
REPORTS = ("cause", "done", "outcome", "state")  # tables of cues

# weight, number of the exchange, of the sentence
Weighed = Iterator[tuple[float, int, int, Sentence]]
Line = tuple[int, str, Sentence]  # number of the exchange, speaker, what was said


def outcomes(exchanges: Sequence[Exchange], sent_back: Set[int]) -> Weighed:
    """The agent's sentences that tell what came of the conversation, but for what was sent back."""
    reports = [n for n in range(len(exchanges)) if n not in sent_back]
    spoke = [n for n in reports if exchanges[n].assistant]
    for at in spoke:
        said = _before_plan(sentences(exchanges[at].assistant))
        has_done = any(weight_of(s.text, "done") for s in said)
        is_trouble = any(_tells_trouble(exchanges[n].user) for n in {0, at})
        found = _before_remedies(said) if is_trouble else ()
        for n, sentence in enumerate(said):
            weight = _outcome_weight(sentence) or REMEDIED * (n in found)
            if weight <= 0 or (not has_done and _is_only_state(sentence)):
                continue
            weight += AT_END * (n >= 0.8 * len(said)) + LAST_WORD * (at == spoke[-1])
            if weight >= MIN_WEIGHT:
                yield weight, at, n, sentence


def _tells_trouble(message: str) -> bool:
    opening = [s.text for s in sentences(message)[:OPENING]]
    return any(says(text, "trouble") or says(text, "tells_symptom") for text in opening)


def _before_remedies(message: Sequence[Sentence]) -> Set[int]:
    """The number of each sentence that tells what was wrong: the next one, of the same paragraph,
    says what was done about it.
    """
    return {
        number
        for number, (found, done) in enumerate(pairwise(message))
        if not (done.is_first or done.label)
        and weight_of(done.text, "done")
        and _tells_finding(found)
    }


def _tells_finding(sentence: Sentence) -> bool:
    text = sentence.text
    if weight_of(text, "done") or says(text, "guessed") or not is_claim(sentence):
        return False
    is_told = says(text, "states_present") or says(text, "states_past")
    return is_told and count_terms(text) >= FINDING_TERMS


def _before_plan(message: Sequence[Sentence]) -> Sequence[Sentence]:
    for n, sentence in enumerate(message):
        if sentence.is_heading and says(sentence.text, "plan_heading"):
            return message[:n]
    return message


def is_claim(sentence: Sentence) -> bool:
    """True for a whole statement of the agent's: no question, no announcement of a step, no
    offer.
    """
    text = sentence.text
    if sentence.is_heading or sentence.is_question or text.endswith((":", "...", "…")):
        return False
    is_told = len(stems(text)) >= MIN_WORDS
    return is_told and not (says(text, "on_the_way") or says(text, "offer"))


def _outcome_weight(sentence: Sentence) -> float:
    """How surely a sentence tells what was done or found: 0 for a guess, a plan and no claim."""
    text = sentence.text
    is_guess = says(text, "guessed") or weight_of(text, "proposed")
    is_planned = says(sentence.heading or sentence.lead, "planned")
    is_plan = says(text, "to_do") or is_planned or is_in_idle_list(sentence)
    is_aside = opens_with(text, "was_before") or opens_with(text, "advised")
    if not is_claim(sentence) or is_guess or is_plan or is_aside:
        return 0.0
    weight = _report_weight(text)
    if _is_reported(sentence) and (weight or says(text, "reported")):
        in_report = LISTED if sentence.label and sentence.is_first else TOLD
        weight = max(weight, in_report) + CUED * bool(weight)
    if not weight:
        return 0.0
    leaning = LEANING if says(text, "leaning") else 0.0
    return weight - leaning - UNNAMED * (not _names_something(text))


def with_one_check(told: Sequence[Quote]) -> tuple[Quote, ...]:
    """The lines with only the last of those that say nothing but that the checks passed."""
    checks = [quote for quote in told if _is_mere_check(quote.text)]
    return tuple(quote for quote in told if quote not in checks[:-1])


def _is_mere_check(text: str) -> bool:
    named = (word for word in _WORD.findall(text.lower()) if not word.isdigit())
    return word_list("verification").issuperset(named)


def _report_weight(text: str) -> float:
    return max(weight_of(text, table) for table in REPORTS)


def _is_reported(sentence: Sentence) -> bool:
    return says(sentence.heading, "report_heading") or says(
        sentence.lead, "report_lead"
    )


def _is_only_state(sentence: Sentence) -> bool:
    """True for a list's "X is now Y" outside a report: a step of a tale of how things happen."""
    is_tale = bool(sentence.label) and not _is_reported(sentence)
    return is_tale and _report_weight(sentence.text) == weight_of(
        sentence.text, "state"
    )


def _names_something(text: str) -> bool:
    is_written_so = any(c in "`/_=→" or c.isdigit() for c in text)
    return is_written_so or count_terms(text) > 4


def left_undone(lines: Sequence[Line]) -> Iterator[tuple[float, int]]:
    """Weight and number of each sentence in which the agent says that something was not done."""
    for n, (_, speaker, sentence) in enumerate(lines):
        if (
            speaker == "user"
            or sentence.is_question
            or len(terms(sentence.text)) < MIN_WORDS
        ):
            continue
        weight = weight_of(sentence.text, "left")
        if weight and not says(sentence.text, "leaning"):
            yield weight, n


def is_settled(lines: Sequence[Line], n: int) -> bool:
    """True where a later statement, in another message, has most of the words of the ``n``-th
    sentence; never of one that has too few of its own.
    """
    message = lines[n][:2]
    asked = set(terms(lines[n][2].text))
    if len(asked) < MIN_WORDS:
        return False
    for at, speaker, later in lines[n + 1 :]:
        if (at, speaker) == message or later.is_question:
            continue
        found = set(terms(later.text))
        if len(found) >= MIN_WORDS and overlap(asked, found) >= SETTLED:
            return True
    return False
