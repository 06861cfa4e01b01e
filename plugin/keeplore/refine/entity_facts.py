"""What was told of entities, as front matter of the note whose statement names them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from keeplore.index.graph import evidence
from keeplore.index.graph.graph_values import EntityAspect
from keeplore.memory import Memory
from keeplore.memory.model import without_empty
from keeplore.refine.aspects import as_meta, stored_aspects
from keeplore.refine.triples import Triple, named_in, triples_about
from keeplore.text.fences import sanitise


@dataclass(frozen=True, slots=True)
class EntityFacts:
    """``aspects`` are those of a statement."""

    triples: tuple[Triple, ...]
    aspects: Mapping[str, tuple[EntityAspect, ...]] = field(default_factory=dict)

    def of(self, statement: str) -> dict[str, Any]:
        """Front matter of a note that states this; nothing where nothing was told."""
        fields = {
            "entities": [
                triple.as_meta() for triple in triples_about(self.triples, statement)
            ],
            "aspects": [as_meta(aspect) for aspect in self.aspects.get(statement, ())],
        }
        return without_empty(fields)

    def unstated(self, statements: Sequence[str]) -> list[Triple]:
        """The triples that none of these statements names both ends of."""
        stated = set[Triple]()
        for statement in statements:
            stated.update(triples_about(self.triples, statement))
        return [triple for triple in self.triples if triple not in stated]


def facts_in(fields: Mapping[str, Any], statement: str) -> dict[str, Any]:
    """Front matter as ``EntityFacts.of`` gives it, from the fields of an audit line: those that are
    sound, about the entities that the statement names.
    """
    statement = sanitise(statement)
    aspects = stored_aspects(fields)
    named = named_in(statement, {aspect.spelling for aspect in aspects})
    aspects_named = tuple(aspect for aspect in aspects if aspect.spelling in named)
    triples = tuple(
        Triple(r.source_spelling, r.relationship, r.target_spelling, r.confidence)
        for r in evidence.relations_of(Memory(fields, ""))
    )
    return EntityFacts(triples, {statement: aspects_named}).of(statement)
