"""A conversation's title: the task and its object, in the words that were used.

Candidates are the headings of pasted plans, the subjects of commits and pull requests, what the
person asked for, what was decided, and what the agent says it will do or did. Each is an order, a
question or the name of a thing (``title_wording``); the one that names most of what the
conversation is about (``key_phrases``, ``title_score``) is taken, and where none names enough, what
the head tells or the first words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from itertools import chain

from keeplore.capture.cues import says
from keeplore.capture.distill.choices.choice import Choice, named_choice
from keeplore.capture.distill.decision_weights import decision_weight
from keeplore.capture.titles.key_phrases import SECRET, Profile, profile
from keeplore.capture.titles.title_candidates import (
    MAX_ASKED,
    MOST_DETAIL,
    OPENING,
    Parts,
    pasted_heading,
    title_candidates,
)
from keeplore.capture.titles.title_cutting import MAX_TITLE
from keeplore.capture.titles.title_score import title_score
from keeplore.capture.titles.title_wording import (
    Wording,
    request_wording,
    short_statement,
    without_small_talk,
)
from keeplore.capture.titles.title_words import capitalised
from keeplore.memory import Exchange
from keeplore.text.folding import LEFT_OUT
from keeplore.text.sentences import Sentence, answer_in, clip, sentences
from keeplore.text.terms import stems
from keeplore_hooks.events import Work

FALLBACK = "Conversation without words"
REDACTED = "[REDACTED"  # what a marker of a secret begins with
DECIDED_PARTS = ("decision", "also_decided")
# weight of a sentence that makes a decision by its words alone
SURELY_DECIDED = 2.6
HEAD = ("decision", "outcome", "reasoning")  # parts that tell what came of a talk
LEAST_TOLD = 0.3  # score of a line of them that can name it
MIN_SCORE = 0.6  # below it a candidate says too little, and the key phrases speak


def title_of(
    exchanges: Sequence[Exchange], parts: Parts, work: Work | None = None
) -> str:
    """At most ``MAX_TITLE`` characters on one line, never empty; the same conversation and work
    always give the same title.
    """
    if exchanges and (found := pasted_heading(exchanges[0].user)):
        return capitalised(found)
    about = profile(exchanges)
    spread = 1.0 + min(len(exchanges) - 1, MOST_DETAIL) / MOST_DETAIL
    chosen = [named_choice(quote.text) for quote in parts.get("decision", ())]
    replaced = {*_replaced_titles(exchanges, parts)}
    scored = [
        (title_score(wording, about, spread) + worth, wording.text)
        for wording, worth in title_candidates(exchanges, parts, work or Work(), about)
        if wording.text not in replaced and _may_be_title(wording.text, chosen)
    ]
    # the shorter of equals, and then the alphabet, so that no order of dictionaries shows
    best = min(scored, key=lambda c: (-c[0], len(c[1]), c[1]), default=(0.0, ""))
    if best[0] >= MIN_SCORE:
        return capitalised(best[1])
    found = _told_in_head(parts, about, replaced) or _first_words(exchanges, replaced)
    found = found or best[1]
    return capitalised(found) or FALLBACK


def _replaced_titles(exchanges: Sequence[Exchange], parts: Parts) -> Iterator[str]:
    """The titles that decisions would make which the head does not tell: they hold no more. One
    that was given another value is still of the same matter.
    """
    told = [quote.text for part in DECIDED_PARTS for quote in parts.get(part, ())]
    answers = [answer_in(text) for text in told]
    for exchange in exchanges:
        for sentence in sentences(exchange.user)[:MAX_ASKED]:
            text = sentence.text
            is_told = any(clip(text) in answer for answer in answers)
            if not is_told and _decides_surely(sentence):
                yield without_small_talk(text)
                if wording := request_wording(sentence):
                    yield wording.text


def _decides_surely(sentence: Sentence) -> bool:
    is_sure = decision_weight(sentence) >= SURELY_DECIDED
    return is_sure and not says(sentence.text, "value")


def _may_be_title(text: str, chosen: Sequence[tuple[Choice, str]]) -> bool:
    if not 0 < len(text) <= MAX_TITLE or _has_mark(text):
        return False
    return not any(choice.names_another(text, taken) for choice, taken in chosen)


def _has_mark(text: str) -> bool:
    """Whether something stands in it for a secret, or for what was left out."""
    return REDACTED in text or LEFT_OUT.search(text) is not None


def _told_in_head(parts: Parts, about: Profile, replaced: Set[str]) -> str:
    """The sentence of the head that tells most of what the conversation is about, "" where none
    tells enough.
    """
    lines = chain.from_iterable(parts.get(part, ()) for part in HEAD)
    statements = {short_statement(quote.text) for quote in lines}
    lines_told = sorted(
        line for line in statements - replaced if line and not _has_mark(line)
    )
    scores = {
        line: title_score(Wording(line, "statement"), about, 1.0) for line in lines_told
    }
    best = max(lines_told, key=scores.__getitem__, default="")
    return best if scores.get(best, 0.0) >= LEAST_TOLD else ""


def _without_marks(text: str) -> str:
    return SECRET.sub(" ", LEFT_OUT.sub(" ", text))


def _first_words(exchanges: Sequence[Exchange], replaced: Set[str]) -> str:
    """The beginning of the first message that says something, the person's before the agent's."""
    said = (*(e.user for e in exchanges), *(e.assistant for e in exchanges))
    texts = chain.from_iterable(
        (*(sentence.text for sentence in sentences(message)[:OPENING]), message)
        for message in said
    )
    lines = [
        line
        for line in map(without_small_talk, map(_without_marks, texts))
        if line not in replaced and any(map(str.isalnum, line))
    ]
    return next((line for line in lines if len(stems(line)) > 1), "".join(lines[:1]))
