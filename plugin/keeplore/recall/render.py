"""How recalled text is written into a host's context: each item on one line, with its age, source and trust."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from keeplore.memory.fence import HEADER, escape, fence, sanitise

SAID_BY = {
    "user": "said by the user",
    "assistant": "concluded by the assistant",
    "tool": "from the output of a tool, unverified",
    "document": "from a document, unverified",
    "foreign": "from another person's machine, unverified",
}
MORE = (
    "Paths are relative to the memory workspace, which `keeplore whoami` names; "
    "`keeplore recall QUESTION` looks for more."
)
SOURCES = "Sources:"
TITLE_CHARS = 100
PATH_CHARS = 200
_BELIEVED = ("user", "assistant")
_TOKEN_BYTES = 8

_INSTRUCTION = re.compile(
    r"""
      \b(?:ignore|disregard|forget|override|bypass)\b.{0,60}\b(?:previous|prior|above|earlier|instructions?|rules?|prompts?)\b
    | \b(?:from\ now\ on|(?:system|developer)\ (?:prompt|message|instruction)|act\ as|pretend|jailbreak)\b
    | \byou\ (?:must|should|shall|will\ now|are\ (?:to|now)|have\ to|need\ to|may\ not|can\ now)\b
    | \byour\ (?:new\ )?(?:task|job|role|goal|instructions?)\b
    | \b(?:assistants?|agents?|claude|codex|gemini|models?|ai)\b.{0,30}\b(?:must|should|shall|ha(?:s|ve)\ to|needs?)\b
    | \b(?:do\ not|don't|never|without)\ (?:\w+\ )?(?:tell|ask|inform|mention|reveal|warn|confirm)\w*\b
    | \b(?:curl|wget)\b.{0,80}\|\s*(?:ba|z)?sh\b
    | (?:^|[.!?:;,"'(\]>]\s*|\s[-*•]\s+|\d[.)]\s+|\b(?:and|then|please|now|first|next|important)\b[,:\s]+)
      (?:always|never|run|execute|eval|install|download|delete|remove|drop|send|post|upload|e-?mail|forward|fetch|open
        |visit|use|set|add|write|append|call|read|print|output|reply|respond|answer|say|make\ sure|ensure|do\ not|don't
        |commit|push|merge|disable|enable|approve|grant|allow|remember|copy|paste|click|follow|obey|trust|create|change
        |replace|update|edit|rename|skip|accept|exfiltrate|encode|include|insert)\b
    """,
    re.VERBOSE | re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Item:
    """One line; ``id`` is the memory that counts as shown by it, "" where the line only points to one."""

    text: str
    id: str = ""
    source: tuple[str, str] = ("", "")  # short name in the text, and the path that it stands for


@dataclass(frozen=True, slots=True)
class Section:
    heading: str  # "" for none
    items: Sequence[Item]


def one_line(text: str, limit: int) -> str:
    """Folded, sanitised and escaped, cut between words where it is too long."""
    folded = escape(" ".join(sanitise(text).split()))
    if len(folded) <= limit:
        return folded
    # white space may be missing altogether
    return f"{folded[: limit - 1].rsplit(' ', 1)[0].rstrip()}…"


def quoted(text: str, limit: int) -> str:
    return f"“{one_line(text, limit)}”"


def may_be_injected(trust: str, *texts: str) -> bool:
    """False for instruction-shaped text that neither user nor assistant said: it is shown only when asked for."""
    return trust in _BELIEVED or not any(_INSTRUCTION.search(" ".join(sanitise(text).split())) for text in texts)


def block(sections: Iterable[Section], max_chars: int, header: str = HEADER) -> tuple[str, tuple[str, ...]]:
    """One fenced block with as many items as fit, in order, and the ids that it shows; ("", ()) for none.

    Paths are listed once, below the items that name them.
    """
    room = max_chars - len(fence(MORE, _token(), header)) - 2
    lines: list[str] = []
    ids: list[str] = []
    sources: dict[str, str] = {}
    for section in sections:
        heading = ["", section.heading] if section.heading and lines else [section.heading] if section.heading else []
        for item in section.items:
            added = [*heading, f"- {item.text}"]
            # a line costs its end as well
            name, path = item.source
            listed = [f"- {name}: {path}"] if name and name not in sources else []
            cost = sum(len(line) + 1 for line in [*added, *listed, *([] if sources else ["", SOURCES])])
            if cost > room:
                continue
            room -= cost
            lines += added
            sources |= {name: path} if name else {}
            ids += [item.id] if item.id else []
            heading = []
    if not lines:
        return "", ()
    if sources:
        lines += ["", SOURCES, *(f"- {name}: {path}" for name, path in sources.items())]
    return fence("\n".join([*lines, "", MORE]), _token(), header), tuple(dict.fromkeys(ids))


def _token() -> str:
    return secrets.token_hex(_TOKEN_BYTES)
