"""The demo's session is what the host would write: read it as a reader of transcripts does."""

from __future__ import annotations

import importlib.util
import itertools
import json
import sys
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

START = datetime(2026, 2, 9, 9, 10, tzinfo=UTC)


@pytest.fixture(scope="module")
def session() -> ModuleType:
    path = Path(__file__).parents[2] / "demo" / "session.py"
    spec = importlib.util.spec_from_file_location("demo_session", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["demo_session"] = module
    spec.loader.exec_module(module)
    return module


def lines_of(payload: bytes) -> list[dict[str, Any]]:
    transcript = Path(json.loads(payload)["transcript_path"])
    return [
        json.loads(line) for line in transcript.read_text(encoding="utf-8").splitlines()
    ]


def test_the_events_come_in_the_hosts_order(
    session: ModuleType, home: Path, tmp_path: Path
) -> None:
    events = [step.event for step in session.play(home, tmp_path / "ledgerly", START)]
    compaction = events.index("PreCompact")
    assert events[0] == "SessionStart"
    assert events[-1] == "SessionEnd"
    assert events[compaction : compaction + 3] == [
        "PreCompact",
        "PostCompact",
        "SessionStart",
    ]
    assert Counter(events) == {
        "SessionStart": 2, "UserPromptSubmit": 17, "PostToolUse": 1, "Stop": 17,
        "PreCompact": 1, "PostCompact": 1, "SessionEnd": 1,
    }  # fmt: skip


def test_a_prompt_reaches_the_transcript_after_its_event(
    session: ModuleType, home: Path, tmp_path: Path
) -> None:
    for step in session.play(home, tmp_path / "ledgerly", START):
        if step.event == "UserPromptSubmit":
            prompt = json.loads(step.payload)["prompt"]
            spoken = [
                line["message"]["content"]
                for line in lines_of(step.payload)
                if line["type"] == "user"
            ]
            assert prompt not in spoken


def test_the_last_words_sometimes_reach_the_transcript_after_stop(
    session: ModuleType, home: Path, tmp_path: Path
) -> None:
    late = 0
    for step in session.play(home, tmp_path / "ledgerly", START):
        if step.event == "Stop":
            said = json.loads(step.payload)["last_assistant_message"]
            blocks = [
                line["message"]["content"][0]
                for line in lines_of(step.payload)
                if line["type"] == "assistant"
            ]
            late += all(block.get("text") != said for block in blocks)
    assert late == 5


def test_the_transcript_is_one_tree_with_one_cut(
    session: ModuleType, home: Path, tmp_path: Path
) -> None:
    *_, last = session.play(home, tmp_path / "ledgerly", START)
    lines = [line for line in lines_of(last.payload) if "uuid" in line]
    assert len({line["uuid"] for line in lines}) == len(lines)
    roots = [
        line.get("subtype", line["type"])
        for line in lines
        if line["parentUuid"] is None
    ]
    assert roots == ["user", "compact_boundary"]
    for before, line in itertools.pairwise(lines):
        assert line["parentUuid"] in (before["uuid"], None)
        assert line["timestamp"] > before["timestamp"]


def test_what_the_client_answers_comes_back_as_an_attachment(
    session: ModuleType, home: Path, tmp_path: Path
) -> None:
    reply = {
        "hookSpecificOutput": {
            "hookEventName": "UserPromptSubmit",
            "additionalContext": "an older decision",
        }
    }
    for step in session.play(home, tmp_path / "ledgerly", START):
        if step.event == "UserPromptSubmit":
            step.output = json.dumps(reply).encode()
    attachments = [
        line["attachment"]
        for line in lines_of(step.payload)
        if line["type"] == "attachment"
    ]
    assert Counter(a["type"] for a in attachments) == {
        "hook_success": 17,
        "hook_additional_context": 17,
    }
    assert attachments[1]["content"] == ["an older decision"]


def test_two_plays_are_equal(session: ModuleType, tmp_path: Path) -> None:
    plays = []
    for name in ("one", "two"):
        *_, last = session.play(tmp_path / name, Path("/project/ledgerly"), START)
        plays.append(lines_of(last.payload))
    assert plays[0] == plays[1]


def test_the_project_has_the_remote_that_identifies_it(
    session: ModuleType, tmp_path: Path, git: Any
) -> None:
    session.create_project(tmp_path / "ledgerly")
    assert (
        git("remote", "get-url", "origin", cwd=tmp_path / "ledgerly") == session.REMOTE
    )
    assert git("status", "--porcelain", cwd=tmp_path / "ledgerly") == ""


def test_no_placeholder_is_left_and_the_password_is_not_in_the_repository(
    session: ModuleType, home: Path, tmp_path: Path
) -> None:
    *_, last = session.play(home, tmp_path / "ledgerly", START)
    text = json.dumps(lines_of(last.payload))
    assert "{project}" not in text
    assert "{database_url}" not in text
    assert session.PASSWORD in text
    for path in (Path(str(session.__file__)), session.SCRIPT):
        assert session.PASSWORD not in path.read_text(encoding="utf-8")
