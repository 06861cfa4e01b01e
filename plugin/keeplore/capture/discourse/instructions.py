"""What of a message is not what a person says: a document, a skill, a prompt, the template of a
command, and typed commands.
"""

from __future__ import annotations

import re

from keeplore.capture.cues import opens_with, says

_STRUCTURE = re.compile(
    r"^\s{0,3}(?:#{1,6}\s+\S|\d{1,2}[.)]\s+\S|[-*]\s+\S|</?[a-z_]+>\s*$)", re.MULTILINE
)
TYPED_COMMANDS = re.compile(r"\A(?:/[\w:-]+(?:\s+|\Z))+")
_HEAD_CHARS, _READ_CHARS = 600, 20_000
_STRUCTURED = 3  # headings and list items from which a message is a document


def is_instructions(message: str) -> bool:
    """True for a skill or a prompt for agents: its rules are not what the person says today."""
    head = message.lstrip()[:_HEAD_CHARS]
    if opens_with(head, "skill_head"):
        return True
    structure = _STRUCTURE.findall(message[:_READ_CHARS])
    return len(structure) >= _STRUCTURED and says(head, "title_addressed")


def is_document(message: str) -> bool:
    """True where a message is a document: a plan, a skill, a page."""
    is_page = message.lstrip().startswith("#")
    return is_page or opens_with(message, "title_pasted") or is_instructions(message)
