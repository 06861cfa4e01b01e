"""A conversation's title: its subject and, where there is one, its decision, in the words that were used.

Candidates are the heading of a pasted plan, the decisions, the person's requests, and what the agent says it did. Each
is turned into an imperative or a noun phrase and scored by how much of the subject it names (``phrases.profile``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from keeplore.capture import topic_cues
from keeplore.capture.phrases import Profile, capitalised, plain, profile
from keeplore.capture.sentences import sentences
from keeplore.capture.terms import STOP, stems, terms, words
from keeplore.capture.wording import MAX_TITLE, decided, fit, heading, imperative, is_pasted, told, vagueness
from keeplore.memory import Exchange, Quote

FALLBACK = "Untitled conversation"
MIN_SCORE = 0.6  # below it a candidate says too little, and the key phrases speak
LONG_MESSAGE = 30  # sentences from which a first message counts as a document
# what a kind of candidate is worth, in units of the weight of the heaviest term
DECIDED_BY_USER, ANSWERED, DECIDED = 1.2, 0.6, 0.8
FIRST_REQUEST, LATER, LATER_SENTENCE = 0.5, 0.25, 0.25
ASKING, TOLD = -0.6, -0.5


def title_of(exchanges: Sequence[Exchange], parts: Mapping[str, tuple[Quote, ...]]) -> str:
    """At most ``MAX_TITLE`` characters on one line, never empty; the same exchanges always give the same title."""
    if found := _pasted_heading(exchanges):
        return found
    about = profile(exchanges)
    # the shorter of equals, and then the alphabet, so that no order of dictionaries shows
    scored = sorted(_candidates(exchanges, parts, about), key=lambda c: (-c[0], len(c[1]), c[1]))
    if scored and scored[0][0] >= MIN_SCORE:
        return _with_subject(scored[0][1], about)
    if about.phrases:
        names = [phrase for phrase in about.phrases if " " in phrase] or about.phrases
        return capitalised(fit(" and ".join(names[:2]))) or FALLBACK
    return (capitalised(scored[0][1]) if scored else "") or FALLBACK


def _pasted_heading(exchanges: Sequence[Exchange]) -> str:
    """The heading of a plan or document that the first message is made of."""
    message = exchanges[0].user if exchanges else ""
    said = sentences(message)
    for sentence in said[:LONG_MESSAGE] if is_pasted(message) or len(said) > LONG_MESSAGE else ():
        if sentence.is_heading and (found := heading(sentence.text)):
            return capitalised(found)
    return ""


def _candidates(
    exchanges: Sequence[Exchange], parts: Mapping[str, tuple[Quote, ...]], about: Profile
) -> Iterator[tuple[float, str]]:
    for quote in parts.get("decision", ()):
        asked, _, answer = quote.text.rpartition(" → ")
        phrase = decided(answer)
        if asked and _ANY_OF.match(answer):
            continue
        if asked:
            phrase = _led(_subject_of(plain(asked), about), phrase)
        worth = ANSWERED if asked else DECIDED_BY_USER if quote.speaker == "user" else DECIDED
        yield _score(phrase, about) + worth, phrase
    late = 0.0
    for exchange in exchanges:
        for n, sentence in enumerate(sentences(exchange.user)[:12]):
            phrase = imperative(plain(sentence.text))
            if len(terms(phrase)) > 1:
                worth = (0.0 if late else FIRST_REQUEST) + _asks(sentence.text) - LATER_SENTENCE * n - late
                yield _score(phrase, about) + worth + (ASKING if sentence.is_question else 0.0), phrase
        if len(terms(exchange.user)) > 2:
            late = min(late + LATER, 4 * LATER)
        for sentence in sentences(exchange.assistant):
            if phrase := told(sentence):
                yield _score(phrase, about) + TOLD, phrase


def _score(phrase: str, about: Profile) -> float:
    found = stems(phrase)
    if len(found) < 2:
        return 0.0
    filler = sum(word.lower() in STOP for word in words(phrase)) / max(len(words(phrase)), 1)
    return about.of(phrase) + 0.15 * min(len(found), 6) - vagueness(phrase) - max(0.0, filler - 0.5)


def _asks(text: str) -> float:
    """A request names what a talk is for better than a report does."""
    is_request = topic_cues.NEW_TOPIC.search(text) or topic_cues.MAYBE_TOPIC.search(text) or _REQUEST.match(text)
    return 0.4 if is_request else 0.0


def _with_subject(phrase: str, about: Profile) -> str:
    """The phrase, led by the subject where it does not name it itself."""
    own = set(terms(phrase))
    if len(own) < 3 and about.phrases and not any(set(terms(p)) & own for p in about.phrases[:2]):
        phrase = _led(about.phrases[0], phrase)
    return capitalised(phrase)


def _subject_of(question: str, about: Profile) -> str:
    """The key phrase that the question names, else that of the whole."""
    asked = set(terms(question))
    return next((p for p in about.phrases if set(terms(p)) <= asked), about.phrases[0] if about.phrases else "")


def _led(subject: str, phrase: str) -> str:
    led = f"{subject}: {phrase}" if subject and not set(terms(subject)) & set(terms(phrase)) else phrase
    return led if len(led) <= MAX_TITLE else phrase


_ANY_OF = re.compile(r"\W*(?:all|both|none|any|either|neither|yes|no|same|other)\b", re.IGNORECASE)
_REQUEST = re.compile(
    r"\W*(?:please|can you|could you|i(?:'d| would) like|i want|we need|let's|help|add|fix|build|create|"
    r"make|write|refactor)\b",
    re.IGNORECASE,
)
