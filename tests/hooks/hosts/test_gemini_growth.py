"""Reading a record of Gemini CLI that grows, shrinks, is rewritten, torn or hostile."""

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
from keeplore_hooks.hosts.gemini import gemini_transcript as transcript_module

LATER = "2030-01-01T00:00:00Z"
ASKED = {"questions": [{"question": "Which?", "options": [{"label": "A"}]}]}
ANSWERED = json.dumps({"answers": {"0": "A"}})
# What can happen next in a session: each adds records to ``t``; ``n`` tells one step from another.
STEPS: dict[str, Callable[[Any, int], Any]] = {
    "prompt": lambda t, n: t.user(f"prompt {n}"),
    "same prompt": lambda t, n: t.user("the same"),
    "command": lambda t, n: t.user("x", displayContent=f"/remember {n}"),
    "go on": lambda t, n: t.user("Please continue."),
    "words": lambda t, n: t.say(f"words {n}"),
    "words again": lambda t, n: t.say(
        f"longer {n}", id=f"00000000-0000-4000-8000-{max(1, len(t.records) - 1):012}"
    ),
    "edit": lambda t, n: t.say(
        "",
        t.call(
            "replace", {"file_path": f"{n}.py"}, status="error" if n % 3 else "success"
        ),
    ),
    "question": lambda t, n: t.say(
        "", t.call("ask_user", ASKED, "", "executing", f"q{n // 4}")
    ),
    "answer": lambda t, n: t.say(
        "", t.call("ask_user", ASKED, ANSWERED, "success", f"q{n // 4}")
    ),
    "note": lambda t, n: t.message("info", "x"),
    "summary": lambda t, n: t.records.append(
        {
            "$set": {
                "messages": [
                    {
                        "id": f"s{n}",
                        "type": "user",
                        "content": f"<state_snapshot>{n}</state_snapshot>",
                    }
                ]
            }
        }
    ),
    "patch": lambda t, n: t.records.append({"$set": {"lastUpdated": "x"}}),
    "rewind": lambda t, n: t.records.append(
        {"$rewindTo": f"00000000-0000-4000-8000-{max(1, n - 2):012}"}
    ),
    "repetition": lambda t, n: t.records.extend(t.records[: 1 + n % 5]),
    "torn line": lambda t, n: t.records.append(
        b'{"id":"x","type":"user","content":"torn\xff\n'
    ),
    "joined lines": lambda t, n: t.records.append(
        b'{"$set":{}}{"id":"j%d","type":"gemini","content":"j"}\n' % n
    ),
}


@settings(
    max_examples=examples(120),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(data=st.data())
def test_reading_while_the_log_grows_gives_the_same_as_reading_it_at_once(
    gemini_log: Any, gemini_in: Any, data: st.DataObject
) -> None:
    content = written(
        gemini_log(),
        STEPS,
        data.draw(st.lists(st.sampled_from(sorted(STEPS)), max_size=25)),
    )
    with tempfile.TemporaryDirectory() as folder:
        session = gemini_in(Path(folder))
        session.write(content)
        whole = settled(session.host.read_transcript(session.path, Cursor()).events)
        grown: list[Any] = []
        for cut in data.draw(cuts(content)):
            session.write(content[:cut])
            reading = session.hear(
                data.draw(st.sampled_from(["AfterTool", "AfterAgent"]))
            )
            grown += reading.events
            assert (
                reading.cursor.offset <= content[:cut].rfind(b"\n") + 1
                or b"}{" in content
            )
        session.write(content)
        grown += session.hear("SessionEnd", at=LATER).events
        assert [
            event
            for event in session.hear("AfterAgent", at=LATER).events
            if event.kind != "session"
        ] == []
    assert settled(grown)[0].keys() == whole[0].keys()
    ids = list(whole[0])
    for turn_id, turn in settled(grown)[0].items():
        assert (turn.user, turn.replies, turn.work, turn.at) == tuple(
            getattr(whole[0][turn_id], name)
            for name in ("user", "replies", "work", "at")
        )
        assert turn.is_complete
    assert [turn_id for turn_id in settled(grown)[0] if turn_id in ids] == ids
    assert settled(grown)[1].keys() == whole[1].keys()


@settings(max_examples=examples(60), deadline=None)
@given(
    steps=st.lists(
        st.sampled_from([name for name in sorted(STEPS) if "line" not in name]),
        max_size=20,
    )
)
def test_the_old_form_that_is_rewritten_at_each_turn_gives_every_turn_once(
    gemini_log: Any, gemini_in: Any, steps: list[str]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        session = gemini_in(Path(folder), ".json")
        t, given_turns = gemini_log(), []
        for number, step in enumerate(steps):
            STEPS[step](t, number)
            session.write(t.whole())
            given_turns += session.hear("AfterTool").events
        session.write(t.whole()[:-7])  # in the middle of being written
        assert session.hear("AfterTool").events == ()
        session.write(t.whole())
        given_turns += session.hear("AfterAgent", at=LATER).events
        assert session.hear("AfterAgent", at=LATER).events == ()
        whole = settled(session.host.read_transcript(session.path, Cursor()).events)
        assert settled(given_turns) == whole


def test_a_log_that_was_replaced_is_read_from_the_start(
    gemini_log: Any, gemini_in: Any, tmp_path: Path
) -> None:
    session, t = gemini_in(tmp_path), gemini_log()
    for words in ("One", "Two", "Three"):
        t.user(words)
    session.write(t.bytes())
    session.hear("AfterAgent", LATER)
    t.records = [{**t.records[0], "startTime": "2026-02-10T00:00:00Z"}, t.records[2]]
    t.user("Four", id="00000000-0000-4000-8000-000000000099")
    session.write(t.bytes())
    assert [turn.user for turn in session.hear("AfterAgent", LATER).events] == [
        "Two",
        "Four",
    ]


def test_a_torn_object_and_one_that_is_too_long_are_problems_that_are_told_once(
    gemini_log: Any, gemini_in: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, t = gemini_in(tmp_path, ".json"), gemini_log()
    t.user("One")
    session.write(t.whole()[:-3])
    assert "in the middle of being written" in session.hear("AfterAgent").problems[0]
    assert session.hear("AfterAgent").problems == ()
    monkeypatch.setattr(transcript_module, "_WHOLE_LIMIT", 50)
    assert (
        "longer than 50 bytes"
        in session.host.read_transcript(session.path, Cursor()).problems[0]
    )


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=12)
    | st.sampled_from(["user", "gemini"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "id",
                    "type",
                    "text",
                    "content",
                    "name",
                    "args",
                    "questions",
                    "question",
                    "response",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)
KEYS = (
    "id",
    "timestamp",
    "type",
    "content",
    "displayContent",
    "toolCalls",
    "$set",
    "$rewindTo",
    "sessionId",
    "kind",
)


@settings(max_examples=examples(150), deadline=None)
@given(
    records=st.lists(
        st.dictionaries(st.sampled_from((*KEYS, "messages", "functionCall")), values),
        max_size=8,
    )
)
def test_records_of_any_shape_raise_nothing(gemini_in: Any, records: list[Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for suffix, form in (
            (".jsonl", records),
            (".json", [{"sessionId": "s", "messages": records}]),
        ):
            session = gemini_in(Path(folder), suffix)
            session.write(
                "".join(json.dumps(record) + "\n" for record in form).encode()
            )
            repr(session.host.read_transcript(session.path, Cursor())).encode()
            session.hear("AfterAgent", prompt="x", prompt_response="y")


@settings(max_examples=examples(50), deadline=None)
@given(
    content=st.binary(max_size=300),
    pending=st.text(max_size=20) | st.just('{"carry":{"known":"x"}}'),
)
def test_bytes_and_cursors_of_any_kind_raise_nothing(
    gemini_in: Any, content: bytes, pending: str
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        session = gemini_in(Path(folder))
        session.cursor = Cursor(7, "x", pending)
        session.write(content + b'\n{"id":"u","type":"user","content":"hi"}\n')
        turns = [
            event
            for event in session.hear("AfterAgent", at=LATER).events
            if isinstance(event, Turn)
        ]
        assert [turn.user for turn in turns] == ["hi"]
        session.hear("AfterAgent", transcript_path=str(Path(folder) / "chats"))


def test_all_that_is_read_of_a_record_that_grows(
    gemini_log: Any, gemini_in: Any, tmp_path: Path
) -> None:
    content = written(gemini_log(), STEPS, drawn(STEPS, "gemini"))
    seen = [*told_of(gemini_in(tmp_path), content, ("AfterTool", "AfterAgent"), LATER)]
    assert seen == written_lines("hooks/gemini.txt", seen)
