"""What a person asks Keeplore itself is no talk; what came of it is work."""

from dataclasses import replace

import pytest

from keeplore.memory import Conversation, parse
from keeplore_hooks.events import Command, Origin, Turn, Work

WORKED = Work(files=("app/queue.py",))


def said(root):
    """(person, agent) of each exchange that is kept."""
    texts = (path.read_text() for path in root.glob("**/memory/conversations/**/*.md"))
    bodies = [Conversation.from_markdown(parse(text).body) for text in texts]
    return [(one.user, one.assistant) for body in bodies for one in body.exchanges]


@pytest.mark.parametrize(
    ("prompt", "command", "is_provisional", "work", "kept"),
    [
        # its own name stands before it
        ("/keeplore:recall the queue", "", False, Work(), False),
        ("/keeplore-recall the queue", "", False, Work(), False),
        ("$keeplore:recall the queue", "", False, Work(), False),
        ("$recall the queue", "", False, Work(), False),
        # a short name may be somebody else's, unless the host told which command it was
        ("/recall the queue", "", False, Work(), True),
        ("/recall the queue", "recall", False, Work(), False),
        ("/recall the queue", "keeplore:recall", False, Work(), False),
        ("/recall the queue", "team:recall", False, Work(), True),
        ("/recall the queue", "review", False, Work(), True),
        ("/recall the queue", "", True, Work(), False),
        # work that came of it is kept, and not the order
        ("/keeplore:recall the queue", "", False, WORKED, None),
        ("/recall the queue", "recall", False, WORKED, None),
        ("/recall the queue", "", False, WORKED, True),
        # words of another form are talk, whatever command there was
        ("/compile the queue", "", True, Work(), True),
        ("recall the queue", "recall", True, Work(), True),
    ],
)
def test_an_order_to_keeplore_itself_is_no_talk(
    workspace, project, prompt, command, is_provisional, work, kept
):
    origin = Origin("claude-code", "session-1", str(project))
    at = "2026-02-09T14:01:00Z"
    if command:
        workspace.emit(Command("turn-1", origin, at, command, "the queue"))
    turn = Turn("turn-1", origin, at, prompt, ("It is in Postgres.",), work=work)
    workspace.emit(replace(turn, is_provisional=is_provisional))
    order = {True: prompt, None: ""}.get(kept)
    expected = [] if order is None else [(order, "It is in Postgres.")]
    assert said(workspace.root) == expected
