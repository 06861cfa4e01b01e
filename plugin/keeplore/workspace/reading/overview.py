"""The head of a conversation as somebody reads it who asks what it came to."""

from __future__ import annotations

import re

from keeplore.memory.conversation_body import without_empty_parts

# what stands among the facts above it, and what was run
_TOLD_OR_RUN = re.compile(
    r"^(?:# |\*\*(?:Date|Session context|Projects involved)\*\*: |- (?:command|subagent): ).*\n?",
    re.MULTILINE,
)
_LINKS = re.compile(r"^## Related\n(?:(?!## ).*\n?)*", re.MULTILINE)
_FILE = re.compile(r"^- file: (.*)\n?", re.MULTILINE)
_FILES = re.compile(r"(?:^- file: .*\n?){2,}", re.MULTILINE)


def overview(head: str) -> str:
    """A head without what stands among the facts above it, without commands and subagents, and with
    its files on one line.
    """
    kept = _LINKS.sub("", _TOLD_OR_RUN.sub("", head))
    return without_empty_parts(_FILES.sub(_on_one_line, kept)).strip()


def _on_one_line(files: re.Match[str]) -> str:
    return f"- files: {', '.join(_FILE.findall(files[0]))}\n"
