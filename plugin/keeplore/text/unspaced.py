"""Scripts that put no spaces between words (Chinese, Japanese, Thai, Lao, Khmer, Burmese), and
Korean, whose words grow endings: such writing is compared by pairs of neighbouring letters.

The measure is the usual one for search without a dictionary (J. H. Lee and J. S. Ahn, SIGIR 1996).
"""

from __future__ import annotations

import functools
import re
import unicodedata
from itertools import pairwise

_LETTERS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0002fa1f"
)
_RUN = re.compile(f"[{_LETTERS}]+")
# letters of which questions and grammar are made: pairs with one of them say little
_GRAMMAR = frozenset(
    "的了吗呢吧么嗎麼们們是在和与與及或也都就这這那哪谁誰何怎什为為会會我你您他她它很"
    + "".join(map(chr, range(0x3041, 0x3097)))
)
# likewise pairs, of Chinese and of Korean endings and question words
_COMMON = frozenset(
    """
    没有 沒有 可以 时候 時候 多久 地方 需要 如果 因此 所以
    나요 하나 에서 에는 어떻 떻게 무엇 엇을 까요 습니 니다 입니 는지 하는 인가 가요 뭔가 어디
    디에 언제 하지 해야 되나 으로 이다 한다 했나 쓰나 하면 지요
    """.split()  # noqa: SIM905  # a list of literals cannot be read
)


def runs(text: str) -> list[str]:
    """The stretches of such writing in a text, composed (NFC) and without marks above or below."""
    if text.isascii():
        return []
    found = _RUN.findall(unicodedata.normalize("NFC", text))
    return [run for run in map(_without_marks, found) if run]


def pairs(run: str) -> list[str]:
    """Each two letters that stand together; a single letter is its own pair."""
    return [first + second for first, second in pairwise(run)] or [run]


def telling_pairs(text: str) -> list[str]:
    """The pairs of a question that are about something, each once; all where none is."""
    found = dict.fromkeys(pair for run in runs(text) for pair in pairs(run))
    return list(filter(_is_telling, found)) or list(found)


def attached_words(text: str) -> list[str]:
    """The words of other scripts that no space parts from such writing, as in 用Redis做."""
    return [] if text.isascii() else _attached().findall(text)


def without_runs(text: str) -> str:
    """A text with a space in place of each of them."""
    if text.isascii():
        return text
    return _RUN.sub(" ", unicodedata.normalize("NFC", text))


@functools.cache
def _attached() -> re.Pattern[str]:
    """Made when it is first needed: it takes 3 ms."""
    return re.compile(
        rf"(?<=[{_LETTERS}])[^\W_{_LETTERS}]+|[^\W_{_LETTERS}]+(?=[{_LETTERS}])"
    )


def _is_telling(pair: str) -> bool:
    return pair not in _COMMON and _GRAMMAR.isdisjoint(pair)


def _without_marks(run: str) -> str:
    return "".join(letter for letter in run if unicodedata.category(letter) != "Mn")
