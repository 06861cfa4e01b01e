"""The observer: what a host reports as somebody's text → what may be remembered of it.

Hosts put their own words between those of people: reminders, notifications, echoes of commands,
context that was injected by Keeplore itself. None of that is substance. ``<private>`` fails closed:
whatever is not certain to lie outside is dropped.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence

from keeplore.text.fences import sanitise, strip_fenced
from keeplore.text.folding import code_spans, fold

# closed pairs of these are dropped with what they hold; a trailing dash stands for any ending
WRAPPERS = (
    "system-reminder",
    "local-command-",
    "command-",
    "task-notification",
    "teammate-message",
    "user-prompt-submit-hook",
    "session-start-hook",
    "hook_context",
    "ide_opened_file",
    "ide_selection",
    "ide_diagnostics",
    "bash-input",
    "bash-stdout",
    "bash-stderr",
    "environment_context",
    "user_instructions",
    "permissions instructions",
    "skills_instructions",
    "plugins_instructions",
    "apps_instructions",
    "collaboration_mode",
    "multi_agent_mode",
    "model_switch",
    "app-context",
    "recommended_plugins",
    "user_action",
    "turn_aborted",
    "image_files",
    "attached_files",
    "open_and_recently_viewed_files",
    # tool content in text form
    "tool_use",
    "tool_call",
    "tool_calls",
    "tool_result",
    "tool_results",
    "tool_response",
    "function_calls",
    "function_call",
    "function_results",
    # reasoning
    "thinking",
    "think",
    "reasoning",
    "scratchpad",
)
UNWRAPPED = ("user_query",)  # the host's wrapper around the person's own words

LINE_SEEN = 200  # characters before a tag in which a backtick may make it code

_NAMES = "|".join(
    re.escape(name) + (r"[\w-]{1,40}" if name.endswith("-") else "") for name in WRAPPERS
)
_WRAPPER = re.compile(rf"<(/?)(?:antml:)?({_NAMES})(?=[\s>])[^<>]{{0,2000}}>", re.IGNORECASE)
_UNWRAPPED = re.compile(rf"</?(?:{'|'.join(UNWRAPPED)})>", re.IGNORECASE)
# as people write it, and as HTML, JSON, URLs and markdown escape it
_LESS = r"(?:[<＜﹤‹〈《]|&(?:amp;)*(?:lt|\#0*60|\#x0*3c);?|\\u003c|%3c)"
_MORE = r"(?:[>＞﹥›〉》]|&(?:amp;)*(?:gt|\#0*62|\#x0*3e);?|\\u003e|%3e)"
_WORD = "(?:private|ｐｒｉｖａｔｅ)"  # an input method left in full width writes this
_PRIVATE = re.compile(
    rf"{_LESS}\s*(?:(\\*/)\s*{_WORD}\s*\\*{_MORE}|{_WORD}(?=[\s/:\\]|{_MORE}|$))", re.IGNORECASE
)
_HOST_LINE = re.compile(
    r"""^[ \t]*(?:
      \[Request\ interrupted\ by\ user[^\]\n]*\]
    | (?:\w+\ )?(?:\w+:\w+\ )?hook\ (?:feedback|success|blocking\ error|additional\ context|stopped\ continuation)\b.*
    | \w+\ operation\ blocked\ by\ hook:[^\n]*
    | \[Image(?:\ \#\d+)?(?::\ source:[^\]\n]*)?\]
    | \(no\ content\)
    )[ \t]*$""",
    re.VERBOSE | re.MULTILINE,
)
_BLANK_LINES = re.compile(r"\n(?:[ \t]*\n){2,}")


def clean(text: str) -> str:
    """A user's or assistant's text without what was not said by them, in NFC with ``\\n`` line
    ends; may be ``""``.

    Secrets are still in it: ``redact`` comes after. Time is linear in the length of the text.
    """
    text = unicodedata.normalize("NFC", sanitise(text.replace("\r\n", "\n").replace("\r", "\n")))
    text = strip_fenced(_without_private(text))
    text = _UNWRAPPED.sub("", _without_wrappers(text))
    text = fold(_HOST_LINE.sub("", text))
    return _closed_up(text).strip()


def _closed_up(text: str) -> str:
    """Gaps that were left behind become one empty line; those within fenced blocks are the writer's
    own.
    """
    kept = []
    position = 0
    for start, end in code_spans(text):
        kept += [_BLANK_LINES.sub("\n\n", text[position:start]), text[start:end]]
        position = end
    return "".join((*kept, _BLANK_LINES.sub("\n\n", text[position:])))


def _without_private(text: str) -> str:
    """Drop every ``<private>`` part, to the end of the text where one is not closed as often as it
    is opened.

    What stands before a closing tag alone goes too: it was opened in another text. In code it is
    only talked about.
    """
    kept: list[str] = []
    code: list[tuple[int, int]] | None = None
    position = depth = 0
    for tag in _PRIVATE.finditer(text):
        if tag[1] and depth == 0:
            code = code_spans(text) if code is None else code
            if not _is_code(text, tag.start(), code):
                kept, position = [], tag.end()
        elif not tag[1]:
            if depth == 0:
                kept.append(text[position : tag.start()])
            depth += 1
        else:
            depth -= 1
            if depth == 0:
                position = tag.end()
    if depth == 0:
        kept.append(text[position:])
    # a space, so that what stood on either side cannot form a new tag
    return " ".join(kept) if len(kept) > 1 else "".join(kept)


def _is_code(text: str, place: int, blocks: list[tuple[int, int]]) -> bool:
    """True inside one of the fenced blocks, or after a backtick on the same line that none
    closes.
    """
    block = bisect_right(blocks, (place, len(text))) - 1
    if block >= 0 and place < blocks[block][1]:
        return True
    return text[max(0, place - LINE_SEEN) : place].rpartition("\n")[2].count("`") % 2 == 1


def without_split_private(texts: Sequence[str]) -> list[str]:
    """Texts that came one after the other, those empty that stand between an opening tag and its
    closing one.
    """
    kept = list(texts)
    opened = -1
    for number, text in enumerate(texts):
        tags = [bool(tag[1]) for tag in _PRIVATE.finditer(text)]
        if opened >= 0 and tags[:1] == [True]:
            kept[opened + 1 : number] = [""] * (number - opened - 1)
            opened = -1
        depth = 0
        for is_closing in tags:
            depth = max(0, depth - 1) if is_closing else depth + 1
        if depth and opened < 0:
            opened = number
    return kept


def _without_wrappers(text: str) -> str:
    """Drop closed wrappers; a tag inside a fenced block or in backticks is somebody talking about
    it.
    """
    code = code_spans(text)
    starts = [start for start, _ in code]
    opened: dict[str, list[int]] = {}
    spans = []
    for tag in _WRAPPER.finditer(text):
        name = tag[2].lower()
        if tag[1]:
            if opened.get(name):
                spans.append((opened[name].pop(), tag.end()))
            continue
        block = bisect_right(starts, tag.start()) - 1
        is_code = block >= 0 and tag.start() < code[block][1]
        if not is_code and text[tag.start() - 1 : tag.start()] != "`":
            opened.setdefault(name, []).append(tag.start())
    kept = []
    position = 0
    for start, end in sorted(spans):
        if end <= position:
            continue
        kept.append(text[position : max(start, position)])
        position = end
    return " ".join((*kept, text[position:])) if kept else text
