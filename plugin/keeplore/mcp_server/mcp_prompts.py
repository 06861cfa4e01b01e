"""The prompts that a person picks in a host's menu."""

from __future__ import annotations

from keeplore.mcp_server.context import McpContext
from keeplore.mcp_server.search_tools import search
from keeplore.recall.render import TITLE_CHARS, quoted

FOUND = 8
TOKENS = 4_000
FOCUS_CHARS = 200


def recall_text(context: McpContext, topic: str) -> str:
    """A question of the person, with what memory holds about it. Raises KeeploreError."""
    found = search(
        context,
        topic,
        FOUND,
        wide=False,
        agent="",
        within="",
        directory="",
        max_tokens=TOKENS,
    )
    return (
        f"What did we say and decide about {quoted(topic, TITLE_CHARS)}, and why? Answer from this "
        f"memory, name the "
        f"date and id of what you use, say where two memories disagree, and say so where it does "
        f"not answer.\n\n{found}"
    )


def handover_text(focus: str) -> str:
    about = (
        f" Think above all of {quoted(focus, FOCUS_CHARS)}." if focus.strip() else ""
    )
    return (
        "Hand this work over to the next session, which knows nothing of this one but what memory "
        "holds."
        f"{about}\n"
        "1. Look with `timeline` (since=1d) and `search` at what is remembered of it already.\n"
        "2. Write down what is missing with `remember`, one statement a note, each with its "
        "reason: what was decided "
        "(category architectural-decisions), what turned out to be a trap (gotchas), what the "
        "person corrected "
        "(corrections). Where a note is out of date, replace it with `replaces`.\n"
        "3. Write one last note titled “Handover”: what is done, what is half done and in which "
        "files, what fails and "
        "how to see it, and the very next step.\n"
        "4. Show me the list of what you wrote. Leave out secrets, and what the code says by "
        "itself."
    )
