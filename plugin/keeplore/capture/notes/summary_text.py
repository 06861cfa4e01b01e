"""A host's summary without what the host says to the agent in it, and the part of it that says what
it is about.

Claude Code puts the model's notes to itself before the summary and orders to go on behind it; Codex
says where the text comes from; Gemini CLI and Copilot put parts into elements.
"""

from __future__ import annotations

import re

_PREFACE = re.compile(
    r"\s*(?:This session is being continued from a previous conversation(?: that ran out of "
    r"context)?\.?\s*(?:The summary below covers[^.\n]*\.|The conversation is summarized below:?)?"
    r"|Another language model started to solve this problem(?:[^\n]{0,1000}?analysis:|[^.\n]*\.))"
    r"\s*"
)
_NOTES = re.compile(r"\s*(?:Analysis:|<analysis>)")
_SUMMARY = re.compile(r"^[ \t]*(?:Summary:|<summary>)[ \t]*\n*", re.MULTILINE)
_NOTES_END = re.compile(r"</analysis>\s*")
# each is a line of its own, the last of all
_ORDERS = re.compile(
    r"\s*(?:</summary>|If you need specific details from before\b.*"
    r"|(?:Please )?[Cc]ontinue the conversation from where\b.*"
    r"|Recent messages are preserved verbatim\b.*|The messages after this summary are\b.*"
    r"|Resume directly\b.*)?\s*"
)
_ELEMENT = re.compile(
    r"^[ \t]*<([a-z]+(?:_[a-z]+)+|overview|history)>[ \t]*", re.MULTILINE
)
_HEADING = re.compile(
    r"^(?:\#{1,4}[ \t]+|\d{1,2}\.[ \t]+|\*\*)([^\n*:]{3,60})[:*]*[ \t]*$", re.MULTILINE
)
_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,2}[.)])?[ \t]*(\S.*)")
_SENTENCE_END = re.compile(r"(?<=[^.\s][^.\s])\.(?=\s|\Z)|\s+by:|:$")
# who wanted it, and that it was wanted
_WANTED = re.compile(
    r"(?:The (?:person|user|main|overall|overarching|primary|current)\b[^.:]{0,50}?|User\b"
    r"[^.:]{0,30}?)(?:\b(?:asked|wants?|wanted|requested|needs?|told|reported(?! that))(?: me)?"
    r"|\b(?:goal|request|task|objective|aim) (?:is|was)(?: to)?)\s+(?:for |to )?"
)
_OF_THE_AIM = re.compile(
    r"\b(?:goals?|intent|objectives?|overview|primary request|checkpoint title|tasks?)\b",
    re.IGNORECASE,
)


def substance(summary: str) -> str:
    """What a summary says, ``""`` where it is made of orders alone."""
    lines = _without_notes(summary[_end_of(_PREFACE, summary) :]).rstrip().split("\n")
    while lines and _ORDERS.fullmatch(lines[-1]):
        lines.pop()
    return _with_headings("\n".join(lines)).strip()


def stated_goal(text: str) -> str:
    """What a summary says first of all that was wanted, ``""`` where no heading names it."""
    item = _ITEM.match(_aims_section(text))
    if item is None:
        return ""
    said = item[1].replace("**", "").replace("`", "")
    end = _SENTENCE_END.search(said)
    said = said[: end.start()] if end else said
    wanted = _WANTED.match(said)
    return said[wanted.end() :] if wanted else said


def _aims_section(text: str) -> str:
    """The part below the heading that names what was wanted."""
    headings = list(_HEADING.finditer(text))
    for place, heading in enumerate(headings):
        is_last = place + 1 == len(headings)
        end = len(text) if is_last else headings[place + 1].start()
        part = text[heading.end() : end].strip()
        if part and _OF_THE_AIM.search(heading[1]):
            return part
    return ""


def _without_notes(text: str) -> str:
    """The text without what a model notes before it sums up."""
    summary = _SUMMARY.search(text)
    if _NOTES.match(text):
        end = _NOTES_END.search(text)
        found = summary or end
        return text[found.end() :] if found else text
    is_first = summary is not None and not text[: summary.start()].strip()
    return text[summary.end() :] if summary and is_first else text


def _with_headings(text: str) -> str:
    """The text with a heading in the place of each element that is closed as well."""
    for name in dict.fromkeys(_ELEMENT.findall(text)):
        closing = f"</{name}>"
        if closing in text:
            heading = f"## {name.replace('_', ' ').capitalize()}\n\n"
            opening = re.compile(rf"^[ \t]*<{name}>\s*", re.MULTILINE)
            text = opening.sub(heading, text).replace(closing, "")
    return text


def _end_of(form: re.Pattern[str], text: str) -> int:
    """Where a form at the beginning of a text ends, 0 where it is none."""
    found = form.match(text)
    return found.end() if found else 0
