"""Known names in text: which of them stand in it as whole words. It never makes one up.

A name that is a plain word of English (click, rich, requests, server) is only found where the text
shows that the thing is meant: between marks of code, beside a version, after ``import``, as "the
click package", or with a capital in the middle of a sentence.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from keeplore.index.graph.code_spans import BLOCK, INLINE, PROSE, SHELL, markdown_spans
from keeplore.index.graph.graph_values import Mention
from keeplore.index.graph.name_shapes import EXTENSIONS, is_plain
from keeplore.memory.entity_file import MAX_NAME
from keeplore.text.fences import without_surrogates

MAX_TEXT = 200_000  # characters of all texts together
# scripts whose words stand together: each character is a word
UNSPACED = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3"
# as ``_WORD`` for text that is ASCII, three times as fast
_ASCII_WORD = re.compile(r"\w+", re.ASCII)
_SPACE = re.compile(r"\s+")
_NEAR = 40  # characters on either side that say what a word means
_RUN = 200  # characters of a path or an address
_WINDOW = 2 * MAX_NAME  # characters in which a name stands, with wide gaps
_SUFFIXES = frozenset(
    {
        "aware",
        "compatible",
        "driven",
        "like",
        "native",
        "only",
        "side",
        "specific",
        "style",
    }
)
_VERSION = re.compile(r"\s{0,2}(?:(?:==|>=|<=|~=|\^|@)\s?\^?v?\d|v\d|\d{1,4}\.\d)")
_BEFORE = (
    "install",
    "add",
    "get",
    " i",
    "import",
    "package",
    "library",
    "crate",
    "gem",
    "dependency",
    "framework",
    # with what these can end
    "called",
    "named",
    " on",
    " with",
    " in",
    " by",
    " to",
    " from",
)
_PARTS_BEFORE = frozenset("\\$#~%&_-.")  # "--name", "$name", "other-name", "other.name"
_SENTENCE_ENDS = frozenset('.!?:;|>#*-–—•\n"“(')


# as text, since they take longest to compile and every command imports this module
_WORD = rf"[{UNSPACED}]|[^\W{UNSPACED}]+"
_WORD_ALONE = f"[{UNSPACED}]"
_SAID_AFTER = (
    r"['’]?s?[`*_\"]{0,2}\s(?:npm |python |go |pip |rust )?(?:package|library|crate|"
    r"gem|cli|framework|sdk|linter|"
    r"formatter|compiler|binary|executable|dependency|runtime)\b"
)
_SAID_BEFORE = (
    r"(?:\b(?:(?:pip3?|npm|pnpm|yarn|bun|uv|poetry|cargo|gem|brew|apt|apt-get|go|conda) "
    r"(?:install|add|get|i)|import|"
    r"(?:package|library|crate|gem|dependency|framework)(?: called| named)?|depend(?:s|ing)? "
    r"on|built (?:on|with)|"
    r"written in|powered by|migrat(?:e|ed|ing) (?:to|from))\s{1,3}[`*_\"]{0,2})\Z"
)
_IMPORTED = (
    r"(?:^|\n|;)[ \t]*(?:(?:import|from|use|extern crate|#include|require|"
    r"@import)[ \t]+[\w{}*, \t]{0,80}[<\"'(]{0,2}"
    r"|[^\n]{0,80}\b(?:require\(|from )[\"'])\Z"
)


@functools.cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


@dataclass(frozen=True, slots=True)
class _NameGroup:
    """Names with one first word, which stands at one place in them: found by their lengths, however
    many they are.
    """

    lead: int  # characters before the first word
    lengths: tuple[int, ...]  # longest first
    names: frozenset[str]
    has_space: bool
    after: frozenset[str]  # characters that stand behind the first word, "" for none


@dataclass(frozen=True, slots=True)
class _NameSpan:
    name: str
    start: int
    end: int


def first_word(name: str) -> str:
    """The key under which a canonical name is looked for: its first word; "" for one without
    words.
    """
    found = _compiled(_WORD).search(name)
    return found[0] if found else ""


def first_words(texts: Iterable[str]) -> set[str]:
    """Every key under which a name may begin in these texts."""
    return {
        word
        for text in _bounded_texts(texts)
        for word in _words_in(_text_and_folded(text)[1])
    }


def names_in(texts: Iterable[str], names: Collection[str]) -> list[Mention]:
    """The names that stand in the texts as whole words, the longest where several begin at one
    place.

    In the order in which they first stand there. Linear in the length of the texts; at most
    ``MAX_TEXT`` characters are looked at.
    """
    by_first = _grouped(names)
    if not by_first:
        return []
    spellings: dict[str, str] = {}
    counts = Counter[str]()
    for text in _bounded_texts(texts):
        for name, written in _named_in(text, by_first):
            spellings.setdefault(name, " ".join(written.split()))
            counts[name] += 1
    return [Mention(name, spellings[name], count) for name, count in counts.items()]


def _named_in(
    text: str, by_first: dict[str, list[_NameGroup]]
) -> Iterator[tuple[str, str]]:
    """Each name that a text means, and how it is written there."""
    for piece in markdown_spans(text):
        written, folded = _text_and_folded(piece.text)
        for span in _name_spans(folded, by_first):
            if _is_named(piece.kind, written, folded, span):
                yield span.name, written[span.start : span.end]


def _words_in(folded: str) -> list[str]:
    return (_ASCII_WORD if folded.isascii() else _compiled(_WORD)).findall(folded)


def _bounded_texts(texts: Iterable[str]) -> Iterator[str]:
    """The texts up to MAX_TEXT characters in all, lone surrogates replaced."""
    room = MAX_TEXT
    for text in texts:
        if room > 0:
            yield without_surrogates(text[:room])
        room -= len(text)


def _text_and_folded(text: str) -> tuple[str, str]:
    """The text in NFC, and the same in small letters: character for character, so that places are
    the same.
    """
    written = text if text.isascii() else unicodedata.normalize("NFC", text)
    folded = written.lower()
    if len(folded) != len(written):
        folded = "".join(
            small if len(small := one.lower()) == 1 else one for one in written
        )
    return written, folded


def _grouped(names: Iterable[str]) -> dict[str, list[_NameGroup]]:
    split: dict[str, dict[int, set[str]]] = {}
    for name in names:
        if word := _compiled(_WORD).search(name):
            split.setdefault(word[0], {}).setdefault(word.start(), set()).add(name)
    return {
        key: [_name_group(lead, len(key), same) for lead, same in by_lead.items()]
        for key, by_lead in split.items()
    }


def _name_group(lead: int, length: int, names: set[str]) -> _NameGroup:
    lengths = sorted({len(name) for name in names}, reverse=True)
    end = lead + length
    after = frozenset(name[end : end + 1] for name in names)
    has_space = any(" " in name for name in names)
    return _NameGroup(lead, tuple(lengths), frozenset(names), has_space, after)


def _name_spans(
    folded: str, by_first: dict[str, list[_NameGroup]]
) -> Iterator[_NameSpan]:
    """The names in a text, in order; none begins within another one."""
    beyond = 0  # the end of the last name
    for at, key in _first_words(folded, by_first):
        if at < beyond:
            continue
        for name, start in _candidates(folded, at, key, by_first[key]):
            end = _name_end(name, folded, start)
            if start >= beyond and _is_whole(folded, start, end):
                beyond = end
                yield _NameSpan(name, start, end)
                break


def _candidates(
    folded: str, at: int, key: str, groups: list[_NameGroup]
) -> list[tuple[str, int]]:
    """Names whose characters stand around a first word, each with its start, the longest first."""
    found = []
    behind = folded[at + len(key) : at + len(key) + 1]
    behind = " " if behind.isspace() else behind
    for group in groups:
        start = at - group.lead
        if start >= 0 and ("" in group.after or behind in group.after):
            there = folded[start : start + _WINDOW]
            found += [(name, start) for name in _names_at_start(there, group)]
    return sorted(found, key=lambda one: -len(one[0]))


def _names_at_start(text: str, group: _NameGroup) -> list[str]:
    """The names of a group with which a text begins."""
    if group.has_space:
        text = _SPACE.sub(" ", text)
    return [text[:length] for length in group.lengths if text[:length] in group.names]


def _first_words(
    folded: str, by_first: dict[str, list[_NameGroup]]
) -> list[tuple[int, str]]:
    """The places of the words with which a name begins, and the words, in order."""
    found = []
    for key in by_first.keys() & set(_words_in(folded)):  # mostly none, which is quick
        at = folded.find(key)
        while at >= 0:
            end = at + len(key)
            if not (_are_one_word(folded, at) or _are_one_word(folded, end)):
                found.append((at, key))
            at = folded.find(key, end)
    return sorted(found)


def _name_end(name: str, folded: str, start: int) -> int:
    """Where a name ends that begins here, whatever gaps stand for its spaces."""
    at = start
    for part in name.split(" "):
        gap = _SPACE.match(folded, at) if at > start else None
        at = (gap.end() if gap else at) + len(part)
    return at


def _is_whole(folded: str, start: int, end: int) -> bool:
    """Whether what stands there is not a part of another word, a file or an option."""
    before, after = folded[start - 1 : start], folded[end : end + 1]
    if _are_one_word(folded, start) or _are_one_word(folded, end):
        return False
    if before in _PARTS_BEFORE or (
        before == "@" and _is_letter(folded[start - 2 : start - 1])
    ):
        return False
    following = _compiled(_WORD).match(folded, end + 1)
    return not (following and _is_longer(after, following[0]))


def _is_longer(after: str, following: str) -> bool:
    """Whether a name goes on with this mark and the word behind it."""
    if after == "-":
        return following not in _SUFFIXES and not following.endswith("ed")
    if after == "@":
        return not following[0].isdigit()
    return (
        after in ("\\", "_")
        or (after == "." and following in EXTENSIONS)
        or (after == "#" and following.isdigit())
    )


def _are_one_word(folded: str, at: int) -> bool:
    """True where a place is inside of a word."""
    return (
        0 < at < len(folded) and _is_letter(folded[at - 1]) and _is_letter(folded[at])
    )


def _is_letter(char: str) -> bool:
    if not (char.isalnum() or char == "_"):
        return False
    return char < UNSPACED[0] or not _compiled(_WORD_ALONE).match(char)


def _is_named(kind: str, written: str, folded: str, span: _NameSpan) -> bool:
    """Whether the name, which stands there as a word, says that the thing is mentioned."""
    has_slash = "/" in (
        folded[span.start - 1 : span.start],
        folded[span.end : span.end + 1],
    )
    if has_slash and (kind != PROSE or not _is_alternative(written, span)):
        return False
    return not _is_plain_name(span.name) or _is_thing(kind, written, folded, span)


def _is_alternative(written: str, span: _NameSpan) -> bool:
    """True for "redis/postgres" and "Java/Kotlin/Ruby", False for a part of a path or an
    address.
    """
    parts = _run_around(written, span).rstrip(".:").split("/")
    if not all(map(_is_name_alone, parts)):
        return False
    capitals = sum(part[0].isupper() for part in parts)
    return len(parts) == 2 or capitals > 1


def _is_name_alone(part: str) -> bool:
    """False for what only a path or an address has between its slashes."""
    return part[:1].isalpha() and "." not in part and ":" not in part


def _run_around(written: str, span: _NameSpan) -> str:
    """The characters without a blank, a quotation mark or a bracket in which a name stands."""
    before = written[max(0, span.start - _RUN) : span.start]
    after = written[span.end : span.end + _RUN]
    left = re.split(r"[\s`\"'(<\[]", before)[-1]
    right = re.split(r"[\s`\"')>\],;]", after, maxsplit=1)[0]
    return f"{left}{written[span.start : span.end]}{right}"


@functools.lru_cache(maxsize=4096)
def _is_plain_name(name: str) -> bool:
    """True for one word that also says something else in English or in the trade, or is too short
    to say anything.
    """
    return _compiled(_WORD).fullmatch(name) is not None and (
        len(name) < 3 or is_plain(name)
    )


def _is_thing(kind: str, written: str, folded: str, span: _NameSpan) -> bool:
    """Whether a plain word stands for the thing of that name."""
    after = folded[span.end : span.end + _NEAR]
    before = folded[max(0, span.start - 2 * _NEAR) : span.start]
    if _VERSION.match(after) or (kind != BLOCK and _compiled(_SAID_AFTER).match(after)):
        return True
    may_say = before.rstrip(' `*_"').endswith(_BEFORE)  # quick, before the pattern
    if may_say and _compiled(_SAID_BEFORE).search(before):
        return True
    if kind == INLINE:
        return span.start == 0 and (span.end == len(folded) or after[0] in " .@=[:")
    if kind in (BLOCK, SHELL):
        is_run = kind == SHELL and _is_run(before)
        return is_run or _compiled(_IMPORTED).search(before) is not None
    return _is_capital(written, span)


def _is_run(before: str) -> bool:
    """Whether what stands before a word in a shell makes it the program of its command."""
    line = before.rpartition("\n")[2]
    is_first = line.strip() in ("", "$", "%", "sudo", "npx", "uvx")
    return is_first or line.endswith(("| ", "&& "))


def _is_capital(written: str, span: _NameSpan) -> bool:
    """True in prose for a capital where none is due: not at the start, and between words in small
    letters.
    """
    # "the CLI" is anybody's
    if not written[span.start].isupper() or written[span.start : span.end].isupper():
        return False
    before = written[max(0, span.start - _NEAR) : span.start].rstrip(" `*_")
    if not before or before[-1] in _SENTENCE_ENDS:
        return False
    return before.split()[-1][0].islower() and not _is_capital_next(written, span.end)


def _is_capital_next(written: str, at: int) -> bool:
    """Whether the next word begins with a capital as well."""
    following = _compiled(_WORD).search(written, at)
    if following is None or following.start() - at >= 3:
        return False
    return following[0][0].isupper()
