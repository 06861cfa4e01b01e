"""The third stage, off by default: in which respect facts speak of an entity, those of one entity
in one question.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from keeplore.index.graph import evidence
from keeplore.index.graph.boost import runs_of
from keeplore.index.graph.graph_index import EntityGraph
from keeplore.index.graph.graph_values import TYPES, EntityAspect, canonical
from keeplore.index.graph.linker import linked
from keeplore.memory import Memory
from keeplore.refine.answer_schema import MAX_FACTS, AspectItem, items, schema_of
from keeplore.refine.classify import is_rule_of_others
from keeplore.refine.decide import Proposal
from keeplore.refine.prompts import prompt
from keeplore.refine.triples import key_of, named_in

PROMPT = prompt("aspects")
UNKNOWN = TYPES[-1]
# of a note: a statement is about one thing or two; more of them would say what it mentions
MAX_ASPECTS = 3
# of a conversation: each reads some 250 tokens before it comes to a fact, more than a short talk
# has
MAX_CALLS = 4
LISTED = 12  # aspects of an entity that a model is shown: among more it rather makes a new one
# characters and words of an aspect: it is a name and no sentence
MAX_ASPECT, MAX_WORDS = 40, 5
_LISTS = schema_of(aspects=AspectItem)
SCHEMA = {
    **_LISTS,
    "properties": {
        "type": {"type": "string", "enum": [*TYPES]},
        **_LISTS["properties"],
    },
    "required": ["type", *_LISTS["required"]],
}
_ASPECT = re.compile(r"(?=.*[^\W\d_])[^\W_][\w '/+#&.-]*")


@dataclass(frozen=True, slots=True)
class KnownEntity:
    """What earlier notes say of an entity."""

    type: str = UNKNOWN
    aspects: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AspectGroup:
    """An entity, as the text spells it, with the proposals whose statements name it."""

    entity: str
    known: KnownEntity
    proposals: tuple[Proposal, ...]

    def fact(self, number: int) -> Proposal:
        """By its number in the question, from 1."""
        return self.proposals[number - 1]

    def aspect(self, kind_of_thing: str, name: str, kind: str) -> EntityAspect:
        return EntityAspect(
            canonical(self.entity), self.entity, kind_of_thing, name, kind
        )


def known_to(graph: EntityGraph, project: str) -> Callable[[str], KnownEntity]:
    """Tells of a name what the notes say of what it means in a project, "" for all of them."""

    def known(name: str) -> KnownEntity:
        """The type of what a name means, and its first aspects."""
        entity = graph.entity(name, project)
        names = (
            (aspect_name(row.aspect) for row in graph.aspects(entity)) if entity else ()
        )
        return KnownEntity(
            entity.type if entity else UNKNOWN,
            tuple(dict.fromkeys(filter(None, names)))[:LISTED],
        )

    return known


def names_known_in(statement: str, graph: EntityGraph, project: str) -> tuple[str, ...]:
    """Names in a statement for which there is an entity: for a fact that no triple says anything
    about.
    """
    runs = [run for run in runs_of(statement) if graph.entity(run, project)]
    return tuple(mention.spelling for mention in linked([statement], runs))


def groups(
    proposals: Sequence[Proposal],
    names: Iterable[str],
    known: Callable[[str], KnownEntity],
) -> tuple[AspectGroup, ...]:
    """Whom to ask about, those with most facts first.

    One all of whose facts were asked about with another is left out: a call for it would say them
    once more.
    """
    naming = _facts_by_name(proposals, tuple(names))
    return tuple(
        AspectGroup(name, known(name), tuple(proposals[number] for number in numbers))
        for name, numbers in _chosen(naming)
    )


def _chosen(naming: Mapping[str, Sequence[int]]) -> Iterator[tuple[str, list[int]]]:
    """At most MAX_CALLS names, each with the facts not asked about MAX_ASPECTS times before."""
    times: Counter[int] = Counter()
    calls = 0
    for name in sorted(naming, key=lambda name: -len(naming[name])):
        wanted = [number for number in naming[name] if times[number] < MAX_ASPECTS]
        if calls < MAX_CALLS and any(times[number] == 0 for number in wanted):
            times.update(wanted)
            calls += 1
            yield name, wanted


def _facts_by_name(
    proposals: Sequence[Proposal], names: Sequence[str]
) -> dict[str, list[int]]:
    """The numbers of the facts that name each entity, in the order of the names."""
    naming: dict[str, list[int]] = {name: [] for name in names}
    for number, proposal in enumerate(proposals):
        for name in named_in(proposal.statement, names):
            naming[name].append(number)
    return naming


def question(group: AspectGroup) -> str:
    """What a model is shown of an entity and its facts."""
    known = group.known
    held = set(map(key_of, known.aspects))
    usual = [name for name in suggested(known.type) if key_of(name) not in held]
    facts = "\n".join(
        f"{n}. {' '.join(p.statement.split())}"
        for n, p in enumerate(group.proposals, 1)
    )
    return (
        f"Name: {group.entity} ({known.type})\nIts aspects: "
        f"{', '.join(known.aspects) or '(none)'}\n"
        f"Usual ones: {', '.join(usual)}\n\nFacts:\n{facts}"
    )


def aspects_of(
    answer: Any, group: AspectGroup, redact: Callable[[str], str], dropped: Counter[str]
) -> tuple[tuple[str, EntityAspect], ...]:
    """Statements with the aspect of the entity that each is about; what is not sound is counted.

    Raises ValueError for no answer.
    """
    found = items(answer, "aspects", AspectItem, MAX_FACTS, dropped)
    kind_of_thing = _type(answer, group.known, dropped)
    listed = _spellings((*suggested(kind_of_thing), *group.known.aspects))
    made: dict[int, tuple[str, EntityAspect]] = {}
    for item, name in _sound(found, group, redact, dropped):
        spelt = listed.setdefault(key_of(name), name)
        aspect = group.aspect(kind_of_thing, spelt, item.kind)
        made[item.fact] = (group.fact(item.fact).statement, aspect)
    return tuple(made[number] for number in sorted(made))


def _spellings(names: Iterable[str]) -> dict[str, str]:
    """The names by the keys under which they are compared."""
    return {key_of(name): name for name in names}


def _sound(
    found: Iterable[AspectItem],
    group: AspectGroup,
    redact: Callable[[str], str],
    dropped: Counter[str],
) -> Iterator[tuple[AspectItem, str]]:
    """The first sound item of each fact, with the name of its aspect."""
    named: set[int] = set()
    for item in found:
        if not 1 <= item.fact <= len(group.proposals):
            dropped["aspects: unknown fact"] += 1
            continue
        if item.fact in named:
            dropped["aspects: twice"] += 1
            continue
        name = aspect_name(redact(item.aspect))
        trust = group.fact(item.fact).fact.trust
        if not name or is_rule_of_others(name, trust):
            dropped["aspects: no name of an aspect"] += 1
            continue
        named.add(item.fact)
        yield item, name


def suggested(kind_of_thing: str) -> tuple[str, ...]:
    """The aspects that things of a type usually have, as the prompt's version has them."""
    rows = (row.partition(": ") for row in PROMPT.table)
    return next(
        (tuple(names.split(", ")) for name, _, names in rows if name == kind_of_thing),
        (),
    )


def aspect_name(name: str) -> str:
    """The name of an aspect in small letters, so that all machines write one the same; ""
    for none.
    """
    plain = canonical(name)
    is_name = (
        len(plain) <= MAX_ASPECT
        and len(plain.split()) <= MAX_WORDS
        and _ASPECT.fullmatch(_letters(plain))
    )
    return plain if is_name else ""


def _letters(name: str) -> str:
    """Without the marks that belong to letters of many scripts, and are none themselves."""
    return "".join(
        character
        for character in name
        if not unicodedata.category(character).startswith("M")
    )


def stored(meta: Mapping[str, Any]) -> tuple[EntityAspect, ...]:
    """The sound aspects in front matter, or in an audit line: anybody may have written it."""
    found = (
        aspect
        for aspect in evidence.aspects_of(Memory(meta, ""))
        if aspect_name(aspect.aspect)
    )
    return tuple(found)[:MAX_ASPECTS]


def as_meta(aspect: EntityAspect) -> dict[str, str]:
    """As a note's front matter has it."""
    return {
        "entity": aspect.spelling,
        "type": aspect.type,
        "aspect": aspect.aspect,
        "kind": aspect.kind,
    }


def _type(answer: Any, known: KnownEntity, dropped: Counter[str]) -> str:
    """What an entity is: as it is known, else as the model says."""
    told = answer.get("type") if isinstance(answer, Mapping) else None
    if told is not None and not (isinstance(told, str) and told in TYPES):
        dropped["aspects: unknown type"] += 1
        told = None
    return str(told) if told and known.type == UNKNOWN else known.type
