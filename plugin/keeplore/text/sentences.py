"""A message as sentences: prose, headings and list items; code, tables, quoted text and program
output left out.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import sentencex

from keeplore.text.folding import LEFT_OUT, is_folded, line_beginning

# characters of one message; what goes on beyond that is a paste, and nobody's sentence
MAX_READ = 60_000
MAX_QUOTE = 300  # characters
ARROW = " → "  # between a question and its answer
MAX_SENTENCE = 1000  # characters; nobody speaks longer without a stop
ALIKE = 8  # lines in a row
MIN_CLAUSE = 120  # characters that must remain where a quotation is cut at a clause
SLACK = 6  # characters by which the markers of a list make its lines unlike
# characters; a shorter line that is followed by a capital was ended by its writer, not by the
# margin
_WRAPPED = 60
_FENCE = re.compile(r"\s{0,12}(?:>\s?)*(`{3,}|~{3,})")
# "**2. Name** …" and "- **A. Name** …" have their label inside the emphasis, "**2.** …" alone
# there; a line in Chinese or Japanese often has no space behind it
_ITEM = re.compile(
    r"\s{0,16}(?:(?:(?:[-*+•]\s+)?(?P<emphasis>\*\*|__)([A-Za-e])[.):]|[-*+•]\s+([A-Za-e])[.)]|"
    r"(?:[-*+•]\s+(?:\*\*|__)?|\*\*|__)\((?P<within>[A-Za-z])\)(?:\*\*|__)?:?|"
    r"(?:[-*+•]\s+)?(?:\*\*|__)(?P<bold>[A-E])(?:\*\*|__)\s?[:—–-]|[-*+•]\s+(?P<plain>[A-E]):|"
    r"[-*+•]|(?:\*\*|__)(\d{1,2})[.)](?:\*\*|__)|"
    r"(?P<mark>\*\*|__)?(\d{1,2})[.)]|\(?([A-Za-z])\)|([A-Z])\.)\s+"
    r"(?:\[[ xX]\]\s+)?(?=\S)|(\d{1,2})[.)、．](?=[^\s\d].*[\u3040-\u30ff\u4e00-\u9fff]))"
)
_LETTER = re.compile(r"([A-E])[.):]\s+(?=\S)")  # before a heading
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+(\S.*)")
_BOLD_LINE = re.compile(r"\s{0,3}(?:\*\*|__)([^*_]{2,80}[^*_.!?])(?:\*\*:?|__:?)\s*\Z")
_SHELL = re.compile(r"\s*(?:[$❯➜%]|>>>|PS [A-Z]:\\)(?:\s|\Z)")
# what programs print and what only looks like prose to a reader of sentences
_OUTPUT = re.compile(
    r"\s*(?:\||>|<[/!a-zA-Z]|\"[^\"]{1,80}\"\s*:|"
    r"\S+(?:\s{2,}\S+){2,}\s*\Z|=>|\[?\d{4}-\d\d-\d\d[T ]\d\d:|\[?\d\d:\d\d:\d\d|at \S+ ?\(|File "
    r"\"|"
    r"Traceback \(|diff --git|@@ |"
    r"[+-]{3} \S|[-=_*~+#.]{4,}|\[\w+\]\s|(?:import|from|def|func|class|const|let|var|return|"
    r"export|package|async) "
    r".*[=({;:'\"]\s*\Z|(?:FAIL|PASS|ERROR|WARN|INFO|DEBUG)(?:ED)?\b[ :]|[\w./-]+:\d+(?::\d+)?:)"
)
# an error as a program prints it, "lib/pdf.ts:1:1 TypeError: …", "zsh: command not found: dump"
PRINTED_ERROR = re.compile(
    r"\W{0,6}(?:Uncaught |Unhandled |\S{1,200}:\d{1,9}:? ?(?:- )?){0,2}(?:\([a-z]{1,20}:\d+\) )?"
    r"(?:(?:\w{1,40}\.){0,8}[A-Z]\w{0,60}(?:Error|Exception|Warning)"
    r"|(?:[Ee]rror|ERROR|[Ff]atal|FATAL|panic)(?: [A-Z]+\d+)?)"
    r"(?: ?[\[(][^\])\n]{1,40}[\])])?: (?!(?:always|never|use|return|map|log|keep|retry|do not"
    r"|don['’]?t|should|we|i)\b)\S"
    r"|(?:ld: )?warning: (?!(?:always|never|do not|don['’]?t|keep|use)\b)\S"
    r"|npm (?:error|warn) (?!is\b)|Error response from|Module not found: "
    r"|Build (?:error occurred|failed)\W*\Z"
    r"|[\w./-]{1,200}:(?: [^:\n]{1,60}:)? (?:command not found|No such file|Permission denied)\b"
)
_CODE_LINE = re.compile(
    r"\A\s*[{}()\[\]]|[{};]\Z|\w\([^()]*\);|\w\(\)\.|=>|&&|===?|\|\|"
)
# five words in a row: whoever writes on has a sign of code in what they tell
_TOLD = re.compile(r"\s*(?:[A-Za-z][a-z'’]*[,.!?]? ){5}")
# what a sentence goes on behind
_GOES_ON = re.compile(
    r"(?:[,;:([—–-]|https?://\S+|\b(?:an?|and|as|at|but|by|for|from|in|into|is|are|of|on|or|our|"
    r"so|than|that|the|this|to|when|which|with|your))\Z",
    re.IGNORECASE,
)
_INLINE_CODE = re.compile(r"`[^`\n]{1,200}`")
_PAUSE = re.compile(r"(?<=[\w)`])\s\.{2,3}\s+(?=\w)")  # "the plan .. then the rest"
_SIGN = re.compile(r"[^\w\s]")
_WORD = re.compile(r"(?<!\S)[^\W\d_]{2,}(?=[,.!?;:]?(?:\s|\Z))")
_FIGURE = re.compile(r"(?<!\S)\d[\d.,:]{0,8}(?=\s|\Z)")
_UNIT = re.compile(r"(?<=\d )[a-zA-Z](?=\.\s)")
_NO = re.compile(
    r"(?:\A|(?<=[.!?] ))No(?=\. [IA](?:['’][a-z]+)? [a-z])"
)  # "No. I left it"
_ITEM_NAMED = re.compile(r"[:：]\s+\d{1,2}[.)]\s*\Z")
_STRESSED = re.compile(
    r"`[^`\n]*`|(?<![*\w])\*\*(?=[^\s*])([^*\n→]{1,300}?)(?<=\S)\*\*(?![*\w])"
)
# a remark of a review as Codex writes it for its own window
_REMARK = re.compile(
    r"::code-comment\{.{0,200}?\btitle=\"(?:\[(?P<level>P\d)\] )?(?P<title>[^\"\n]{1,300})\""
    r".{0,200}?\bbody=\"(?P<body>(?:[^\"\\\n]|\\.){1,4000})\".*"
)
# a link to a file of this machine, "[src/lock.py](/home/ada/app/src/lock.py:27)", but for code
_FILE_LINK = re.compile(
    r"`[^`\n]*`|(?<!!)\[`?(?P<name>[^\[\]\n`]{1,200})`?\]"
    r"\((?!\w+://)(?P<path>[^()\s:]{1,300})(?P<line>:\d+)?(?::\d+)?\)"
)
_ENCLOSED = re.compile(r"`[^`]*`|\([^()]*\)|\[[^\[\]]*\]")
_BOXES = re.compile(r"[─-╿▀-▟✓✗✘⎿]")
_MARKER = re.compile(r"\A(?:[-+•]|#{1,6}|\*(?!\*))\s+")
_CLAUSE = re.compile(
    r"[;,:—–](?=\s)|\s[-–—]\s|\s(?=\((?!s\)))|\s(?=(?:and|but|because|so that|which|while)\s)"
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """``text`` is a run of the message's own words with white space folded and markdown markers off
    its ends.
    """

    text: str
    heading: str = ""  # the nearest heading above, "" for none
    lead: str = ""  # of a list item: the line that introduces its list
    within: str = ""  # of a list in a list: the item that introduces it
    label: str = ""  # of a list item or heading: its letter or number, "-" for a bullet
    is_heading: bool = False
    is_first: bool = True  # of its list item or paragraph

    @property
    def is_question(self) -> bool:
        return self.text.rstrip("\"')*_` ").endswith(("?", "？"))


@functools.lru_cache(maxsize=256)  # an open conversation is read again at every turn
def sentences(message: str) -> tuple[Sentence, ...]:
    """The sentences of one message in order. Linear in its length, and never raises."""
    return tuple(_sentences(message[:MAX_READ]))


def _sentences(message: str) -> Iterator[Sentence]:
    """The sentences of each block, with the heading and the lead of the list above them."""
    heading = lead = ""
    around: list[tuple[int, str]] = []
    counted = _CountedList()
    for label, indent, block in _blocks(message):
        if label == "#":
            counted = _CountedList()
            letter = _LETTER.match(bare(block))
            heading, lead = bare(block)[letter.end() if letter else 0 :], ""
            if heading:
                yield Sentence(
                    heading, label=letter[1] if letter else "", is_heading=True
                )
            continue
        found = _segments(block)
        within = _list_lead(around, indent, block) if label else ""
        lead = counted.lead_of(label, lead) if label else lead
        above = (heading, lead, within) if label else (heading, "", "")
        for n, text in enumerate(found):
            yield Sentence(text, *above, label, is_first=n == 0)
        if found and not label:
            lead = found[-1] if _leads_on(block) else ""
            counted.is_lead_used = not lead
            around.clear()


@dataclass(slots=True)
class _CountedList:
    """The numbers that a list has reached, whose items may have paragraphs between them."""

    lead: str = ""
    reached: int = 0
    is_lead_used: bool = (
        True  # the line right before introduces nothing that is still to come
    )

    def lead_of(self, label: str, lead: str) -> str:
        """The line that introduces the list of an item; ``lead`` is the last one before it."""
        number = int(label) if label.isdecimal() else 0
        goes_on = 1 < number == self.reached + 1 and self.is_lead_used
        self.is_lead_used = True
        if number:
            self.lead, self.reached = (self.lead if goes_on else lead), number
        return self.lead if goes_on else lead


def _leads_on(block: str) -> bool:
    return block.rstrip("*_ ").endswith((":", "："))


def _list_lead(around: list[tuple[int, str]], indent: int, block: str) -> str:
    """The item that introduces a list, of an item of that list; ``around`` are the indentations and
    words of the items that a list's next item can belong to.
    """
    while around and around[-1][0] >= indent:
        around.pop()
    parent = around[-1][1] if around else ""
    around.append((indent, block))
    return bare(parent) if _leads_on(parent) else ""


def _segments(block: str) -> list[str]:
    """The sentences of a block, those left out that say nothing."""
    parts = (part for text in _with_whole_code(block) for part in _PAUSE.split(text))
    whole = (bare(text[:MAX_SENTENCE]) for text in parts)
    return [
        text for text in whole if any(map(str.isalnum, text)) and not is_folded(text)
    ]


def _with_whole_code(block: str) -> Iterator[str]:
    """The sentences as they are cut, where code counts as a word: nothing in it ends a sentence.
    Nor does the number of an item that a line names, "Fix: 2. The parser stops". The unit in "it
    takes 40 s. I raised it" is no initial, and "No. I left it" names no number.
    """
    read = _INLINE_CODE.sub(lambda code: _SIGN.sub("X", code[0]), block)
    read = _NO.sub("So", _UNIT.sub("0", read))
    begin = end = 0
    for segment in sentencex.segment("en", read):
        end += len(segment)
        if not _ITEM_NAMED.search(read, begin, end):
            yield block[begin:end].rstrip()
            begin = end
    yield block[begin:end].rstrip()


class _Block(NamedTuple):
    label: str  # "#" for a heading, "" for a paragraph, else of a list item
    indent: int  # characters
    text: str  # white space folded


def _blocks(message: str) -> Iterator[_Block]:
    """The headings, list items and paragraphs of a message."""
    label, indent, lines = "", 0, list[str]()
    for line in (*_prose_lines(message), ""):
        marker = _ITEM.match(line)
        heading = _heading_in(line)
        if lines and (not line or marker or heading or _ends_here(lines[-1], line)):
            yield _Block(label, indent, _one_line(*lines))
            label, lines = "", []
        if heading:
            yield _Block("#", 0, heading)
        elif marker:
            label, indent = _label(marker), len(line) - len(line.lstrip())
            opening = marker["mark"] or marker["emphasis"] or ""
            lines = [opening + line[marker.end() :]]
        elif line:
            lines.append(line)


def _label(marker: re.Match[str]) -> str:
    """The letter or number of a list item, "-" for a bullet."""
    labels = (
        *marker.group("within", "bold", "plain"),
        *marker.group(2, 3, 7, 9, 10, 11, 12),
    )
    return next(filter(None, labels), "-").upper()


def _heading_in(line: str) -> str:
    """The words of a heading, "" for a line that is none."""
    found = _HEADING.match(line) or _BOLD_LINE.match(line)
    return _one_line(found[1]) if found else ""


def _one_line(*lines: str) -> str:
    return " ".join(" ".join(lines).split())


def _prose_lines(message: str) -> Iterator[str]:
    """The message's lines, ``""`` where something that is no prose stood."""
    in_output = in_list = False
    raws = [
        _REMARK.sub(r"\g<level> \g<title>: \g<body>", line)
        for line in message.splitlines()
    ]
    alike = _repeated_beginnings(raws)
    for n, (line, is_fenced) in enumerate(_fenced(raws)):
        if is_fenced or not line:
            in_output = in_output and bool(line)
            yield ""
            continue
        in_output = in_output or _SHELL.match(line) is not None
        is_item = _is_item(line)
        in_list = is_item or (in_list and line[0] in " \t")
        is_code = line.startswith(("    ", "\t")) and not in_list
        is_told = is_item or _BOLD_LINE.match(line) is not None
        is_printed = n in alike or (not is_told and _is_output(line))
        yield "" if in_output or is_code or is_printed else line
        if raws[n].endswith("\\"):  # a line break typed in a terminal
            yield ""


def _fenced(lines: Iterable[str]) -> Iterator[tuple[str, bool]]:
    """Each line without its end, and whether it is of a block of code; one that nothing ends goes
    to the end.
    """
    fence = ""
    for raw in lines:
        line = raw.rstrip().removesuffix("\\").rstrip()
        mark = _FENCE.match(line)
        if mark:
            fence = "" if fence and mark[1].startswith(fence) else fence or mark[1]
        yield line, bool(mark or fence)


def _is_item(line: str) -> bool:
    marker = _ITEM.match(line)
    return marker is not None and not _is_code(
        _without_inline_code(line[marker.end() :])
    )


def _is_code(prose: str) -> bool:
    return _CODE_LINE.search(prose) is not None and not _TOLD.match(prose)


def _repeated_beginnings(lines: list[str]) -> set[int]:
    """Numbers of the lines that begin as their neighbours do, ``ALIKE`` and more in a row: a
    program wrote them.
    """
    found: set[int] = set()
    start = 0
    for n in range(1, len(lines) + 1):
        if (
            n < len(lines)
            and (same := line_beginning(lines[start]))
            and line_beginning(lines[n]) == same
        ):
            continue
        if n - start >= ALIKE:
            found.update(range(start, n))
        start = n
    return found


def _is_output(line: str) -> bool:
    """Whether a program wrote a line: it looks like output or code, or has few letters."""
    prose = _without_inline_code(line)
    if (
        LEFT_OUT.fullmatch(line.strip())
        or _OUTPUT.match(line)
        or _BOXES.search(line[:40])
    ):
        return True
    if _is_code(prose):
        return True
    opening = prose[:200]
    told = sum(map(str.isalpha, opening)) + opening.count(" ")
    if len(_WORD.findall(opening)) > 1:  # "8081, 8080 is taken"
        told += sum(map(len, _FIGURE.findall(opening)))
    return len(line) > 8 and told < 0.6 * len(opening)


def _without_inline_code(line: str) -> str:
    """A line's beginning with a word in place of each `code`: what people mention does not make
    their line code.
    """
    return _INLINE_CODE.sub("code", line[:400])


def _ends_here(line: str, following: str) -> bool:
    """Did its writer end the line, and not the margin?"""
    if PRINTED_ERROR.match(line) or PRINTED_ERROR.match(following):
        return True
    if not following or len(line) >= _WRAPPED:
        return False
    if following.lstrip()[:1].isupper():
        return True
    # what goes on in an item of a list is indented
    return following[0].islower() and _had_room(line, following)


def _had_room(line: str, following: str) -> bool:
    """Would more than the next word have stood in the line that the next one is as long as?"""
    is_short = len(line) + 1 + len(following.partition(" ")[0]) + SLACK < len(following)
    return is_short and not _GOES_ON.search(line)


def bare(text: str) -> str:
    """The text without list, heading and emphasis markers and pictographs at its ends."""
    text = text.strip()
    for _ in range(4):  # markers nest a few deep at most
        before = text
        text = _without_pictographs(text.strip("\\ \t\ufe0f\u200d"))
        text = _MARKER.sub("", text)
        for mark in ("**", "__"):
            text = _without_emphasis(text, mark)
        if text == before:
            break
    return text


def _without_pictographs(text: str) -> str:
    while text and unicodedata.category(text[0]) == "So":
        text = text[1:].lstrip("\ufe0f\u200d ")
    while text and unicodedata.category(text[-1]) == "So":
        text = text[:-1].rstrip("\ufe0f\u200d ")
    return text


def _without_emphasis(text: str, mark: str) -> str:
    count = text.count(mark)
    if count % 2:
        return (
            text.removeprefix(mark)
            if text.startswith(mark)
            else text.removesuffix(mark)
        )
    is_around = count == 2 and text.startswith(mark) and text.endswith(mark)
    return text[len(mark) : -len(mark)] if is_around else text


def plain_words(text: str) -> str:
    """The text without the marks of words in bold, and with the names of files in the place of
    links to them, but for those in `code`.
    """
    words = _STRESSED.sub(lambda found: found[1] or found[0], text)
    return _FILE_LINK.sub(_linked_file, words) if "](" in words else words


def _linked_file(link: re.Match[str]) -> str:
    """The name and the line that a link tells, the link itself where its words name another
    thing.
    """
    name, line = link["name"], link["line"] or ""
    if not name:
        return link[0]
    path, _, own_line = name.partition(":")
    is_name = link["path"].endswith(path)
    return f"{name}{'' if own_line else line}" if is_name else link[0]


def clip(text: str, limit: int = MAX_QUOTE) -> str:
    """At most ``limit`` characters of the text's beginning, cut at a clause where there is one,
    else at a word; in plain words.
    """
    text = plain_words(text)
    if len(text) <= limit:
        return text
    head = text[: limit + 1]
    cuts = [
        found.start()
        for found in _CLAUSE.finditer(head)
        if found.start() >= min(MIN_CLAUSE, limit // 2)
    ]
    at = cuts[-1] if cuts else head.rfind(" ", 1)
    return bare(text[: at if at > 0 else limit])


def answer_line(question: str, answer: str) -> str:
    """Question and answer as one line of ``MAX_QUOTE`` characters; where both do not fit, the
    answer keeps at least half of it.
    """
    question, answer = " ".join(question.split()), " ".join(answer.split())
    room = MAX_QUOTE - len(ARROW)
    answer = clip(answer, max(room - len(question), MAX_QUOTE // 2))
    return f"{clip(question, room - len(answer))}{ARROW}{answer}"


def question_and_answer(line: str) -> tuple[str, str]:
    """The two parts of such a line, cut at its last arrow outside of code and brackets; "" and the
    line for any other.
    """
    place = _ENCLOSED.sub(lambda found: "x" * len(found[0]), line).rfind(ARROW)
    return (line[:place], line[place + len(ARROW) :]) if place >= 0 else ("", line)


def answer_in(line: str) -> str:
    """What stands behind the question of such a line; any other line as it is."""
    return question_and_answer(line)[1]
