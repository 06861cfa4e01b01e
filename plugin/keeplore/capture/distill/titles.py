"""A conversation's title: its decision or its subject, in the words that were used.

Candidates are the heading of a pasted plan, the decisions, the subjects of commits, the person's
requests, and what the agent says it did. Each is turned into an imperative or a noun phrase and
scored by how much of the subject it names (``phrases.profile``), how well it stands alone, and by
what it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from keeplore.capture.cues import topic_cues
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
DETAIL, SHORT_TALK = (
    0.15,
    6,
)  # what each exchange beyond a short talk takes from one decision's claim to name all of it
COMMITTED, COMMITTED_AMONG_MANY, COMMITTED_BESIDE = 1.4, 0.0, -0.4
FIRST_REQUEST, LATER, LATER_SENTENCE = 0.8, 0.25, 0.25
CAME_OF_IT = -0.8
ASKING, TOLD, STATED, NAMELESS = -0.4, -0.6, -0.8, -0.6
FEW_COMMITS = 2
COVERAGE = (
    1.0,
    0.7,
    0.5,
    0.3,
)  # of the heaviest term that a phrase names, the second, …: a list of words is no title


def title_of(
    exchanges: Sequence[Exchange], parts: Mapping[str, tuple[Quote, ...]], work: Work | None = None
) -> str:
    """At most ``MAX_TITLE`` characters on one line, never empty; the same talk and work always give
    the same title.
    """
    if found := _pasted_heading(exchanges):
        return found
    about = profile(exchanges)
    decisions = list(_decisions(exchanges, parts, about))
    chosen = [phrase for _, phrase in decisions if not vagueness(phrase)]
    scored = sorted(
        (
            *decisions,
            *_requests(exchanges, about),
            *_commits(work, chosen, about),
            *_outcomes(parts, about),
        ),
        # the shorter of equals, and then the alphabet, so that no order of dictionaries shows
        key=lambda c: (-c[0], len(c[1]), c[1]),
    )
    scored = [(score, phrase) for score, phrase in scored if REDACTED not in phrase]
    if scored and scored[0][0] >= MIN_SCORE:
        return _with_subject(scored[0][1], about)
    if about.phrases:
        best = [phrase for phrase in about.phrases if " " in phrase] or about.phrases
        return capitalised(fit(" and ".join(best[:2]))) or FALLBACK
    return (capitalised(scored[0][1]) if scored else "") or FALLBACK


def _pasted_heading(exchanges: Sequence[Exchange]) -> str:
    """The heading of a plan or document that the first message is made of."""
    message = exchanges[0].user if exchanges else ""
    said = sentences(message)
    is_document = len(said) > LONG_MESSAGE and not _REQUEST.match(said[0].text)
    for sentence in said[:LONG_MESSAGE] if is_pasted(message) or is_document else ():
        if sentence.is_heading and (found := heading(sentence.text)):
            return capitalised(found)
    return ""


def _decisions(
    exchanges: Sequence[Exchange], parts: Mapping[str, tuple[Quote, ...]], about: Profile
) -> Iterator[tuple[float, str]]:
    opening = set(terms(exchanges[0].user)) if exchanges else set()
    for quote in parts.get("decision", ()):
        asked, _, answer = quote.text.rpartition(" → ")
        phrase = decided(answer)
        if asked and _ANY_OF.match(answer):
            continue
        if asked:
            phrase = _led(_subject_of(plain(asked), about), phrase)
        elif _CHOICE.match(phrase):
            phrase = _for_what(phrase, opening, about)
        is_main = is_decided(Sentence(quote.text)) >= MAIN
        own = (DECIDED_BY_USER if is_main else DETAIL_DECIDED) - DETAIL * min(
            max(len(exchanges) - SHORT_TALK, 0), 12
        )
        worth = ANSWERED if asked else own if quote.speaker == "user" else DECIDED
        if _size(phrase) + (len(_FIGURE.findall(phrase)) if named(phrase) else 0) < 2:
            continue
        worth += STATED if _NOUN_FIRST.match(phrase) else 0.0
        yield _score(phrase, about) + worth, phrase


def _commits(
    work: Work | None, chosen: Sequence[str], about: Profile
) -> Iterator[tuple[float, str]]:
    """The subjects of commits; few of them sum up a talk, unless it decided something that they do
    not name.
    """
    subjects = {
        phrase
        for commit in (work.commits if work else ())
        if len(named(phrase := committed(commit))) > 1
    }
    for subject in subjects:
        is_beside = bool(chosen) and not any(stems(phrase) & stems(subject) for phrase in chosen)
        worth = COMMITTED if len(subjects) <= FEW_COMMITS else COMMITTED_AMONG_MANY
        yield _score(subject, about) + (COMMITTED_BESIDE if is_beside else worth), subject


def _outcomes(
    parts: Mapping[str, tuple[Quote, ...]], about: Profile
) -> Iterator[tuple[float, str]]:
    """What was found or done, where neither a request nor a decision says it."""
    for n, quote in enumerate(parts.get("outcome", ())):
        if phrase := told(Sentence(quote.text)):
            yield _score(phrase, about) + CAME_OF_IT - LATER_SENTENCE * n, phrase


def _requests(exchanges: Sequence[Exchange], about: Profile) -> Iterator[tuple[float, str]]:
    """What the person asked for, and what the agent says that it did."""
    late = 0.0
    for exchange in exchanges:
        for n, sentence in enumerate(sentences(exchange.user)[:12]):
            whole = plain(TYPED_COMMANDS.sub("", sentence.text))
            worth = (0.0 if late else FIRST_REQUEST) - LATER_SENTENCE * n - late
            for text in dict.fromkeys((whole, _AFTER_REPORT.sub("", whole))):
                phrase = imperative(text)
                if _size(phrase) > 1:
                    is_question = sentence.is_question and not _REQUEST.match(text)
                    yield (
                        _score(phrase, about)
                        + worth
                        + _asks(text)
                        + (ASKING if is_question else 0.0),
                        phrase,
                    )
        if len(terms(exchange.user)) > 2:
            late = min(late + LATER, 4 * LATER)
        for sentence in sentences(exchange.assistant):
            if phrase := told(sentence):
                yield _score(phrase, about) + TOLD, phrase


def _score(phrase: str, about: Profile) -> float:
    found = stems(phrase)
    heavy = sorted((about.weights.get(term, 0.0) for term in found), reverse=True)
    covered = sum(share * weight for share, weight in zip(COVERAGE, heavy, strict=False))
    if _unspaced(phrase) > 2:  # its clauses count as words, so how many of them recur says nothing
        covered = 1.0
    filler = sum(word.lower() in STOP for word in words(phrase)) / max(len(words(phrase)), 1)
    form = (
        (0.0 if named(phrase) or _unspaced(phrase) else NAMELESS)
        + 0.15 * min(len(found) + _unspaced(phrase), 6)
        - vagueness(phrase)
        - max(0.0, filler - 0.5)
    )
    return covered + form + (STATED if _STATEMENT.search(phrase) else 0.0)


def _size(phrase: str) -> int:
    """Content words; of scripts without spaces as many as their characters make up."""
    return len(stems(phrase)) + _unspaced(phrase)


def _unspaced(phrase: str) -> int:
    return len(_UNSPACED.findall(phrase))


def _asks(text: str) -> float:
    """A request names what a talk is for better than a report does."""
    is_request = (
        topic_cues.NEW_TOPIC.search(text)
        or topic_cues.MAYBE_TOPIC.search(text)
        or _REQUEST.match(text)
    )
    return 0.4 if is_request else 0.0


def _with_subject(phrase: str, about: Profile) -> str:
    """The phrase, with the subject where it does not name one itself."""
    own = set(terms(phrase))
    other = next(
        (p for p in about.phrases if " " in p and named(p) and not named(p) & stems(phrase)), ""
    )
    is_named = (
        len(named(phrase)) > 1
        or bool(_FIGURE.search(phrase))
        or any(mark in phrase for mark in "._")
    )
    if not is_named and other and not phrase.endswith("?"):
        joined = f"{phrase}: {other}" if len(own) > 1 else f"{other}: {phrase}"
        phrase = joined if len(joined) <= MAX_TITLE else phrase
    return capitalised(phrase)


def _for_what(choice: str, opening: set[str], about: Profile) -> str:
    """A choice ("go with A") with what it was made for, where it does not say that itself."""
    own = set(terms(choice))
    fit_for = (
        p for p in about.phrases[:12] if " " in p and p.islower() and set(terms(p)) <= opening - own
    )
    subject = next(fit_for, "")
    joined = f"{choice} for the {subject}" if subject and " for " not in choice else choice
    return joined if len(joined) <= MAX_TITLE else choice


def _subject_of(question: str, about: Profile) -> str:
    """The key phrase that the question names, else that of the whole."""
    asked = set(terms(question))
    return next(
        (p for p in about.phrases if set(terms(p)) <= asked),
        about.phrases[0] if about.phrases else "",
    )


def _led(subject: str, phrase: str) -> str:
    led = (
        f"{subject}: {phrase}"
        if subject and not set(terms(subject)) & set(terms(phrase))
        else phrase
    )
    return led if len(led) <= MAX_TITLE else phrase


_ANY_OF = re.compile(r"\W*(?:all|both|none|any|either|neither|yes|no|same|other)\b", re.IGNORECASE)
_CHOICE = re.compile(
    r"(?:go (?:with|for)|use|pick|choose|adopt|switch to|stick with|settle on|stay with)\b",
    re.IGNORECASE,
)
# a clause with its own subject and verb reports; what a talk is for is asked, or named
_STATEMENT = re.compile(
    r"\A(?!(?:how|why|what|which|whether|fix|make|ensure|check|see)\b)(?:(?!that\b|which\b|"
    r"who\b|to\b)\S+ ){1,6}"
    r"(?:is|are|was|were|has|have|had|should|would|could|can|cannot|can't|does|"
    r"did|do|will|looks?|seems?|isn't|aren't|"
    r"doesn't|didn't|don't)\b(?! not\Z)",
    re.IGNORECASE,
)
_NOUN_FIRST = re.compile(r"\A(?:an?|the|my|our|each|all)\b", re.IGNORECASE)
_FIGURE = re.compile(r"\b\d+\b")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{3}")
# "this is slow, so could you …": what comes before the request
_AFTER_REPORT = re.compile(
    r"\A[^?]*?[,;.–—-]\s+(?:(?:so|and|but|then)\s+)?(?=(?:can|could|would|will) "
    r"(?:you|we)\b|please\b)",
    re.IGNORECASE,
)
_REQUEST = re.compile(
    r"\W*(?:please|can you|could you|i(?:'d| would) like|i want|we need|let's|help|add|fix|"
    r"build|create|"
    r"make|write|refactor|update|remove|review|implement|move|rename|change|improve|"
    r"check|investigate|explain|find)\b",
    re.IGNORECASE,
)
