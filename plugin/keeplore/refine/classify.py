"""What kind of note a fact becomes: scope and category from the fixed lists, and whether it is kept
for good.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from keeplore.memory import CATEGORIES
from keeplore.recall.unasked.prompt_injection import is_suspect
from keeplore.text import agent_scope

SURE = 0.85  # of what holds for good: how surely a model must say that it was settled at all
CATEGORY_OF: Mapping[str, str] = {
    "decision": "architectural-decisions",
    "preference": "coding-preferences",
    "convention": "project-conventions",
    "gotcha": "gotchas",
    "correction": "corrections",
    "fact": "user-facts",
    "pattern": "patterns",
}
# what a person says of themselves or of all their work may count beyond the project in which it was
# said
WIDE_TYPES = ("preference", "fact", "correction", "convention")


@dataclass(frozen=True, slots=True)
class ConversationPlace:
    """Where the conversation was; ``has_user_scope`` where its workspace is the person's own."""

    scope: str
    project: str
    has_user_scope: bool = False


@dataclass(frozen=True, slots=True)
class FactClaim:
    """What a model said of a fact, as it said it, and whose words the fact is made from."""

    type: str
    scope: str
    category: str
    confidence: float
    lasting: float
    trust: str


@dataclass(frozen=True, slots=True)
class NoteKind:
    scope: str
    project: str
    category: str
    is_permanent: bool


def kind_of(
    claim: FactClaim, place: ConversationPlace, least_lasting: float
) -> NoteKind:
    """Scope and category of a fact; what is not in the lists is taken from the conversation and the
    type.

    A scope wider than the conversation's is only believed of the user's own words, since other
    projects inherit it. It is permanent where the model is as sure as ``least_lasting`` that it
    holds for good: what is permanent is told for ever.
    """
    scope = place.scope
    is_users = claim.trust == "user"
    if is_users and claim.type in WIDE_TYPES and claim.scope in ("workspace", "user"):
        scope = (
            "user" if claim.scope == "user" and place.has_user_scope else "workspace"
        )
    is_lasting = claim.lasting >= least_lasting and claim.confidence >= SURE
    return NoteKind(
        scope,
        place.project if agent_scope.is_of_project(scope) else "",
        claim.category if claim.category in CATEGORIES else CATEGORY_OF[claim.type],
        is_lasting and is_users,
    )


def is_rule_of_others(statement: str, trust: str) -> bool:
    """True for instruction-shaped text that the user did not say: it never becomes a note
    unasked.
    """
    return trust != "user" and is_suspect(statement)
