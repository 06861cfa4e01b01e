"""A host that runs the entries of another besides its own is captured once, under its own name."""

import itertools
import json
import os
from pathlib import Path

import pytest

from keeplore.config.places import Places
from keeplore.memory import Conversation, parse
from keeplore.worker.server.request_handler import RequestHandler
from keeplore.workspace import Registry
from keeplore.workspace.importing.intake import Intake
from keeplore.workspace.lifecycle.setup import initialise
from keeplore_hooks.sender import sender
from keeplore_hooks.spool import SpoolEntry

CURSOR = {
    "conversation_id": "c0ffee00-0000-4000-8000-000000000001",
    "generation_id": "9e9e9e90-0000-4000-8000-000000000001",
    "model": "auto",
    "cursor_version": "2026.09.1",
    "workspace_roots": ["/home/ann/ledgerly"],
    "user_email": None,
    "transcript_path": None,
}
CLAUDE = {
    "session_id": "5e551011-0000-4000-8000-000000000001",
    "prompt_id": "ab1e0000-0000-4000-8000-000000000001",
    "transcript_path": "/home/ann/.claude/projects/-home-ann-ledgerly/5e551011-0000-4000-8000-000000000001.jsonl",
    "cwd": "/home/ann/ledgerly",
    "permission_mode": "default",
}
COPILOT = {
    "sessionId": "c0b11000-0000-4000-8000-000000000001",
    "timestamp": 1770649200000,
    "cwd": "/home/ann/ledgerly",
}
COPILOT_LIKE_CLAUDE = {
    "session_id": COPILOT["sessionId"],
    "timestamp": "2026-02-09T15:00:00.000Z",
    "cwd": "/home/ann/ledgerly",
}
CODEX = {
    "session_id": "c0de0000-0000-4000-8000-000000000001",
    "turn_id": "7",
    "model": "gpt-5",
    "permission_mode": "default",
    "transcript_path": None,
    "cwd": "/home/ann/ledgerly",
}
PROMPT = "Which index do we take for the vectors?"
WORDS = "We take hnswlib, because it needs no server."


@pytest.fixture
def take():
    """Takes (host of the entry, event, payload) one after the other, a second apart; gives all
    exchanges, by file.
    """
    places = Places.from_environment(os.environ)
    initialise(places, Path.home() / "memory")

    def run(*fired):
        with Registry(places) as registry:
            intake = Intake(registry)
            for second, (host, event, payload) in zip(
                itertools.count(), fired, strict=False
            ):
                path = Path.home() / "entry"
                path.write_text(json.dumps({"hook_event_name": event, **payload}))
                intake.take(
                    SpoolEntry(
                        "entry", host, event, f"2026-02-09T15:00:{second:02d}Z", 0, path
                    )
                )
        files = [
            parse(path.read_text())
            for path in (Path.home() / "memory").glob("**/conversations/**/*.md")
        ]
        return [
            (memory.source["host"], Conversation.from_markdown(memory.body).exchanges)
            for memory in files
        ]

    return run


def assert_once(found, host, *, replies=(WORDS,)):
    ((named, exchanges),) = found
    assert named == host
    assert [(exchange.user, exchange.replies) for exchange in exchanges] == [
        (PROMPT, replies)
    ]


@pytest.mark.parametrize("is_own_first", [True, False])
def test_cursor_with_claude_codes_entries_besides_its_own_writes_one_turn(
    take, is_own_first
):
    def both(own, other, **fields):
        pair = (
            ("cursor", own, {**CURSOR, **fields}),
            ("claude-code", other, {**CURSOR, **fields}),
        )
        return pair if is_own_first else pair[::-1]

    session = {"session_id": CURSOR["conversation_id"]}
    found = take(
        *both("sessionStart", "SessionStart", **session),
        *both("beforeSubmitPrompt", "UserPromptSubmit", prompt=PROMPT, attachments=[]),
        ("cursor", "afterAgentResponse", {**CURSOR, "text": WORDS}),
        *both("stop", "Stop", status="completed", loop_count=0),
        *both("sessionEnd", "SessionEnd", reason="completed", **session),
    )
    assert_once(found, "cursor")


def test_cursor_with_nothing_but_claude_codes_entries_is_cursor(take, tmp_path):
    log = tmp_path / "agent-transcripts" / f"{CURSOR['conversation_id']}.jsonl"
    log.parent.mkdir()
    said = {"user": f"<user_query>\n{PROMPT}\n</user_query>", "assistant": WORDS}
    lines = [
        {"role": role, "message": {"content": [{"type": "text", "text": text}]}}
        for role, text in said.items()
    ]
    payload = {
        **CURSOR,
        "session_id": CURSOR["conversation_id"],
        "transcript_path": str(log),
    }
    prompt = ("claude-code", "UserPromptSubmit", {**payload, "prompt": PROMPT})
    assert_once(take(prompt), "cursor", replies=())
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert_once(
        take(prompt, ("claude-code", "Stop", {**payload, "status": "completed"})),
        "cursor",
    )


def test_copilot_with_claude_codes_entries_besides_its_own_writes_one_turn(take):
    found = take(
        ("copilot", "sessionStart", {**COPILOT, "source": "new"}),
        ("claude-code", "SessionStart", {**COPILOT_LIKE_CLAUDE, "source": "new"}),
        ("copilot", "userPromptSubmitted", {**COPILOT, "prompt": PROMPT}),
        ("claude-code", "UserPromptSubmit", {**COPILOT_LIKE_CLAUDE, "prompt": PROMPT}),
    )
    assert_once(found, "copilot", replies=())


def test_codex_with_claude_codes_entries_besides_its_own_writes_one_turn(take):
    found = take(
        ("codex", "UserPromptSubmit", {**CODEX, "prompt": PROMPT}),
        ("claude-code", "UserPromptSubmit", {**CODEX, "prompt": PROMPT}),
        ("claude-code", "Stop", {**CODEX, "last_assistant_message": WORDS}),
        ("codex", "Stop", {**CODEX, "last_assistant_message": WORDS}),
    )
    assert_once(found, "codex")


@pytest.mark.parametrize("payload", [CLAUDE, {**CLAUDE, "prompt_id": ""}])
def test_claude_code_with_two_copies_of_one_entry_writes_one_turn(take, payload):
    prompt, stop = (
        {**payload, "prompt": PROMPT},
        {**payload, "last_assistant_message": WORDS},
    )
    twice = [("claude-code", "UserPromptSubmit", prompt)] * 2 + [
        ("claude-code", "Stop", stop)
    ] * 2
    assert_once(take(*twice), "claude-code")


@pytest.mark.parametrize(
    ("host", "payload"),
    [("codex", CODEX), ("claude-code", {**CLAUDE, "prompt_id": ""})],
)
def test_the_same_words_in_another_turn_are_another_prompt(take, host, payload):
    again = {**payload, "turn_id": "8"}
    between = [(host, "PreCompact", payload)] * 6  # seconds
    found = take(
        (host, "UserPromptSubmit", {**payload, "prompt": PROMPT}),
        (host, "Stop", {**payload, "last_assistant_message": WORDS}),
        *between,
        (host, "UserPromptSubmit", {**again, "prompt": PROMPT}),
        (host, "Stop", {**again, "last_assistant_message": WORDS}),
    )
    assert [len(exchanges) for _, exchanges in found] == [2]


@pytest.mark.parametrize(
    ("event", "payload", "host", "named"),
    [
        ("UserPromptSubmit", CLAUDE, "claude-code", "UserPromptSubmit"),
        ("Stop", {"session_id": "one", "model": "opus"}, "claude-code", "Stop"),
        ("SubagentStop", CURSOR, "cursor", "subagentStop"),
        ("StopFailure", CURSOR, "cursor", "StopFailure"),
        (
            "Stop",
            {
                "session_id": "one",
                "transcript_path": "/h/.copilot/session-state/one/events.jsonl",
            },
            "copilot",
            "Stop",
        ),
        (
            "Stop",
            {
                "session_id": "one",
                "transcript_path": "/h/.codex/sessions/2026/rollout-1-one.jsonl",
            },
            "codex",
            "Stop",
        ),
        (
            "Stop",
            {"cursor_version": 7, "timestamp": None, "turn_id": []},
            "claude-code",
            "Stop",
        ),
    ],
)
def test_the_payload_says_whose_it_is(event, payload, host, named):
    found, called = sender("claude-code", event, json.dumps(payload).encode())
    assert (found.name, called) == (host, named)


@pytest.mark.parametrize("payload", [b"", b"[]", b"\xff", b'"cursor_version"'])
def test_what_is_no_payload_stays_with_the_host_of_its_entry(payload):
    assert sender("claude-code", "Stop", payload)[0].name == "claude-code"
    assert (
        sender("gemini-cli", "AfterAgent", json.dumps({"timestamp": "x"}).encode())[
            0
        ].name
        == "gemini-cli"
    )
    with pytest.raises(KeyError, match="no host is called"):
        sender("nothing", "Stop", payload)


def test_the_answer_has_the_form_of_the_host_that_asks():
    with Registry(
        Places.from_environment(os.environ)
    ) as registry:  # no workspace yet, which is worth a line
        answers = RequestHandler(registry, lambda _: True, dict, lambda: None)
        for payload, key in (
            (CURSOR, "additional_context"),
            (COPILOT_LIKE_CLAUDE, "additionalContext"),
        ):
            given = answers.answer(
                "claude-code", "SessionStart", json.dumps(payload).encode()
            )
            assert list(json.loads(given)) == [key]
        given = answers.answer(
            "claude-code", "SessionStart", json.dumps(CLAUDE).encode()
        )
        # a person sees it, beside whatever the agent is told
        assert list(json.loads(given)) == ["systemMessage"]
