"""Rules over text: one pass finds keywords, each rule then looks only near its own.

RE2 alone runs the patterns, so that no text can cost more than linear time. Work is done on UTF-8
bytes in RE2's Latin-1 mode: its offsets are then ours, and a byte is a character to its automata,
which keeps them small.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from itertools import chain
from typing import Any

import re2
import yaml

from keeplore.errors import ConfigError
from keeplore.redact.bare_tokens import Span, is_diff_mark
from keeplore.redact.escapes import readable
from keeplore.redact.joined_texts import joined
from keeplore.redact.keyword_runs import KeywordRuns, windows
from keeplore.redact.placeholders import is_placeholder
from keeplore.redact.secret_checks import CHECKS, SecretCandidate
from keeplore.redact.structure import DETECTORS, decoded

# bytes around a keyword in which its rule looks, unless the rule says otherwise
BEFORE, AFTER = 96, 2048
# a hit may hide another that overlaps it; more than three were never needed
MAX_PASSES = 6
CONTEXT = 64  # bytes on either side of a value that a check may see
MIN_REST = 4  # bytes of a hit beside one of our markers that are still worth a marker of their own
DENIED = "denied"  # the kind of what a pattern of the person's matches
_RULES = "rules.yaml"
_ENCODED = "encoded"
_KIND_OF_PASSWORDS = "password"
_MOST_EXCLAMATIONS = 4
_LIKELY = "likely"
_APART = re.compile(rb"[=:@/&;,-]")  # between a secret and what is none
_FORMS = ("token", "key_block", "anything")  # checks of rules that need no words around


@dataclass(frozen=True, slots=True)
class RedactionRule:
    """A row of rules.yaml: unnamed groups of ``pattern`` are the secrets, or the whole match where
    it has none.
    """

    kind: str
    pattern: Any  # compiled by RE2
    key_group: int  # number of the group named `key`, 0 for none
    keywords: tuple[str, ...]  # each character stands for a byte of UTF-8
    check: str
    before: int
    after: int
    vector: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Hit:
    """A secret at ``data[start:end]``; ``rank`` is the place of its rule, the most specific
    first.
    """

    start: int
    end: int
    kind: str
    rank: int


@dataclass(frozen=True, slots=True)
class RedactionLists:
    """What a person wants besides the rules: ``deny`` holds RE2 patterns, ``allow`` what `name`
    says of a hit.
    """

    deny: tuple[Any, ...] = ()  # as RE2 compiled them
    allow: frozenset[str] = frozenset()

    @classmethod
    def of(cls, deny: Iterable[str], allow: Iterable[str]) -> RedactionLists:
        """The lists from patterns to deny and fingerprints to allow.

        Raises ConfigError for a pattern that RE2 does not know, or that matches an empty text.
        """
        return cls(tuple(map(pattern, deny)), frozenset(allow))

    def also(self, deny: Iterable[str]) -> RedactionLists:
        """These and more patterns; what is none of RE2's is looked for letter by letter, so that
        nothing stops.
        """
        return RedactionLists((*self.deny, *map(_pattern_or_literal, deny)), self.allow)


NO_LISTS = RedactionLists()


def redact(
    text: str,
    key: bytes = b"",
    lists: RedactionLists = NO_LISTS,
    *,
    is_id: bool = False,
) -> str:
    """``text`` with every secret replaced by ``[REDACTED:<kind>:<tag>]``; the same text where there
    is none.

    ``tag`` is six hex digits of HMAC-SHA256 over the secret, so that equal secrets can be told to
    be equal; without a key there is none, because a plain hash of a weak password can be looked up.
    Markers are left alone: redacting twice changes nothing. In an id only tokens of known formats
    are secrets.
    """
    data = text.encode("utf-8", "surrogatepass")
    for _ in range(MAX_PASSES):
        hits = secrets_to_replace(data, key, lists, is_id=is_id)
        if not hits:
            break
        data = _replace(data, hits, key)
    return data.decode("utf-8", "surrogatepass")


def secrets_to_replace(
    data: bytes, key: bytes, lists: RedactionLists, *, is_id: bool = False
) -> list[Hit]:
    """The secrets that ``redact`` replaces, as ``find`` has them."""
    hits = find(data, deny=lists.deny, is_id=is_id)
    if not lists.allow:
        return hits
    return [hit for hit in hits if name(hit, data, key) not in lists.allow]


def name(hit: Hit, data: bytes, key: bytes) -> str:
    """Kind and keyed fingerprint of a secret, as its marker has them: ``github-token:12ab34``."""
    return marker(hit.kind, data[hit.start : hit.end], key)[
        len("[REDACTED:") : -1
    ].decode()


def find(
    data: bytes,
    *,
    is_decoded: bool = False,
    is_id: bool = False,
    deny: Sequence[Any] = (),
) -> list[Hit]:
    """The secrets in UTF-8 text: in order, apart from one another, and none inside a marker."""
    engine = _engine()
    ranks = engine.all_ranks
    if is_id:
        ranks = engine.id_ranks
    elif is_decoded:
        ranks = engine.decoded_ranks
    found = [*_denied_hits(data, deny), *_rule_hits(engine, data, ranks)]
    if not found:
        return []
    markers = [match.span() for match in engine.marker.finditer(data)]
    apart = (
        _parts_outside(data, merged, markers) for merged in _merged_hits(data, found)
    )
    return [*chain.from_iterable(apart)]


def _rule_hits(engine: _Engine, data: bytes, ranks: frozenset[int]) -> Iterator[Hit]:
    """What the rules of these ranks find, also where it is written with escapes."""
    text = readable(data)
    hits = [*engine.hits(text.said, ranks), *_joined_hits(engine, text.said, ranks)]
    for hit in _without_loose(engine, text.said, hits):
        end = text.end(hit.end)
        if hit.kind == _KIND_OF_PASSWORDS:
            end += _exclamations(data, end)
        yield replace(hit, start=text.begin(hit.start), end=end)


def _exclamations(data: bytes, at: int) -> int:
    """How many stand here: behind a password they may be its own, and not the sentence's."""
    behind = data[at : at + _MOST_EXCLAMATIONS]
    return len(behind) - len(behind.lstrip(b"!"))


def _without_loose(engine: _Engine, data: bytes, hits: list[Hit]) -> Iterator[Hit]:
    """The hits without likely ones of which a rule knows better where the secret begins and
    ends.
    """
    sure = sorted((h.start, h.end) for h in hits if not engine.is_likely(h.rank))
    for hit in hits:
        inner = _spans_within(sure, hit) if engine.is_likely(hit.rank) else []
        if inner:
            outside = data[hit.start : inner[0][0]] + data[inner[-1][1] : hit.end]
            if _APART.search(outside):
                continue
        yield hit


def _spans_within(
    spans: Sequence[tuple[int, int]], hit: Hit
) -> Sequence[tuple[int, int]]:
    """The spans, given in order, that reach into a hit."""
    first = max(bisect_left(spans, (hit.start, 0)) - 1, 0)
    end = bisect_left(spans, (hit.end, 0))
    return [span for span in spans[first:end] if span[1] > hit.start]


def _joined_hits(engine: _Engine, data: bytes, ranks: frozenset[int]) -> Iterator[Hit]:
    """What stands in several pieces: ``"abc" + "def"``."""
    for start, text, seams in joined(data):
        for hit in engine.hits(text.said, ranks):
            seam = bisect_right(seams, hit.start)
            if seam < len(seams) and seams[seam] < hit.end:
                begin, end = text.begin(hit.start), text.end(hit.end)
                yield replace(hit, start=start + begin, end=start + end)


def _denied_hits(data: bytes, patterns: Sequence[Any]) -> Iterator[Hit]:
    """What a person denies; an empty match is none."""
    for pattern in patterns:
        for match in pattern.finditer(data):
            if match[0]:
                start, end = match.span()
                yield Hit(start, end, DENIED, -1)


def rules() -> tuple[RedactionRule, ...]:
    """Every rule in order of rank."""
    return _engine().rules


def marker(kind: str, secret: bytes, key: bytes) -> bytes:
    if not key:
        return f"[REDACTED:{kind}]".encode()
    tag = hmac.new(key, secret, hashlib.sha256).hexdigest()[:6]
    return f"[REDACTED:{kind}:{tag}]".encode()


class _Engine:
    def __init__(
        self, rows: Iterable[Mapping[str, Any]], macros: Mapping[str, str]
    ) -> None:
        self.rules = tuple(_rule(row, macros) for row in rows)
        self.all_ranks = self._rules_with_check(lambda _: True)
        self.id_ranks = self._rules_with_check(_FORMS.__contains__)
        # text wrapped twice is nobody's accident
        self.decoded_ranks = self._rules_with_check(lambda check: check != _ENCODED)
        self.marker = _compile(r"\[REDACTED:[a-z0-9-]{1,40}(?::[0-9a-f]{6})?\]")
        words = sorted({word for rule in self.rules for word in rule.keywords})
        by_word = {word.encode("latin-1"): self._ranks_of(word) for word in words}
        self._keywords = KeywordRuns(by_word, _options())
        # rules without a keyword look at the whole text
        self._everywhere: dict[int, list[Span]] = {
            rank: [] for rank, rule in enumerate(self.rules) if not rule.keywords
        }

    def _ranks_of(self, word: str) -> tuple[int, ...]:
        """The ranks of the rules that a keyword is for, those of its beginnings included: at one
        place only the longest keyword is reported.
        """
        ranked = enumerate(self.rules)
        return tuple(rank for rank, rule in ranked if word.startswith(rule.keywords))

    def _rules_with_check(self, is_wanted: Callable[[str], bool]) -> frozenset[int]:
        """The ranks of the rules whose check is wanted."""
        return frozenset(
            r for r, rule in enumerate(self.rules) if is_wanted(rule.check)
        )

    def is_likely(self, rank: int) -> bool:
        return self.rules[rank].check == _LIKELY

    def hits(self, data: bytes, ranks: frozenset[int]) -> Iterator[Hit]:
        """What the rules of these ranks find."""
        for rank, runs in (self._keywords.by_rank(data) | self._everywhere).items():
            if rank not in ranks:
                continue
            rule = self.rules[rank]
            parts: Iterable[Span] = ((0, len(data)),)
            if rule.keywords:
                parts = windows(runs, rule.before, rule.after, len(data))
            matches = (rule.pattern.finditer(data, *part) for part in parts)
            for start, end in _secrets(rule, chain.from_iterable(matches), data):
                yield Hit(start, end, rule.kind, rank)


@cache
def _engine() -> _Engine:
    source = files(__package__).joinpath(_RULES).read_text(encoding="utf-8")
    document = yaml.load(source, Loader=yaml.CSafeLoader)
    return _Engine(document["rules"], document["macros"])


def _rule(row: Mapping[str, Any], macros: Mapping[str, str]) -> RedactionRule:
    """A rule of the file; ``macros`` are parts of patterns by their names."""
    pattern = row["pattern"]
    for name, text in macros.items():
        pattern = pattern.replace(f"<{name}>", text)
    before, after = row.get("window", (BEFORE, AFTER))
    vector = row["vector"]
    compiled = _compile(pattern)
    return RedactionRule(
        row["kind"],
        compiled,
        compiled.groupindex.get(b"key", 0),
        tuple(map(_keyword, row["keywords"])),
        row.get("check", "token"),
        before,
        after,
        tuple(vector) if isinstance(vector, list) else (vector,),
    )


def _keyword(word: Any) -> str:
    """A word in small letters of ASCII, as the search knows them, each byte of it a character."""
    return str(word).encode().lower().decode("latin-1")


def _options() -> Any:
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.max_mem = 64 << 20
    options.log_errors = False
    return options


def _compile(pattern: str) -> Any:
    return re2.compile(pattern.encode(), _options())


def pattern(text: str, where: str = "keeplore.yaml") -> Any:
    """What a person denies, compiled; ``where`` is the file that says so. Raises ConfigError, see
    `RedactionLists.of`.
    """
    options = _options()
    # so that letters of any language have two cases
    options.encoding = re2.Options.Encoding.UTF8
    try:
        compiled = re2.compile(text.encode(), options)
    except (re2.error, UnicodeEncodeError) as e:
        said = (
            e.args[0].decode("utf-8", "replace")
            if isinstance(e.args[0], bytes)
            else str(e)
        )
        what = f"a pattern to deny is no regular expression of RE2: {text!r}: {said}"
        raise ConfigError(what, f"Mend or remove it in {where}") from e
    if compiled.search(b""):
        what = f"a pattern to deny matches an empty text and so says nothing: {text!r}"
        raise ConfigError(what, f"Mend or remove it in {where}")
    return compiled


@cache
def _pattern_or_literal(text: str) -> Any:
    try:
        return pattern(text)
    except ConfigError:
        return re2.compile(re2.escape(text.encode("utf-8", "replace")))


def _secrets(
    rule: RedactionRule, matches: Iterable[Any], data: bytes
) -> Iterator[tuple[int, int]]:
    if rule.check in DETECTORS:
        examined = 0
        for match in matches:
            found, examined = DETECTORS[rule.check](data, match.span(), examined)
            yield from found
        return
    secrets = _encoded_spans if rule.check == _ENCODED else _value_spans
    for match in matches:
        yield from secrets(rule, match, data)


def _encoded_spans(
    _rule: RedactionRule, match: Any, data: bytes
) -> Iterator[tuple[int, int]]:
    """A text in base64 or the like that holds secrets."""
    start, end = match.span()
    start += is_diff_mark(data, start)
    plain = decoded(data[start:end])
    if plain and find(plain, is_decoded=True):
        yield start, end


def _value_spans(
    rule: RedactionRule, match: Any, data: bytes
) -> Iterator[tuple[int, int]]:
    """Where the secrets of a match begin and end, as the rule's check sees them."""
    key_start, key_end = (
        match.span(rule.key_group) if rule.key_group else (match.start(),) * 2
    )
    for start, end in _values_of(rule, match):
        candidate = SecretCandidate(
            key=_text(data, max(0, key_start - CONTEXT), key_end),
            gap=_text(data, key_end, start),
            value=_text(data, start, end),
            after=_text(data, end, end + CONTEXT),
        )
        secret_length = CHECKS[rule.check](candidate)
        secret = candidate.value[:secret_length]
        if secret_length and not is_placeholder(secret):
            yield start, start + len(secret.encode("utf-8", "surrogateescape"))


def _values_of(rule: RedactionRule, match: Any) -> list[tuple[int, int]]:
    """The groups of a match other than its key, the whole of it where there are none."""
    groups = {*range(1, match.re.groups + 1)} - {rule.key_group}
    found = [number for number in sorted(groups) if match.start(number) >= 0]
    return [match.span(number) for number in found] or [match.span()]


def _text(data: bytes, start: int, end: int) -> str:
    """A part of the data as text."""
    # surrogateescape keeps the byte count, whatever a window cuts in two
    return data[start:end].decode("utf-8", "surrogateescape")


def _merged_hits(data: bytes, hits: list[Hit]) -> Iterator[Hit]:
    """Overlapping hits as one, under the kind of the most specific rule, on whole characters."""
    current: Hit | None = None
    for hit in sorted(hits, key=lambda h: (h.start, -h.end)):
        if current is None or hit.start >= current.end:
            if current:
                yield _whole_characters(data, current)
            current = hit
            continue
        best = min(current, hit, key=lambda h: h.rank)
        current = Hit(current.start, max(current.end, hit.end), best.kind, best.rank)
    if current:
        yield _whole_characters(data, current)


def _whole_characters(data: bytes, hit: Hit) -> Hit:
    start, end = hit.start, hit.end
    while start > 0 and data[start] & 0xC0 == 0x80:
        start -= 1
    while end < len(data) and data[end] & 0xC0 == 0x80:
        end += 1
    return Hit(start, end, hit.kind, hit.rank)


def _parts_outside(
    data: bytes, hit: Hit, markers: list[tuple[int, int]]
) -> Iterator[Hit]:
    """What of a hit lies outside of markers."""
    first = bisect_right(markers, hit.start, key=lambda span: span[1])
    last = bisect_left(markers, hit.end, key=lambda span: span[0])
    if first >= last:
        yield hit
        return
    position = hit.start
    for start, end in (*markers[first:last], (hit.end, hit.end)):
        if len(data[position:start].strip()) >= MIN_REST:
            yield Hit(position, start, hit.kind, hit.rank)
        position = max(position, end)


def _replace(data: bytes, hits: list[Hit], key: bytes) -> bytes:
    """The data with a marker in the place of each hit."""
    pieces = []
    position = 0
    for hit in hits:
        pieces += [
            data[position : hit.start],
            marker(hit.kind, data[hit.start : hit.end], key),
        ]
        position = hit.end
    return b"".join((*pieces, data[position:]))
