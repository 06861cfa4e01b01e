"""A real host that answers one prompt and ends: what the next session is told."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pytest
from host_lab import HOSTS, HostLab
from model_server import Call, Step

ASKED = "Which queue should hold the jobs of the billing service?"
DECIDED = "Let's go with the Postgres table, because a job and its invoice are one transaction."
OPTIONS = "Options: a Postgres table, or Redis. I recommend the table."
LATER = "What did we decide about the queue of the billing service?"


@pytest.mark.soak  # three starts a host, of which test_working_day covers most
@pytest.mark.timeout(900)
@pytest.mark.parametrize("host", HOSTS)
def test_the_next_session_is_told_what_was_decided(
    host: str, laboratory: Callable[[str], HostLab]
) -> None:
    lab = laboratory(host)
    look = Call(lab.host.shell, {lab.host.command: "ls", "description": "List"})
    lab.server.script.answer(ASKED, Step("Let me look.", (look,)), OPTIONS)
    lab.server.script.answer(DECIDED, "Agreed.")
    lab.connect()
    assert OPTIONS in lab.ask(ASKED)
    assert "Agreed." in lab.ask(DECIDED, resume=True)
    lab.settle()
    before = len(lab.server.requests)
    lab.ask(LATER)
    request = lab.server.wait_for(
        lambda request: LATER in request.everything and bool(request.tools),
        after=before,
    )
    assert DECIDED in request.everything
    (conversation, *_) = sorted(
        lab.memory.glob("projects/ledgerly/memory/conversations/**/*go-with*.md")
    )
    text = conversation.read_text()
    assert all(words in text for words in (ASKED, OPTIONS, DECIDED, "Agreed."))


@pytest.mark.soak
@pytest.mark.timeout(900)
@pytest.mark.parametrize("host", HOSTS)
def test_the_command_that_a_brief_names_runs_in_the_hosts_shell(
    host: str, laboratory: Callable[[str], HostLab]
) -> None:
    lab = laboratory(host)
    if host == "copilot":
        # its shell asks the person before it runs what lies elsewhere
        more = ("--add-dir", str(lab.machine.state))
        lab.host = dataclasses.replace(lab.host, options=(*lab.host.options, *more))
    ours = f"sh {lab.machine.state}/client/command.sh"
    arguments = {lab.host.command: f"{ours} whoami", "description": "Look"}
    lab.server.script.answer(ASKED, Step("", (Call(lab.host.shell, arguments),)), "Ok.")
    lab.connect()
    lab.machine.keeplore("remember", "--permanent", "A job is a row", cwd=lab.project)
    lab.ask(ASKED)
    request = [request for request in lab.server.requests if request.tools][-1]
    assert f"`{ours} recall QUESTION`" in request.text
    (result,) = [m.text for m in request.messages if m.role == "tool"]
    assert "project: ledgerly" in " ".join(result.split())
