"""Reading a transcript that grows, shrinks, is replaced, torn or hostile."""

from __future__ import annotations

import json
import tempfile
import tracemalloc
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
from keeplore_hooks.hosts import jsonl as jsonl_module

LATER = "2030-01-01T00:00:00Z"
REFUSAL = "The user doesn't want to proceed with this tool use. the user said:\nno"
AND = [{"type": "text", "text": "and"}]
# What can happen next in a session: each adds lines to ``t``; ``n`` tells one step from another.
STEPS: dict[str, Callable[[Any, int], Any]] = {
    "prompt": lambda t, n: t.user(f"prompt {n}"),
    "same prompt": lambda t, n: t.user("the same"),
    "words": lambda t, n: t.say(f"words {n}", f"msg_{n // 2}"),
    "thought": lambda t, n: t.think(),
    "edit": lambda t, n: t.result(
        t.call("Edit", {"file_path": f"/{n}.py"}), is_error=n % 3 == 0
    ),
    "question": lambda t, n: t.call(
        "AskUserQuestion", {"questions": [{"question": f"{n // 4}?"}]}, "asked"
    ),
    "answer": lambda t, n: t.result(
        "asked", f'"{n // 4}?"="yes". You can go on', more=AND if n % 2 else ()
    ),
    "refusal": lambda t, n: t.result("asked", REFUSAL, is_error=True),
    "commit": lambda t, n: t.result(
        t.call("Bash", {"command": "git commit"}), f"[main {n:07x}] subject"
    ),
    "command": lambda t, n: t.command("review", str(n)),
    "its output": lambda t, n: t.user("<local-command-stdout>x</local-command-stdout>"),
    "compaction": lambda t, n: t.compaction(),
    "boundary": lambda t, n: t.add("system", subtype="compact_boundary"),
    "typed ahead": lambda t, n: t.bare(
        type="queue-operation", operation="enqueue", content=f"ahead {n}"
    ),
    "taken": lambda t, n: t.bare(
        type="queue-operation", operation="remove", timestamp=t.time(n)
    ),
    "dequeued": lambda t, n: t.bare(type="queue-operation", operation="dequeue"),
    "attached": lambda t, n: t.queued(f"attached {n}"),
    "meta": lambda t, n: t.user("meta", isMeta=True),
    "subagent": lambda t, n: t.user("side", isSidechain=True),
    "pull request": lambda t, n: t.bare(
        type="pr-link", prUrl=f"https://forge.example/{n}", sessionId=t.session
    ),
    "torn line": lambda t, n: t.raw.append(
        b'{"type":"user","message":{"content":"torn\xff\n'
    ),
    "repetition": lambda t, n: t.raw.extend(t.raw[: 1 + n % 7]),
    "old version": lambda t, n: setattr(t, "version", "2.1.20"),
    "new version": lambda t, n: setattr(t, "version", "2.1.200"),
}


# Steps that depend on one another meet too seldom among all the others.
KINDS = {
    "everything": sorted(STEPS),
    "queue": ["old version", "typed ahead", "taken", "dequeued", "attached", "words"],
    "repetition": [
        "prompt",
        "words",
        "repetition",
        "command",
        "its output",
        "compaction",
    ],
    "commands": ["command", "its output", "words", "prompt", "thought"],
    "compaction": [
        "compaction",
        "boundary",
        "words",
        "prompt",
        "command",
        "its output",
    ],
    "questions": ["question", "answer", "refusal", "words", "edit"],
}


@pytest.mark.parametrize("kind", KINDS)
@settings(
    max_examples=examples(50),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(data=st.data())
def test_reading_while_the_file_grows_gives_the_same_as_reading_it_at_once(
    lines: Any, session_in: Any, kind: str, data: st.DataObject
) -> None:
    content = written(
        lines(), STEPS, data.draw(st.lists(st.sampled_from(KINDS[kind]), max_size=25))
    )
    with tempfile.TemporaryDirectory() as folder:
        session = session_in(Path(folder))
        session.write(content)
        whole = settled(session.host.read_transcript(session.path, Cursor()).events)
        grown: list[Any] = []
        for cut in data.draw(cuts(content)):
            session.write(content[:cut])
            reading = session.hear("SubagentStop")
            grown += reading.events
            assert reading.cursor.offset <= content[:cut].rfind(b"\n") + 1
            assert (
                json.loads(reading.cursor.pending)["known"]
                <= content[:cut].rfind(b"\n") + 1
            )
        session.write(content)
        grown += session.hear("SessionEnd", at=LATER).events
    assert settled(grown) == whole


@settings(max_examples=examples(60), deadline=None)
@given(steps=st.lists(st.sampled_from(sorted(STEPS)), max_size=30))
def test_reading_again_without_news_gives_nothing(
    lines: Any, session_in: Any, steps: list[str]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        session = session_in(Path(folder))
        session.write(written(lines(), STEPS, steps))
        session.hear("Stop", at=LATER)
        assert session.hear("Stop", at=LATER).events == ()
        assert session.hear("SubagentStop").events == ()


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=12)
    | st.sampled_from(
        [
            "user",
            "assistant",
            "tool_use",
            "tool_result",
            "text",
            "AskUserQuestion",
            "remove",
            "<command-name>",
            "/x",
        ]
    ),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "type",
                    "text",
                    "content",
                    "name",
                    "id",
                    "input",
                    "questions",
                    "question",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)
KEYS = (
    *(
        "uuid",
        "message",
        "timestamp",
        "version",
        "cwd",
        "sessionId",
        "gitBranch",
        "isMeta",
        "isSidechain",
        "origin",
    ),
    *(
        "subtype",
        "content",
        "attachment",
        "operation",
        "toolUseResult",
        "prUrl",
        "compactMetadata",
        "isCompactSummary",
    ),
)
TYPES = (
    "user",
    "assistant",
    "system",
    "attachment",
    "queue-operation",
    "pr-link",
    "progress",
    "unheard-of",
)


@settings(max_examples=examples(150), deadline=None)
@given(
    records=st.lists(
        st.tuples(
            st.sampled_from(TYPES), st.dictionaries(st.sampled_from(KEYS), values)
        ),
        max_size=8,
    )
)
def test_lines_of_any_shape_raise_nothing(
    session_in: Any, records: list[tuple[str, dict[str, Any]]]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        session = session_in(Path(folder))
        session.write(
            "".join(
                json.dumps({"type": kind, **record}) + "\n" for kind, record in records
            ).encode()
        )
        reading = session.host.read_transcript(session.path, Cursor())
        repr(reading).encode()
        session.hear("Stop", last_assistant_message="x")


@settings(max_examples=examples(50), deadline=None)
@given(content=st.binary(max_size=400))
def test_bytes_of_any_kind_raise_nothing(session_in: Any, content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        session = session_in(Path(folder))
        session.write(content)
        session.hear("SubagentStop")
        session.write(
            content + b'\n{"type":"user","uuid":"u","message":{"content":"hi"}}\n'
        )
        turns = [
            event
            for event in session.hear("Stop", at=LATER).events
            if isinstance(event, Turn)
        ]
        assert [turn.user for turn in turns] == ["hi"]


def test_what_was_typed_ahead_is_known_after_the_cursor_has_passed_it(
    session: Any, lines: Any
) -> None:
    t = lines(version="2.1.29")
    t.user("One")
    t.bare(type="queue-operation", operation="enqueue", content="Two")
    t.bare(type="queue-operation", operation="enqueue", content="Three")
    t.bare(type="queue-operation", operation="remove")
    t.say("2")
    for _ in range(2):
        session.write(t)
        session.hear("SubagentStop")
    t.bare(type="queue-operation", operation="remove")
    session.write(t)
    events = session.hear("Stop", at=LATER).events
    assert [(turn.user, turn.origin.cwd) for turn in events] == [
        ("Two", "/home/ann/kasha"),
        ("Three", "/home/ann/kasha"),
    ]


def test_a_prompt_that_the_cursor_has_passed_is_known_when_it_is_repeated(
    session: Any, lines: Any
) -> None:
    t = lines()
    t.user("One")
    t.say("1")
    t.say("1b")
    t.user("Two")
    session.write(t)
    session.hear("SubagentStop")
    t.raw += t.raw[:2]
    session.write(t)
    assert [turn.user for turn in session.hear("Stop", at=LATER).events] == ["Two"]


def test_the_cursor_stays_before_an_incomplete_line_and_at_the_last_turn(
    session: Any, lines: Any
) -> None:
    t = lines()
    t.user("One")
    t.say("1")
    start_of_two = len(t.bytes())
    t.user("Two")
    complete = len(t.bytes())
    session.write(t.bytes() + b'{"type":"assistant","mess')
    reading = session.hear("SubagentStop")
    assert (reading.cursor.offset, json.loads(reading.cursor.pending)["known"]) == (
        start_of_two,
        complete,
    )
    assert [(turn.user, turn.is_complete) for turn in reading.events] == [
        ("One", True),
        ("Two", False),
    ]
    assert reading.problems == ()


def test_a_whole_last_line_counts_though_its_newline_is_missing(
    session: Any, lines: Any
) -> None:
    t = lines()
    t.user("One")
    session.write(t)
    session.hear("SubagentStop")
    t.say("1")
    session.write(t.bytes().rstrip())
    assert session.hear("Stop", at=LATER).events[0].replies == ("1",)
    session.write(t)
    assert [event.replies for event in session.hear("Stop", at=LATER).events] == [
        ("1",)
    ]


@pytest.mark.parametrize("replacement", ["shorter", "other", "same length"])
def test_a_file_that_shrank_or_was_replaced_is_read_from_the_start(
    session: Any, lines: Any, replacement: str
) -> None:
    t = lines()
    t.user("One")
    t.say("1")
    t.user("Two")
    session.write(t)
    session.hear("Stop", at=LATER)
    new = lines()
    new.user(
        {"shorter": "N", "other": "Number one. " * 50 + "End", "same length": "Uno"}[
            replacement
        ]
    )
    if replacement == "same length":
        new.say("1")
        new.user("Due")
    session.write(new)
    reading = session.hear("Stop", at=LATER)
    assert reading.events[0].user == json.loads(new.raw[0])["message"]["content"]
    assert json.loads(reading.cursor.pending)["known"] == len(new.bytes())


def test_broken_lines_are_skipped_and_listed_once(session: Any, lines: Any) -> None:
    t = lines()
    t.user("One")
    t.raw += [
        b'{"type":"assistant", torn\n',
        b"[1, 2]\n",
        b"\n",
        b"[" * 200_000 + b"\n",
        b'{"n":' + b"9" * 9000 + b"}\n",
    ]
    t.raw.append(b'{"type":"assistant","message":{"content":"caf\xe9"}}\n')
    session.write(t)
    reading = session.hear("Stop", at=LATER)
    assert reading.events[0].replies == ("caf\N{REPLACEMENT CHARACTER}",)
    first = len(t.raw[0])
    assert (
        reading.problems[0]
        == f"the line at byte {first} is no JSON object and was skipped"
    )
    assert len(reading.problems) == 5 and "is not UTF-8" in reading.problems[-1]
    assert session.hear("Stop", at=LATER).problems == ()


def test_the_list_of_problems_is_short_for_a_file_of_garbage(session: Any) -> None:
    session.write(b"garbage\n" * 5000)
    problems = session.hear("Stop").problems
    assert (len(problems), problems[-1]) == (21, "4980 more lines were skipped")


def test_a_line_of_20_mb_is_read_and_one_beyond_the_limit_stepped_over(
    session: Any, lines: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    t = lines()
    t.user("One")
    t.result(t.call("Read", {"file_path": "/big"}), "x" * 20_000_000)
    t.say("It is big.")
    session.write(t)
    assert session.hear("Stop", at=LATER).events[0].replies == ("It is big.",)
    monkeypatch.setattr(jsonl_module, "LINE_LIMIT", 1 << 20)
    reading = session.host.read_transcript(session.path, Cursor())
    assert reading.events[0].replies == ("It is big.",)
    assert "longer than 1048576 bytes" in reading.problems[0]


def test_an_endless_line_without_newline_does_not_move_the_cursor(
    session: Any, lines: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jsonl_module, "LINE_LIMIT", 1 << 16)
    t = lines()
    t.user("One")
    session.write(t.bytes() + b"x" * 3_000_000)
    assert json.loads(session.hear("SubagentStop").cursor.pending)["known"] == len(
        t.bytes()
    )
    session.write(t.bytes() + b"x" * 3_000_000 + b"\n")
    assert "was skipped" in session.hear("SubagentStop").problems[0]


def test_memory_does_not_grow_with_what_tools_gave_back(
    session: Any, lines: Any
) -> None:
    t = lines()
    t.user("Read everything")
    for number in range(400):
        t.result(t.call("Read", {"file_path": f"/{number}"}), "x" * 100_000)
    session.write(t)  # 40 MB
    tracemalloc.start()
    try:
        session.host.read_transcript(session.path, Cursor())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 5_000_000


def test_a_cursor_that_is_damaged_reads_from_the_start(
    session: Any, lines: Any
) -> None:
    t = lines()
    t.user("One")
    session.write(t)
    for cursor in (
        Cursor(5, "x", "{"),
        Cursor(-1, "", "[]"),
        Cursor(10**9, "y", '{"known": "z"}'),
        Cursor(0, "", "null"),
    ):
        reading = session.host.read_transcript(session.path, cursor)
        assert [event.user for event in reading.events] == ["One"]


def is_same_however_it_is_cut(session: Any, t: Any) -> bool:
    """Do two readings, with the first one ending behind any line, give what one reading gives?"""
    whole = settled(session.events(t))
    for count in range(len(t.raw)):
        session.cursor = Cursor()
        session.write(b"".join(t.raw[:count]))
        events = list(session.hear("SubagentStop").events)
        session.write(t)
        if settled([*events, *session.hear("SessionEnd", at=LATER).events]) != whole:
            return False
    return True


def test_history_that_is_repeated_twice_is_not_the_answer_to_a_command(
    session: Any, lines: Any
) -> None:
    t = lines()
    t.user("One")
    t.say("1")
    history = list(t.raw)
    t.user("Two")
    t.raw += history[:1]
    t.command("review")
    t.raw += history
    assert [(turn.user, turn.replies) for turn in session.turns(t)] == [
        ("One", ("1",)),
        ("Two", ()),
    ]
    assert is_same_however_it_is_cut(session, t)


def test_the_output_of_a_repeated_command_does_not_end_the_command_that_waits(
    session: Any, lines: Any
) -> None:
    t = lines()
    t.command("mcp")
    t.user("<local-command-stdout>connected</local-command-stdout>")
    t.user("One")
    history = list(t.raw)
    t.command("review")
    t.raw += [*history, t.raw[-1]]
    t.say("Fine.")
    assert [(turn.user, turn.replies) for turn in session.turns(t)] == [
        ("One", ()),
        ("/review", ("Fine.",)),
    ]
    assert is_same_however_it_is_cut(session, t)


@pytest.mark.parametrize("first", ["command", "compaction"])
def test_what_comes_before_any_turn_is_known_when_it_is_repeated(
    session: Any, lines: Any, first: str
) -> None:
    t = lines()
    if first == "command":
        t.command("mcp")
        t.user("<local-command-stdout>connected</local-command-stdout>")
    else:
        t.compaction()
    t.raw += t.raw
    t.user("One")
    t.say("1")
    assert [event.kind for event in session.events(t)] == [first, "turn"]
    assert is_same_however_it_is_cut(session, t)


def test_a_pull_request_between_a_command_and_its_answer_is_not_lost(
    session: Any, lines: Any
) -> None:
    t = lines()
    t.user("One")
    t.command("review")
    t.bare(type="pr-link", prUrl="https://forge.example/1", sessionId=t.session)
    t.say("Fine.")
    assert [turn.work.links for turn in session.turns(t)] == [
        ("https://forge.example/1",),
        (),
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_all_that_is_read_of_a_record_that_grows(
    kind: str, lines: Any, session_in: Any, tmp_path: Path
) -> None:
    content = written(lines(), STEPS, drawn(KINDS[kind], kind))
    seen = [
        *told_of(
            session_in(tmp_path), content, ("SubagentStop", "Stop", "PreCompact"), LATER
        )
    ]
    assert seen == written_lines(f"hooks/claude-{kind}.txt", seen)
