"""What of a message is somebody else's text that the person pasted, and what are their own words.

Pasted counts what is marked as a quotation (``>``, fences, tags, quotation marks after "the page
says"), lines of a log, errors that a program printed, and what follows a line that announces a
page, a mail, a reply or the like, or a review's remarks.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence

from keeplore.text.sentences import PRINTED_ERROR, plain_words
from keeplore.text.similarity import normalised, spaced_words

_SOURCE = (
    r"(?:pages?|readme(?:\.md)?|docs?|documentation|documents?|articles?|issues?|tickets?|e-?mails?"
    r"|mails?|messages?|posts?|threads?|comments?|reviews?|websites?|site|wiki|guides?|tutorials?"
    r"|changelog|release notes|announcement|advisory|runbook|snippet|text|transcript|quote"
    r"|reply|replied|answered|seite|artikel|nachricht|anleitung|pagina|mensaje|articulo)"
)
_SAYS = (
    r"(?:says?|said|wrote|writes?|reads?|states?|stated|claims?|tells?|sagt|schreibt|steht"
    r"|dit|dice)"
)
# a line after which the rest of the message is somebody else's
_ANNOUNCED = re.compile(
    rf"(?:\b{_SAYS}\b[^.!?\n]{{0,40}}"
    r"|\b(?:from|at|on|of)\s+https?://\S+|\bpasted?\b[^.!?\n]{0,40}):\s*\Z",
    re.IGNORECASE,
)
_NAMED = re.compile(rf"\b{_SOURCE}\b[^.!?\n]{{0,80}}:\s*\Z", re.IGNORECASE)
# "the page should have:", "fix these issues:" announce what the person wants of it
_WANTED = re.compile(
    r"\b(?:should|must|needs? to|wants?|let['’]?s)\b"
    r"|\b(?:fix|solve|address|resolve|tackle|have|are|were|found|noticed|see)\b"
    r"[^:\n]{0,40}\bissues\b",
    re.IGNORECASE,
)
# "my mail:", "write this comment:" announce words of the person's own
_OWN = re.compile(
    r"\b(?:my|our|write|add|post|put|use|create|make|reply|answer|let me)\b",
    re.IGNORECASE,
)
# "more reviewer feedback: …" with what it says behind, and the title of a review as a whole
_REVIEWED = re.compile(
    r"\W*(?:(?:some|more|new|next|latest|last|another|also|the|here(?:['’]s| is| are)) ){0,3}"
    r"(?:(?:pr|mr|code|peer|bugbot|copilot|coderabbit) )?(?:pr|mr|reviewer(?:['’]?s)?|review|bugbot"
    r"|copilot|coderabbit) (?:feedback|comments?|findings?|remarks?|suggestions?)\b"
    r"[^.!?:\n]{0,40}:",
    re.IGNORECASE,
)
_REVIEW_TITLE = re.compile(
    r"\W*(?:(?:code|pr|mr|peer|security) )?review (?:for|of)\b", re.IGNORECASE
)
# from which a text with such a title is a review, and not an order to write one
REVIEW_LINES = 4
_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_MARKED = re.compile(r"\s*(?:>|</?[a-z!][^>\n]*>)", re.IGNORECASE)
COPIED_WORDS = 6  # from which a sentence that stands in two messages was copied
# a link, and a file that a person points at
_REFERENCE = re.compile(r"\s*(?:https?://\S+|@[\w.~-]*/\S+)\s*")
_LEVEL = r"(?:WARN(?:ING)?|ERR(?:OR)?|INFO|DEBUG|FATAL)"
_TIME = r"\d\d:\d\d:\d\d"
_DATE = r"(?:\d{4}[-/]\d\d[-/]\d\d|[A-Z][a-z]{2} [ \d]\d)"
# a line of a log or of a stack trace
_LOGGED = re.compile(
    rf"\s*(?:npm (?:WARN|ERR!)|\[?{_LEVEL}[:\]]|{_LEVEL}\s+\[?(?:{_DATE}|{_TIME})"
    rf"|\[?\d[\dT:.,/-]{{6,40}}\S{{0,40}}\s+\[?{_LEVEL}\b|\[?(?:{_DATE}[T ])?{_TIME}\S*\s+\S"
    r"|(?:level|ts|time)=\S+ \w+=|Traceback \(|File \"[^\"]+\", line \d"
    r"|at \S{1,200}\([^)\s]{0,300}:\d+\))"
)
_QUOTED = re.compile(
    rf"\b(?:{_SAYS}|{_SOURCE})\b[^\"“”«»„\n]{{0,30}}([\"“«„][^\"“”«»„\n]{{12,}}[\"”»“])",
    re.IGNORECASE,
)


def own_words(message: str) -> str:
    """The message without what was pasted."""
    return _own_and_pasted(message)[0]


def pasted_words(message: str) -> str:
    """What was pasted into the message, "" for nothing."""
    return _own_and_pasted(message)[1]


def is_pasted_into(message: str, text: str) -> bool:
    """Is a text (a sentence, a quotation) of what was pasted into the message?"""
    words = _normalised(text).rstrip("…").strip()
    return bool(words) and words in _normalised(pasted_words(message))


def is_reference(text: str) -> bool:
    """Is it a link or a file that a person points at, and nothing else?"""
    return _REFERENCE.fullmatch(text) is not None


def is_copied_from(message: str, text: str) -> bool:
    """Does a text of some length stand in the message word for word, whatever its marks?"""
    words = spaced_words(text)
    return words.count(" ") > COPIED_WORDS and words in spaced_words(message)


@functools.lru_cache(maxsize=64)
def _normalised(text: str) -> str:
    return normalised(plain_words(text))


@functools.lru_cache(maxsize=256)  # asked of every sentence of a message
def _own_and_pasted(message: str) -> tuple[str, str]:
    own: list[str] = []
    pasted: list[str] = []
    for line, is_theirs in _lines(message):
        if is_theirs:
            pasted.append(line)
            continue
        pasted += [found[1] for found in _QUOTED.finditer(line)]
        own.append(_QUOTED.sub(lambda found: found[0].replace(found[1], " "), line))
    return "\n".join(own), "\n".join(pasted)


def _is_marked(line: str) -> bool:
    is_quoted = _MARKED.match(line) or _LOGGED.match(line)
    return bool(is_quoted or PRINTED_ERROR.match(line))


def _is_review(message: str, lines: Sequence[str]) -> bool:
    return bool(_REVIEW_TITLE.match(message)) and len(lines) >= REVIEW_LINES


def _lines(message: str) -> Iterator[tuple[str, bool]]:
    """Each line, and whether it was pasted."""
    lines = message.splitlines()
    fence, is_rest = "", _is_review(message, lines)
    for line in lines:
        mark = _FENCE.match(line)
        is_rest = is_rest or bool(_REVIEWED.match(line))
        yield line, bool(is_rest or fence or mark or _is_marked(line))
        if mark:
            fence = "" if fence and mark[1].startswith(fence) else fence or mark[1]
        elif not fence and _announces_text(line):
            is_rest = True


def _announces_text(line: str) -> bool:
    """Does a line lead up to somebody else's text?"""
    if _OWN.search(line):
        return False
    is_named = _NAMED.search(line) is not None and not _WANTED.search(line)
    return is_named or _ANNOUNCED.search(line) is not None
