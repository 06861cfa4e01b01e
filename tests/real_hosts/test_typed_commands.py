"""What a person types of Keeplore's commands in each real host, and what its model is told of it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from host_lab import HOSTS, HostLab
from host_lab import day as said

from keeplore.memory import Memory, parse

KEPT = "A job is a row of the billing service"


@pytest.mark.soak  # five starts a host, of which test_working_day covers most
@pytest.mark.timeout(900)
@pytest.mark.parametrize("host", HOSTS)
def test_each_command_is_carried_out_and_its_outcome_told(
    host: str, laboratory: Callable[[str], HostLab]
) -> None:
    lab = laboratory(host)
    lab.server.script.answer(said.DECISION, said.AGREED)
    lab.connect()
    lab.machine.keeplore("remember", "--permanent", KEPT, cwd=lab.project)
    (row,) = notes(lab)
    lab.ask(said.DECISION)
    lab.settle()
    remembered = typed(lab, "remember", resume=True)
    (note,) = [one for one in notes(lab) if one.id != row.id]
    assert "Remembered, for good:" in remembered and note.id in remembered
    # who said what, and not how a conversation stands in its file
    assert said.DECISION in note.body and said.AGREED in note.body
    assert "keeplore:" not in note.body and "###" not in note.body
    recalled = typed(lab, "recall", "What is a row of the billing service?")
    assert f"“{KEPT}" in recalled
    shown = typed(lab, "memory")
    assert "Keeplore's memory here:" in shown and "project ledgerly" in shown
    forgotten = typed(lab, "forget", row.id)
    assert "Forgotten, as the person asked:" in forgotten
    assert f"restore {row.id}` brings it back" in forgotten
    assert notes(lab) == [note]
    if host == "copilot":
        return  # without a terminal it takes what is typed for a prompt
    # where nothing was answered the skill names what runs in the host's shell
    ours = f"sh {lab.machine.state}/client/command.sh"
    assert f"{ours} recall '" in recalled and f"{ours} forget mem_" in forgotten


def typed(lab: HostLab, name: str, text: str = "", *, resume: bool = False) -> str:
    """What the model was given first when this was typed."""
    before = len(lab.server.requests)
    lab.command(name, text, resume=resume)
    lab.settle()
    request = lab.server.wait_for(lambda request: bool(request.tools), after=before)
    return request.text


def notes(lab: HostLab) -> list[Memory]:
    paths = lab.memory.glob("projects/ledgerly/memory/**/*.md")
    found = [parse(path.read_text()) for path in sorted(paths)]
    # others come of what was said, once a conversation is closed
    return [one for one in found if one.meta.get("trigger") == "remember"]
