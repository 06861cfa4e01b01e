"""What a named agent remembers for itself: from what its host reports to what it, and nobody else,
is told.
"""

from __future__ import annotations

import json
import os
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from keeplore.cli.main import cli
from keeplore.config.places import Places
from keeplore.host import PythonHost
from keeplore.worker.context import context_provider
from keeplore.worker.loop import Worker
from keeplore.worker.server.request_handler import RequestHandler
from keeplore.workspace.lifecycle.setup import initialise
from keeplore.workspace.registry import Registry
from keeplore_hooks.spool import Spool

RULE = "We reject every merge that changes the ledger schema without a migration test."
QUESTION = "Do we reject a merge that changes the ledger schema?"
WHERE = "projects/billing/memory/agents/reviewer/conversations/2026/02"


@dataclass
class Office:
    """A machine with a workspace, and the project billing."""

    places: Places
    project: Path

    def claude(self, event: str, session: str, agent: str, **fields: Any) -> bytes:
        """The payload of a session of Claude Code, with --agent where one is named."""
        told = {
            "session_id": session,
            "transcript_path": str(self.transcript(session)),
            "cwd": str(self.project),
            "hook_event_name": event,
            **({"agent_type": agent} if agent else {}),
            **fields,
        }
        return json.dumps(told).encode()

    def transcript(self, session: str) -> Path:
        return Path.home() / f".claude/projects/billing/{session}.jsonl"

    def session(self, session: str, agent: str, words: str, at: str) -> None:
        """One turn, as Claude Code records and reports it."""
        path = self.transcript(session)
        path.parent.mkdir(parents=True, exist_ok=True)
        shared = {"sessionId": session, "cwd": str(self.project), "version": "2.1.330"}
        answer = [{"type": "text", "text": f"Noted. {RULE}"}]
        lines: list[dict[str, Any]] = [
            {
                **shared,
                "type": "user",
                "uuid": f"{session}-1",
                "timestamp": f"{at}:00Z",
                "message": {"role": "user", "content": words},
            },
            {
                **shared,
                "type": "assistant",
                "uuid": f"{session}-2",
                "parentUuid": f"{session}-1",
                "timestamp": f"{at}:09Z",
                "message": {"role": "assistant", "id": "m1", "content": answer},
            },
        ]
        if agent:
            setting = {"type": "agent-setting", "agentSetting": agent}
            lines.insert(0, {**setting, "sessionId": session})
        path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
        for event, fields in (
            ("SessionStart", {"source": "startup"}),
            ("UserPromptSubmit", {"prompt": words}),
            ("Stop", {}),
            ("SessionEnd", {"reason": "other"}),
        ):
            self.report(event, self.claude(event, session, agent, **fields))

    def report(self, event: str, payload: bytes, host: str = "claude-code") -> None:
        Spool(self.places.spool).add(host, event, payload)
        with Registry(self.places) as registry:
            assert Worker(self.places).catch_up(registry)
            registry.commit_all("What was said")

    def told(self, event: str, session: str, agent: str, **fields: Any) -> str:
        """What the host is told for a payload."""
        with Registry(self.places) as registry:
            registry.for_directory(self.project).warm_up()
            handler = RequestHandler(
                registry, lambda _: True, dict, threading.Event().set
            )
            payload = self.claude(event, session, agent, **fields)
            reply = handler.answer("claude-code", event, payload)
        if not reply:
            return ""
        told = json.loads(reply)["hookSpecificOutput"]["additionalContext"]
        assert isinstance(told, str)
        return told

    def keeplore(self, *arguments: str) -> str:
        done = CliRunner().invoke(cli, arguments, catch_exceptions=False)
        return done.stdout

    def files(self) -> list[str]:
        root = Path.home() / "memory"
        return sorted(
            path.relative_to(root).as_posix()
            for path in root.rglob("*.md")
            if path.parent.parent != root and "memory" in path.parts
        )


@pytest.fixture
def office(git, monkeypatch: pytest.MonkeyPatch) -> Office:
    # deadlines are tested apart: a busy machine must not make silence of an answer
    monkeypatch.setattr(context_provider, "VECTOR_SHARE", 1000.0)
    monkeypatch.setattr(context_provider, "REFRESH_S", 60.0)
    places = Places.from_environment(os.environ)
    initialise(places, Path.home() / "memory")
    project = Path.home() / "code" / "billing"
    project.mkdir(parents=True)
    git("init", "-q", cwd=project)
    monkeypatch.chdir(project)
    return Office(places, project)


def test_what_a_reviewer_was_told_is_for_the_reviewer_alone(office: Office) -> None:
    office.session("s-review", "reviewer", RULE, "2026-02-09T14:03")

    (talk,) = [path for path in office.files() if "/conversations/" in path]
    assert talk.startswith(f"{WHERE}/2026-02-09-")
    meta = (Path.home() / "memory" / talk).read_text().split("---\n")[1]
    assert "scope: agent\nproject: billing\nagent: reviewer\n" in meta

    asked = {"prompt": QUESTION}
    assert "ledger schema" in office.told(
        "UserPromptSubmit", "s-2", "reviewer", **asked
    )
    assert "ledger schema" in office.told(
        "SessionStart", "s-3", "reviewer", source="startup"
    )
    for agent in ("builder", "", "Explore"):
        assert not office.told("UserPromptSubmit", f"s-4{agent}", agent, **asked)
        brief = office.told("SessionStart", f"s-5{agent}", agent, source="startup")
        assert "ledger" not in brief


def test_an_agent_that_is_told_of_with_the_prompt_alone_is_told_its_own_then(
    office: Office,
) -> None:
    office.session("s-review", "reviewer", RULE, "2026-02-09T14:03")
    payload = {"sessionID": "ses_1", "directory": str(office.project), "time": 1.0}
    info = {"id": "msg_1", "role": "user", "agent": "reviewer", "time": {"created": 1}}
    text = {"type": "text", "text": "Go on with what is left of it"}

    def told(handler: RequestHandler, event: str, **fields: Any) -> str:
        data = json.dumps({**payload, **fields}).encode()
        reply = handler.answer("opencode", event, data)
        return str(json.loads(reply)["context"]) if reply else ""

    with Registry(office.places) as registry:
        handler = RequestHandler(registry, lambda _: True, dict, threading.Event().set)
        assert "ledger" not in told(handler, "session.created")
        said = [{"info": info, "parts": [text]}]
        assert "ledger schema" in told(handler, "chat.message", messages=said)
        again = [{"info": {**info, "id": "msg_2"}, "parts": [{**text, "text": "On"}]}]
        assert "ledger" not in told(handler, "chat.message", messages=again)


def test_a_builder_hears_what_is_the_projects_and_asks_for_the_rest(
    office: Office,
) -> None:
    office.session("s-main", "", "We keep prices in cents.", "2026-02-08T10:00")
    office.session("s-review", "Reviewer", RULE, "2026-02-09T14:03")
    office.keeplore("remember", "--agent", "builder", "Build with make, never by hand.")
    office.keeplore("remember", "--scope", "workspace", "Tea is at four in the office.")

    def found(*options: str, query: str = QUESTION) -> set[str]:
        hits = json.loads(office.keeplore("recall", "--json", *options, query))["hits"]
        return {f"{hit['scope']} {hit['project']}".strip() for hit in hits}

    assert "agent:reviewer billing" not in found()
    assert "agent:reviewer billing" not in found("--agent", "builder")
    assert "agent:reviewer billing" in found("--agent", "reviewer")
    assert "agent:reviewer billing" in found("--wide")
    assert found("--agent", "reviewer", query="prices in cents") >= {"project billing"}
    assert found("--agent", "reviewer", query="When is tea?") == {"workspace"}
    assert "agent:builder billing" not in found("--agent", "reviewer", query="make")

    def titles(*options: str) -> list[str]:
        rows = json.loads(office.keeplore("list", "--json", *options))
        return sorted(row["scope"] for row in rows if row["kind"] == "note")

    assert titles() == ["workspace"]
    assert titles("--agent", "builder") == ["agent:builder", "workspace"]


def test_a_subagent_is_no_session_of_its_own(office: Office) -> None:
    prompt = {"prompt": RULE, "agent_id": "a1"}
    payload = office.claude("UserPromptSubmit", "s-1", "reviewer", **prompt)
    office.report("UserPromptSubmit", payload)
    assert [path for path in office.files() if "/conversations/" in path] == []


@pytest.mark.parametrize(
    ("named", "folder"),
    [
        ("Code Reviewer", "code-reviewer"),
        ("plugin:reviewer", "plugin-reviewer"),
        ("../../../etc", "etc"),
        ("审查者", "shen-cha-zhe-6791ba23"),
        ("con", "con-x"),
        ("r" * 300, None),
        ("..", ""),
        ("", ""),
    ],
)
def test_a_name_of_an_agent_never_leads_out_of_its_project(
    office: Office, named: str, folder: str | None
) -> None:
    with PythonHost("my-agent", office.project, agent=named) as host:
        host.session("s-1").add("Where is the ledger?", f"It is in db/. {RULE}")
    (talk,) = [path for path in office.files() if "/conversations/" in path]
    below = talk.removeprefix("projects/billing/memory/").split("/conversations/")[0]
    if folder:
        assert below == f"agents/{folder}"
    elif folder is None:
        assert below.startswith("agents/r") and len(below) <= len("agents/") + 40
    else:
        assert talk.startswith("projects/billing/memory/conversations/")


def test_the_memory_of_an_agent_is_moved_and_forgotten_like_any_other(
    office: Office,
) -> None:
    made = json.loads(
        office.keeplore("remember", "--json", "--agent", "reviewer", RULE)
    )
    assert made["scope"] == "agent:reviewer"
    shown = office.keeplore("show", made["id"])
    assert "agent reviewer of billing" in shown
    office.keeplore("edit", made["id"], "--scope", "project")
    (row,) = json.loads(office.keeplore("list", "--json"))
    assert (row["scope"], row["project"]) == ("project", "billing")
    moved = Path(row["path"]).read_text()
    assert "\nagent: " not in moved
    office.keeplore("edit", row["id"], "--agent", "auditor")
    (row,) = json.loads(office.keeplore("list", "--json", "--agent", "auditor"))
    assert row["scope"] == "agent:auditor"
    assert "/agents/auditor/" in row["path"]
    assert office.keeplore("lint") == "4 files, nothing wrong\n"
    office.keeplore("archive", row["id"], "--yes")
    office.keeplore("forget", row["id"], "--yes")
    assert json.loads(office.keeplore("list", "--json", "--agent", "auditor")) == []
