"""Key phrases of a conversation, and a sentence of talk turned into the words of a title."""

from __future__ import annotations

import functools
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from keeplore.capture.cues import word_list
from keeplore.memory import Exchange
from keeplore.text.common_words import stem
from keeplore.text.folding import LEFT_OUT
from keeplore.text.sentences import bare, sentences
from keeplore.text.terms import STOP, is_identifier, terms

Run = tuple[str, ...]  # of words
MAX_WORDS = 3  # of a key phrase
MAX_SENTENCES = 60  # of one message that count; a long answer must not outvote the talk
MAX_PHRASES = 40
USER_WEIGHT = (
    2.0  # the person's words say what a talk is about; the agent's say how it went
)
_CHUNK = re.compile(r"[.,;:!?()\[\]{}\"“”|→←—–=<>*…]+|\s-\s|\s/\s")
_TOKEN = re.compile(r"[\w][\w.\-/'’+#]*")
_CODE = re.compile(r"`+([^`]*)`+")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_URL = re.compile(r"\b(?:https?|ssh|git|file)://\S+|\bwww\.\S+", re.IGNORECASE)
SECRET = re.compile(r"\[REDACTED(?::[^\]\s]{1,80})?\]")  # what stands in its place
_NAME = re.compile(r"[a-z][a-z_.-]{3,40}", re.IGNORECASE)
_PATH = re.compile(  # in ASCII: scripts without spaces go on right after a path
    r"@?(?:~|\.{1,2})?/?(?:[\w.@+-]+/)+([\w.@+-]*[\w+-])?/?(?::\d+(?:-\d+)?)?(?![\w/])",
    re.ASCII,
)
_WITH = re.compile(r"(?<![\w/.])w/(?=\s)")  # "w/ a name"
_INTERJECTION = re.compile(r"(?:u+h+m*|h+m+|m+k+|a+h+|lol|ok+y?|lest)\Z", re.IGNORECASE)
_CONTRACTED = re.compile(  # "doesnt", "whats": what is typed without an apostrophe
    r"\b(ca|do|does|did|is|are|was|were|wo|has|have|could|should|would)n(t)\b|"
    r"\b(what|that|where|there|who)(s)\b",
    re.IGNORECASE,
)
TYPED_COMMANDS = re.compile(r"\A(?:/[\w:-]+(?:\s+|\Z))+")
_SHORT_PATH = re.compile(
    r"(?=.{3,24}\Z)[A-Za-z][\w-]*/[A-Za-z][\w-]*"
)  # owner/name, and/or
_NOISE = re.compile(
    r"\[(?:Image|Pasted|Request "
    r"interrupted)[^\]]*\]|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|"
    r"\b[0-9a-f]{7,40}\b(?=\W|\Z)(?<![a-z]{7})|<[^>]{1,60}>|\((?:Recommended|"
    r"recommended)\)|:[a-z_]+:(?=\s)|(?<!\S)//(?=\s)|"
    r"\b(?:fuck(?:ing?|in)?|damn|goddamn|bloody|freaking)\s"
)


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


def _name_of(url: re.Match[str]) -> str:
    """What an address names, by its last part, "" where that is no name."""
    last = url[0].partition("?")[0].rstrip("/.,;:)").rpartition("/")[2]
    return last.removesuffix(".git") if _NAME.fullmatch(last) else ""


def _name_in_path(path: re.Match[str]) -> str:
    """The file that a path names, or the directory of a relative one; a short one whole."""
    if _SHORT_PATH.fullmatch(path[0]):
        return path[0]
    if path[1] or path[0][0] in "/~.":
        return path[1] or ""
    return path[0].rstrip("/").rpartition("/")[2]


@functools.lru_cache(maxsize=8192)  # an open conversation is read again at every turn
def without_markup(text: str) -> str:
    """The text as one would say it: markers, addresses and pasted images gone, of paths only names
    kept, "w/" in letters, contractions with their apostrophes.
    """
    text = _LINK.sub(r"\1", LEFT_OUT.sub(" ", text))
    text = _CODE.sub(r"\1", text)
    text = _URL.sub(_name_of, text)
    text = _WITH.sub("with", text)
    text = _PATH.sub(_name_in_path, text)
    text = _CONTRACTED.sub(_with_apostrophe, _NOISE.sub("", text))
    text = re.sub(
        r"\*{2,}|__(?=\W|\Z)|(?<=\s)__|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)", "", text
    )
    text = re.sub(r"(?<!\w)@(?=\w)", "", text)
    text = re.sub(r"\s+([,.;:!?)])(?!\w)", r"\1", " ".join(text.split()))
    return bare(re.sub(r"\(\s*\)", "", text))


def _with_apostrophe(word: re.Match[str]) -> str:
    return f"{word[1]}n'{word[2]}" if word[1] else f"{word[3]}'{word[4]}"


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


def typed_verb(message: str) -> str:
    """The message without slash commands before it; the name of one that is a verb stays."""
    found = TYPED_COMMANDS.match(message)
    if not found:
        return message
    verbs = word_list("title_verbs")
    names = [name.strip("/") for name in found[0].split()]
    is_led = "\n" not in found[0]  # a verb and its object stand on one line
    kept = [name for name in names if is_led and name in verbs][:1]
    return " ".join((*kept, message[found.end() :]))


def capitalised(text: str) -> str:
    """First letter large, unless the first word is an identifier whose case matters."""
    first = text.split(" ", 1)[0].rstrip(".,;:!?")
    return text if not text or is_identifier(first) else text[0].upper() + text[1:]
