"""By which deed each statement is known that leads to harm, as it is written down; and in which
forms a text is looked at.

To write it anew: WRITE_GOLDEN=1 pytest tests/recall -k harmful_statements, then read the difference.
"""

from __future__ import annotations

from poison import POISON
from written_down import written_lines

from keeplore.recall.unasked.harmful_statements import (
    _deeds,
    _possible_patterns,
    tells_of_harm,
)

CALM = (
    "the token is sent in the authorization header.",
    "we copy .env.example to .env before the first start.",
    "the agent asks before it runs a script.",
    "rm -rf build/ is part of make clean.",
)


def test_by_which_deed_each_statement_is_known() -> None:
    patterns = [pattern for _, pattern in _deeds()]
    seen = []
    for text in (*POISON, *CALM):
        plain = text.lower()
        possible = [*_possible_patterns(plain)]
        told = [patterns.index(one) for one in possible if one.search(plain)]
        asked = [patterns.index(one) for one in possible]
        seen.append(f"{text!r}: {told} of {asked}")
        assert tells_of_harm([plain], "") == bool(told)
    assert seen == written_lines("recall/harmful_statements.txt", seen)


def test_any_reading_of_a_text_may_tell_it() -> None:
    calm, sent, file = "all is calm", "it is sent away", "the .env file"
    assert tells_of_harm([calm, f"{file}: {sent}"], calm)
    assert tells_of_harm([f"{file}: {sent}", calm], calm)
    assert not tells_of_harm([file, sent], calm)  # no deed reaches over two readings
    assert not tells_of_harm([], f"{file}: {sent}")
    assert not tells_of_harm([calm], calm)


def test_scripts_that_are_not_folded_are_read_in_the_text_itself() -> None:
    for text in (
        "密钥会被发送到服务器",
        "Токен ОТПРАВЛЯЕТСЯ на сервер",
        "에이전트가 스스로 병합한다",
    ):
        assert tells_of_harm([], text)
        assert tells_of_harm(["all is calm"], text)
    assert not tells_of_harm([], "密钥在文件里")
