"""What Qdrant is asked, by a client that answers from the memory of this process: no cluster is
needed. What a real one makes of it is tested in test_engines.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from late import Late

from keeplore.errors import EngineUnavailable
from keeplore.index.backends import qdrant
from keeplore.index.backends.qdrant import Qdrant
from keeplore_hooks.contracts import Point

client = Late("qdrant_client")
exceptions = Late("qdrant_client.http.exceptions")
IDS = [bytes([number] * 16) for number in range(1, 8)]
HERE, THERE = "0" * 16, "f" * 16
PATIENT = {"wait": True}
Failure = Callable[
    [], Exception
]  # made in the test, so that only that loads the client


class Node:
    """One node of a cluster; ``failure`` is what it answers with."""

    def __init__(self, cluster: Cluster, url: str) -> None:
        self.cluster = cluster
        self.url = url
        self.failure: Exception | None = None
        self.is_open = True

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def asked(*what: Any, **how: Any) -> Any:
            self.cluster.asked.append((self.url, name))
            if self.failure:
                raise self.failure
            self.cluster.told.setdefault(name, []).append((what, how))
            if name == "create_payload_index":
                field = what[1]
                self.cluster.fields[field] = how.get("field_schema", what[-1])
                return None
            # which it would warn of: in memory there is no graph
            known = {key: how[key] for key in how if key != "search_params"}
            answer = getattr(self.cluster.memory, name)(*what, **known)
            if name == "get_collection":
                answer.payload_schema = dict(self.cluster.fields)
            return answer

        return asked

    def close(self) -> None:
        self.is_open = False
        raise OSError("it is gone already")


class Cluster:
    """Nodes that have the same points; what was ``asked`` of which, and ``told`` with what."""

    def __init__(self) -> None:
        self.memory = client.QdrantClient(":memory:")
        self.made: list[tuple[str, dict[str, Any]]] = []
        self.nodes: dict[str, Node] = {}
        self.asked: list[tuple[str, str]] = []
        self.told: dict[str, list[tuple[Any, Any]]] = {}
        self.fields: dict[str, Any] = {}

    def node(self, url: str, **options: Any) -> Node:
        self.made.append((url, options))
        return self.nodes.setdefault(url, Node(self, url))

    def urls(self) -> list[str]:
        """The nodes that were asked since the last time."""
        urls = [url for url, _ in self.asked]
        self.asked.clear()
        return urls


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    pytest.importorskip("qdrant_client")
    cluster = Cluster()
    monkeypatch.setattr("qdrant_client.QdrantClient", cluster.node)
    yield cluster
    cluster.memory.close()


def opened(name: str = "lore", urls: str = "a", key: str = "") -> Qdrant:
    return Qdrant(urls.split(), key, name, "l1", 2)


def point(number: int, scope: str, words: dict[int, float], *vector: float) -> Point:
    return Point(IDS[number], scope, words, vector or None)


@pytest.fixture
def lore(cluster: Cluster) -> Qdrant:
    """Points of a workspace, beside those of another."""
    other = opened("other")
    other.put([point(6, HERE, {1: 9.0}, 1.0, 0.0)])
    lore = opened()
    lore.put(
        [
            point(0, HERE, {3: 1.0, 1: 2.0}, 1.0, 0.0),
            point(1, HERE, {1: 0.5}, 0.6, 0.8),
            point(2, THERE, {1: 4.0}, 0.0, 1.0),
            point(3, HERE, {2: 1.0}),
        ]
    )
    return lore


def found_by_number(found: list[tuple[bytes, float]]) -> list[tuple[int, float]]:
    return [(IDS.index(id_), round(score, 3)) for id_, score in found]


def test_words_and_vectors_are_searched_within_their_scopes(lore: Qdrant) -> None:
    one = {1: 1.0}
    assert found_by_number(lore.matching(one, None, 9)) == [
        (2, 4.0),
        (0, 2.0),
        (1, 0.5),
    ]
    assert found_by_number(lore.matching(one, None, 2)) == [(2, 4.0), (0, 2.0)]
    assert found_by_number(lore.matching(one, [HERE], 9)) == [(0, 2.0), (1, 0.5)]
    assert found_by_number(lore.matching({3: 1.0, 2: 5.0}, [HERE], 9)) == [
        (3, 5.0),
        (0, 1.0),
    ]
    assert lore.matching(one, [], 9) == []
    asked = [1.0, 0.0]
    assert found_by_number(lore.nearest(asked, None, 9)) == [
        (0, 1.0),
        (1, 0.6),
        (2, 0.0),
    ]
    assert found_by_number(lore.nearest(asked, [THERE], 9)) == [(2, 0.0)]
    assert found_by_number(lore.nearest(asked, [HERE, THERE], 1)) == [(0, 1.0)]


def test_which_points_are_held_and_which_have_their_vector(
    lore: Qdrant, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(qdrant, "PAGE", 2)
    held = {IDS[0]: True, IDS[1]: True, IDS[2]: True, IDS[3]: False}
    assert dict(lore.all_held()) == held
    assert lore.held([IDS[3], IDS[0], IDS[5], IDS[6]]) == {IDS[3]: False, IDS[0]: True}
    assert {how["limit"] for _, how in cluster.told["scroll"]} == {2}
    # of a point that is gone meanwhile no vector is kept
    lore.add_vectors({IDS[3]: [0.8, 0.6], IDS[5]: [1.0, 0.0]})
    assert dict(lore.all_held()) == {**held, IDS[3]: True}
    assert found_by_number(lore.nearest([1.0, 0.0], [HERE], 2)) == [(0, 1.0), (3, 0.8)]
    lore.add_vectors({IDS[5]: [1.0, 0.0]})
    lore.remove([IDS[0], IDS[3]])
    assert dict(lore.all_held()) == {IDS[1]: True, IDS[2]: True}


def test_what_is_put_again_takes_the_place_of_what_was(lore: Qdrant) -> None:
    lore.put([point(0, THERE, {2: 7.0})])
    assert found_by_number(lore.matching({2: 1.0}, [THERE], 9)) == [(0, 7.0)]
    assert found_by_number(lore.matching({1: 1.0}, [HERE], 9)) == [(1, 0.5)]
    assert lore.held([IDS[0]]) == {IDS[0]: False}


def test_a_workspace_that_is_cleared_leaves_others_alone(lore: Qdrant) -> None:
    lore.clear()
    assert dict(lore.all_held()) == {}
    assert dict(opened("other").all_held()) == {IDS[6]: True}


def test_the_collection_is_made_once_for_all_workspaces(
    cluster: Cluster, lore: Qdrant
) -> None:
    lore.remove([IDS[0]])
    lore.add_vectors({IDS[3]: [0.8, 0.6]})
    lore.clear()
    models = client.models
    [((collection,), made)] = cluster.told["create_collection"]
    assert (collection, made) == (
        "keeplore-l1",
        {
            "vectors_config": {
                "vector": models.VectorParams(
                    size=2,
                    distance=models.Distance.COSINE,
                    datatype=models.Datatype.FLOAT16,
                )
            },
            "sparse_vectors_config": {"words": models.SparseVectorParams()},
            "hnsw_config": models.HnswConfigDiff(m=0, payload_m=16),
        },
    )
    keyword = models.KeywordIndexType.KEYWORD
    assert cluster.told["create_payload_index"] == [
        (
            (
                "keeplore-l1",
                field,
                models.KeywordIndexParams(type=keyword, is_tenant=own),
            ),
            PATIENT,
        )
        for field, own in (("workspace", True), ("scope", None))
    ]
    for name in (
        "upsert",
        "delete",
        "update_vectors",
    ):  # what was written can be found at once
        assert [how for _, how in cluster.told[name]] == [PATIENT] * len(
            cluster.told[name]
        )
    lore.nearest([1.0, 0.0], None, 300)
    lore.nearest([1.0, 0.0], None, 3)
    looked_at = [
        how["search_params"].hnsw_ef for _, how in cluster.told["query_points"]
    ]
    assert looked_at == [300, 256]


def test_each_node_is_told_the_key_and_how_long_to_wait(cluster: Cluster) -> None:
    usual = {"timeout": 30, "check_compatibility": False}
    opened(urls="a b", key="secret").close()
    assert cluster.made == [(url, {"api_key": "secret", **usual}) for url in "ab"]
    assert [node.is_open for node in cluster.nodes.values()] == [False, False]
    opened()
    assert cluster.made[-1] == ("a", {"api_key": None, **usual})


def unexpected(status: int | None, reason: str) -> Exception:
    return exceptions.UnexpectedResponse(status, reason, b"", {})  # type: ignore[no-any-return]


def cut_off() -> Exception:
    return exceptions.ResponseHandlingException(OSError("cut"))  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    "failure",
    [
        partial(OSError, "no route"),
        partial(ValueError, "no json"),
        partial(unexpected, 503, "Busy"),
        partial(unexpected, 500, "Broken"),
        partial(unexpected, None, "Odd"),
        cut_off,
    ],
)
def test_where_a_node_does_not_answer_the_next_is_asked_and_stays_the_first(
    cluster: Cluster, failure: Failure
) -> None:
    asked = opened(urls="a b c")
    assert set(cluster.urls()) == {"a"}
    cluster.nodes["a"].failure = failure()
    assert asked.held([IDS[0]]) == {}
    assert cluster.urls() == ["a", "b", "b"]
    assert asked.held([IDS[0]]) == {}
    assert cluster.urls() == ["b", "b"]


@pytest.mark.parametrize(
    ("failure", "said", "nodes"),
    [
        (partial(OSError, " no\n route "), "no route", "ab"),
        (OSError, "OSError", "ab"),
        (partial(unexpected, 503, "Busy"), "503 Busy", "ab"),
        (partial(unexpected, 403, "Forbidden"), "403 Forbidden", "a"),
        (partial(unexpected, 499, "Odd"), "499 Odd", "a"),
    ],
)
def test_what_no_node_answers_is_told(
    cluster: Cluster, failure: Failure, said: str, nodes: str
) -> None:
    asked = opened(urls="a b")
    cluster.urls()
    for node in cluster.nodes.values():
        node.failure = failure()
    with pytest.raises(EngineUnavailable) as refused:
        asked.clear()
    assert str(refused.value) == (
        f"Qdrant: {said}. Look at `index: url:` in keeplore.yaml, and at the cluster"
    )
    assert cluster.urls() == [*nodes]
    with pytest.raises(EngineUnavailable, match="Qdrant: there is no node to ask"):
        Qdrant([], "", "lore", "l1", 2)


def test_another_machine_that_makes_the_collection_first_is_no_error(
    cluster: Cluster, lore: Qdrant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster.memory, "collection_exists", lambda *_: False)
    assert dict(opened().held([IDS[0]])) == {IDS[0]: True}
    assert [name for _, name in cluster.asked].count("create_collection") == 2
