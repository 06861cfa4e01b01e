"""What people decide in reply to an agent, state for good and leave open in other languages than
English, and what sounds alike and says nothing of that: a table a language in ``answers``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from keeplore.capture.distill.decisions import decisions
from keeplore.capture.distill.distiller import distill
from keeplore.capture.notes.note_candidates import AUTOMATIC, candidates
from keeplore.memory import Exchange

AT = "2026-02-09T14:03:11Z"
TABLES = {
    file.stem: yaml.safe_load(file.read_text(encoding="utf-8"))
    for file in sorted(Path(__file__).with_name("answers").glob("*.yaml"))
}


class Language:
    """The talks of one language's table."""

    def __init__(self, name: str) -> None:
        self.table: dict[str, Any] = TABLES[name]
        self.picks = {self.table["first"], self.table["second"]}
        self.proposed: str = self.table["proposed"]

    def chosen(self, message: str) -> list[str]:
        """What a message decides in reply to options."""
        return self._decided("asked", "options", message)

    def agreed(self, message: str) -> list[str]:
        """What a message decides in reply to a proposal."""
        return self._decided("trouble", "proposal", message)

    def told(self, message: str) -> list[Exchange]:
        """A talk in which nothing was asked."""
        return self._talk("work", "worked", message)

    def decided(self, message: str) -> list[str]:
        return self._decided("work", "worked", message)

    def written(self, message: str) -> list[tuple[str, str]]:
        """The text and category of each note that is written unasked."""
        found = candidates(self.told(message))
        return [
            (one.text, one.category) for one in found if one.confidence >= AUTOMATIC
        ]

    def _decided(self, asked: str, reply: str, message: str) -> list[str]:
        return [one.quote.text for one in decisions(self._talk(asked, reply, message))]

    def _talk(self, asked: str, reply: str, message: str) -> list[Exchange]:
        return [
            Exchange("t-0", AT, self.table[asked], (self.table[reply],)),
            Exchange("t-1", AT, message, (self.table["done"],)),
        ]


@pytest.fixture
def language(request: pytest.FixtureRequest) -> Language:
    return Language(request.param)


def each(part: str, *names: str) -> pytest.MarkDecorator:
    """A test for each row of this part of all tables, its columns under ``names``."""
    rows = [
        pytest.param(name, *(row if isinstance(row, list) else [row]))
        for name, table in TABLES.items()
        for row in table[part]
    ]
    return pytest.mark.parametrize(("language", *names), rows, indirect=["language"])


@each("second_picked", "message")
def test_the_second_option_is_picked(language: Language, message: str) -> None:
    assert language.chosen(message) == [language.table["second"]]


@each("first_picked", "message")
def test_the_first_option_is_picked(language: Language, message: str) -> None:
    assert language.chosen(message) == [language.table["first"]]


@each("nothing_picked", "message")
def test_a_no_a_doubt_and_a_step_pick_no_option(
    language: Language, message: str
) -> None:
    assert not language.picks & {*language.chosen(message)}


@each("agreed", "message")
def test_a_yes_agrees_to_the_proposal_whatever_comes_next(
    language: Language, message: str
) -> None:
    assert language.agreed(message) == [language.proposed]


@each("amended", "message")
def test_a_yes_with_a_change_keeps_the_change(language: Language, message: str) -> None:
    assert language.agreed(message) == [f"{language.proposed} → {message}"]


@each("not_agreed", "message")
def test_a_no_and_an_objection_agree_to_nothing(
    language: Language, message: str
) -> None:
    assert not any(language.proposed in line for line in language.agreed(message))


@each("decided", "message", "decision")
def test_a_rule_is_decided_without_the_next_step(
    language: Language, message: str, decision: str
) -> None:
    assert language.decided(message) == [decision]


@each("noted", "message", "text", "category")
def test_what_lasts_is_noted(
    language: Language, message: str, text: str, category: str
) -> None:
    assert (text, category) in language.written(message)


@each("left_open", "message")
def test_what_is_put_off_is_left_open(language: Language, message: str) -> None:
    found = distill(language.told(message))
    assert [quote.text for quote in found["open_questions"]] == [message]


@each("says_nothing", "message")
def test_what_is_of_the_moment_decides_nothing(
    language: Language, message: str
) -> None:
    assert language.decided(message) == []
    assert language.written(message) == []
