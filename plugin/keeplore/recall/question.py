"""A question as the searches need it: clean, not endless, and with the words that tell
something.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from keeplore.recall.weights import QUERY_CHARS
from keeplore.text.fences import sanitise, strip_fenced
from keeplore.text.query_terms import STOP_WORDS, extra_tokens, query_terms
from keeplore.text.terms import STOP
from keeplore.text.unspaced import distinctive_parts, is_pair, least_pairs, pairs, runs

_WORD = re.compile(r"[^\W_]+")
_TOKEN = re.compile(r"[^\W_]+|[^\w\s]")
_ENDING = re.compile(r"(?:ations?|ating|ated|ates?|ions?|ings?|ers?|ed|es|e|s|ly)\Z")
_SHORTEST_STEM = 3
LETTERS = 4  # of a script without spaces; see _share
# what people say to an agent to make it go on: these are about nothing
_GOING_ON = """
again alright cool continue correct done exactly fine finish fix good great hello hey hi keep
maybe next nice perfect proceed ready really redo resume retry right start stop test thx try well
works wrong yeah yep
"""
# what an agent is told to do day in, day out: worth a search when asked for, never worth an
# interruption
_ERRANDS = """
build change check clean code commit compile diff error explain file format lint list look open
pull push read rerun run show tell test tests tidy update warning write
"""
# orders that go with every rule: what a rule is about stands beside them
_EVER = frozenset({"alway", "never"})
_PAST = re.compile(
    r"\b(?:did|was|were|when(?! (?:are|can|do|does|is|may|must|should|will)\b)|"
    r"had|ago|first|originally|initially"
    r"|before|used to|previous\w*|earlier|old|history|happened|changed?)\b",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"\?\s*$|^\s*(?:who|what|when|where|which|why|how|do|does|did|is|are|was|were|has|"
    r"have|had|can|could|would|should"
    r"|will)\b",
    re.IGNORECASE,
)
_DECIDED = re.compile(
    r"\b(?:why|reasons?|deci[ds]\w*|chose\w*|choose|choice|pick(?:ed)?|agreed?|settled?|"
    r"went with|go with)\b",
    re.IGNORECASE,
)
_SUMMARY = "(?:summary|overview|recap|zusammenfassung|r[ée]sum[ée]|resumen)"
_BROAD = re.compile(
    # not "the overview page" or "turn on summaries"
    rf"\A\W*{_SUMMARY}\b|\b{_SUMMARY}"
    r"(?:\W*\Z|\s+(?:of|on|about|von|über|zu[mr]?|de|du|des|del|sobre)\b)|"
    r"\b(?:summari[sz]e|what (?:(?:did|have|has) (?:we|i|they|the team) (?:\w+ ){0,2}?"
    r"(?:decided?|agreed?|settled?|concluded?)|was (?:decided|agreed|settled))"
    r"\s+(?:about|on|for|regarding|concerning|around|in|with)|"
    r"(?:all|which|list|our|the) (?:\w+ )?decisions|(?:still|left|remains?) (?:open|undecided)|"
    r"open questions|history of|how (?:did|has|have)\b.{3,80}\b(?:changed?|evolved?)|"
    r"(?:was haben wir|haben wir)\b.{3,80}\b(?:entschieden|beschlossen))",
    re.IGNORECASE,
)
# "which events has …", "what are our ports", "in what order …"
_MANY = (
    r"(?:(?!(?:does|has|is|means|was)\b)[\w'’-]+ ){0,4}?"
    r"(?!(?:does|has|is|means|was)\b)[\w'’-]+(?<![suia'’])s\b"
)
_LIST = re.compile(
    r"\A\W*(?:please |can you |could you )*(?:list|enumerate|walk me through)\b|"
    r"\b(?:in (?:what|which) order|the order in which|(?:what|which) all|"
    r"how many (?:different|times)|in welcher reihenfolge|dans quel ordre|en qué orden)\b|"
    rf"\b(?:what|which) {_MANY} (?:[\w'’-]+ ){{0,3}}?"
    r"(?:do|does|did|has|have|had|are|were|can|will|would|should)\b|"
    r"\bwhat ha(?:s|ve) (?!happened|been\b|to\b|changed\b)|"
    rf"\bwhat (?:are|were) {_MANY}(?:\W*\Z| (?:of|in|for|with|that|on|about)\b)",
    re.IGNORECASE,
)
# "what did we decide about …", which many questions share that ask for quite other things
_LEAD = re.compile(
    r"\A\W*(?:(?:so|and|again|remind me|do you (?:know|remember|recall)|tell me)\W+)*"
    r"(?:what (?:did|have|had|has|was|were) (?:(?:we|i|they|you|the team) )?(?:\w+ ){0,2}?"
    r"(?:decided?|agreed?|settled?|concluded?|said|say|discuss(?:ed)?)"
    r" (?:about|for|on|regarding|concerning|to do (?:about|with))"
    r"|what (?:do|does) (?:we|you|the memory|memory|keeplore) know (?:about|of)"
    r"|was (?:haben|hatten) wir (?:über|zu[mr]?|bei[m]?|wegen)"
    r"|qu['’]avons[- ]nous (?:décidé|convenu) (?:sur|pour|de|au sujet de)"
    r"|qué (?:decidimos|acordamos) (?:sobre|para|de))\s+(?=\w)",
    re.IGNORECASE,
)
# "which queue did we choose", "was our decision on retries …": memory has it, or nobody does
_SETTLED = (
    r"(?:decided?|agreed?|settled?|concluded?|chosen?|chose|choose|pick(?:ed)?|said|say|go for|"
    r"go with|gone with)"
)
_LOOKS_UP = re.compile(
    r"\b(?:what|which|why|how|when|where|who)\b[^.?!]{0,60}?\b(?:did|have|had|has) "
    rf"(?:we|i|they|the team) (?:\w+ ){{0,2}}?{_SETTLED}\b"
    rf"|\A\W*(?:(?:so|and|again|but) )?(?:did|have) we (?:\w+ ){{0,2}}?{_SETTLED}\b"
    r"|\b(?:was|were) (?:it )?(?:decided|agreed|settled)\b"
    r"|\bwhat (?:was|were|is|are) (?:the|our|my) (?:\w+ )?(?:decisions?|agreements?)\b"
    r"|\b(?:was|wie|warum|wann|wo|welche\w*)\b[^.?!]{0,60}?\b(?:haben|hatten) wir\b.{0,80}?"
    r"\b(?:entschieden|beschlossen|vereinbart|festgelegt|gewählt|gesagt)\b"
    r"|\bqu['’]avons[- ]nous (?:décidé|convenu|choisi)\b"
    r"|\bqué (?:decidimos|acordamos|elegimos)\b",
    re.IGNORECASE,
)
_FILLERS = STOP_WORDS | set(_GOING_ON.split())
# words before a thing that do not tell it from others of its kind
_OF_NOW = frozenset({"current", "latest", "present", "newest"})
_NO_KIND = _FILLERS | STOP | _OF_NOW


Word = tuple[frozenset[str], ...]  # the stems of each of its spellings


@dataclass(frozen=True, slots=True)
class ParsedQuestion:
    """``words`` are groups of stems: a text holds a word when it holds all stems of one of the
    word's spellings.
    """

    text: str
    words: tuple[Word, ...]
    # with those that mean little alone, as in "start names with", and without what goes with every
    # rule
    all_words: tuple[Word, ...]
    # what is asked in scripts without spaces, whose pairs ``words`` has
    parts: tuple[str, ...]
    # each of ``words`` as it was written
    spelled: tuple[str, ...]
    # the text without "what did we decide about" before it
    subject: str

    @property
    def telling(self) -> str:
        """Its words as they were written."""
        return " ".join(self.spelled)

    @property
    def is_errand(self) -> bool:
        """True for "run the tests": all its words are those of daily orders."""
        return self.written_stems <= _ERRAND_STEMS

    @property
    def stems(self) -> frozenset[str]:
        """The stems of all spellings of its words."""
        return all_of(spelling for word in self.words for spelling in word)

    @property
    def written_stems(self) -> frozenset[str]:
        """The stems of its words as they were written."""
        return all_of(word[0] for word in self.words)

    @property
    def says_something(self) -> bool:
        """False where there is nothing to look for, as in "ok, go on"."""
        return bool(self.words)

    @property
    def is_about_past(self) -> bool:
        """True where what held once is as good an answer as what holds now."""
        return bool(_PAST.search(self.text))

    @property
    def is_about_decision(self) -> bool:
        """True where it is asked what was decided, or why."""
        return bool(_DECIDED.search(self.text))

    @property
    def is_broad(self) -> bool:
        """True where all that was decided of a matter is asked for, not one thing."""
        return bool(_BROAD.search(self.text))

    @property
    def is_of_several(self) -> bool:
        """True where several passages answer only together: a list, an order, what is broad."""
        return self.is_broad or bool(_LIST.search(self.text))

    @property
    def asks(self) -> bool:
        """False for an order or a bare subject."""
        return bool(_ASKS.search(self.text))

    def closeness(self, stems: frozenset[str]) -> float:
        """The share of all words but "always" and "never" that are among these stems, 0..1."""
        return _share(self.all_words, self.parts, stems)

    def coverage(self, stems: frozenset[str]) -> float:
        """The share of the words that are in a text with these stems, 0..1."""
        return _share(self.words, self.parts, stems)


def parse_question(text: str) -> ParsedQuestion:
    """Any text, a page of prompt included; of a long one the beginning and the end count."""
    clean = " ".join(strip_fenced(sanitise(text)).split())
    if len(clean) > QUERY_CHARS:
        clean = f"{clean[: QUERY_CHARS // 2]} … {clean[-QUERY_CHARS // 2 :]}"
    subject = subject_of(clean)
    words: dict[Word, str] = {}  # each once, in their order
    all_words: dict[Word, None] = {}
    for spellings in query_terms(subject):
        word = tuple(filter(None, map(_stems, spellings)))
        if word and spellings[0].casefold().replace("’", "'") not in _FILLERS:
            words.setdefault(word, spellings[0])
        if word and not is_word_in(word, _EVER):
            all_words[word] = None
    return ParsedQuestion(
        clean,
        tuple(words),
        tuple(all_words),
        tuple(distinctive_parts(clean)),
        tuple(words.values()),
        subject,
    )


def subject_of(text: str) -> str:
    """What a question is about, without "what did we decide about" before it."""
    return _LEAD.sub("", text, count=1)


def looks_up_decision(text: str) -> bool:
    """Is it a question for what was decided or said before, whose answer decides nothing?"""
    is_asked = text.rstrip().endswith(("?", "？")) or bool(_ASKS.search(text))
    return is_asked and bool(_LEAD.match(text) or _LOOKS_UP.search(text))


def is_word_in(word: Word, stems: frozenset[str]) -> bool:
    """Does a text with these stems hold the word, in one of its spellings?"""
    return any(spelling <= stems for spelling in word)


def _share(words: Sequence[Word], parts: Sequence[str], stems: frozenset[str]) -> float:
    """A word with spaces around it counts as much as LETTERS letters of a script without, for which
    it is a name.
    """
    spaced = [word for word in words if not parts or not is_pair(next(iter(word[0])))]
    held = sum(is_word_in(word, stems) for word in spaced)
    if not parts:
        return held / (len(spaced) or 1)
    letters = sum(_covered_letters(part, stems) for part in parts)
    return (LETTERS * held + letters) / (LETTERS * len(spaced) + sum(map(len, parts)))


def _covered_letters(part: str, stems: frozenset[str]) -> int:
    """How many letters of a run are in the text too, counting only stretches that stand together in
    both.
    """
    if len(part) == 1:
        return any(stem.startswith(part) for stem in stems)
    held = "".join("+" if pair in stems else " " for pair in pairs(part))
    together = [len(found) for found in held.split() if len(found) >= least_pairs(part)]
    return min(len(part), sum(together) + len(together))


def all_of(sets: Iterable[frozenset[str]]) -> frozenset[str]:
    """The union of sets of words."""
    return frozenset[str]().union(*sets)


def stems_of(text: str) -> frozenset[str]:
    """The words of a text without their endings, and those that its identifiers are made of: rough,
    as in a query.
    """
    parts = map(_parts, set(_WORD.findall(text)))
    return frozenset().union(*parts, *map(pairs, runs(text)))


@lru_cache(maxsize=2_000)
def modifiers(text: str) -> dict[str, frozenset[str]]:
    """Stems of words, each with those that stand right before it: in "the staging database" what
    kind of database it is. Figures and words that tell nothing are none.
    """
    found: dict[str, set[str]] = {}
    before = ""
    for token in _TOKEN.findall(text.casefold()):
        if not token.isalpha() or token in _NO_KIND:
            before = ""
            continue
        stem = _stem(token)
        if before and before != stem:
            found.setdefault(stem, set()).add(before)
        before = stem
    return {stem: frozenset(kinds) for stem, kinds in found.items()}


def _stems(text: str) -> frozenset[str]:
    return frozenset(map(_stem, set(_WORD.findall(text.casefold()))))


@lru_cache(maxsize=20_000)
def _parts(word: str) -> frozenset[str]:
    return _stems(f"{word}\n{extra_tokens(word)}")


@lru_cache(maxsize=20_000)
def _stem(word: str) -> str:
    short = _ENDING.sub("", word)
    if len(short) < _SHORTEST_STEM:
        short = word
    return (
        short[:-1] if len(short) > _SHORTEST_STEM and short[-1] == short[-2] else short
    )


STOP_STEMS = stems_of(" ".join(STOP_WORDS))
_ERRAND_STEMS = stems_of(_ERRANDS)
