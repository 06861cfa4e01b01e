"""What a conversation is about: the weights of its terms, and its key phrases."""

from __future__ import annotations

import functools
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from keeplore.capture.cues import word_list
from keeplore.capture.titles.markup_removal import without_markup
from keeplore.memory import Exchange
from keeplore.text.common_words import stem
from keeplore.text.sentences import sentences
from keeplore.text.terms import STOP, terms

Run = tuple[str, ...]  # of words
MAX_WORDS = 3  # of a key phrase
MAX_SENTENCES = 60  # of one message that count; a long answer must not outvote the talk
MAX_PHRASES = 40
# the person's words say what a conversation is about; the agent's, which count 1, how it went
USER_WEIGHT = 2.0
SECRET = re.compile(r"\[REDACTED(?::[^\]\s]{1,80})?\]")  # what stands in its place
_CHUNK = re.compile(r"[.,;:!?()\[\]{}\"“”|→←—–=<>*…]+|\s-\s|\s/\s")
_TOKEN = re.compile(r"[\w][\w.\-/'’+#]*")
_INTERJECTION = re.compile(r"(?:u+h+m*|h+m+|m+k+|a+h+|lol|ok+y?|lest)\Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Profile:
    """What a conversation is about: the weight of each term (the heaviest is 1) and its key
    phrases, best first.
    """

    weights: dict[str, float]
    phrases: tuple[str, ...]


def profile(exchanges: Sequence[Exchange]) -> Profile:
    """Terms weighted by how many messages hold them, phrases by their words' weights and their own
    count.

    Phrases are runs of content words between stop words and punctuation, as in RAKE (S. Rose et
    al., "Automatic keyword extraction from individual documents", 2010); they are scored by spread
    over messages, which is steadier in talk.
    """
    spread: dict[str, float] = defaultdict(float)
    runs: Counter[Run] = Counter()
    shown: dict[Run, Counter[str]] = defaultdict(Counter)
    for said, weight in _messages(exchanges):
        for term, n in Counter(chain.from_iterable(map(terms, said))).items():
            spread[term] += weight * (1 + math.log(n))
        for run in set(chain.from_iterable(map(_word_runs, said))):
            key = tuple(stem(word.lower()) for word in run)
            runs[key] += 1 + (weight > 1)
            shown[key][" ".join(run)] += 1
    most = max(spread.values(), default=1.0)
    weights = {term: value / most for term, value in spread.items()}
    phrases = [_most_frequent_spelling(shown[key]) for key in _best_runs(runs, weights)]
    return Profile(weights, tuple(_distinct(phrases)))


def _best_runs(runs: Mapping[Run, int], weights: Mapping[str, float]) -> list[Run]:
    scores = {key: _score(key, n, weights) for key, n in runs.items()}
    return sorted(scores, key=lambda key: (-scores[key], key))[:MAX_PHRASES]


def _messages(exchanges: Sequence[Exchange]) -> Iterator[tuple[list[str], float]]:
    """The plain sentences of each message, with what it counts."""
    for exchange in exchanges:
        for message, weight in (
            (exchange.user, USER_WEIGHT),
            (exchange.assistant, 1.0),
        ):
            yield (
                [
                    without_markup(SECRET.sub(" ", said.text))
                    for said in sentences(message)[:MAX_SENTENCES]
                ],
                weight,
            )


def _most_frequent_spelling(spellings: Counter[str]) -> str:
    """The most frequent spelling, of equals the first in the alphabet: the same in every
    process.
    """
    return min(spellings, key=lambda spelling: (-spellings[spelling], spelling))


@functools.lru_cache(maxsize=8192)
def _word_runs(text: str) -> tuple[Run, ...]:
    """Each part, of at most MAX_WORDS, of the runs of content words in a text."""
    found: list[Run] = []
    for chunk in _CHUNK.split(text):
        run: list[str] = []
        for token in [*_TOKEN.findall(chunk), ""]:
            word = re.sub(r"['’]s?\Z", "", token.strip(".'’-/"))
            if _is_content(word):
                run.append(word)
                continue
            found += [*_sub_runs(run)]
            run = []
    return tuple(run for run in found if _can_be_subject(run))


def _is_content(word: str) -> bool:
    if len(word) < 2 or word.isdigit() or _INTERJECTION.match(word):
        return False
    return re.split("['’]", word.lower(), maxsplit=1)[0] not in STOP


def _sub_runs(run: Sequence[str]) -> Iterator[Run]:
    for i in range(len(run)):
        for j in range(i + 1, min(i + MAX_WORDS, len(run)) + 1):
            yield tuple(run[i:j])


def _can_be_subject(run: Run) -> bool:
    """False for a run of words that is the rest of a clause, or begins or ends as no noun does."""
    first, last = run[0].lower(), run[-1].lower()
    if first in word_list("no_subject"):
        return False
    if len(run) == 1:
        return True
    # "hook caused", "search normally builds": the rest of a clause
    if any(word.lower().endswith("ly") for word in run):
        return False
    return not (len(last) > 4 and last.endswith("ed") and last.isalpha())


def _score(key: Run, n: int, weights: Mapping[str, float]) -> float:
    mean = sum(weights.get(word, 0.0) for word in key) / len(key)
    return mean * math.log(1 + n) * (1 + 0.5 * (len(key) - 1)) * (0.4 if n < 2 else 1.0)


def _distinct(phrases: Sequence[str]) -> list[str]:
    """Phrases that share no word; a single word gives way to a longer phrase that holds it."""
    kept: list[str] = []
    for phrase in phrases:
        own = set(terms(phrase))
        sharing = [n for n, other in enumerate(kept) if own & set(terms(other))]
        if own and not sharing:
            kept.append(phrase)
        elif len(sharing) == 1 and " " in phrase and " " not in kept[sharing[0]]:
            kept[sharing[0]] = phrase
    return kept
