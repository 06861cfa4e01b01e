"""The part of a passage that is shown."""

from __future__ import annotations

import re
from collections.abc import Sequence

from keeplore.recall.question import ParsedQuestion, stems_of
from keeplore.recall.weights import EXCERPT_CHARS
from keeplore.text.fences import without_surrogates

_BREAK = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*#>|]|\d+\.))")


def excerpt(text: str, question: ParsedQuestion, limit: int = EXCERPT_CHARS) -> str:
    """Neighbouring sentences with as many of the question's words as possible, at most ``limit``
    characters.

    An ellipsis stands where something was cut off.
    """
    text = text.strip()
    if len(text) <= limit:
        return text
    room = limit - 4  # for an ellipsis and a space at either end
    sentences = sentences_of(text)
    worth = [question.coverage(stems_of(sentence)) for sentence in sentences]
    best = max(range(len(sentences)), key=lambda i: (worth[i], -i))
    if len(sentences[best]) > room:
        return _cut_around_words(sentences[best], question, limit)
    first, last = _grown_stretch(sentences, worth, best, room)
    shown = "".join(sentences[first : last + 1]).strip()
    return f"{'… ' if first else ''}{shown}{' …' if last + 1 < len(sentences) else ''}"


def sentences_of(text: str) -> list[str]:
    """The sentences and lines of a text, each with the white space after it: joined they are the
    text.
    """
    # here, because it is a native library and most commands show nothing
    from sentencex import segment

    pieces = []
    position = 0
    for end in [match.end() for match in _BREAK.finditer(text)] + [len(text)]:
        pieces += segment("en", without_surrogates(text[position:end]))
        position = end
    return [piece for piece in pieces if piece]


def _grown_stretch(
    sentences: Sequence[str], worth: Sequence[float], start: int, room: int
) -> tuple[int, int]:
    """The stretch around ``start`` that fits: to the side that is worth more, what follows before
    what precedes.
    """
    first = last = start
    size = len(sentences[start])
    while True:
        sides = [
            i
            for i in (last + 1, first - 1)
            if 0 <= i < len(sentences) and size + len(sentences[i]) <= room
        ]
        if not sides:
            return first, last
        side = max(sides, key=lambda i: worth[i])
        size += len(sentences[side])
        first, last = min(first, side), max(last, side)


def _cut_around_words(sentence: str, question: ParsedQuestion, limit: int) -> str:
    """A stretch of one long sentence or line, cut between words, with the first of the question's
    words in it.
    """
    words = sentence.split()
    hit = next(
        (i for i, word in enumerate(words) if question.coverage(stems_of(word))), 0
    )
    first, shown = hit, ""
    # a third of the room goes to what stands before the word
    while first and len(" ".join(words[first - 1 : hit])) < limit // 3:
        first -= 1
    room = limit - 4
    last = first
    while last < len(words) and len(shown) + 1 + len(words[last]) <= room:
        shown = f"{shown} {words[last]}".strip()
        last += 1
    shown = shown or words[first][:room]
    return f"{'… ' if first else ''}{shown}{' …' if last < len(words) else ''}"
