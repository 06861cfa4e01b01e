"""Two terminals in one session of Claude Code: their lines alternate in one file, and each names
its parent.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from example_count import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from keeplore_hooks.events import Question, Turn
from keeplore_hooks.hosts import Cursor

LATER = "2026-02-09T20:00:00Z"


class Terminal:
    """One of the terminals: whatever it adds has its own last line for its parent."""

    def __init__(self, lines: Any, name: str, parent: str | None = None) -> None:
        self.lines, self.name, self.parent, self.count = lines, name, parent, 0

    def prompt(self) -> str:
        self.count += 1
        words = f"prompt {self.count} of {self.name}"
        self.parent = self.lines.user(
            words, parentUuid=self.parent, promptId=f"{self.name}{self.count}"
        )
        return words

    def say(self) -> str:
        words = (
            f"words on line {self.lines.count} to prompt {self.count} of {self.name}"
        )
        self.parent = self.lines.say(words, parentUuid=self.parent)
        return words

    def note(self) -> None:
        """A line of the host's own, which is no part of the talk and stands between two that
        are.
        """
        attachment = {"type": "hook_success", "stdout": "ok"}
        self.parent = self.lines.add(
            "attachment", attachment=attachment, parentUuid=self.parent
        )

    def ask(self, call: str) -> None:
        given = {
            "questions": [
                {
                    "question": f"Which one, {self.name}?",
                    "options": [{"label": self.name}],
                }
            ]
        }
        block = {
            "type": "tool_use",
            "id": call,
            "name": "AskUserQuestion",
            "input": given,
        }
        self.parent = self.lines.block(block, parentUuid=self.parent)

    def answer(self, call: str) -> None:
        answers = {f"Which one, {self.name}?": self.name}
        self.parent = self.lines.result(
            call, parentUuid=self.parent, toolUseResult={"answers": answers}
        )


@pytest.fixture
def log(lines: Any) -> Any:
    return lines()


@pytest.fixture
def pair(log: Any) -> tuple[Terminal, Terminal]:
    """Two terminals that go on from one turn."""
    first = Terminal(log, "a")
    first.prompt()
    first.say()
    return first, Terminal(log, "b", first.parent)


def test_a_reply_stands_with_the_prompt_that_it_descends_from(
    session: Any, log: Any, pair: Any, final: Any
) -> None:
    a, b = pair
    a.prompt()
    b.prompt()
    to_a, to_b = a.say(), b.say()
    b.note()
    more_of_b, more_of_a = b.say(), a.say()
    turns = session.turns(log)
    assert [turn.user for turn in turns] == [
        "prompt 1 of a",
        "prompt 2 of a",
        "prompt 1 of b",
    ]
    assert [turn.replies for turn in turns[1:]] == [
        (to_a, more_of_a),
        (to_b, more_of_b),
    ]
    assert all(turn.is_complete for turn in turns)


def test_a_terminal_that_joins_while_the_other_works_takes_none_of_its_words(
    session: Any, log: Any, pair: Any
) -> None:
    a, _ = pair
    a.prompt()
    begun = a.say()
    b = Terminal(log, "b", a.parent)
    b.prompt()
    to_a, to_b = a.say(), b.say()
    assert [turn.replies for turn in session.turns(log)[1:]] == [(begun, to_a), (to_b,)]


def test_an_answer_goes_to_the_terminal_that_asked(
    session: Any, log: Any, pair: Any
) -> None:
    a, b = pair
    a.prompt()
    a.ask("toolu_a")
    b.prompt()
    b.ask("toolu_b")
    b.answer("toolu_b")
    a.answer("toolu_a")
    events = session.events(log)
    assert [event.answer for event in events if isinstance(event, Question)] == [
        "b",
        "a",
    ]
    turns = {event.user: event for event in events if isinstance(event, Turn)}
    assert [reply.answer for reply in turns["prompt 2 of a"].replies] == ["a"]
    assert [reply.answer for reply in turns["prompt 1 of b"].replies] == ["b"]


def test_a_turn_that_grows_aside_comes_again_whole(
    session: Any, log: Any, pair: Any, final: Any
) -> None:
    a, b = pair
    a.prompt()
    begun = a.say()
    b.prompt()
    b.say()
    session.write(log)
    session.hear("SubagentStop")
    to_a = a.say()
    session.write(log)
    (turn,) = session.hear("SubagentStop").events
    assert (turn.user, turn.replies, turn.is_complete) == (
        "prompt 2 of a",
        (begun, to_a),
        True,
    )


@pytest.mark.parametrize("has_id", [True, False])
def test_the_last_words_of_one_terminal_are_not_given_to_the_other(
    session: Any, log: Any, pair: Any, final: Any, *, has_id: bool
) -> None:
    a, b = pair
    a.prompt()
    b.prompt()
    to_a, to_b = a.say(), b.say()
    session.write(log)
    events = [
        *session.hear("SessionStart", at="2026-02-09T14:00:30Z", source="resume").events
    ]
    for second, (words, prompt) in enumerate(
        [(to_b, "b1"), (to_a, "a2"), (to_a, "a2")], 31
    ):
        known = {"prompt_id": prompt} if has_id else {}
        events += session.hear(
            "Stop",
            at=f"2026-02-09T14:00:{second}Z",
            last_assistant_message=words,
            **known,
        ).events
    assert [turn.replies for turn in final(events)[1:]] == [(to_a,), (to_b,)]


def test_words_of_another_terminal_that_the_transcript_lacks_wait_for_it(
    session: Any, log: Any, pair: Any, final: Any
) -> None:
    a, b = pair
    a.prompt()
    b.prompt()
    session.write(log)
    at = "2026-02-09T14:00:30Z"
    events = [
        *session.hear(
            "Stop", at=at, last_assistant_message="not written yet", prompt_id="a2"
        ).events
    ]
    assert [turn.replies for turn in final(events)[1:]] == [(), ()]
    to_a = a.say()
    session.write(log)
    events += session.hear("SessionEnd", at=LATER).events
    assert [turn.replies for turn in final(events)[1:]] == [(to_a,), ()]


@settings(
    max_examples=examples(120),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(
    steps=st.lists(
        st.sampled_from(
            ["a prompt", "a say", "a note", "b prompt", "b say", "b note", "read"]
        )
    )
)
def test_reading_between_any_two_lines_gives_every_reply_to_its_prompt(
    lines: Any, session_in: Any, final: Any, steps: list[str]
) -> None:
    log = lines()
    a = Terminal(log, "a")
    a.prompt()
    b = Terminal(log, "b", a.parent)
    with tempfile.TemporaryDirectory() as folder:
        session = session_in(Path(folder))
        events: list[Any] = []
        for step in ["b prompt", *steps]:
            if step == "read":
                session.write(log)
                events += session.hear("SubagentStop").events
            else:
                name, what = step.split()
                getattr(a if name == "a" else b, what)()
        session.write(log)
        events += session.hear("SessionEnd", at=LATER).events
        whole = final(session.host.read_transcript(session.path, Cursor()).events)
    assert {turn.id: turn for turn in final(events)} == {
        turn.id: turn for turn in whole
    }
    for turn in whole:
        assert all(str(reply).endswith(f"to {turn.user}") for reply in turn.replies)
    assert sum(len(turn.replies) for turn in whole) == sum(
        step.endswith("say") for step in steps
    )
