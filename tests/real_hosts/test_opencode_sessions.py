"""OpenCode answers single prompts: it quotes them, tells of no session that goes on, and no end."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from host_lab import HostLab
from host_lab import day as said
from model_server import Call, Step

from keeplore.memory import Conversation, parse

RECALL = re.compile(r"<keeplore-recall id=")


@pytest.mark.timeout(900)
def test_single_prompts_are_one_session_until_the_next_one_begins(
    laboratory: Callable[[str], HostLab],
) -> None:
    lab = laboratory("opencode")
    ours = f"sh {lab.machine.state}/client/command.sh"
    look = Call("bash", {"command": f"{ours} whoami", "description": "Look"})
    lab.server.script.answer(said.OPTIONS_ASKED, said.OPTIONS)
    lab.server.script.answer(said.DECISION, said.AGREED)
    lab.server.script.answer(said.UNRELATED, Step("", (look,)), said.EIGHT)
    lab.connect()
    lab.ask(said.OPTIONS_ASKED)
    lab.ask(said.DECISION, resume=True)
    first, resumed = [r for r in lab.server.requests if r.tools]
    assert resumed.pieces[: len(first.pieces)] == first.pieces
    lab.settle()
    (path,) = lab.memory.glob("projects/ledgerly/memory/conversations/**/*.md")
    assert "status: open" in path.read_text()
    before = len(lab.server.requests)
    lab.ask(said.UNRELATED)
    lab.machine.wait_until(
        lambda: "status: open" not in path.read_text(), "the first session ends", 120
    )
    text = path.read_text()
    talk = Conversation.from_markdown(parse(text).body)
    assert [one.user for one in talk.exchanges] == [said.OPTIONS_ASKED, said.DECISION]
    asked = lab.server.requests[before:]
    briefs = [len(RECALL.findall(r.system)) for r in asked if r.tools]
    assert briefs == [1, 1]
    # a title, which it asks for beside the conversation
    assert [RECALL.findall(r.everything) for r in asked if not r.tools] == [[]]
    # what a brief names runs in its shell
    assert f"`{ours} recall QUESTION`" in asked[-1].system
    (result,) = [m.text for m in asked[-1].messages if m.role == "tool"]
    assert "ledgerly" in result
    # 63 MB of its own, which it fetches for any plugin
    done = lab.machine.keeplore("disconnect", "opencode", "--yes")
    told = " ".join((done.stdout + done.stderr).decode().split())
    assert "node_modules, package.json, package-lock.json in " in told
    assert "stay: remove them by hand" in told
