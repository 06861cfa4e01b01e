"""A real host that runs an agent of the person's: whose memory a session makes, and is told."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pytest
from host_lab import HostLab
from model_server import Call, Request, Step

RULE = "We reject a merge that changes the ledger schema without a migration test."
LATER = "Do we reject a merge that changes the ledger schema?"
TASK = "Count the files of this directory."
DELEGATED = "Let another agent count the files."
# where the host looks for agents, and what it wants to know of one
AGENTS = {
    "claude-code": (".claude/agents/reviewer.md", "name: reviewer\n"),
    "opencode": (".opencode/agent/reviewer.md", "mode: primary\n"),
    "copilot": (".github/agents/reviewer.agent.md", "name: reviewer\n"),
}


@pytest.mark.soak  # three starts a host, of which test_working_day covers most
@pytest.mark.timeout(900)
@pytest.mark.parametrize("host", AGENTS)
def test_what_a_reviewer_was_told_is_for_the_reviewer_alone(
    host: str, laboratory: Callable[[str], HostLab]
) -> None:
    lab = laboratory(host)
    path, about = AGENTS[host]
    agent = lab.project / path
    agent.parent.mkdir(parents=True)
    agent.write_text(f"---\n{about}description: Reviews changes.\n---\n\nYou review.\n")
    lab.server.script.answer(RULE, "Noted: no merge without a migration test.")
    lab.connect()
    plain = lab.host
    lab.host = dataclasses.replace(
        plain, options=(*plain.options, "--agent", "reviewer")
    )
    lab.ask(RULE)
    lab.settle()
    talks = sorted(lab.memory.glob("projects/ledgerly/memory/**/conversations/**/*.md"))
    folders = {
        talk.relative_to(lab.memory / "projects/ledgerly/memory").parts[:2]
        for talk in talks
    }
    assert folders == {("agents", "reviewer")}

    def told() -> Request:
        before = len(lab.server.requests)
        lab.ask(LATER)
        return lab.server.wait_for(
            lambda request: LATER in request.everything and bool(request.tools),
            after=before,
        )

    if (
        host != "copilot"
    ):  # its payloads do not tell, its log does too late for one prompt
        assert "without a migration test" in told().everything
    lab.host = plain
    assert "without a migration test" not in told().everything


@pytest.mark.soak  # two starts of a host, of which test_working_day covers most
@pytest.mark.timeout(600)
def test_a_subagent_of_claude_code_is_briefed(
    laboratory: Callable[[str], HostLab],
) -> None:
    lab = laboratory("claude-code")
    lab.server.script.answer(f"Remember: {RULE}", "Noted.")
    task = {"description": "Look", "prompt": TASK, "subagent_type": "general-purpose"}
    lab.server.script.answer(DELEGATED, Step(calls=(Call("Agent", task),)), "Done.")
    lab.connect()
    lab.ask(f"Remember: {RULE}")
    lab.settle()
    before = len(lab.server.requests)
    lab.ask(DELEGATED)
    given = lab.server.wait_for(
        lambda request: any(said.endswith(TASK) for said in request.prompts),
        after=before,
    )
    assert "without a migration test" in given.everything
