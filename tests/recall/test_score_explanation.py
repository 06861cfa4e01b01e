"""Every part of a score is told, and why a memory was not found; through real files, the real index
and the model.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from written_down import written_lines

from keeplore.index import Embedder, Index
from keeplore.recall.answer import NO_WORD, recall
from keeplore.recall.prepare import RecallDeps
from keeplore.recall.ranking.rank import PARTS
from keeplore.recall.request import Answer, RecallRequest, SearchScope
from keeplore.recall.score_explanation import ScoreExplanation, explain_score
from keeplore.recall.weights import WEIGHTS
from keeplore.store import Store

NOW = datetime(2026, 5, 1, tzinfo=UTC)
API = SearchScope("kasha-api")
QUERIES = (
    "why did we drop Redis",
    "what did we decide about Redis in March 2026?",
    "integration tests against the bank fail on the weekend",
    "how do we store money",
    "Redis",
    "do we ever test our backups",
)
WEB, OPS = SearchScope("lumen-web"), SearchScope("orbit-infra")
ELSEWHERE = {
    "what did we decide about CSS modules and utility classes?": WEB,
    "which state library did we choose for the client": WEB,
    "why Nomad instead of Kubernetes?": OPS,
    "what happened with the disk that filled up in January": OPS,
    "when was the last deploy on a Friday": OPS,
    "restore.sh": OPS,
    "what was decided on amounts in the API: integers in the smallest unit?": API,
    "decided to sign the raw body with HMAC-SHA256": API,
}


@dataclass(frozen=True)
class Asked:
    """One question to one index."""

    index: Index
    store: Store
    request: RecallRequest
    here: SearchScope = API
    embedder: Embedder | None = None

    def __call__(self, request: RecallRequest, **how: Any) -> Answer:
        weights = how.pop("weights", WEIGHTS)
        deps = RecallDeps(self.index, self.store, self.embedder, weights=weights)
        return recall(deps, request, self.here, now=NOW, **how)

    def why(self, memory: str) -> ScoreExplanation:
        row = self.index.memories([memory])[memory]
        head = self.index.memories([row.superseded_by]).get(row.superseded_by, row)
        return explain_score(
            self, self.request, row, head, index_text(self.index, head.path)
        )


def asked(
    index: Index, store: Store, query: str, here: SearchScope = API, **how: Any
) -> Asked:
    embedder = how.pop("embedder", None)
    return Asked(index, store, RecallRequest(query, **how), here, embedder)


def index_text(index: Index, path: str) -> str:
    return index._store.load(path).body


@pytest.mark.parametrize("query", QUERIES)
def test_the_parts_of_every_hit_add_up_to_its_score(
    written: tuple[Index, Store], embedder: Embedder, query: str
) -> None:
    index, store = written
    ask = asked(index, store, query, embedder=embedder)
    hits = ask(replace(ask.request, limit=50)).hits
    assert hits
    for place, hit in enumerate(hits, 1):
        # a memory's best hit is what is explained
        if hit.memory_id in {better.memory_id for better in hits[: place - 1]}:
            continue
        told = ask.why(hit.memory_id)
        assert (told.is_found, told.place, round(told.score, 3)) == (
            True,
            place,
            hit.score,
        )
        assert (told.memory_id, told.title) == (hit.memory_id, hit.title)
        counted = told.passage.rpartition(": ")[2]  # without who said it
        assert counted and counted in index_text(index, hit.path)
        assert [part.name for part in told.parts][:15] == list(PARTS[:15])
        assert sum(part.odds for part in told.parts) == pytest.approx(
            told.odds, abs=2e-6
        )
        assert all(part.because for part in told.parts if abs(part.odds) > 1e-9)


def test_what_each_part_of_a_score_adds(written: tuple[Index, Store]) -> None:
    """By text alone, since vectors differ a little from machine to machine. To write it anew:
    WRITE_GOLDEN=1 pytest -n0 tests/recall -k each_part, then read the difference.
    """
    index, store = written
    seen = []
    places = {**dict.fromkeys(QUERIES, API), **ELSEWHERE}
    for query, place in places.items():
        ask = asked(index, store, query, place, limit=50)
        seen.append(f"# {query}")
        ids = dict.fromkeys(hit.memory_id for hit in ask(ask.request).hits)
        for told in map(ask.why, ids):
            parts = (f"{one.name} {one.odds:+.2f}" for one in told.parts if one.odds)
            seen.append(f"{told.title}: {', '.join(parts)} = {told.odds:+.2f}")
    assert seen == written_lines("recall/score_parts.txt", seen)


@pytest.fixture
def varied(
    workspace_of: Callable[..., tuple[Index, Store]], memory_builders: SimpleNamespace
) -> tuple[Index, Store, Callable[[str], str]]:
    note = memory_builders.note
    said = "We cache pages in Redis for an hour."
    memories = {
        "old": note(
            "old",
            "2026-01-02",
            "Caching",
            "We cache pages in Redis.",
            project="kasha-api",
        ),
        "new": note(
            "new", "2026-02-02", "Caching", said, project="kasha-api", supersedes="old"
        ),
        "copy": note("copy", "2026-02-01", "Caching", said, project="kasha-api"),
        "other": note(
            "other",
            "2026-02-01",
            "Queue",
            "Jobs wait in Redis streams.",
            project="lumen-web",
        ),
        "far": note(
            "far",
            "2026-02-01",
            "Holidays",
            "Nobody deploys in August.",
            project="kasha-api",
        ),
        "weak": note(
            "weak",
            "2020-02-01",
            "Meeting",
            "Notes on the office, lunch, chairs.",
            project="kasha-api",
        ),
    }
    index, store = workspace_of(list(memories.values()))
    index.refresh()
    return index, store, lambda key: memories[key].id


@pytest.mark.parametrize(
    ("key", "query", "verdict"),
    [
        (
            "new",
            "cache pages in Redis",
            "found in place 1, by the words of its earlier version {old}",
        ),
        (
            "old",
            "cache pages in Redis",
            (
                "{new} replaced it and stands for it: found in place 1, by the words of its earlier "
                "version {old}"
            ),
        ),
        (
            "copy",
            "cache pages in Redis",
            "not shown: a better hit of the same place says the same",
        ),
        (
            "other",
            "cache pages in Redis",
            (
                "not looked for: it is of the project lumen-web, which is asked where little is found "
                "here"
            ),
        ),
        ("far", "cache pages in Redis", "not found: no word in common"),
        ("far", "is it so", f"not found: {NO_WORD}"),
        (
            "new",
            "what did we do in February 2026?",
            "found in place 1: the question names nothing, or only a time",
        ),
    ],
)
def test_it_is_said_why_a_memory_is_or_is_not_found(
    varied: tuple[Index, Store, Callable[[str], str]],
    key: str,
    query: str,
    verdict: str,
) -> None:
    index, store, id_of = varied
    told = asked(index, store, query).why(id_of(key))
    assert told.verdict == verdict.format(old=id_of("old"), new=id_of("new"))
    assert told.is_found == bool(told.place) == ("found in place" in told.verdict)


@pytest.mark.parametrize(
    ("same_from", "found"), [(1.0, ["new"]), (1.01, ["new", "copy"])]
)
def test_what_has_just_the_share_of_words_says_the_same(
    varied: tuple[Index, Store, Callable[[str], str]],
    same_from: float,
    found: list[str],
) -> None:
    index, store, id_of = varied
    ask = asked(index, store, "cache pages in Redis for an hour")
    hits = ask(ask.request, weights=replace(WEIGHTS, same_from=same_from)).hits
    assert [hit.memory_id for hit in hits] == [id_of(key) for key in found]


def test_a_file_that_changed_since_is_named_as_the_reason(
    varied: tuple[Index, Store, Callable[[str], str]],
) -> None:
    index, store, id_of = varied
    row = index.memories([id_of("new")])[id_of("new")]
    text = store.load(row.path).body
    Path(store.root, row.path).write_text("gone astray", encoding="utf-8")
    ask = asked(index, store, "cache pages in Redis", at_once=True)
    told = explain_score(ask, ask.request, row, row, text)
    assert told.verdict == (
        "not shown: its file is gone, or says something else since it was indexed, by the words "
        f"of its earlier version {id_of('old')}"
    )


def test_what_lies_below_the_threshold_is_told_with_its_score(
    varied: tuple[Index, Store, Callable[[str], str]],
) -> None:
    index, store, id_of = varied
    told = asked(
        index, store, "which Redis cluster topology replicates lunch orders"
    ).why(id_of("weak"))
    below = f"not shown: below the threshold of {told.threshold:.2f}"
    assert told.verdict == below, told
    assert 0 < told.score < told.threshold
    assert sum(part.odds for part in told.parts) == pytest.approx(told.odds, abs=2e-6)
