"""What a host reports as somebody's text or work → what may be remembered of it.

Hosts put their own words between those of people: reminders, notifications, echoes of commands,
context that was injected by Keeplore itself. None of that is substance. ``<private>`` fails closed:
whatever is not certain to lie outside is dropped.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import itemgetter

from keeplore.capture.notable_commands import rank
from keeplore.memory import AgentQuestion, Exchange
from keeplore.redact.field_redaction import FieldRedaction
from keeplore.redact.home_paths import home_path_shortener
from keeplore.text.code_fences import code_spans
from keeplore.text.fences import sanitise, strip_fenced
from keeplore.text.folding import fold
from keeplore_hooks.events import Turn, Work

# closed pairs of these are dropped with what they hold; a trailing dash stands for any ending.
# First the wrappers of hosts, then tool content in text form, then reasoning
_WRAPPERS = """
system-reminder, local-command-, command-, task-notification, teammate-message,
user-prompt-submit-hook, session-start-hook, hook_context, ide_opened_file, ide_selection,
ide_diagnostics, bash-input, bash-stdout, bash-stderr, environment_context, user_instructions,
permissions instructions, skills_instructions, plugins_instructions, apps_instructions,
collaboration_mode, multi_agent_mode, model_switch, app-context, recommended_plugins, user_action,
turn_aborted, image_files, attached_files, open_and_recently_viewed_files,
tool_use, tool_call, tool_calls, tool_result, tool_results, tool_response, function_calls,
function_call, function_results,
thinking, think, reasoning, scratchpad
"""
WRAPPERS = tuple(name.strip() for name in _WRAPPERS.split(","))
UNWRAPPED = ("user_query",)  # the host's wrapper around the person's own words

_QUOTATION_MARKS = (
    ('"', '"'),
    ("'", "'"),
    ("“", "”"),
    ("„", "“"),
    ("«", "»"),
    ("「", "」"),
)
LINE_SEEN = 200  # characters before a tag in which a backtick may make it code

_NAMES = "|".join(
    re.escape(name) + (r"[\w-]{1,40}" if name.endswith("-") else "")
    for name in WRAPPERS
)
_WRAPPER = re.compile(
    rf"<(/?)(?:antml:)?({_NAMES})(?=[\s>])[^<>]{{0,2000}}>", re.IGNORECASE
)
_UNWRAPPED = re.compile(rf"</?(?:{'|'.join(UNWRAPPED)})>", re.IGNORECASE)
# as people write it, and as HTML, JSON, URLs and markdown escape it
_LESS = r"(?:[<＜﹤‹〈《]|&(?:amp;)*(?:lt|\#0*60|\#x0*3c);?|\\u003c|%3c)"
_MORE = r"(?:[>＞﹥›〉》]|&(?:amp;)*(?:gt|\#0*62|\#x0*3e);?|\\u003e|%3e)"
_WORD = "(?:private|ｐｒｉｖａｔｅ)"  # an input method left in full width writes this
_PRIVATE = re.compile(
    rf"{_LESS}\s*(?:(\\*/)\s*{_WORD}\s*\\*{_MORE}|{_WORD}(?=[\s/:\\]|{_MORE}|$))",
    re.IGNORECASE,
)
_HOST_LINE = re.compile(
    r"""^[ \t]*(?:
      \[Request\ interrupted\ by\ user[^\]\n]*\]
    | (?:\w+\ )?(?:\w+:\w+\ )?hook\ (?:feedback|success|blocking\ error|additional\ context
        |stopped\ continuation)\b.*
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
    text = unicodedata.normalize(
        "NFC", sanitise(text.replace("\r\n", "\n").replace("\r", "\n"))
    )
    text = strip_fenced(_without_private(text))
    text = _UNWRAPPED.sub("", _without_wrappers(text))
    text = fold(_HOST_LINE.sub("", text))
    return _closed_up(text).strip()


def argument(text: str) -> str:
    """What was typed behind a command, without the quotation marks around all of it."""
    words = clean(text)
    for opening, closing in _QUOTATION_MARKS:
        inner = words[1:-1]
        if words[:1] == opening and words[-1:] == closing and inner.strip():
            return words if opening in inner or closing in inner else inner.strip()
    return words


def filtered_exchange(turn: Turn, redact: Callable[[str, str], str]) -> Exchange | None:
    """The exchange without tool content, injected context and secrets; None where nobody said
    anything.
    """
    shorten = home_path_shortener(redact, turn.origin.cwd)

    def observe(text: str) -> str:
        return shorten(clean(text))

    spoken = [reply for reply in turn.replies if isinstance(reply, str)]
    kept = iter(without_split_private(spoken))
    replies: list[str | AgentQuestion] = []
    for reply in turn.replies:
        if isinstance(reply, str):
            replies.append(observe(next(kept)))
        else:
            question, answer = clean(reply.question), clean(reply.answer)
            asked = AgentQuestion(question, answer, tuple(map(clean, reply.options)))
            replies.append(FieldRedaction(words=shorten, id=str).question(asked))
    user = observe(turn.user)
    messages = tuple(reply for reply in replies if reply)
    return (
        Exchange(turn.id, turn.at, user, messages, turn.ended_at)
        if user or messages
        else None
    )


def observed_work(turn: Turn, redact: Callable[[str, str], str]) -> Work:
    """References without secrets; paths of the project as seen from its directory, on any
    machine.
    """
    folder = turn.origin.cwd.rstrip("/\\")
    shorten = home_path_shortener(redact, turn.origin.cwd)

    def clean_items(items: Iterable[str]) -> tuple[str, ...]:
        if folder:
            items = (
                item.replace(f"{folder}/", "").replace(f"{folder}\\", "")
                for item in items
            )
        return tuple(map(shorten, items))

    work = turn.work
    commands = (
        command for command in clean_items(work.commands) if rank(command) is not None
    )
    files, commits, agents = map(clean_items, (work.files, work.commits, work.agents))
    return Work(files, tuple(commands), commits, work.links, agents)


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
    if not _PRIVATE.search(text):
        return text
    code = code_spans(text)
    kept: list[str] = []
    position = depth = 0
    for tag in _PRIVATE.finditer(text):
        is_closing = bool(tag[1])
        if not is_closing and depth == 0:
            kept.append(text[position : tag.start()])
        elif is_closing and depth == 1:
            position = tag.end()
        elif is_closing and depth == 0 and not _is_code(text, tag.start(), code):
            kept, position = [], tag.end()
        depth = _depth(depth, is_closing=is_closing)
    if depth == 0:
        kept.append(text[position:])
    # a space, so that what stood on either side cannot form a new tag
    return " ".join(kept)


def _depth(depth: int, *, is_closing: bool) -> int:
    return max(0, depth - 1) if is_closing else depth + 1


def _is_code(text: str, place: int, code: list[tuple[int, int]]) -> bool:
    """True inside one of the fenced blocks, or after a backtick on the same line that none
    closes.
    """
    line = text[max(0, place - LINE_SEEN) : place].rpartition("\n")[2]
    return _is_within(code, place) or line.count("`") % 2 == 1


def _is_within(spans: list[tuple[int, int]], place: int) -> bool:
    """Is a place in one of these spans? They are in order and apart."""
    before = bisect_right(spans, place, key=itemgetter(0))
    return before > 0 and place < spans[before - 1][1]


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
            depth = _depth(depth, is_closing=is_closing)
        if depth and opened < 0:
            opened = number
    return kept


def _without_wrappers(text: str) -> str:
    """Drop closed wrappers; a tag inside a fenced block or in backticks is somebody talking about
    it.
    """
    kept = []
    position = 0
    for start, end in sorted(_wrapped_spans(text)):
        if end > position:
            kept.append(text[position : max(start, position)])
            position = end
    return " ".join((*kept, text[position:])) if kept else text


def _wrapped_spans(text: str) -> Iterator[tuple[int, int]]:
    """Where closed wrappers stand, with their tags."""
    code = code_spans(text)
    opened: dict[str, list[int]] = {}
    for tag in _WRAPPER.finditer(text):
        starts = opened.setdefault(tag[2].lower(), [])
        if not tag[1]:
            is_quoted = text[tag.start() - 1 : tag.start()] == "`"
            if not is_quoted and not _is_within(code, tag.start()):
                starts.append(tag.start())
        elif starts:
            yield starts.pop(), tag.end()
