"""The third stage, off by default: in which respect facts speak of the entities that they name, in
one question for a conversation.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from keeplore.index.graph import evidence
from keeplore.index.graph.boost import runs_of
from keeplore.index.graph.graph_index import EntityGraph
from keeplore.index.graph.graph_values import TYPES, EntityAspect, canonical_name
from keeplore.index.graph.linker import names_in
from keeplore.memory import Memory
from keeplore.refine.answers.answer_schema import (
    MAX_FACTS,
    AspectItem,
    items,
    schema_of,
)
from keeplore.refine.classify import is_rule_of_others
from keeplore.refine.decide import Proposal
from keeplore.refine.prompts import prompt
from keeplore.refine.triples import key_of, named_in

PROMPT = prompt("aspects")
UNKNOWN = TYPES[-1]
# of a note: a statement is about one thing or two; more of them would say what it mentions
MAX_ASPECTS = 3
MAX_ENTITIES = 8  # of a conversation, with what is known of each
LISTED = 12  # aspects of an entity that a model is shown: among more it rather makes a new one
# characters and words of an aspect: it is a name and no sentence
MAX_ASPECT, MAX_WORDS = 40, 5
SCHEMA = schema_of(aspects=AspectItem)
_ASPECT = re.compile(r"(?=.*[^\W\d_])[^\W_][\w '/+#&.-]*")


@dataclass(frozen=True, slots=True)
class KnownEntity:
    """What earlier notes say of an entity."""

    type: str = UNKNOWN
    aspects: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AspectGroup:
    """An entity, as the text spells it, with the places in a question of the facts that name it."""

    entity: str
    known: KnownEntity
    facts: frozenset[int]


@dataclass(frozen=True, slots=True)
class AspectQuestion:
    """What a model is asked of a conversation: ``facts`` are numbered from 1."""

    groups: tuple[AspectGroup, ...]
    facts: tuple[Proposal, ...]

    def fact(self, number: int) -> Proposal:
        return self.facts[number - 1]

    def group(self, name: str) -> AspectGroup | None:
        """The group of the entity that a model names, however it spells it."""
        wanted = key_of(name)
        return next(
            (group for group in self.groups if key_of(group.entity) == wanted), None
        )

    @property
    def text(self) -> str:
        """What a model is shown."""
        types = dict.fromkeys(group.known.type for group in self.groups)
        usual = (f"{kind}: {', '.join(usual_aspects(kind))}" for kind in types)
        facts = (
            f"{number}. {' '.join(fact.statement.split())}"
            for number, fact in enumerate(self.facts, 1)
        )
        parts = (map(_group_text, self.groups), usual, facts)
        named, offered, stated = ("\n".join(lines) for lines in parts)
        return f"Things:\n{named}\n\nUsual aspects:\n{offered}\n\nFacts:\n{stated}"


def _group_text(group: AspectGroup) -> str:
    """A thing with what is known of it."""
    known = group.known
    aspects = f": {', '.join(known.aspects)}" if known.aspects else ""
    return f"{group.entity} ({known.type}){aspects}"


def known_to(graph: EntityGraph, project: str) -> Callable[[str], KnownEntity]:
    """A function that tells of a name what the notes know of the entity, from a project or, for "",
    from all.
    """

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
    return tuple(mention.spelling for mention in names_in([statement], runs))


def question_about(
    proposals: Iterable[Proposal],
    names: Iterable[str],
    known: Callable[[str], KnownEntity],
) -> AspectQuestion:
    """Whom to ask about, those with most facts first; without any where no fact names one.

    One all of whose facts are asked about with others is left out.
    """
    facts = tuple(proposals)
    chosen = [*_chosen_groups(_facts_by_name(facts, tuple(names)))]
    asked = sorted(set(chain.from_iterable(numbers for _, numbers in chosen)))
    places = {number: place for place, number in enumerate(asked, 1)}
    groups = (
        AspectGroup(name, known(name), frozenset(map(places.__getitem__, numbers)))
        for name, numbers in chosen
    )
    return AspectQuestion(tuple(groups), tuple(facts[number] for number in asked))


def _chosen_groups(
    naming: Mapping[str, Sequence[int]],
) -> Iterator[tuple[str, list[int]]]:
    """At most MAX_ENTITIES, each with the facts not asked about MAX_ASPECTS times before."""
    times: Counter[int] = Counter()
    count = 0
    for name in sorted(naming, key=lambda name: -len(naming[name])):
        wanted = [number for number in naming[name] if times[number] < MAX_ASPECTS]
        if count < MAX_ENTITIES and any(times[number] == 0 for number in wanted):
            times.update(wanted)
            count += 1
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


def aspects_of(
    answer: Any,
    question: AspectQuestion,
    redact: Callable[[str], str],
    dropped: Counter[str],
) -> dict[str, tuple[EntityAspect, ...]]:
    """The aspects of each statement; what is not sound is counted. Raises ValueError for no
    answer.
    """
    found = items(answer, "aspects", AspectItem, MAX_FACTS * MAX_ASPECTS, dropped)
    types: dict[str, str] = {}
    # number of a fact → entity → its aspect
    made: dict[int, dict[str, EntityAspect]] = {}
    # entity → key of an aspect's name → how it is spelt first
    spelt: dict[str, dict[str, str]] = {}
    for item, group in _about_listed(found, question, dropped):
        kind_of_thing = _type(item, group, types, dropped)
        listed = spelt.setdefault(
            group.entity,
            _spellings((*usual_aspects(kind_of_thing), *group.known.aspects)),
        )
        name = aspect_name(redact(item.aspect))
        trust = question.fact(item.fact).fact.trust
        if not name or is_rule_of_others(name, trust):
            dropped["aspects: no name of an aspect"] += 1
            continue
        own = made.setdefault(item.fact, {})
        if group.entity in own:
            dropped["aspects: twice"] += 1
            continue
        own[group.entity] = EntityAspect(
            canonical_name(group.entity),
            group.entity,
            kind_of_thing,
            listed.setdefault(key_of(name), name),
            item.kind,
        )
    return {
        question.fact(number).statement: tuple(made[number].values())
        for number in sorted(made)
    }


def _about_listed(
    items: Iterable[AspectItem], question: AspectQuestion, dropped: Counter[str]
) -> Iterator[tuple[AspectItem, AspectGroup]]:
    """Items about a fact and a listed thing that it names."""
    for item in items:
        group = question.group(item.name)
        if group is None or item.fact not in group.facts:
            dropped["aspects: unknown fact or thing"] += 1
        else:
            yield item, group


def _spellings(names: Iterable[str]) -> dict[str, str]:
    """The names by the keys under which they are compared."""
    return {key_of(name): name for name in names}


def usual_aspects(kind_of_thing: str) -> tuple[str, ...]:
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
    plain = canonical_name(name)
    is_name = (
        len(plain) <= MAX_ASPECT
        and len(plain.split()) <= MAX_WORDS
        and _ASPECT.fullmatch(_letters(plain))
    )
    return plain if is_name else ""


def _letters(name: str) -> str:
    """The text without combining marks."""
    return "".join(
        character
        for character in name
        if not unicodedata.category(character).startswith("M")
    )


def stored_aspects(meta: Mapping[str, Any]) -> tuple[EntityAspect, ...]:
    """The sound aspects in front matter, or in an audit line: anybody may have written it."""
    found = (
        aspect
        for aspect in evidence.aspects_of(Memory(meta, ""))
        if aspect_name(aspect.aspect)
    )
    return tuple(found)[:MAX_ASPECTS]


def as_meta(aspect: EntityAspect) -> dict[str, str]:
    """The aspect in the form of a note's front matter."""
    return {
        "entity": aspect.spelling,
        "type": aspect.type,
        "aspect": aspect.aspect,
        "kind": aspect.kind,
    }


def _type(
    item: AspectItem, group: AspectGroup, types: dict[str, str], dropped: Counter[str]
) -> str:
    """What an entity is: as it is known, else as the model says of it first."""
    type_ = item.type
    if type_ and type_ not in TYPES:
        dropped["aspects: unknown type"] += 1
        type_ = ""
    if group.known.type != UNKNOWN:
        return group.known.type
    if type_:
        types.setdefault(group.entity, type_)
    return types.get(group.entity, UNKNOWN)
