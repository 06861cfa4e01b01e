"""What the tools take, as the host is told it: limits, and a description for the agent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from keeplore.mcp_server.answer_text import MAX_TOKENS, MIN_TOKENS
from keeplore.mcp_server.read_tools import PARTS
from keeplore.memory import CATEGORIES, KINDS, WIDE_SCOPES

Query = Annotated[
    str, Field(min_length=1, max_length=4_000, description="A question, or words")
]
Limit = Annotated[int, Field(ge=1, le=50, description="How many memories at most")]
Wide = Annotated[
    bool, Field(description="Also look in other projects and agents' memory")
]
Page = Annotated[int, Field(ge=1, le=100_000, description="From 1")]
Budget = Annotated[
    int, Field(ge=MIN_TOKENS, le=MAX_TOKENS, description="How long the answer may be")
]
Reference = Annotated[
    str,
    Field(
        min_length=4, max_length=1_000, description="An id, 4 digits of one, or a path"
    ),
]
Within = Annotated[
    str,
    Field(
        max_length=1_000, description="Id of one memory: what it alone says, at length"
    ),
]
WholeId = Annotated[
    str, Field(max_length=1_000, description="The whole id: mem_ and 36 characters")
]
When = Annotated[
    str, Field(max_length=40, description="2026-01-31, or an age: 30d, 8w, 1y")
]
Name = Annotated[str, Field(max_length=200)]
OtherProject = Annotated[Name, Field(description="Another project than the one here")]
Directory = Annotated[
    str,
    Field(
        max_length=4_000,
        description="Absolute path of the project you work in; needed only where told so",
    ),
]
AgentName = Annotated[
    Name,
    Field(
        description="Your name, where you are one of several agents: your own memory"
    ),
]
if TYPE_CHECKING:  # to a checker of types: it cannot read which words these are
    Kind = str
    Category = str
    Scope = str
    Part = str
else:
    Kind = Literal["", *KINDS]
    Category = Literal["", *CATEGORIES]
    Scope = Literal["", *WIDE_SCOPES]
    Part = Literal[*PARTS]
