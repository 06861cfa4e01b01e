"""From when to when a relation holds, by the memories that state it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from keeplore.index.graph.relation_spans import (
    RelatedEntity,
    StatedRelation,
    join_relations,
    relations_at,
)

FASTLY = RelatedEntity("shop", "uses", "Fastly", 0.9, 1, "fastly", "")
CLOUDFLARE = RelatedEntity("shop", "uses", "Cloudflare", 0.8, 1, "cloudflare", "")


def stated(
    relation: RelatedEntity, memory: str, since: str, until: str = ""
) -> StatedRelation:
    return StatedRelation(replace(relation, since=since, until=until), memory)


SAID = [
    stated(FASTLY, "m1", "2026-01-01T08:00:00Z", "2026-02-01T08:00:00Z"),
    stated(FASTLY, "m2", "2026-02-01T08:00:00Z", "2026-03-01T08:00:00Z"),
    stated(CLOUDFLARE, "m3", "2026-03-01T08:00:00Z"),
    StatedRelation(replace(FASTLY, relationship="knows")),  # by a manifest
]


def spans(at: str, ended: dict[str, str] | None = None) -> list[tuple[str, ...]]:
    found = relations_at(SAID, at, lambda memory: (ended or {}).get(memory, ""))
    return sorted((one.relationship, one.target, one.since, one.until) for one in found)


KNOWN = ("knows", "Fastly", "", "")
OLD = ("uses", "Fastly", "2026-01-01T08:00:00Z", "2026-03-01T08:00:00Z")
NEW = ("uses", "Cloudflare", "2026-03-01T08:00:00Z", "")


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        ("", [KNOWN, NEW]),
        ("2025-12-31T23:59:59Z", [KNOWN]),
        ("2026-01-01T08:00:00Z", [KNOWN, OLD]),
        ("2026-02-15T08:00:00Z", [KNOWN, OLD]),
        ("2026-03-01T07:59:59Z", [KNOWN, OLD]),
        ("2026-03-01T08:00:00Z", [KNOWN, NEW]),
    ],
)
def test_a_relation_holds_until_the_last_version_that_states_it_is_replaced(
    at: str, expected: list[tuple[str, ...]]
) -> None:
    assert spans(at) == expected


def test_what_another_memory_replaced_ends_then_too() -> None:
    ended = {"m3": "2026-04-01T08:00:00Z", "m1": "2026-01-02T08:00:00Z"}
    assert spans("", ended) == [KNOWN]
    assert spans("2026-03-15T08:00:00Z", ended) == [
        KNOWN,
        ("uses", "Cloudflare", "2026-03-01T08:00:00Z", "2026-04-01T08:00:00Z"),
    ]


def test_it_is_as_sure_as_those_that_state_it_at_that_time() -> None:
    both = [
        stated(FASTLY, "m1", "2026-01-01T08:00:00Z", "2026-02-01T08:00:00Z"),
        stated(replace(FASTLY, confidence=0.5), "m4", "2026-01-10T08:00:00Z"),
    ]
    [now] = relations_at(both, "", lambda _: "")
    assert (now.mentions, now.confidence, now.since) == (1, 0.5, "2026-01-01T08:00:00Z")
    [then] = relations_at(both, "2026-01-20T08:00:00Z", lambda _: "")
    assert (then.mentions, then.confidence) == (2, pytest.approx(0.7))


def test_a_gap_in_which_nothing_stated_it_parts_one_span_from_another() -> None:
    parts = [
        stated(FASTLY, "m1", "2026-01-01", "2026-02-01"),
        stated(FASTLY, "m2", "2026-01-15", "2026-03-01"),
        stated(FASTLY, "m3", "2026-03-02", "2026-04-01"),
        stated(FASTLY, "m4", "2026-04-01", "2026-05-01"),
    ]

    def span(at: str) -> list[tuple[str, str, int]]:
        found = relations_at(reversed(parts), at, lambda _: "")
        return [(one.since, one.until, one.mentions) for one in found]

    first, second = ("2026-01-01", "2026-03-01"), ("2026-03-02", "2026-05-01")
    assert span("2026-01-10") == [(*first, 1)]
    assert span("2026-01-20") == [(*first, 2)]
    assert span("2026-02-01") == [(*first, 1)]
    assert span("2026-03-01") == []
    assert span("2026-03-02") == span("2026-04-01") == [(*second, 1)]
    assert span("2026-05-01") == span("") == []
    parts.append(stated(FASTLY, "m5", "2026-04-15"))
    assert span("") == [("2026-03-02", "", 1)]
    assert span("2026-04-20") == [("2026-03-02", "", 2)]
    assert span("2026-03-02") == [("2026-03-02", "", 1)]


def test_the_most_often_stated_comes_first_then_the_surest_then_by_name() -> None:
    twice = [stated(FASTLY, memory, "2026-01-01") for memory in ("m1", "m2")]
    sure = [stated(CLOUDFLARE, "m3", "2026-01-01")]
    less = [
        stated(replace(CLOUDFLARE, confidence=0.1, source=name), "m4", "2026-01-01")
        for name in ("b", "a")
    ]
    other = [stated(replace(CLOUDFLARE, other_place="x"), "m5", "2026-01-01")]
    found = relations_at([*less, *other, *sure, *twice], "", lambda _: "")
    assert [(one.source, one.target, one.other_place) for one in found] == [
        ("shop", "Fastly", ""),
        ("shop", "Cloudflare", "x"),
        ("shop", "Cloudflare", ""),
        ("a", "Cloudflare", ""),
        ("b", "Cloudflare", ""),
    ]


@pytest.mark.parametrize(
    ("untils", "until"),
    [
        (("2026-03-01", "2026-02-01"), "2026-03-01"),
        (("2026-02-01", "2026-03-01"), "2026-03-01"),
        (("", "2026-03-01"), ""),
        (("2026-03-01", ""), ""),
    ],
)
def test_what_two_graphs_state_is_counted_together(
    untils: tuple[str, str], until: str
) -> None:
    one = replace(FASTLY, mentions=3, since="2026-01-02", until=untils[0])
    other = replace(
        FASTLY, mentions=1, since="2026-01-01", until=untils[1], confidence=0.5
    )
    assert join_relations(one, other) == replace(
        FASTLY,
        confidence=pytest.approx(0.8),
        mentions=4,
        since="2026-01-01",
        until=until,
    )
