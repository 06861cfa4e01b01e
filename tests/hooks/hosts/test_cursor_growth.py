"""Reading a transcript of Cursor that grows, shrinks, is torn or hostile."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from example_count import examples
from growing import cuts, drawn, settled, told_of, written
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from written_down import written_lines

from keeplore_hooks.events import Turn
from keeplore_hooks.hosts import Cursor

LATER = "2030-01-01T00:00:00Z"
STAMP = "<timestamp>Sunday, Sep 6, 2026, 8:0{} AM (UTC+2)</timestamp>\n"
ASKED = {
    "questions": [
        {"id": "q", "prompt": "Which?", "options": [{"id": "a", "label": "A"}]}
    ]
}
# What can happen next in a session: each adds lines to ``t``; ``n`` tells one step from another.
STEPS: dict[str, Callable[[Any, int], Any]] = {
    "prompt": lambda t, n: t.user(f"prompt {n}", STAMP.format(n % 10)),
    "same prompt": lambda t, n: t.user("the same"),
    "command": lambda t, n: t.user(f"/remember {n}"),
    "nobody's": lambda t, n: t.line("user", "<dynamic_tools>"),
    "words": lambda t, n: t.say(f"words {n}"),
    "more words": lambda t, n: t.say(f"words {n}", "[REDACTED]", f"more {n}"),
    "edit": lambda t, n: t.call("Write", path=f"{n}.py"),
    "command line": lambda t, n: t.call("Shell", command=f"make {n}"),
    "question": lambda t, n: t.call("AskQuestion", **ASKED),
    "end": lambda t, n: t.end(),
    "torn line": lambda t, n: t.raw.append(
        b'{"role":"user","message":{"content":"torn\xff\n'
    ),
    "joined": lambda t, n: t.raw.append(t.raw.pop().rstrip() if t.raw else b""),
    "unknown": lambda t, n: t.raw.append(b'{"type":"hologram"}\n'),
}


def said(turn: Turn) -> Any:
    """A turn without times: what has none in the transcript gets that at which it was read."""
    replies = tuple(
        reply if isinstance(reply, str) else (reply.id, reply.question)
        for reply in turn.replies
    )
    return turn.user, replies, turn.work


@settings(
    max_examples=examples(150),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(data=st.data())
def test_reading_while_the_transcript_grows_gives_the_same_as_reading_it_at_once(
    cursor_log: Any, cursor_in: Any, data: st.DataObject
) -> None:
    content = written(
        cursor_log(),
        STEPS,
        data.draw(st.lists(st.sampled_from(sorted(STEPS)), max_size=25)),
    )
    with tempfile.TemporaryDirectory() as folder:
        session = cursor_in(Path(folder))
        session.write(content)
        whole = settled(session.host.read_transcript(session.path, Cursor()).events)
        grown: list[Any] = []
        for cut in data.draw(cuts(content)):
            session.write(content[:cut])
            grown += session.hear(
                data.draw(
                    st.sampled_from(["afterAgentResponse", "stop", "subagentStop"])
                )
            ).events
        session.write(content)
        grown += session.hear("stop", at=LATER).events
        assert session.hear("stop", at=LATER).events == ()
        assert session.hear("subagentStop").events == ()
    turns = settled(grown)[0]
    assert {id_: said(turn) for id_, turn in turns.items()} == {
        id_: said(turn) for id_, turn in whole[0].items()
    }
    assert list(turns) == list(whole[0])
    assert all(turn.is_complete for turn in turns.values())
    assert settled(grown)[1].keys() == whole[1].keys()


# What a session with payloads is made of: prompts, some of them equal, and what the agent says to
# each.
TALK = st.lists(
    st.tuples(
        st.sampled_from(["continue", "yes", "Do this", "And that"]),
        st.lists(st.sampled_from("abc"), max_size=3),
    ),
    max_size=6,
)


@settings(max_examples=examples(150), deadline=None)
@given(data=st.data(), talk=TALK)
def test_what_payloads_and_transcript_both_tell_is_told_once(
    cursor_log: Any,
    cursor_in: Any,
    data: st.DataObject,
    talk: list[tuple[str, list[str]]],
) -> None:
    """The transcript may be behind the payloads or ahead of them, and a worker may join in the
    middle.
    """
    with tempfile.TemporaryDirectory() as folder:
        session, t, told = cursor_in(Path(folder)), cursor_log(), []
        is_behind = data.draw(st.booleans())
        told += session.hear("sessionStart").events
        for number, (prompt, replies) in enumerate(talk):
            generation = {"generation_id": str(number)}
            announced = {"prompt": prompt, **generation}
            for _ in range(data.draw(st.integers(1, 2))):  # two plugins may tell of it
                told += session.hear("beforeSubmitPrompt", **announced).events
            t.user(prompt)
            if not is_behind or data.draw(st.booleans()):
                session.write(t.bytes())
            for reply in replies:
                t.say(f"{number}{reply}")
                if data.draw(st.booleans()):
                    session.write(t.bytes())
                told += session.hear(
                    "afterAgentResponse", text=f"{number}{reply}", **generation
                ).events
            if data.draw(st.booleans()):
                told += session.hear("stop", status="completed", **generation).events
        session.write(t.bytes())
        told += session.hear("sessionEnd", at=LATER).events
        whole = settled(session.host.read_transcript(session.path, Cursor()).events)[0]
    turns = settled(told)[0]
    assert sorted(turns) == sorted(whole)
    for turn_id, turn in turns.items():
        assert (turn.user, set(turn.replies)) == (
            whole[turn_id].user,
            set(whole[turn_id].replies),
        )


def test_a_transcript_that_shrank_is_read_from_the_start(
    cursor_log: Any, cursor_in: Any, tmp_path: Path
) -> None:
    session, t = cursor_in(tmp_path), cursor_log()
    for words in ("One", "Two", "Three"):
        t.user(words)
        t.say(f"to {words}")
    session.write(t.bytes())
    session.hear("stop", at=LATER)
    t.raw = t.raw[:2]
    t.user("Other")
    session.write(t.bytes())
    assert [turn.user for turn in session.hear("stop", at=LATER).events] == [
        "One",
        "Other",
    ]


def test_problems_are_told_once(
    cursor_log: Any, cursor_in: Any, tmp_path: Path
) -> None:
    session, t = cursor_in(tmp_path), cursor_log()
    t.user("One")
    t.raw.append(b'{"role":"assistant", torn\n')
    session.write(t.bytes())
    assert len(session.hear("stop").problems) == 1
    assert session.hear("stop").problems == ()


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=12)
    | st.sampled_from(["user", "text"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "type",
                    "text",
                    "content",
                    "name",
                    "input",
                    "questions",
                    "prompt",
                    "id",
                    "answers",
                    "path",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)
KEYS = ("role", "type", "message", "content", "text")


@settings(max_examples=examples(150), deadline=None)
@given(records=st.lists(st.dictionaries(st.sampled_from(KEYS), values), max_size=8))
def test_lines_of_any_shape_raise_nothing(cursor_in: Any, records: list[Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        session = cursor_in(Path(folder))
        lines = [
            {"role": role, **record}
            for role in ("user", "assistant")
            for record in records
        ]
        session.write(
            "".join(json.dumps(record) + "\n" for record in [*records, *lines]).encode()
        )
        repr(session.host.read_transcript(session.path, Cursor())).encode()
        session.hear("stop")


@settings(max_examples=examples(150), deadline=None)
@given(
    event=st.sampled_from(
        [
            "beforeSubmitPrompt",
            "afterAgentResponse",
            "postToolUse",
            "afterFileEdit",
            "sessionEnd",
        ]
    ),
    fields=st.dictionaries(
        st.sampled_from(
            [
                "prompt",
                "text",
                "tool_input",
                "tool_output",
                "generation_id",
                "workspace_roots",
                "file_path",
            ]
        ),
        values,
    ),
)
def test_payloads_of_any_shape_raise_nothing(
    cursor_in: Any, event: str, fields: dict[str, Any]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        session = cursor_in(Path(folder))
        session.hear("beforeSubmitPrompt", prompt="x")
        repr(session.hear(event, tool_name="AskQuestion", **fields)).encode()
        session.host.ask(event, session.payload(**fields))


@settings(max_examples=examples(50), deadline=None)
@given(
    content=st.binary(max_size=300),
    pending=st.text(max_size=20) | st.just('{"carry":{"known":"x"}}'),
)
def test_bytes_and_cursors_of_any_kind_raise_nothing(
    cursor_in: Any, content: bytes, pending: str
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        session = cursor_in(Path(folder))
        session.cursor = Cursor(7, "x", pending)
        session.write(content + b'\n{"role":"user","message":{"content":"hi"}}\n')
        turns = [
            event
            for event in session.hear("stop", at=LATER).events
            if isinstance(event, Turn)
        ]
        assert [turn.user for turn in turns] == ["hi"]


@pytest.mark.parametrize("opening", ["<user_query>", "<rules>", "<timestamp>"])
def test_a_prompt_of_opening_tags_alone_takes_no_time(
    cursor_log: Any, cursor_in: Any, tmp_path: Path, opening: str
) -> None:
    session, t = cursor_in(tmp_path), cursor_log()
    t.line("user", opening * 100_000)
    session.write(t.bytes())
    assert len(session.host.read_transcript(session.path, Cursor()).events) <= 1


def test_all_that_is_read_of_a_record_that_grows(
    cursor_log: Any, cursor_in: Any, tmp_path: Path
) -> None:
    content = written(cursor_log(), STEPS, drawn(STEPS, "cursor"))
    seen = [
        *told_of(
            cursor_in(tmp_path),
            content,
            ("afterAgentResponse", "stop", "subagentStop"),
            LATER,
        )
    ]
    assert seen == written_lines("hooks/cursor.txt", seen)
