"""Scripts that put no spaces between words (Chinese, Japanese, Thai, Lao, Khmer, Burmese), and
Korean, whose words grow endings: such writing is compared by pairs of neighbouring letters.

The measure is the usual one for search without a dictionary (J. H. Lee and J. S. Ahn, SIGIR 1996).
"""

from __future__ import annotations

import functools
import math
import re
import unicodedata
from itertools import pairwise

_LETTERS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0002fa1f"
)
_RUN = re.compile(f"[{_LETTERS}]+")
_ALPHABETIC = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]{3}")
# one letter of these is a word
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
# what an agent is told to make it go on
_GOING_ON = """
    继续 繼續 好 好的 谢谢 謝謝 辛苦了 对 對 没错 可以 行 続けて 続行 続けてください ありがとう
    ありがとうございます お疲れさま 了解 はい 계속 계속해 계속해줘 고마워 고마워요 수고했어요 네
    그래 좋아 ทำต่อ ทำต่อเลย ต่อเลย ขอบคุณ ขอบคุณมาก โอเค ใช่
"""
# what questions and grammar are made of; it parts what a question is about
_CHINESE = """
    为什么 為什麼 什么时候 什麼時候 什么 什麼 怎么样 怎麼樣 怎么 怎麼 怎样 怎樣 如何 为何 為何
    多少 多久 多大 哪里 哪裡 哪儿 哪个 哪個 哪些 哪 谁 誰 几个 幾個 几点 幾點 几 幾 何时 何 是否
    能不能 能否 可不可以 可以 应该 應該 需要 必须 必須 有没有 有沒有 没有 沒有 是不是 时候 時候
    我们 我們 你们 他们 现在 現在 还 還 吗 嗎 呢 吧 么 麼 的 了 是 在 和 与 與 及 或 也 都 就 这
    這 那 很 为 為 会 會 我 你 您 他 她 它 们 們 把 被 给 給 对 對 从 從 到 要 能 让 讓 因为 因為
    所以 如果 地方
"""
_JAPANESE = "何 誰 今 私 我々 理由 原因 方法"
_KOREAN = """
    왜 뭐야 뭐였지 뭔가요 뭐 무엇을 무엇이 무엇으로 무엇인가요 무엇 무슨 어디에 어디로 어디서 어디
    언제 어떻게 어떤 어떠한 어느 누가 누구 몇 얼마나 얼마야 얼마인가요 얼마 있나요 있어 인가요
    되나요 되죠 돼요 하나요 하죠 해요 해야 했나요 했어 합니까 인지 우리 지금 아직 안 이유가 이유는
    이유 원인이 원인은 원인
"""
# of Thai only what stands in no other word
_THAI = """
    ทำไม เพราะอะไร อะไร อย่างไร ยังไง เมื่อไร เมื่อไหร่ ที่ไหน ที่ใด เท่าไร เท่าไหร่ แค่ไหน แบบไหน
    หรือยัง หรือไม่ ไหม ใคร ต้อง อย่าง การ ความ ตอนนี้ ถึง จึง เพราะ
"""
# grown onto Korean words, the longest first
_ENDINGS = sorted(
    """
    은 는 이 가 을 를 에 의 도 만 과 와 로 으로 에서 에는 에게 까지 부터 보다 처럼 이나 나요 까요
    하나요 했나요 하는 하면 하려면 해야 해도 하지 하고 해 했어 한 할 인가요 인데 습니까 합니까
    됩니까 되나요 되는 돼 지요 죠 어요 아요 었나요 았나요 려면 으려면 았어 었어 어 야
    """.split(),  # noqa: SIM905  # a list of literals cannot be read
    key=len,
    reverse=True,
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


def distinctive_parts(text: str) -> list[str]:
    """What a question is about, between its grammar and without the endings of Korean words, each
    once; all runs where it is about nothing.
    """
    found = [run for run in runs(text) if run not in _going_on()]
    return list(
        dict.fromkeys(
            [part for run in found for part in _distinctive_parts(run)] or found
        )
    )


@functools.cache
def _going_on() -> frozenset[str]:
    return frozenset(map(_without_marks, _GOING_ON.split()))


def distinctive_pairs(text: str) -> list[str]:
    """The pairs of characters in ``distinctive_parts``, and letters that stand alone, each once."""
    return list(
        dict.fromkeys(pair for part in distinctive_parts(text) for pair in pairs(part))
    )


def least_pairs(run: str) -> int:
    """How many pairs in a row say that two runs have a word in common: of the few letters of an
    alphabet one pair stands anywhere.
    """
    return 2 if _ALPHABETIC.match(run) else 1


def is_pair(term: str) -> bool:
    """Whether a term of a query is a pair, or one such letter."""
    return len(term) <= 2 and bool(_RUN.fullmatch(term))


def is_single(term: str) -> bool:
    """Whether a term of a query is one such letter, which the pairs that begin with it have."""
    return len(term) == 1 and bool(_RUN.fullmatch(term))


def _distinctive_parts(run: str) -> list[str]:
    parts = map(_without_ending, filter(None, _grammar_pattern().split(run)))
    return [part for part in parts if len(part) > 1 or _HAN.match(part)]


@functools.cache
def _grammar_pattern() -> re.Pattern[str]:
    korean = rf"\A(?:{'|'.join(_KOREAN.split())})\Z"
    others = sorted(
        map(_without_marks, f"{_CHINESE} {_JAPANESE} {_THAI}".split()),
        key=len,
        reverse=True,
    )
    # hiragana is what Japanese grammar is written in
    return re.compile(rf"{korean}|{'|'.join(others)}|[\u3041-\u3096]+")


def _without_ending(part: str) -> str:
    for ending in _ENDINGS:
        if part.endswith(ending):
            return part.removesuffix(ending)
    return part


def word_count(text: str) -> int:
    """How many words a text has: two letters of such writing make one."""
    return len(without_runs(text).split()) + sum(
        math.ceil(len(run) / 2) for run in runs(text)
    )


def attached_words(text: str) -> list[str]:
    """The words of other scripts that no space parts from such writing, as in 用Redis做."""
    return [] if text.isascii() else _attached_pattern().findall(text)


def without_runs(text: str) -> str:
    """The text with a space in place of each run."""
    if text.isascii():
        return text
    return _RUN.sub(" ", unicodedata.normalize("NFC", text))


@functools.cache
def _attached_pattern() -> re.Pattern[str]:
    """The pattern of other words that touch a run of such letters. Compiled when first needed,
    which takes 3 ms; each word is looked at once.
    """
    letter, other = f"[{_LETTERS}]", rf"[^\W_{_LETTERS}]"
    return re.compile(rf"(?<={letter}){other}++|(?<!{other}){other}++(?={letter})")


def _without_marks(run: str) -> str:
    return "".join(letter for letter in run if unicodedata.category(letter) != "Mn")
