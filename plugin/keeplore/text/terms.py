"""Text tokenised into the words that carry meaning, and how alike two texts are by them."""

from __future__ import annotations

import functools
import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping

from keeplore.text.common_words import stem
from keeplore.text.unspaced import pairs, runs, without_runs

# characters of a script without spaces that are a sentence, or most of one
MIN_UNSPACED = 6
LITTLE_WORDS = 0.15  # share of function words that prose has
# function words, and what talk with an agent is full of whatever its subject
_STOP = """

a about above across actually after again against ago ah aha all almost alone along already alright
also although always am among an and any anybody anyone anything anyway are aren around as ask at
away back be became because become been before being below best better between both but by came can
cannot cant case certain clear come could couldn course did didn different do does doesn doing don
done down during each either else enough especially etc even ever every everyone everything exactly
far feel few fine first for found from further gave get gets getting give given gives go goes going
gone good got great had haha has hasn have haven having he hello help her here hers hey hi him his
hm hmm how however huh i idea if in indeed instead into is isn it its itself just keep kind know
known last later least less let lets like likely little lol look looking looks lot made make makes
making many matter may maybe me mean means might mine more most much must my myself need needed
needs neither never new next nice no nobody none nope nor not nothing now of off oh ok okay on once
one ones only onto or other others otherwise ought our ours out over own part per perfect perhaps
please point possible probably put quite rather really reason right said same saw say says second
see seem seems seen several shall she should shouldn show similar simply since so some someone
something sometimes soon sorry still stuff such sure take taken takes talk tell than thank thanks
that thats the their theirs them themselves then there these they thing things think this those
though thought through thus time to today together told too toward tried try trying two uh um umm
under until up upon us use used uses using usually very via want wanted wants was wasn way we well
went were weren what whatever when where whether which while who whole whom whose why will with
within without won work working works worth would wouldn wow yeah yep yes yet you your yours
yourself
"""
# likewise in German, Spanish, French and Portuguese, without those that are English words of
# another meaning
_STOP_ABROAD = """

das der den dem des ein eine einen einer einem und oder ist sind nicht mit auf für von zu zum zur im
es sie wir ich auch aber wie wenn dass bei nach noch nur schon sich wird werden kann können haben
habe mehr aus bis durch über unter vor dann hier jetzt bitte mir mich uns du dir diese dieser dieses
einfach soll sollen que los las el la lo al del una uno unos por para con se su sus más ya este esta
estos esto si cuando porque también solo hay ser está están fue como pero sobre muy nos me te le les
qué cómo une et est pas qui dans pour sur avec ce cette ces il elle nous vous je mais où au aux du
sont être avoir fait comme tout ne sa ses leur leurs ça cela aussi donc très peut faut um uma uns
umas não são foi ao aos pelo pela pelos pelas isso isto essa esse essas esses você vocês meu minha
meus minhas seu seus sua suas mas também já só até ele ela eles elas quando muito mais há gente tem
temos vamos
"""
STOP = frozenset((*_STOP.split(), *_STOP_ABROAD.split()))
_ABROAD = frozenset(_STOP_ABROAD.split()) - frozenset(_STOP.split())
_WORD = re.compile(r"[^\W\d_][\w]*(?:[.\-/+'’][\w]+)*[+#]*|(?<!\d)\d+(?:\.\d+)+")
_CAMEL = re.compile(r"[a-z0-9](?=[A-Z])|[_.\-/]")
_SEAM = re.compile(r"[_.\-/]|(?<=[a-z0-9])(?=[A-Z])")
_FIGURE = re.compile(r"\d(?:[.,:]?\d)+")
MAX_TEXT = 20_000  # characters that are looked at; beyond it a text's words only repeat


def words(text: str) -> list[str]:
    """Words as they are written, identifiers and file names whole."""
    return _WORD.findall(text[:MAX_TEXT])


@functools.lru_cache(maxsize=8192)  # an open conversation is read again at every turn
def terms(text: str) -> tuple[str, ...]:
    """Stems of the content words in order; an identifier counts as itself and as its parts."""
    found = list(_pairs(text))
    for word in words(without_runs(text)):
        lower = word.lower()
        if lower.partition("'")[0].partition("’")[0] in STOP or len(lower) < 2:
            continue
        found.append(stem(lower))
        if _CAMEL.search(word):
            parts = map(str.lower, _SEAM.split(word))
            found += [
                stem(part) for part in parts if len(part) > 2 and part not in STOP
            ]
    return tuple(found)


def count_terms(text: str) -> int:
    """How many different content words a text has, an identifier with its parts."""
    return len({*terms(text)})


def stems(text: str) -> set[str]:
    """Stems of the content words, an identifier counting once."""
    lower = (word.lower() for word in words(without_runs(text)))
    return set(_pairs(text)) | {
        stem(word)
        for word in lower
        if len(word) > 1 and word.partition("'")[0].partition("’")[0] not in STOP
    }


def _pairs(text: str) -> Iterator[str]:
    """The pairs of characters that stand together, of scripts without spaces, as in searches of
    such text.
    """
    for run in runs(text[:MAX_TEXT]):
        yield from pairs(run)


def is_prose(text: str) -> bool:
    """False for what programs print: a sentence of ten words has a function word in each five, or
    so.
    """
    if sum(map(len, runs(text))) >= MIN_UNSPACED:
        return True
    said = words(text)
    return (
        2 < len(said) < 10
        or sum(word.lower() in STOP for word in said) >= LITTLE_WORDS * len(said) > 0
    )


def is_foreign(text: str) -> bool:
    """True where a text is in another language than English: another script, or more function words
    of another language than English ones.
    """
    letters = sum(map(str.isalpha, text))
    if sum(ch.isalpha() and ord(ch) > 0x24F for ch in text) * 3 > letters:
        return True
    said = [word.lower() for word in words(text)]
    abroad = sum(word in _ABROAD for word in said)
    return abroad > 1 and abroad > sum(word in STOP - _ABROAD for word in said)


def is_identifier(word: str) -> bool:
    """True for what only code or a name is written like: ``snake_case``, ``camelCase``, ``a.py``,
    ``GPT5``.
    """
    return bool(
        _CAMEL.search(word)
        or any(map(str.isdigit, word))
        or sum(map(str.isupper, word)) > 1
    )


def cosine(a: Mapping[str, float], b: Mapping[str, float]) -> float:
    """Cosine of two weighted bags of terms, 0 where one is empty."""
    if len(b) < len(a):
        a, b = b, a
    dot = sum(weight * b.get(term, 0.0) for term, weight in a.items())
    norm = math.sqrt(sum(w * w for w in a.values()) * sum(w * w for w in b.values()))
    return dot / norm if norm else 0.0


def overlap(a: Collection[str], b: Collection[str]) -> float:
    """Share of the smaller set that the larger one has too."""
    smaller, larger = sorted((set(a), set(b)), key=len)
    return len(smaller & larger) / len(smaller) if smaller else 0.0


def weighted(texts: Iterable[str]) -> list[dict[str, float]]:
    """Bag of words of each text: term → 1 + log of its count, times the inverse document frequency
    among these texts (TF-IDF).
    """
    bags = [Counter(terms(text)) for text in texts]
    seen = Counter(term for bag in bags for term in bag)
    return [
        {
            term: (1 + math.log(n)) * math.log(1 + len(bags) / seen[term])
            for term, n in bag.items()
        }
        for bag in bags
    ]


def figures(text: str) -> set[str]:
    """The figures of a text, a time ("04:30") without its first zero. One digit alone may be a
    name, "van 3", and is none.
    """
    return {figure.removeprefix("0") for figure in _FIGURE.findall(text)}
