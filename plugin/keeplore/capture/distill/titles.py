"""A conversation's title: its decision or its subject, in the words that were used.

Candidates are the heading of a pasted plan, the decisions, the subjects of commits, the person's
requests, and what the agent says it did. Each is turned into an imperative or a noun phrase and
scored by how much of the subject it names (``phrases.profile``), how well it stands alone, and by
what it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from keeplore.capture.cues import opens_with, pattern, says
from keeplore.capture.distill.decisions import MAIN, is_decided
from keeplore.capture.distill.key_phrases import (
    TYPED_COMMANDS,
    Profile,
    capitalised,
    plain,
    profile,
)
from keeplore.capture.distill.title_wording import (
    MAX_TITLE,
    committed,
    decided,
    fit,
    heading,
    imperative,
    is_pasted,
    named,
    told,
    vagueness,
)
from keeplore.memory import Exchange, Quote
from keeplore.text.sentences import Sentence, sentences
from keeplore.text.terms import STOP, stems, terms, words
from keeplore_hooks.events import Work

FALLBACK = "Untitled conversation"
REDACTED = "[REDACTED"  # what a marker of a secret begins with
MIN_SCORE = 0.6  # below it a candidate says too little, and the key phrases speak
LONG_MESSAGE = 30  # sentences from which a first message counts as a document
# what a kind of candidate is worth, in units of the weight of the heaviest term
DECIDED_BY_USER, ANSWERED, DECIDED = 1.8, 0.4, 0.6
DETAIL_DECIDED = 0.0  # by the person, of one thing among others
# what each exchange beyond a short conversation takes from one decision's claim to name all of it
DETAIL, SHORT = 0.15, 6
COMMITTED, COMMITTED_AMONG_MANY, COMMITTED_BESIDE = 1.4, 0.0, -0.4
FIRST_REQUEST, LATER, LATER_SENTENCE = 0.8, 0.25, 0.25
CAME_OF_IT = -0.8
ASKING, TOLD, STATED, NAMELESS = -0.4, -0.6, -0.8, -0.6
FEW_COMMITS = 2
# of the heaviest term that a phrase names, the second, …: a list of words is no title
COVERAGE = (1.0, 0.7, 0.5, 0.3)
_FIGURE = re.compile(r"\b\d+\b")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{3}")

Parts = Mapping[str, tuple[Quote, ...]]
Scored = tuple[float, str]  # a candidate with what it is worth


def title_of(
    exchanges: Sequence[Exchange], parts: Parts, work: Work | None = None
) -> str:
    """At most ``MAX_TITLE`` characters on one line, never empty; the same talk and work always give
    the same title.
    """
    if found := _pasted_heading(exchanges):
        return found
    about = profile(exchanges)
    decisions = list(_decisions(exchanges, parts, about))
    chosen = [phrase for _, phrase in decisions if not vagueness(phrase)]
    scored = [
        *decisions,
        *_requests(exchanges, about),
        *_commits(work, chosen, about),
        *_outcomes(parts, about),
    ]
    scored = [(score, phrase) for score, phrase in scored if REDACTED not in phrase]
    # the shorter of equals, and then the alphabet, so that no order of dictionaries shows
    best = min(scored, key=lambda c: (-c[0], len(c[1]), c[1]), default=(0.0, ""))
    if best[0] >= MIN_SCORE:
        return _with_subject(best[1], about)
    if about.phrases:
        phrases = [phrase for phrase in about.phrases if " " in phrase] or about.phrases
        return capitalised(fit(" and ".join(phrases[:2]))) or FALLBACK
    return capitalised(best[1]) or FALLBACK


def _pasted_heading(exchanges: Sequence[Exchange]) -> str:
    """The heading of a plan or document that the first message is made of."""
    message = exchanges[0].user if exchanges else ""
    said = sentences(message)
    is_document = len(said) > LONG_MESSAGE and not opens_with(
        said[0].text, "title_request"
    )
    if not is_document and not is_pasted(message):
        return ""
    for sentence in said[:LONG_MESSAGE]:
        if sentence.is_heading and (found := heading(sentence.text)):
            return capitalised(found)
    return ""


def _decisions(
    exchanges: Sequence[Exchange], parts: Parts, about: Profile
) -> Iterator[Scored]:
    opening = set(terms(exchanges[0].user)) if exchanges else set()
    for quote in parts.get("decision", ()):
        asked, _, answer = quote.text.rpartition(" → ")
        phrase = decided(answer)
        if asked and opens_with(answer, "title_any_of"):
            continue
        if asked:
            phrase = _led(_subject_of(plain(asked), about), phrase)
            worth = ANSWERED
        else:
            if opens_with(phrase, "title_choice"):
                phrase = _for_what(phrase, opening, about)
            worth = _worth_of(quote, len(exchanges))
        figures = len(_FIGURE.findall(phrase)) if named(phrase) else 0
        if _size(phrase) + figures < 2:
            continue
        worth += STATED if opens_with(phrase, "title_noun_first") else 0.0
        yield _score(phrase, about) + worth, phrase


def _worth_of(quote: Quote, exchanges: int) -> float:
    """What a decision is worth; one of many in a long conversation names less of it."""
    if quote.speaker != "user":
        return DECIDED
    is_main = is_decided(Sentence(quote.text)) >= MAIN
    detail = DETAIL * min(max(exchanges - SHORT, 0), 12)
    return (DECIDED_BY_USER if is_main else DETAIL_DECIDED) - detail


def _commits(
    work: Work | None, chosen: Sequence[str], about: Profile
) -> Iterator[Scored]:
    """The subjects of commits; few of them sum up a conversation, unless it decided something that
    they do not name.
    """
    subjects = {committed(commit) for commit in (work.commits if work else ())}
    subjects = {subject for subject in subjects if len(named(subject)) > 1}
    worth = COMMITTED if len(subjects) <= FEW_COMMITS else COMMITTED_AMONG_MANY
    for subject in subjects:
        is_beside = bool(chosen) and not any(
            stems(phrase) & stems(subject) for phrase in chosen
        )
        yield (
            _score(subject, about) + (COMMITTED_BESIDE if is_beside else worth),
            subject,
        )


def _outcomes(parts: Parts, about: Profile) -> Iterator[Scored]:
    """What was found or done, where neither a request nor a decision says it."""
    for n, quote in enumerate(parts.get("outcome", ())):
        if phrase := told(Sentence(quote.text)):
            yield _score(phrase, about) + CAME_OF_IT - LATER_SENTENCE * n, phrase


def _requests(exchanges: Sequence[Exchange], about: Profile) -> Iterator[Scored]:
    """What the person asked for, and what the agent says that it did."""
    late = 0.0
    for exchange in exchanges:
        for n, sentence in enumerate(sentences(exchange.user)[:12]):
            worth = (0.0 if late else FIRST_REQUEST) - LATER_SENTENCE * n - late
            yield from _asked_for(sentence, worth, about)
        if len(terms(exchange.user)) > 2:
            late = min(late + LATER, 4 * LATER)
        for sentence in sentences(exchange.assistant):
            if phrase := told(sentence):
                yield _score(phrase, about) + TOLD, phrase


def _asked_for(sentence: Sentence, worth: float, about: Profile) -> Iterator[Scored]:
    """What a sentence asks for, as a whole and from its request on."""
    whole = plain(TYPED_COMMANDS.sub("", sentence.text))
    rest = pattern("title_after_report").sub("", whole)
    for text in dict.fromkeys((whole, rest)):
        phrase = imperative(text)
        if _size(phrase) > 1:
            is_question = sentence.is_question and not opens_with(text, "title_request")
            asking = ASKING if is_question else 0.0
            yield _score(phrase, about) + worth + _asks(text) + asking, phrase


def _score(phrase: str, about: Profile) -> float:
    found = stems(phrase)
    unspaced = _unspaced(phrase)
    heavy = sorted((about.weights.get(term, 0.0) for term in found), reverse=True)
    covered = sum(
        share * weight for share, weight in zip(COVERAGE, heavy, strict=False)
    )
    # its clauses count as words, so how many of them recur says nothing
    if unspaced > 2:
        covered = 1.0
    said = words(phrase)
    filler = sum(word.lower() in STOP for word in said) / max(len(said), 1)
    form = 0.0 if named(phrase) or unspaced else NAMELESS
    form += 0.15 * min(len(found) + unspaced, 6)
    form -= vagueness(phrase)
    form -= max(0.0, filler - 0.5)
    return covered + form + (STATED if says(phrase, "title_statement") else 0.0)


def _size(phrase: str) -> int:
    """Content words; of scripts without spaces as many as their characters make up."""
    return len(stems(phrase)) + _unspaced(phrase)


def _unspaced(phrase: str) -> int:
    return len(_UNSPACED.findall(phrase))


def _asks(text: str) -> float:
    """A request names what a conversation is for better than a report does."""
    opens = opens_with(text, "title_request") or opens_with(text, "new_topic")
    return 0.4 if opens or opens_with(text, "maybe_topic") else 0.0


def _with_subject(phrase: str, about: Profile) -> str:
    """The phrase, with the subject where it does not name one itself."""
    own = named(phrase)
    is_named = (
        len(own) > 1 or bool(_FIGURE.search(phrase)) or "." in phrase or "_" in phrase
    )
    if is_named or phrase.endswith("?"):
        return capitalised(phrase)
    for other in about.phrases:
        if " " in other and named(other) and not named(other) & stems(phrase):
            is_first = len(set(terms(phrase))) > 1
            joined = f"{phrase}: {other}" if is_first else f"{other}: {phrase}"
            return capitalised(_if_short(joined, phrase))
    return capitalised(phrase)


def _for_what(choice: str, opening: set[str], about: Profile) -> str:
    """A choice ("go with A") with what it was made for, where it does not say that itself."""
    rest = opening.difference(terms(choice))
    for subject in about.phrases[:12]:
        if " " in subject and subject.islower() and rest.issuperset(terms(subject)):
            whole = f"{choice} for the {subject}"
            return choice if " for " in choice else _if_short(whole, choice)
    return choice


def _subject_of(question: str, about: Profile) -> str:
    """The key phrase that the question names, else that of the whole."""
    asked = set(terms(question))
    named_there = (p for p in about.phrases if asked.issuperset(terms(p)))
    return next(named_there, next(iter(about.phrases), ""))


def _led(subject: str, phrase: str) -> str:
    if not subject or not set(terms(subject)).isdisjoint(terms(phrase)):
        return phrase
    return _if_short(f"{subject}: {phrase}", phrase)


def _if_short(title: str, shorter: str) -> str:
    return title if len(title) <= MAX_TITLE else shorter
