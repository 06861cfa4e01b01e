"""Words of a prompt or a reply apart from what hosts put around them, in ways that several hosts
share.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from keeplore_hooks.events import Origin, Question, Turn
from keeplore_hooks.hosts.base import COMMANDS, PLUGIN
from keeplore_hooks.hosts.jsonl import Json, clean, first_text, mappings, text

_ELEMENT = re.compile(r"<([A-Za-z][\w-]{0,60})(?:\s[^<>]{0,500})?>")
_SLASH = re.compile(r"/([a-zA-Z][\w:.-]*)(?:\s+(.*))?", re.DOTALL)
_OWN = re.compile(
    rf"\s*\[?(?:[/$]{PLUGIN}[:/-]|(\$|/))(?:{'|'.join(COMMANDS)})(?![\w:./-])"
)
# the files of our commands begin so
_OWN_TEXT = re.compile(
    rf"# ({'|'.join(name.capitalize() for name in COMMANDS)})\n\n(?=(?s:.*)Keeplore)"
)
# and those that take words end so; a host that knows no place for the words puts them behind
_OWN_TEXT_ENDS = {
    "Recall": "what the person says now, say so and ask.",
    "Remember": "Leave out passwords, tokens and other secrets.",
    "Forget": "which is for the person to decide and to run.",
}
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_OWN_SKILL = re.compile(rf"{PLUGIN}-({'|'.join(COMMANDS)})")


def slash_command(prompt: str) -> tuple[str, str] | None:
    """Name and arguments of the command that a prompt calls; a path at its start is none.

    A skill of Keeplore's in a directory that it shares, ``keeplore-recall``, has the name that it
    has in a plugin.
    """
    match = _SLASH.fullmatch(prompt.strip())
    if not match:
        return None
    own = _OWN_SKILL.fullmatch(match[1])
    return f"{PLUGIN}:{own[1]}" if own else match[1], (match[2] or "").strip()


def own_command(prompt: str) -> str:
    """How a prompt calls a command of Keeplore's: ``named``, ``bare`` where it may be another's,
    ``""`` for none.

    ``/keeplore:recall``, ``/keeplore-recall``, ``$keeplore:recall``, and ``$recall``, which only we
    have; ``/recall``.
    """
    match = _OWN.match(prompt)
    if not match:
        return ""
    return "bare" if match[1] == "/" else "named"


def called_in(words: str) -> str:
    """The command that was typed, where a host sends the whole text of one of our commands in its
    place, with the typed line or its words behind it; other words as they are.
    """
    if not (text := _OWN_TEXT.match(words)):
        return words
    called = f"/{PLUGIN}:{text[1].lower()}"
    _, found, line = words.rpartition(f"\n\n{called}")
    if not found:
        end = _OWN_TEXT_ENDS.get(text[1], "")
        line = f" {words.partition(end)[2].strip()}" if end else ""
    return f"{called}{line}".rstrip()


def without_shell_quotes(words: str) -> str:
    """The words without the quotation marks that a host puts around an argument of a shell."""
    wrapped = _QUOTED.fullmatch(words.strip())
    is_argument = wrapped is not None and " " in wrapped[1]
    return wrapped[1].replace('\\"', '"') if wrapped and is_argument else words


def element(words: str, name: str) -> str:
    """What the first closed element of that name holds, ``""`` where there is none."""
    _, found, rest = words.partition(f"<{name}>")
    inner, closed, _ = rest.partition(f"</{name}>")
    return inner.strip() if found and closed else ""


def is_element(words: str) -> bool:
    """Is the whole text one element? Hosts put their own texts into the person's messages in this
    form.
    """
    match = _ELEMENT.match(words)
    return match is not None and words.endswith(f"</{match[1]}>")


def without_elements(words: str, names: Iterable[str]) -> str:
    """The words without the closed elements of these names."""
    for name in names:
        words = _without_element(words, name)
    return words.strip()


def cut_to_bytes(words: str, limit: int) -> str:
    """Whole lines while they fit into ``limit`` bytes of UTF-8; a single line that is too long is
    cut.
    """
    raw = clean(words).encode()
    if len(raw) <= limit:
        return raw.decode()
    cut = raw[:limit].decode("utf-8", "ignore")
    return cut.rpartition("\n")[0] or cut


def questions(
    call: str, arguments: Json, origin: Origin, at: str
) -> Iterator[Question]:
    """The questions that a tool call puts to the person, not answered yet.

    ``arguments`` is the call's input: ``{questions: [{question or prompt, header, options:
    [{label}]}]}``.
    """
    for number, item in enumerate(mappings(arguments, "questions")):
        if words := first_text(item, "question", "prompt").strip():
            labels = (text(option, "label") for option in mappings(item, "options"))
            yield Question(
                id=f"{call}:{number}",
                origin=origin,
                at=at,
                question=words,
                options=tuple(label for label in labels if label),
                header=text(item, "header"),
            )


def without_spaces(words: str) -> str:
    """Words without any white space: two records of one text may break it in other places."""
    return "".join(words.split())


def is_said(words: str, turn: Turn) -> bool:
    """Has the assistant said these words in the turn?"""
    return without_spaces(words) in without_spaces(turn.assistant)


def _without_element(words: str, name: str) -> str:
    """Linear also for a text of opening tags alone, which a pattern is not."""
    opening, closing = f"<{name}>", f"</{name}>"
    kept: list[str] = []
    while True:
        before, found, rest = words.partition(opening)
        _, closed, after = rest.partition(closing)
        if not (found and closed):
            return "".join((*kept, words))
        kept.append(before)
        words = after
