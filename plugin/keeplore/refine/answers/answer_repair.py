"""What small models and servers that know no schema get wrong in the fields of an answer, put right
where only one thing can have been meant. What a statement says is never touched.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from keeplore.refine.classify import CATEGORY_OF

# characters of what is kept
MAX_CONTENT = 2_000  # of a statement: longer is a document
MAX_SPAN = 1_000  # a receipt is a quotation, not the conversation
MAX_LINE = 400  # of a digest's line
MAX_REASON = 500
UNSAID = 0.7  # where a model does not say how sure it is: the least that is not blocked
_NUMBER = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(%?)\s*\Z")
_TYPE_OF = {category: type_ for type_, category in CATEGORY_OF.items()}
_TYPE_OF |= {"infrastructure": "fact", "security": "convention"}
_SENTENCE_END = re.compile(r"(?<=[.!?。])\s+")


def share_of(value: Any) -> Any:
    """A share that was written as text ("0.9", "90 %"), as a number; anything else as it is."""
    found = _NUMBER.match(value) if isinstance(value, str) else None
    if not found:
        return value
    return float(found[1]) / (100.0 if found[2] else 1.0)


def type_of(value: Any, category: Any) -> str:
    """The type of a fact: as it was said, in whichever case, else by the fact's category."""
    named = value.strip().lower() if isinstance(value, str) else ""
    if named in CATEGORY_OF:
        return named
    of_category = category.strip().lower() if isinstance(category, str) else ""
    return _TYPE_OF.get(of_category, "fact")


def shortened(text: Any, most: int) -> Any:
    """A text of at most ``most`` characters, cut after a sentence, or else between words."""
    if not isinstance(text, str) or len(text) <= most:
        return text
    ends = [end.start() for end in _SENTENCE_END.finditer(text, 0, most)]
    return text[: ends[-1]] if ends else text[:most].rsplit(None, 1)[0]


def _without_nulls(data: Mapping[str, Any]) -> dict[str, Any]:
    """A field that is null was left out."""
    return {field: said for field, said in data.items() if said is not None}


def repaired_fact(data: Mapping[str, Any]) -> dict[str, Any]:
    """A fact with its type, its shares and its lengths as they have to be."""
    said = _without_nulls(data)
    return {
        **said,
        "type": type_of(data.get("type"), data.get("category")),
        "content": shortened(data.get("content"), MAX_CONTENT),
        "span": shortened(data.get("span"), MAX_SPAN),
        "confidence": share_of(said.get("confidence", UNSAID)),
        "lasting": share_of(said.get("lasting", 0.0)),
    }


def repaired_choice(data: Mapping[str, Any]) -> dict[str, Any]:
    """What is to become of a fact, likewise."""
    said, action = _without_nulls(data), data.get("action")
    return {
        **said,
        "action": action.strip().upper() if isinstance(action, str) else action,
        "content": shortened(data.get("content") or "", MAX_CONTENT),
        "reason": shortened(data.get("reason"), MAX_REASON),
        "confidence": share_of(said.get("confidence", UNSAID)),
    }


def repaired_line(data: Mapping[str, Any]) -> dict[str, Any]:
    """A line of a digest, likewise."""
    said, part = _without_nulls(data), data.get("part")
    return {
        **said,
        "part": part.strip().lower() if isinstance(part, str) else part,
        "content": shortened(data.get("content"), MAX_LINE),
        "span": shortened(data.get("span"), MAX_SPAN),
        "confidence": share_of(said.get("confidence", UNSAID)),
    }
