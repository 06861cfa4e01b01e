"""Whether two statements about one thing contradict each other, by their words alone: a doubt, for
a person to decide.

A model that is asked whether two notes agree tends to say yes; what turns a meaning round is a
short list of words.
"""

from __future__ import annotations

import difflib
import itertools
import re
import unicodedata
from dataclasses import dataclass

from keeplore.recall.question import STOP_STEMS, all_of, stems_of
from keeplore.text.similarity import without_accents

# share of the shorter statement's content words that the other has: below it they are about two
# things
ABOUT_ONE = 0.5
# share of the longer one's content words, from which on two clauses say one thing or its opposite
SAME = 0.8
# likeness of two lists of words, from which on one that differs is another value (difflib's ratio)
LIKE = 0.6
LONGEST_VALUE = 3  # words
# share of the shorter one's content words, from which on figures of the same unit are of the same
# thing
ALIKE = 0.75
NEAR = 4  # words before a figure among which is the one that says what it is of
# of a statement that are compared; the match of two lists takes time with their product
MOST_WORDS = 120

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_TOKEN = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)?")
_DAY = re.compile(r"\b\d{4}-\d{2}(?:-\d{2})?\b|\b\d{1,2}\.\d{1,2}\.(?:\d{4})?(?!\d)")
# a thing with a number in its name: eu-10, us-east-1, gpt-4, python3.12; not 30s
_NUMBERED = re.compile(r"(?<![\w-])[^\W\d_][^\W_]*(?:[-_.][^\W_]+)*(?![\w-])")
# words behind which such a name is the value that a statement gives, and not what it is about
_GIVING = frozenset(
    """
    to into from with via by is are be was now use uses using used run runs running need needs
    require requires prefer auf mit nach ist nutzen nutzt vers avec est con es
    """.split()  # noqa: SIM905  # as above
)
_UNITS = {"s": "seconds", "sec": "seconds", "min": "minutes", "h": "hours", "d": "days"}
# English, German, French, Spanish, Italian, Portuguese, Dutch: letters alone, accents taken off
_NEGATIONS = frozenset(
    """
    no not never none nothing neither nor cannot without nicht nie niemals kein keine keinen
    keiner keines ohne pas jamais aucun aucune sans nunca jamas ningun ninguna sin non mai
    senza nessun nao sem niet nooit geen zonder
    """.split()  # noqa: SIM905  # a list of fifty words reads worse
)
_PAIR_WORDS = """
    allow/allows/allowed/permit/permitted:\
forbid/forbids/forbidden/deny/denied/prohibited/disallow/disallowed
    always:never/sometimes enable/enables/enabled:disable/disables/disabled
    use/uses/using/used/prefer/prefers/adopt/adopted:\
avoid/avoids/avoiding/drop/dropped/remove/removed/stop/stopped
    keep/keeps/kept:drop/drops/dropped/remove/removed/delete/deleted
    add/added/include/includes/included:exclude/excludes/excluded/remove/removed
    accept/accepts/accepted:reject/rejects/rejected/refuse/refused required/mandatory:optional
    synchronous/sync/synchronously:asynchronous/async/asynchronously before:after first:last
    public:private internal:external local:remote client:server mutable:immutable
    true/yes:false/no strict:lenient/loose more:less/fewer higher/high:lower/low
    increase/increased:decrease/decreased larger/large:smaller/small fast/faster:slow/slower
    manual/manually:automatic/automatically tabs:spaces single:double open/opened:closed
    start/started:stop/stopped stateful:stateless centralised/centralized:distributed
    monorepo:polyrepo monolith/monolithic:microservice/microservices
    supported:unsupported/deprecated safe:unsafe immer:nie/niemals erlaubt:verboten
    toujours:jamais siempre:nunca sempre:mai
"""
_PAIRS = tuple(
    tuple(frozenset(side.split("/")) for side in pair.split(":"))
    for pair in _PAIR_WORDS.split()
)
_TURNING = frozenset.union(*(other for _, other in _PAIRS)) - _NEGATIONS - {"sometimes"}
_CLAUSE = re.compile(
    r"[,;:.!?()\n–—]+(?=\s|$)|\s(?:but|aber|mais|pero|ma|mas|maar)\s", re.IGNORECASE
)
_SIGNS = frozenset.union(_NEGATIONS, *(words for pair in _PAIRS for words in pair))
# stems of the words that turn a meaning round, and so do not say what a statement is about
SIGN_STEMS = stems_of(" ".join(sorted(_SIGNS)))


@dataclass(frozen=True, slots=True)
class _FigureContext:
    """The words that say what a figure measures, as stems: the nearest one before it, and the one
    after it.
    """

    before: frozenset[str]
    unit: frozenset[str]


def contradiction(one: str, other: str) -> str:
    """``negation``, ``antonym``, ``value``, or "" where nothing is found; the same for either
    order.
    """
    first, second = _words(one), _words(other)
    if first == second or not _is_about_one(first, second):
        return ""
    if _names_other_things(one, other):
        return "" if is_of_another(one, other) else "value"
    if _is_negated(first) != _is_negated(second):
        return "negation"
    if _has_antonyms(set(first), set(second)):
        return "antonym"
    return (
        "value"
        if _has_other_figures(one, other) or _has_other_value(*sorted((first, second)))
        else ""
    )


def gives_other_figure(one: str, other: str) -> bool:
    """Whether two statements give different figures of one thing."""
    is_of_one = _is_about_one(_words(one), _words(other))
    return (
        is_of_one
        and not _names_other_things(one, other)
        and _has_other_figures(one, other)
    )


def is_of_another(one: str, other: str) -> bool:
    """Whether two statements are about different numbered things, as of eu-10 and of eu-12; not
    where such a name is the value that they give.
    """
    return _names_other_things(one, other) and not _gives_other_name(
        _plain_letters(one), _plain_letters(other)
    )


def is_opposite(statement: str, words: str) -> bool:
    """Whether a statement says the opposite of the words that it rests on.

    One of its clauses has nearly the words of one of theirs, and none agrees with another that is
    about the same.
    """
    is_same = False
    for one, other in itertools.product(_clauses(statement), _clauses(words)):
        if _is_about_one(one, other):
            if _turns(one) % 2 == _turns(other) % 2:
                return False
            is_same |= _is_of_same_words(_content(one), _content(other))
    return is_same


def _clauses(text: str) -> list[list[str]]:
    return [_words(clause) for clause in _CLAUSE.split(text)]


def _is_of_same_words(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one & other) >= SAME * max(len(one), len(other))


def _turns(words: list[str]) -> int:
    """How often a meaning is turned round: "avoid" does so as "not use" does."""
    return sum(_is_negation(word) or word in _TURNING for word in words)


def _is_about_one(first: list[str], second: list[str]) -> bool:
    one, other = (_content(words) for words in (first, second))
    shorter = min(len(one), len(other))
    return bool(shorter) and len(one & other) >= max(
        ABOUT_ONE * shorter, min(2, shorter)
    )


def _content(words: list[str]) -> frozenset[str]:
    """What the words are about: without those that turn a meaning round, and without figures."""
    stems = (
        stems_of(" ".join(word for word in words if word not in _SIGNS)) - STOP_STEMS
    )
    return frozenset(_same_plural(stem) for stem in stems if not stem.isdigit())


def _same_plural(stem: str) -> str:
    return f"{stem[:-1]}i" if stem.endswith("y") else stem


def _is_negated(words: list[str]) -> bool:
    """Whether a sentence has an odd number of negations; "not without" is none."""
    return sum(map(_is_negation, words)) % 2 == 1


def _is_negation(word: str) -> bool:
    return word in _NEGATIONS or word.endswith(("n't", "n’t"))


def _names_other_things(one: str, other: str) -> bool:
    """Whether each names a numbered thing that the other does not."""
    first, second = (set(_numbered(_plain_letters(text))) for text in (one, other))
    return bool(first - second and second - first)


def _numbered(plain: str) -> list[str]:
    return [name for name in _NUMBERED.findall(plain) if any(map(str.isdigit, name))]


def _gives_other_name(one: str, other: str) -> bool:
    """Whether two texts, each naming a numbered thing that the other does not, are the same but for
    that name, and it is what they tell: it stands at their end, or behind a word that gives a
    value.
    """
    first, second = set(_numbered(one)), set(_numbered(other))
    mine, theirs = first - second, second - first
    if len(mine) > 1 or len(theirs) > 1:
        return False
    before, _, after = one.partition(mine.pop())
    other_before, _, other_after = other.partition(theirs.pop())
    if _words(before) != _words(other_before) or _words(after) != _words(other_after):
        return False
    return not _words(after) or (_words(before) or [""])[-1] in _GIVING


def _has_antonyms(first: set[str], second: set[str]) -> bool:
    return any(
        (first & one and second & other and not (first & other or second & one))
        or (first & other and second & one and not (first & one or second & other))
        for one, other in _PAIRS
    )


def _has_other_figures(one: str, other: str) -> bool:
    """Whether both give figures of one thing, and each has one that the other lacks."""
    first, second = _figures(one), _figures(other)
    mine, theirs = _only_in(first, second), _only_in(second, first)
    if not mine or not theirs:
        return False
    units = all_of(context.unit for context in (*first.values(), *second.values()))
    words, other_words = _contents(one, units), _contents(other, units)
    is_alike = _are_alike(all_of(words), all_of(other_words))
    return not _differ_at_an_end(words, other_words) and any(
        _is_of_one(*pair, is_alike=is_alike) for pair in itertools.product(mine, theirs)
    )


def _only_in(
    figures: dict[str, _FigureContext], other: dict[str, _FigureContext]
) -> list[_FigureContext]:
    """The figures of the first that the other has not."""
    return [around for figure, around in figures.items() if figure not in other]


def _are_alike(stems: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two texts share enough of their words."""
    return len(stems & other) >= ALIKE * min(len(stems), len(other))


def _contents(text: str, units: frozenset[str]) -> list[frozenset[str]]:
    """What each word of a text is about, those left out that are about nothing but a unit."""
    found = (_content([word]) - units for word in _tokens(text))
    return [stems for stems in found if stems]


def _is_of_one(one: _FigureContext, other: _FigureContext, *, is_alike: bool) -> bool:
    """Whether two figures measure the same: the same word stands before both, or, in statements
    that are alike, both have the same unit.
    """
    return bool(one.before & other.before or (is_alike and one.unit & other.unit))


def _figures(text: str) -> dict[str, _FigureContext]:
    """Each figure with the words around it; dates are no figures."""
    tokens = _tokens(text)
    found: dict[str, _FigureContext] = {}
    for place, token in enumerate(tokens):
        if token[0].isdigit():
            near = tokens[max(0, place - NEAR) : place]
            telling = [stems for word in near if (stems := _content([word]))]
            before = telling[-1] if telling else frozenset[str]()
            unit = _content(tokens[place + 1 : place + 2])
            found.setdefault(token, _FigureContext(before, unit))
    return found


def _tokens(text: str) -> list[str]:
    """Words and figures, apart also in "30s"."""
    found = _TOKEN.findall(
        _plain_letters(_DAY.sub(" ", text)).replace("%", " percent ")
    )
    return [_UNITS.get(token, token) for token in found]


def _differ_at_an_end(one: list[frozenset[str]], other: list[frozenset[str]]) -> bool:
    """Whether they begin, or end, with a word that the other has not: "staging has …" and
    "production has …".
    """
    if not one or not other:
        return False
    stems, other_stems = all_of(one), all_of(other)
    return any(not one[end] & other_stems and not other[end] & stems for end in (0, -1))


def _has_other_value(first: list[str], second: list[str]) -> bool:
    """Whether one thing is replaced in the same sentence, as in "we deploy to X" and "we deploy to
    Y".
    """
    values = _replaced(first[:MOST_WORDS], second[:MOST_WORDS])
    is_one = bool(values) and all(map(_content, values))
    return is_one and max(map(len, values)) <= LONGEST_VALUE


def _replaced(first: list[str], second: list[str]) -> tuple[list[str], ...]:
    """The words of each of two like texts that alone make the difference, () for no such texts."""
    matcher = difflib.SequenceMatcher(None, first, second, autojunk=False)
    if matcher.ratio() < LIKE:
        return ()
    changes = [change for change in matcher.get_opcodes() if change[0] != "equal"]
    if len(changes) != 1 or changes[0][0] != "replace":
        return ()
    _, start, end, other_start, other_end = changes[0]
    return first[start:end], second[other_start:other_end]


def _words(text: str) -> list[str]:
    return _WORD.findall(_plain_letters(text))


def _plain_letters(text: str) -> str:
    """The text in small letters without accents, with straight apostrophes."""
    decomposed = unicodedata.normalize("NFKD", text.replace("’", "'"))
    return without_accents(decomposed.casefold())
