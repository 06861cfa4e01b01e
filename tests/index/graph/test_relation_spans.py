"""From when to when a relation holds, by the memories that state it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from keeplore.index.graph.relation_spans import (
    RelatedEntity,
    StatedRelation,
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
