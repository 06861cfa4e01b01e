"""Text of memories as HTML: it is data from strangers, so nothing in it becomes markup but what is
made here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from markupsafe import Markup, escape

from keeplore.memory.location import digits_of
from keeplore.memory.names import short_id
from keeplore.recall.question import stems_of
from keeplore.text.fences import reveal
from keeplore.web.links import PageLinks, anchor

MAX_RENDERED = 300_000  # characters; more is shown as it is written
_WORD = re.compile(r"[^\W_]+")
_RECEIPT = re.compile(r"^(.*) — (user|assistant), turn (\S+)$", re.DOTALL)
_ID = re.compile(r"(mem_[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?: turn (\S+))?")
_CODE = re.compile(r"`([^`]+)`")
_MARKS = re.compile(r"^<!-- keeplore:.*? -->\n?", re.MULTILINE)
_WEB = ("http", "https")


def template_value(value: Any) -> Any:
    """A value as a template prints it: invisible signs are named, markup of ours stays."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return reveal(value)
    return "" if value is None else value


def highlighted(text: str, question: str) -> Markup:
    """The text with the words of a question set off."""
    wanted = stems_of(question)
    pieces, at = [], 0
    text = reveal(text)
    for word in _WORD.finditer(text):
        if not wanted.isdisjoint(stems_of(word[0])):
            pieces += [escape(text[at : word.start()]), _emphasised(word[0])]
            at = word.end()
    return Markup("").join([*pieces, escape(text[at:])])


def with_code(text: str) -> Markup:
    """A message of ours, with what stands between backticks as code."""
    pieces = _CODE.split(reveal(text))
    code = Markup("<code>{}</code>")
    made = (
        code.format(one) if at % 2 else escape(one) for at, one in enumerate(pieces)
    )
    return Markup("").join(made)


def _emphasised(word: str) -> Markup:
    return Markup("<mark>{}</mark>").format(word)


class SafeMarkdown:
    """Markdown as HTML. A receipt in it leads to its turn on the same page, or on that of the
    memory ``said_in``, an id; ``when`` tells of each turn, by its anchor, when that was.
    """

    def __init__(self, links: PageLinks, when: Mapping[str, str], said_in: str) -> None:
        self._surroundings = {"links": links, "when": when, "said_in": said_in}

    def render(self, text: str) -> Markup:
        # the marks of a conversation's parts are for programs
        text = reveal(_MARKS.sub("", text))
        if len(text) > MAX_RENDERED:
            return Markup("<pre>{}</pre>").format(text)
        made: str = _parser().render(text, dict(self._surroundings))
        return Markup(made)  # noqa: S704  # HTML in the text was escaped


class MemoryRenderer(RendererHTML):
    """HTML of what a parser found; methods are called by the names of tokens."""

    def link_open(
        self, tokens: Sequence[Token], idx: int, _options: OptionsDict, env: EnvType
    ) -> str:
        target = _target(tokens[idx])
        if urlsplit(target).scheme in _WEB:
            kind = ' class="outside" rel="noreferrer noopener" target="_blank"'
            return f'<a href="{escape(target)}"{kind}>'
        if digits := _digits_of_link(target):
            return f'<a href="{escape(env["links"].memory(digits))}">'
        return f'<span class="place" title="{escape(target)}">'

    def link_close(
        self, tokens: Sequence[Token], idx: int, _options: OptionsDict, _env: EnvType
    ) -> str:
        opened = next(t for t in reversed(tokens[:idx]) if t.type == "link_open")
        target = _target(opened)
        is_link = urlsplit(target).scheme in _WEB or _digits_of_link(target)
        return "</a>" if is_link else "</span>"

    def text(
        self, tokens: Sequence[Token], idx: int, _options: OptionsDict, env: EnvType
    ) -> str:
        """The words; a receipt leads to its turn."""
        text = tokens[idx].content
        receipt = _RECEIPT.match(text)
        when = env["when"].get(anchor(receipt[3])) if receipt else None
        if receipt is None or when is None:
            return _with_ids(text, env)
        words, speaker, turn = receipt.groups()
        link = Markup('{} <a class="receipt" href="{}">{}, {}</a>')
        return str(link.format(words, _turn(env, turn), speaker, reveal(when)))

    def image(
        self, tokens: Sequence[Token], idx: int, _options: OptionsDict, _env: EnvType
    ) -> str:
        """What is shown in place of a picture, which is never loaded."""
        token = tokens[idx]
        markup = Markup('<span class="picture">[picture: {} {}]</span>')
        return str(markup.format(token.content, token.attrGet("src") or ""))

    def heading_open(
        self, tokens: Sequence[Token], idx: int, _options: OptionsDict, _env: EnvType
    ) -> str:
        """Below the title of the page."""
        return f"<h{_level(tokens[idx])}>"

    def heading_close(
        self, tokens: Sequence[Token], idx: int, _options: OptionsDict, _env: EnvType
    ) -> str:
        return f"</h{_level(tokens[idx])}>\n"


class MemoryMarkdown(MarkdownIt):
    def validateLink(self, url: str) -> bool:  # noqa: N802  # the library's name
        """Addresses of the web and of files beside this one; all others stay the text that they
        are.
        """
        try:
            parts = urlsplit(url.strip())
        except ValueError:
            return False
        if parts.scheme:
            return parts.scheme in _WEB and bool(parts.netloc)
        return not url.startswith(("/", "\\")) and ":" not in url


@cache
def _parser() -> MarkdownIt:
    made = MemoryMarkdown(
        "commonmark", {"html": False, "breaks": True}, renderer_cls=MemoryRenderer
    )
    made.enable(["table", "strikethrough"])
    return made


def _target(token: Token) -> str:
    return str(token.attrGet("href") or "")


def _digits_of_link(target: str) -> str:
    """The digits of the memory whose file a link names; "" for other links."""
    return digits_of(f"/{target.rpartition('/')[2]}")


def _turn(env: EnvType, turn: str) -> str:
    if env["said_in"]:
        return str(env["links"].memory(env["said_in"], turn))
    return f"#{anchor(turn)}"


def _with_ids(text: str, env: EnvType) -> str:
    """The words, with a link in the place of each id of a memory and turn of it."""
    pieces, at = [], 0
    for match in _ID.finditer(text):
        link = Markup('<a href="{}">{}</a>')
        address = env["links"].memory(match[1], match[2] or "")
        pieces += [escape(text[at : match.start()])]
        pieces += [link.format(address, short_id(match[1]))]
        at = match.end()
    return str(Markup("").join([*pieces, escape(text[at:])]))


def _level(heading: Token) -> int:
    return min(int(heading.tag[1:]) + 1, 6)
