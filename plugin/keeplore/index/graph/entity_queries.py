"""What the graph is asked and what it answers. Which thing a name means is found when somebody
asks, never stored.

A name means a project's own thing where a file of that project defines it; else the thing that all
projects share, where a file or a memory of the workspace defines it, or a command shows that it is
a program: these are the same everywhere; else the thing that memories of the project itself define.
So the same name in two projects is two things until something says otherwise.
"""

from __future__ import annotations

import sqlite3
from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property

from keeplore.index.graph.graph_rows import CODES, MILLION
from keeplore.index.graph.graph_values import TYPES, canonical_name
from keeplore.index.graph.relation_spans import RelatedEntity, StatedRelation, end_times
from keeplore.index.memory_queries import superseded
from keeplore.index.sql import (
    ASK_AT_ONCE,
    column,
    escaped_like,
    in_list,
    scope_ids,
    value,
)
from keeplore_hooks.contracts import ScopeFilter

SHARED = ""
_TYPE_OF_CODE = (
    f"CASE type "
    f"{' '.join(f'WHEN {code} THEN {type_!r}' for type_, code in CODES.items())} END"
)
# what somebody wrote down of an entity comes before what a manifest has
_STANDS_FOR = (
    "SELECT d.place, d.entity FROM definitions d JOIN names e ON e.id = d.entity WHERE d.name = ?"
    " ORDER BY d.path LIKE '%entities/%' DESC, e.name"
)

_OLD = (
    "SELECT DISTINCT k.key FROM links l JOIN memories k ON k.id = l.target"
    " WHERE l.relationship = 'supersedes'"
)


@dataclass(frozen=True, slots=True)
class Entity:
    """Somebody or something that memories are about."""

    name: str  # canonical
    spelling: str
    type: str  # one of names.TYPES
    place: str  # the project whose own it is, "" where all share it
    mentions: int  # memories that mention it, each with its newest version alone
    aliases: tuple[str, ...]  # canonical

    @property
    def order(self) -> tuple[int, str, str]:
        """The most mentioned comes first."""
        return -self.mentions, self.name, self.place


@dataclass(frozen=True, slots=True)
class AspectRow:
    aspect: str
    kind: str  # attribute | constraint
    memories: tuple[str, ...]  # ids

    @property
    def order(self) -> tuple[int, str, str]:
        """What most memories say comes first."""
        return -len(self.memories), self.aspect, self.kind


_Meaning = tuple[int, str]  # the id of a name, and the place whose own thing it is


@dataclass(frozen=True, slots=True)
class _StatedRow:
    source: _Meaning
    kind: str
    target: _Meaning
    confidence: int  # millionths
    memory: str  # id, "" for another file
    since: str


@dataclass(slots=True)
class _NameMeanings:
    """What is said of one name in all places."""

    id: int
    # place → id of the name that it stands for there, by files
    own: dict[str, int] = field(default_factory=dict)
    # places whose memories show that there is such a thing
    showing: set[str] = field(default_factory=set)
    counts: dict[str, int] = field(default_factory=dict)  # place → memories

    def meaning_from(self, place: str) -> _Meaning | None:
        """Name and place of the entity that a name means when asked from a place; None where it
        means nothing there.
        """
        for where in (place, SHARED):
            if where in self.own:
                return self.own[where], where
        for where in (SHARED, place):
            if where in self.showing:
                return self.id, where
        return None

    @property
    def places(self) -> set[str]:
        return self.own.keys() | self.showing | self.counts.keys()


def _most_said(rows: Iterable[tuple[int, str]]) -> str:
    """The known type that is counted most, "" for none."""
    known = [(-count, TYPES.index(kind)) for count, kind in rows if kind in TYPES[:-1]]
    return TYPES[min(known)[1]] if known else ""


class GraphReader:
    """The graph as one connection sees it."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._name = cache(self._load_meanings)

    def entities(self, allowed: ScopeFilter, like: str, limit: int) -> list[Entity]:
        """The most mentioned first; ``like`` is a part of their names."""
        sql = (
            "SELECT id, mentions FROM names WHERE defined > 0 AND name LIKE ? ESCAPE '\\' ORDER "
            "BY mentions DESC, name"
        )
        found: dict[tuple[int, str], Entity] = {}
        counts: list[int] = []  # of those found, in order
        places = {project for _, project in allowed.scopes}
        for id_, mentions in self._connection.execute(
            sql, (f"%{escaped_like(canonical_name(like))}%",)
        ):
            # what several projects mention is several things
            if len(counts) - bisect_left(counts, mentions) >= limit:
                break
            for meant in self._meanings(id_):
                if (not allowed.scopes or meant[1] in places) and meant not in found:
                    found[meant] = self._entity(*meant)
                    insort(counts, found[meant].mentions)
        return sorted(found.values(), key=lambda one: one.order)[:limit]

    def named(self, name: str) -> list[Entity]:
        """Everything that a name means in some place, the most mentioned first."""
        id_ = self._id(name)
        found = [self._entity(*meant) for meant in self._meanings(id_)] if id_ else []
        return sorted(found, key=lambda e: (-e.mentions, e.place))

    def entity(self, name: str, project: str) -> Entity | None:
        """What a name means in a project; without one what it means to all, or the only thing that
        it means.
        """
        id_ = self._id(name)
        meant = self._name(id_).meaning_from(project) if id_ else None
        if meant:
            return self._entity(*meant)
        found = self.named(name) if not project else []
        return found[0] if len(found) == 1 else None

    def relations(self, entity: Entity, allowed: ScopeFilter) -> list[StatedRelation]:
        """The relations of which the entity is source or target, with how often they are stated
        within the allowed scopes.
        """
        rows = self._stated_rows(entity, allowed)
        here = (self._id(entity.name), entity.place)
        until = end_times(self._connection, {row.memory for row in rows if row.memory})
        found = []
        for row in rows:
            other, place = row.target if row.source == here else row.source
            relation = RelatedEntity(
                self._spelling(*row.source),
                row.kind,
                self._spelling(*row.target),
                row.confidence / MILLION,
                1,
                self._text(other),
                place,
                row.since,
                until.get(row.memory, ""),
            )
            found.append(StatedRelation(relation, row.memory))
        return found

    def _stated_rows(self, entity: Entity, allowed: ScopeFilter) -> list[_StatedRow]:
        """The stated relations that begin or end at this entity, seen from these scopes."""
        seen = {SHARED, *(project for _, project in allowed.scopes)}
        here = (self._id(entity.name), entity.place)
        found = []
        for place, source, kind, target, *facts in self._relation_rows(*here):
            if allowed.scopes and place not in seen:
                continue
            begin, end = (
                self._name(source).meaning_from(place),
                self._name(target).meaning_from(place),
            )
            if here in (begin, end) and begin and end:
                found.append(_StatedRow(begin, kind, end, *facts))
        return found

    def _relation_rows(self, id_: int, place: str) -> sqlite3.Cursor:
        """Place, source, relationship, target, confidence, memory and its time of all that name an
        entity.
        """
        names = [id_, *self._aliases(id_, place)]
        return self._connection.execute(
            "SELECT place, source, relationship, target, confidence, coalesce(k.id, ''),"
            " coalesce(k.created_at, '') FROM relations r LEFT JOIN memories k ON k.path = r.path"
            f" WHERE {in_list('source', names)} OR {in_list('target', names)}"  # whole numbers
        )

    def mentioning(
        self, entity: Entity, allowed: ScopeFilter, limit: int
    ) -> list[tuple[str, str]]:
        """Ids of the memories that mention the entity, each with the spelling it uses, the last
        changed first; old versions are left out.
        """
        where = self._thing_condition(
            self._id(entity.name), entity.place, "m.name", "m.scope_id"
        )
        within = in_list("m.scope_id", scope_ids(self._connection, allowed))
        sql = (
            "SELECT k.id, coalesce(m.spelling, n.name) FROM mentions "
            "m"  # whole numbers
            " JOIN memories k ON k.key = m.memory JOIN names n ON n.id = m.name"
            f" WHERE {within} AND ({where}) ORDER BY k.updated_at DESC, k.id"
        )
        rows = self._connection.execute(sql)
        found: dict[str, str] = {}
        while len(found) < limit and (batch := rows.fetchmany(ASK_AT_ONCE)):
            old = superseded(self._connection, (memory for memory, _ in batch))
            for memory, spelling in batch:
                if memory not in old:
                    found.setdefault(memory, spelling)
        return list(found.items())[:limit]

    def aspects(self, entity: Entity) -> list[AspectRow]:
        """Under which aspects notes speak of the entity, the most frequent first."""
        where = self._thing_condition(
            self._id(entity.name), entity.place, "a.name", "k.scope_id"
        )
        sql = (
            "SELECT a.aspect, a.kind, k.id FROM aspects a JOIN memories k ON k.key = "
            "a.memory"  # whole numbers
            f" WHERE {where} ORDER BY k.id"
        )
        rows = self._connection.execute(sql)
        found: dict[tuple[str, str], list[str]] = {}
        for aspect, kind, memory in rows:
            found.setdefault((aspect, kind), []).append(memory)
        made = [AspectRow(*key, tuple(memories)) for key, memories in found.items()]
        return sorted(made, key=lambda row: row.order)

    def _meanings(self, id_: int) -> list[_Meaning]:
        name = self._name(id_)
        return sorted(
            {meant for place in name.places if (meant := name.meaning_from(place))}
        )

    def _id(self, name: str) -> int:
        sql = "SELECT id FROM names WHERE name = ?"
        return int(value(self._connection, sql, (canonical_name(name),)) or 0)

    def _text(self, id_: int) -> str:
        return str(
            value(self._connection, "SELECT name FROM names WHERE id = ?", (id_,))
        )

    def _load_meanings(self, id_: int) -> _NameMeanings:
        """What a name stands for in each place by files, and where memories show that it exists."""
        found = _NameMeanings(id_)
        for place, entity in self._connection.execute(_STANDS_FOR, (id_,)):
            found.own.setdefault(place, entity)
        found.counts = self._by_place(
            "SELECT scope_id, count(*) FROM mentions WHERE name = ? GROUP BY scope_id",
            id_,
        )
        showing = (
            f"SELECT scope_id, max(type = {CODES['tool']}) FROM "
            f"mentions"  # a number of ours
            " WHERE name = ? AND type > 0 GROUP BY scope_id"
        )
        shown = self._by_place(showing, id_)
        found.showing = {*shown, SHARED} if any(shown.values()) else set(shown)
        return found

    def _by_place(self, sql: str, id_: int) -> dict[str, int]:
        projects = self._projects
        found: Counter[str] = Counter()
        for scope, count in self._connection.execute(sql, (id_,)):
            found[projects[scope]] += count
        return dict(found)

    @cached_property
    def _projects(self) -> Mapping[int, str]:
        return dict(self._connection.execute("SELECT id, project FROM scopes"))

    def _aliases(self, id_: int, place: str) -> list[int]:
        sql = (
            "SELECT DISTINCT name FROM definitions"
            " WHERE entity = ? AND name != entity AND place = ?"
        )
        return [
            alias
            for alias in column(self._connection, sql, (id_, place))
            if self._name(alias).meaning_from(place) == (id_, place)
        ]

    def _scopes_meaning(self, name: int, thing: _Meaning) -> list[int]:
        """The scopes in which a name means a thing."""
        means = self._name(name).meaning_from
        return [
            scope
            for scope, project in self._projects.items()
            if means(project) == thing
        ]

    def _thing_condition(self, id_: int, place: str, name: str, scope: str) -> str:
        """The condition on two columns that a row is about a thing: by one of its names, where that
        means it.
        """
        found = []
        for other in (id_, *self._aliases(id_, place)):
            scopes = in_list(scope, self._scopes_meaning(other, (id_, place)))
            found.append(f"{name} = {other} AND {scopes}")
        return " OR ".join(found)

    def _entity(self, id_: int, place: str) -> Entity:
        """The thing that a name means in a place, with its spelling, type, other names and
        mentions.
        """
        aliases = self._aliases(id_, place)
        if aliases:  # a memory may use several of its names
            count = self._mentions(id_, place)
        else:
            name = self._name(id_)
            count = sum(
                count
                for where, count in name.counts.items()
                if name.meaning_from(where) == (id_, place)
            )
        if self._old:
            count -= self._mentions(id_, place, in_list("memory", self._old))
        spelling, type_ = self._spelling(id_, place), self._most_stated_type(id_, place)
        names = tuple(sorted(map(self._text, aliases)))
        return Entity(self._text(id_), spelling, type_, place, count, names)

    def _mentions(self, id_: int, place: str, among: str = "1") -> int:
        """How many memories that meet a condition mention an entity by one of its names."""
        where = self._thing_condition(id_, place, "name", "scope_id")  # whole numbers
        sql = f"SELECT count(DISTINCT memory) FROM mentions WHERE {among} AND ({where})"
        return int(value(self._connection, sql))

    @cached_property
    def _old(self) -> list[int]:
        """The earlier versions of memories."""
        return column(self._connection, _OLD)

    def _spelling(self, id_: int, place: str) -> str:
        """The spelling of an entity by files, else the one that most notes use."""
        sql = "SELECT min(spelling) FROM definitions WHERE name = ? AND entity = name AND place = ?"
        for where in (place, SHARED):
            if found := value(self._connection, sql, (id_, where)):
                return str(found)
        scopes = in_list("scope_id", self._scopes_meaning(id_, (id_, place)))
        sql = (
            "SELECT coalesce(spelling, ?) FROM mentions"  # whole numbers
            f" WHERE name = ? AND type > 0 AND {scopes}"
            " GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 1"
        )
        name = self._text(id_)
        return str(value(self._connection, sql, (name, id_)) or name)

    def _most_stated_type(self, id_: int, place: str) -> str:
        """The type of an entity by what files say, else by what notes say, else by what is evident;
        within each, the most frequent one.
        """
        scopes = [
            scope
            for scope, project in self._projects.items()
            if place in (SHARED, project)
        ]
        aspects = (
            f"aspects a JOIN memories k ON k.key = a.memory WHERE "
            f"{in_list('k.scope_id', scopes)} AND a.name = :name"
        )
        for said in (
            "type FROM definitions WHERE name = :name AND entity = name AND place = :place",
            f"a.type FROM {aspects} AND a.name = :name",
            f"{_TYPE_OF_CODE} FROM mentions WHERE {in_list('scope_id', scopes)} AND name = :name",
        ):
            sql = f"SELECT count(*), {said} GROUP BY 2"  # ours
            rows = self._connection.execute(sql, {"name": id_, "place": place})
            if known := _most_said(rows):
                return known
        return "unknown"
