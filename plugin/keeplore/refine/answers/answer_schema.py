"""The shapes of a model's answers. Each item is put right where that is certain, and checked by
itself: a bad one costs that item, and both are counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from keeplore.refine.answers.answer_repair import (
    MAX_CONTENT,
    MAX_LINE,
    MAX_REASON,
    MAX_SPAN,
    repaired_choice,
    repaired_fact,
    repaired_line,
)

MAX_FACTS = 20  # of one conversation: more is a transcript again
MAX_TRIPLES = 50  # likewise
MIN_CONTENT = 10  # characters of a statement: shorter says nothing
MAX_NAME = 80  # characters of an entity
REPAIRED = "put right"  # how kept items are counted that were not as they should be

# a model writes 1 for 1.0
Share = Annotated[float, Field(ge=0.0, le=1.0, strict=False)]
Text = Annotated[str, StringConstraints(strip_whitespace=True)]
Name = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_NAME)
]
Quotation = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_SPAN)
]
# a relation that is no quotation costs itself, and not the fact
Span = Annotated[Text, StringConstraints(max_length=10 * MAX_SPAN)]
_Item = TypeVar("_Item", bound="AnswerItem")


class AnswerItem(BaseModel):
    """An item of a model's answer; what else the model adds to it is passed over."""

    model_config = ConfigDict(strict=True, frozen=True, extra="ignore")

    @classmethod
    def repair(cls, data: Mapping[str, Any]) -> Mapping[str, Any]:
        """The fields with what is certain to be meant by them."""
        return data


class FactItem(AnswerItem):
    content: Annotated[
        str,
        StringConstraints(
            strip_whitespace=True, min_length=MIN_CONTENT, max_length=MAX_CONTENT
        ),
    ]
    type: Literal[
        "decision",
        "preference",
        "convention",
        "gotcha",
        "correction",
        "fact",
        "pattern",
    ]
    confidence: Share
    span: Quotation
    scope: Text = ""
    category: Text = ""
    lasting: Share = 0.0
    about: Text = ""
    answers: Span = ""
    ends: Span = ""

    @classmethod
    def repair(cls, data: Mapping[str, Any]) -> Mapping[str, Any]:
        return repaired_fact(data)


class TripleItem(AnswerItem):
    source: Name
    relationship: Name
    target: Name
    confidence: Share = 1.0


class ConversationFactItem(FactItem):
    talk: int


class ConversationTripleItem(TripleItem):
    talk: int


class ChoiceItem(AnswerItem):
    fact: int
    action: Literal["ADD", "UPDATE", "DELETE", "NONE"]
    confidence: Share
    reason: Annotated[
        str,
        StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_REASON),
    ]
    target: Text = ""
    content: Annotated[
        str, StringConstraints(strip_whitespace=True, max_length=MAX_CONTENT)
    ] = ""

    @classmethod
    def repair(cls, data: Mapping[str, Any]) -> Mapping[str, Any]:
        return repaired_choice(data)


class LineItem(AnswerItem):
    talk: int
    part: Literal["decided", "outcome", "open"]
    content: Annotated[
        str,
        StringConstraints(
            strip_whitespace=True, min_length=MIN_CONTENT, max_length=MAX_LINE
        ),
    ]
    span: Quotation
    confidence: Share
    instead: Span = ""

    @classmethod
    def repair(cls, data: Mapping[str, Any]) -> Mapping[str, Any]:
        return repaired_line(data)


class AspectItem(AnswerItem):
    fact: int
    name: Name
    type: Text = ""
    aspect: Name
    kind: Literal["attribute", "constraint"]


def items(
    answer: Any, key: str, kind: type[_Item], most: int, dropped: Counter[str]
) -> list[_Item]:
    """The sound items of a list in an answer, ``most`` at most; what is not, and what was put
    right, is counted in ``dropped``.

    Raises ValueError where the answer is no object or holds no such list: then nothing of it can be
    relied on.
    """
    found: list[_Item] = []
    for data in list_in(answer, key):
        try:
            sound = kind.repair(data) if isinstance(data, Mapping) else data
            item = kind.model_validate(sound)
        except (ValidationError, RecursionError):
            dropped[f"{key}: wrong shape"] += 1
            continue
        if _was_repaired(data, item):
            dropped[f"{key}: {REPAIRED}"] += 1
        if len(found) < most:
            found.append(item)
        else:
            dropped[f"{key}: too many"] += 1
    return found


def _was_repaired(data: Mapping[str, Any], item: AnswerItem) -> bool:
    """Whether what a model said of a field was put right."""
    for field, kept in item.model_dump().items():
        said = data.get(field, kept)
        if kept != (said.strip() if isinstance(said, str) else said):
            return True
    return False


def list_in(answer: Any, key: str) -> list[Any]:
    """What an answer lists under a key; that of entities may be missing. Raises ValueError."""
    is_optional = key == "entities"
    if isinstance(answer, list) and any(isinstance(data, Mapping) for data in answer):
        # the list alone, without what should stand around it
        return [] if is_optional else answer
    if isinstance(answer, Mapping):
        listed = answer.get(key, [] if is_optional else None)
        if isinstance(listed, list):
            return listed
    raise ValueError(f"the answer has no list of {key}")


def schema_of(**lists: type[AnswerItem]) -> dict[str, Any]:
    """The JSON schema of an answer with these lists, every field required, as servers that enforce
    schemas want it.
    """
    properties = {}
    for name, kind in lists.items():
        fields = {
            field: _bare_schema(field_schema)
            for field, field_schema in kind.model_json_schema()["properties"].items()
        }
        item = {
            "type": "object",
            "properties": fields,
            "required": [*fields],
            "additionalProperties": False,
        }
        properties[name] = {"type": "array", "items": item}
    return {
        "type": "object",
        "properties": properties,
        "required": [*properties],
        "additionalProperties": False,
    }


def _bare_schema(field_schema: Mapping[str, Any]) -> dict[str, Any]:
    """A field's schema without titles and limits: they cost tokens, servers refuse some of them,
    and everything is checked here.
    """
    return {key: field_schema[key] for key in ("type", "enum") if key in field_schema}
