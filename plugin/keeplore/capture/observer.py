"""The observer: what a host reports as somebody's text → what may be remembered of it.

Hosts put their own words between those of people: reminders, notifications, echoes of commands, context that was
injected by Keeplore itself. None of that is substance. ``<private>`` fails closed: whatever is not certain to lie
outside is dropped.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right

from keeplore.capture.fold import code_spans, fold
from keeplore.memory.fence import sanitise, strip_fenced

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

_NAMES = "|".join(re.escape(name) + (r"[\w-]{1,40}" if name.endswith("-") else "") for name in WRAPPERS)
_WRAPPER = re.compile(rf"<(/?)(?:antml:)?({_NAMES})(?=[\s>])[^<>]{{0,2000}}>", re.IGNORECASE)
_UNWRAPPED = re.compile(rf"</?(?:{'|'.join(UNWRAPPED)})>", re.IGNORECASE)
_PRIVATE = re.compile(r"(?:<|&lt;|＜)\s*(?:(/)\s*private\s*(?:>|&gt;|＞)|private(?=[\s/>&＞]|$))", re.IGNORECASE)
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
    """A user's or assistant's text without what was not said by them, in NFC with ``\\n`` line ends; may be ``""``.

    Secrets are still in it: ``redact`` comes after. Time is linear in the length of the text.
    """
    text = unicodedata.normalize("NFC", sanitise(text.replace("\r\n", "\n").replace("\r", "\n")))
    text = strip_fenced(_without_private(text))
    text = _UNWRAPPED.sub("", _without_wrappers(text))
    text = fold(_HOST_LINE.sub("", text))
    return _closed_up(text).strip()


def _closed_up(text: str) -> str:
    """Gaps that were left behind become one empty line; those within fenced blocks are the writer's own."""
    kept = []
    position = 0
    for start, end in code_spans(text):
        kept += [_BLANK_LINES.sub("\n\n", text[position:start]), text[start:end]]
        position = end
    return "".join((*kept, _BLANK_LINES.sub("\n\n", text[position:])))


def _without_private(text: str) -> str:
    """Drop every ``<private>`` part, to the end of the text where one is not closed as often as it is opened."""
    kept = []
    position = depth = 0
    for tag in _PRIVATE.finditer(text):
        if not tag[1]:
            if depth == 0:
                kept.append(text[position : tag.start()])
            depth += 1
        elif depth:
            depth -= 1
            if depth == 0:
                position = tag.end()
    if depth == 0:
        kept.append(text[position:])
    # a space, so that what stood on either side cannot form a new tag
    return " ".join(kept) if len(kept) > 1 else "".join(kept)


def _without_wrappers(text: str) -> str:
    """Drop closed wrappers; a tag inside a fenced block or in backticks is somebody talking about it."""
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
