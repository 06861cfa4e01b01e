"""Reading a log of Codex or Copilot that grows, shrinks, is replaced, torn or hostile."""

from __future__ import annotations

import json
import re
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

from keeplore_hooks.hosts import Cursor
from keeplore_hooks.hosts import jsonl as jsonl_module

LATER = "2030-01-01T00:00:00Z"
OF_THE_APP = "You are a helpful assistant. You will be presented with a user prompt"
QUIET, END = (
    {"codex": "PostToolUse", "copilot": "postToolUse"},
    {"codex": "SessionEnd", "copilot": "sessionEnd"},
)
ASK = {"questions": [{"id": "a", "question": "Which?", "options": [{"label": "A"}]}]}
ANSWER = json.dumps({"answers": {"a": {"answers": ["A"]}}})
Steps = dict[str, Callable[[Any, int], Any]]
# What can happen next in a session: each adds lines to ``t``; ``n`` tells one step from another.
CODEX: Steps = {
    "task": lambda t, n: t.task(f"task-{n}"),
    "same task": lambda t, n: t.task(f"task-{n // 4}"),
    "prompt": lambda t, n: t.user(f"prompt {n}"),
    "same prompt": lambda t, n: t.user("the same"),
    "command": lambda t, n: t.user(f"$remember {n}"),
    "item": lambda t, n: t.item("user", f"item {n}"),
    "words": lambda t, n: t.say(f"words {n}"),
    "same words": lambda t, n: t.say("the same"),
    "only sent": lambda t, n: t.item("assistant", f"sent {n}"),
    "patch": lambda t, n: t.call(
        "apply_patch", f"*** Update File: {n}.py\n", call=f"patch{n}"
    ),
    "failed": lambda t, n: t.event(
        "patch_apply_end", call_id=f"patch{n - 1}", success=False, changes={}
    ),
    "commit": lambda t, n: t.call(
        "exec_command", {"cmd": "git commit"}, f"[main {n:07x}] subject"
    ),
    "question": lambda t, n: t.call(
        "request_user_input", ASK, None if n % 2 else ANSWER, f"ask{n // 4}"
    ),
    "compaction": lambda t, n: t.line("compacted", message=f"summary {n // 2}"),
    "review": lambda t, n: t.event(
        "entered_review_mode", turn_id=f"review-{n}", user_facing_hint="x"
    ),
    "reviewed": lambda t, n: t.event("exited_review_mode"),
    "over": lambda t, n: t.event("task_complete"),
    "aborted": lambda t, n: t.event("turn_aborted", reason="interrupted"),
    "rolled back": lambda t, n: t.event("thread_rolled_back", num_turns=1),
    "meta": lambda t, n: t.line("session_meta", id=f"parent-{n}", cwd=f"/{n}"),
    "directory": lambda t, n: t.line("turn_context", cwd=f"/{n}"),
    "said in items": lambda t, n: [
        t.event(
            "item_completed",
            item={"type": kind, "content": [{"type": "Text", "text": f"{kind} {n}"}]},
        )
        for kind in ("UserMessage", "AgentMessage")
    ],
    "planned": lambda t, n: t.event(
        "item_completed", item={"type": "Plan", "text": f"plan {n}"}
    ),
    "file changed": lambda t, n: t.event(
        "item_completed",
        item={
            "type": "FileChange",
            "id": f"file{n}",
            "status": "completed" if n % 2 else "failed",
            "changes": {f"/there/{n}.py": {}, f"here/{n}.py": {}},
        },
    ),
    "refused": lambda t, n: t.call(
        "shell",
        {"command": ["git", "commit", "-m", f"refused {n}"]},
        "exec command rejected by user",
    ),
    "patch refused": lambda t, n: t.call(
        "apply_patch", f"*** Add File: no{n}.py\n", "patch rejected by user"
    ),
    "of the app": lambda t, n: t.event("user_message", message=OF_THE_APP),
    "mode": lambda t, n: t.line("session_meta", id=f"m{n}", history_mode=f"mode {n}"),
    "torn line": lambda t, n: t.raw.append(
        b'{"type":"event_msg","payload":{"type":"torn\xff\n'
    ),
    "repetition": lambda t, n: t.raw.extend(t.raw[: 1 + n % 9]),
    "dos": lambda t, n: t.raw.append(t.raw[-1].replace(b"\n", b"\r\n")),
}
COPILOT: Steps = {
    "prompt": lambda t, n: t.user(f"prompt {n}"),
    "same prompt": lambda t, n: t.user("the same"),
    "command": lambda t, n: t.user(f"/remember {n}"),
    "skill": lambda t, n: t.user("body", source="skill-x"),
    "words": lambda t, n: t.say(f"words {n}"),
    "words again": lambda t, n: t.say(f"longer {n}", messageId="m"),
    "without id": lambda t, n: t.add("user.message", {"content": f"bare {n}"}, id=""),
    "edit": lambda t, n: t.call("edit", {"path": f"{n}.py"}, success=bool(n % 3)),
    "commit": lambda t, n: t.call(
        "bash", json.dumps({"command": "git commit"}), f"[main {n:07x}] subject"
    ),
    "question": lambda t, n: t.call(
        "ask_user", {"question": f"{n}?", "choices": ["A"]}, "User selected: A"
    ),
    "compaction": lambda t, n: t.add(
        "session.compaction_complete", {"success": True, "summaryContent": f"s {n}"}
    ),
    "over": lambda t, n: t.add("session.shutdown", {}),
    "abort": lambda t, n: t.add("abort", {"reason": "user"}),
    "resume": lambda t, n: t.add("session.resume", {"context": {"cwd": f"/{n}"}}),
    "finished": lambda t, n: t.add(
        "session.task_complete", {"summary": f"summary {n}"}
    ),
    "subagent": lambda t, n: t.say("side", parentToolCallId="x"),
    "torn line": lambda t, n: t.raw.append(
        b'{"type":"user.message","data":{"content":"torn\xff\n'
    ),
    "repetition": lambda t, n: t.raw.extend(t.raw[: 1 + n % 9]),
    "dos": lambda t, n: t.raw.append(t.raw[-1].replace(b"\n", b"\r\n")),
}
# behind them nothing is read for a while
SILENCING = ("of the app", "repetition", "review")
STEPS = {"codex": CODEX, "copilot": COPILOT}


@pytest.fixture(params=["codex", "copilot"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def log(kind: str, rollout: Any, event_log: Any) -> Any:
    return {"codex": rollout, "copilot": event_log}[kind]


@pytest.fixture
def log_in(kind: str, codex_in: Any, copilot_in: Any) -> Any:
    return {"codex": codex_in, "copilot": copilot_in}[kind]


QUIETLY = settings(
    max_examples=examples(100),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


@QUIETLY
@given(data=st.data())
def test_reading_while_the_log_grows_gives_the_same_as_reading_it_at_once(
    kind: str, log: Any, log_in: Any, data: st.DataObject
) -> None:
    content = written(
        log(),
        STEPS[kind],
        data.draw(st.lists(st.sampled_from(sorted(STEPS[kind])), max_size=25)),
    )
    with tempfile.TemporaryDirectory() as folder:
        session = log_in(Path(folder))
        session.write(content)
        whole = settled(session.host.read_transcript(session.path, Cursor()).events)
        grown: list[Any] = []
        for cut in data.draw(cuts(content)):
            session.write(content[:cut])
            reading = session.hear(QUIET[kind], LATER)
            grown += reading.events
            assert reading.cursor.offset <= content[:cut].rfind(b"\n") + 1
        session.write(content)
        grown += session.hear(END[kind], at=LATER).events
    assert settled(grown) == whole


def test_a_log_that_is_cut_at_every_line_and_within_each_gives_the_same(
    kind: str, log: Any, log_in: Any
) -> None:
    content = written(
        log(),
        STEPS[kind],
        [step for step in sorted(STEPS[kind]) if step not in ("repetition", "dos")],
    )
    with tempfile.TemporaryDirectory() as folder:
        session = log_in(Path(folder))
        session.write(content)
        whole = settled(session.host.read_transcript(session.path, Cursor()).events)
        grown: list[Any] = []
        ends = [match.end() for match in re.finditer(rb"\n", content)]
        for cut in sorted(
            {*ends, *(end - 1 for end in ends), *(end - 20 for end in ends)}
        ):
            session.write(content[:cut])
            grown += session.hear(QUIET[kind], LATER).events
        grown += session.hear(END[kind], at=LATER).events
    assert settled(grown) == whole


@QUIETLY
@given(data=st.data())
def test_reading_again_without_news_gives_nothing(
    kind: str, log: Any, log_in: Any, data: st.DataObject
) -> None:
    steps = data.draw(st.lists(st.sampled_from(sorted(STEPS[kind])), max_size=25))
    with tempfile.TemporaryDirectory() as folder:
        session = log_in(Path(folder))
        session.write(written(log(), STEPS[kind], steps))
        session.hear(END[kind], at=LATER)
        assert [event.kind for event in session.hear(END[kind], at=LATER).events] == [
            "session"
        ]
        assert session.hear(QUIET[kind], at=LATER).events == ()
        again = session.host.read_transcript(session.path, session.cursor)
        assert (again.events, again.problems) == ((), ())


values = st.recursive(
    st.none()
    | st.booleans()
    | st.floats()
    | st.integers()
    | st.text(max_size=8)
    | st.just("user"),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=6,
)
KEYS = [
    "type",
    "data",
    "payload",
    "message",
    "content",
    "role",
    "id",
    "turn_id",
    "call_id",
    "name",
    "arguments",
]
KEYS += [
    "output",
    "questions",
    "input",
    "changes",
    "source",
    "toolRequests",
    "toolCallId",
    "toolName",
    "result",
]
KEYS += [
    "context",
    "cwd",
    "version",
    "history_mode",
    "git",
    "success",
    "item",
    "attachments",
    "command",
    "summary",
]
TYPES = [
    *CODEX,
    "event_msg",
    "response_item",
    "session_meta",
    "compacted",
    "turn_context",
    "user.message",
]
TYPES += [
    "assistant.message",
    "tool.execution_start",
    "tool.execution_complete",
    "session.start",
]
KINDS = [
    "user_message",
    "agent_message",
    "message",
    "function_call",
    "function_call_output",
    "patch_apply_end",
]
inner = st.dictionaries(
    st.sampled_from(KEYS), values | st.sampled_from(KINDS), max_size=6
)
hostile = st.fixed_dictionaries(
    {"type": st.sampled_from(TYPES)},
    optional={
        "payload": inner | values,
        "data": inner | values,
        "timestamp": values,
        "id": values,
    },
)


@QUIETLY
@given(data=st.data())
def test_no_line_makes_the_adapter_raise(
    kind: str, log: Any, log_in: Any, data: st.DataObject
) -> None:
    found = data.draw(st.lists(hostile | values, max_size=8))
    with tempfile.TemporaryDirectory() as folder:
        session = log_in(Path(folder))
        session.write(
            log().bytes()
            + b"".join(json.dumps(line).encode() + b"\n" for line in found)
        )
        reading = session.host.read_transcript(session.path, Cursor())
        assert all(isinstance(problem, str) for problem in reading.problems)
        session.hear(QUIET[kind], at=LATER)
        assert isinstance(list(session.host.recorded(Path(folder), folder)), list)


@pytest.mark.parametrize(
    "pending",
    [
        "",
        "null",
        "[]",
        "{",
        '{"carry":7,"state":[],"announced":{"missing":3}}',
        "[" * 5000,
    ],
)
def test_a_damaged_cursor_costs_nothing_but_time(
    kind: str, log: Any, log_in: Any, tmp_path: Path, pending: str
) -> None:
    content = written(log(), STEPS[kind], ["prompt", "words", "prompt"])
    session = log_in(tmp_path)
    session.write(content)
    whole = settled(session.host.read_transcript(session.path, Cursor()).events)
    session.cursor = Cursor(17, "no", pending)
    assert settled(session.hear(END[kind], at=LATER).events) == whole


def test_a_log_that_was_replaced_is_read_from_its_start(
    kind: str, log: Any, log_in: Any, tmp_path: Path
) -> None:
    session = log_in(tmp_path)
    session.write(written(log(), STEPS[kind], ["prompt", "words", "prompt", "words"]))
    session.hear(END[kind], at=LATER)
    session.write(written(log(), STEPS[kind], ["words", "same prompt"]))
    users = [
        event.user
        for event in session.hear(END[kind], at=LATER).events
        if event.kind == "turn"
    ]
    assert "the same" in users


def test_a_line_that_is_too_long_is_stepped_over_and_named(
    kind: str, log: Any, log_in: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jsonl_module, "LINE_LIMIT", 20_000)
    t = log()
    STEPS[kind]["prompt"](t, 1)
    t.say("x" * 30_000)
    t.say("short")
    session = log_in(tmp_path)
    session.write(t.bytes())
    reading = session.host.read_transcript(session.path, Cursor())
    assert "20000 bytes" in reading.problems[0]
    assert [event.replies for event in reading.events if event.kind == "turn"] == [
        ("short",)
    ]


def test_memory_grows_with_what_was_said_and_not_with_the_log(
    kind: str, log: Any, log_in: Any, tmp_path: Path
) -> None:
    t = log()
    name = {"codex": "exec_command", "copilot": "bash"}[kind]
    for number in range(40):
        STEPS[kind]["prompt"](t, number)
        t.call(name, {"cmd": "ls", "command": "ls"}, "x" * 500_000)
    session = log_in(tmp_path)
    session.write(t.bytes())
    size = session.path.stat().st_size
    del t
    tracemalloc.start()
    session.host.read_transcript(session.path, Cursor())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < size / 3


def test_a_log_of_opening_tags_is_read_in_linear_time(
    kind: str, log: Any, log_in: Any, tmp_path: Path
) -> None:
    t = log()
    t.user("<environment_context>" * 20_000 + "<a " * 20_000)
    t.say("*** Update File: " * 20_000 + "exec_command({cmd:" * 20_000)
    t.call(
        {"codex": "exec", "copilot": "apply_patch"}[kind],
        'exec_command({cmd:"\\' * 20_000,
        "user selected" * 20_000,
    )
    session = log_in(tmp_path)
    assert len(session.turns(t.bytes())) == 1


def test_all_that_is_read_of_a_record_that_grows(
    kind: str, log: Any, log_in: Any, tmp_path: Path
) -> None:
    heard, seen = (QUIET[kind], END[kind]), []
    for part, without in (("every", ()), ("calm", SILENCING)):
        steps = drawn(STEPS[kind].keys() - without, f"{kind} {part}")
        (tmp_path / part).mkdir()
        content = written(log(), STEPS[kind], steps)
        seen += told_of(log_in(tmp_path / part), content, heard, LATER)
    assert seen == written_lines(f"hooks/{kind}.txt", seen)
