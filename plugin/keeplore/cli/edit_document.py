"""A memory as a person sees it in an editor: what may be changed of its front matter, and
its text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from keeplore.errors import Corrupt
from keeplore.memory import Memory, parse, serialise
from keeplore.memory.validation import faults

FIELDS = ("title", "category", "permanent", "related")
CUT = "------------------------ >8 ------------------------"
_REST = (
    f"{CUT}\nThis memory was changed on two machines. What you save joins them. The other "
    f"version, to take from:\n\n"
)
_RESTORE = "Put them back as they were, or empty the file to change nothing"
_REMEDY = "Mend it, or empty the file to change nothing"


@dataclass(frozen=True, slots=True)
class Edited:
    """What differs; ``fields`` has None for what was removed, ``body`` is None where the text
    stayed.
    """

    body: str | None = None
    fields: dict[str, Any] = field(default_factory=dict)


def document(memory: Memory, others: Sequence[Memory] = ()) -> str:
    """The text for the editor, with the other ends of a forked chain below a line that cuts them
    off.
    """
    text = serialise(Memory(_editable(memory), memory.body))
    if not others:
        return text
    return (
        f"{text.rstrip()}\n\n{_REST}"
        + "\n\n".join(f"{other.title}\n\n{other.body.strip()}" for other in others)
        + "\n"
    )


def read_back(text: str, old: Memory, *, is_cut: bool) -> Edited:
    """What a person changed. Raises Corrupt with the line where it cannot be read, or is no sound
    value.
    """
    text = text.replace("\r\n", "\n")
    if is_cut:
        text = text.partition(f"\n{CUT}")[0] + "\n"
    if not text.startswith("---"):
        raise Corrupt("no front matter: its lines at the top, from --- to ---, are gone", _RESTORE)
    new = parse(text)
    for key in new.meta:
        if key not in FIELDS:
            raise Corrupt(f"`{key}` cannot be changed here", _REMEDY, _line_of(text, key))
    for key, message, _ in faults(new.meta):
        if key in new.meta:
            raise Corrupt(message, _REMEDY, _line_of(text, key))
    if not isinstance(new.meta.get("title"), str) or not new.title.strip():
        raise Corrupt("`title` is missing", _REMEDY, _line_of(text, "title"))
    before, after = _editable(old), {**_editable(new), "title": " ".join(new.title.split())}
    body = new.body.rstrip() + "\n"
    after["title"], body = _with_one_title(old, str(after["title"]), body)
    changed = {
        key: after.get(key) or None
        for key in FIELDS
        if (after.get(key) or None) != (before.get(key) or None)
    }
    return Edited(None if body.rstrip() == old.body.rstrip() else body, changed)


def _editable(memory: Memory) -> dict[str, Any]:
    meta: dict[str, Any] = {
        "title": memory.title,
        "category": memory.category,
        "permanent": memory.is_permanent,
    }
    related = memory.meta.get("related")
    links = related if isinstance(related, list) else []
    kept = [
        link
        for link in links
        if not isinstance(link, dict) or link.get("relationship") != "supersedes"
    ]
    return {
        key: value
        for key, value in {**meta, "related": kept}.items()
        if value or key == "permanent"
    }


def _with_one_title(old: Memory, title: str, body: str) -> tuple[str, str]:
    """Title and heading say the same: a person who changes one of them means both."""
    heading, _, rest = body.partition("\n")
    if not old.body.startswith(f"# {old.title}\n") or not heading.startswith("# "):
        return title, body
    if title != old.title:
        return title, f"# {title}\n{rest}" if heading == f"# {old.title}" else body
    return heading[2:].strip() or title, body


def _line_of(text: str, key: str) -> int:
    lines = text.split("\n")
    return next((number for number, line in enumerate(lines, 1) if line.startswith(f"{key}:")), 1)
