"""Qdrant: one collection for each model, shared by all workspaces, each a tenant of it.

Many small collections cost a cluster more than one that knows its tenants: their points lie side by
side, and each has a graph of its own. How often a point is kept, and in how many shards, is the
cluster's to say: its own configuration.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import UUID

from keeplore.config.install_method import install_hint
from keeplore.errors import EngineUnavailable
from keeplore_hooks.contracts import FoundPoints, Point

if TYPE_CHECKING:
    from qdrant_client import QdrantClient

TIMEOUT_S = 30  # whoever waits has gone before
SEARCHED = 256  # neighbours looked at in a graph; below 10,000 points there is none
LINKS = 16  # of a point in the graph of its tenant
PAGE = 5_000  # ids listed at once
_T = TypeVar("_T")


class Qdrant:
    """See ``EngineServer``. Raises EngineUnavailable where no client is installed or answers."""

    def __init__(
        self, urls: Sequence[str], key: str, name: str, layout: str, dim: int
    ) -> None:
        """``urls`` are nodes of one cluster: where one does not answer, the next is asked."""
        try:
            # here: it takes 0.5 s and is there with the extra `qdrant` alone
            from qdrant_client import QdrantClient, models
        except ImportError as e:
            raise EngineUnavailable(
                "qdrant-client is not installed", install_hint("qdrant")
            ) from e
        self._models = models
        self._nodes = [
            QdrantClient(
                url, api_key=key or None, timeout=TIMEOUT_S, check_compatibility=False
            )
            for url in urls
        ]
        self._name = name
        self._collection = f"keeplore-{layout}"
        self._dim = dim
        self._prepare()

    def put(self, points: Sequence[Point]) -> None:
        made = [
            self._models.PointStruct(
                id=_uuid(point.id),
                payload={"workspace": self._name, "scope": point.scope},
                vector={"words": self._sparse(point.words)}
                | ({"vector": [*point.vector]} if point.vector else {}),
            )
            for point in points
        ]
        self._ask(lambda node: node.upsert(self._collection, made, wait=True))

    def add_vectors(self, vectors: Mapping[bytes, Sequence[float]]) -> None:
        there = self.held(vectors)
        made = [
            self._models.PointVectors(id=_uuid(id_), vector={"vector": [*vector]})
            for id_, vector in vectors.items()
            if id_ in there
        ]
        if made:
            self._ask(
                lambda node: node.update_vectors(self._collection, made, wait=True)
            )

    def remove(self, ids: Collection[bytes]) -> None:
        gone = self._models.PointIdsList(points=[_uuid(id_) for id_ in ids])
        self._ask(lambda node: node.delete(self._collection, gone, wait=True))

    def held(self, ids: Collection[bytes]) -> dict[bytes, bool]:
        asked = [self._models.HasIdCondition(has_id=[_uuid(id_) for id_ in ids])]
        return dict(self._listed_points(asked))

    def all_held(self) -> Iterator[tuple[bytes, bool]]:
        return self._listed_points([])

    def matching(
        self, words: Mapping[int, float], scopes: Sequence[str] | None, limit: int
    ) -> FoundPoints:
        return self._searched(self._sparse(words), "words", scopes, limit)

    def nearest(
        self, vector: Sequence[float], scopes: Sequence[str] | None, limit: int
    ) -> FoundPoints:
        return self._searched([*vector], "vector", scopes, limit)

    def clear(self) -> None:
        mine = self._models.FilterSelector(filter=self._own_filter(None))
        self._ask(lambda node: node.delete(self._collection, mine, wait=True))

    def close(self) -> None:
        for node in self._nodes:
            with contextlib.suppress(Exception):  # it is dropped in any case
                node.close()

    def _searched(
        self, asked: Any, using: str, scopes: Sequence[str] | None, limit: int
    ) -> FoundPoints:
        chosen = self._own_filter(scopes)
        params = self._models.SearchParams(hnsw_ef=max(SEARCHED, limit))
        answer = self._ask(
            lambda node: node.query_points(
                self._collection,
                query=asked,
                using=using,
                query_filter=chosen,
                search_params=params,
                limit=limit,
                with_payload=False,
            )
        )
        return [(UUID(str(point.id)).bytes, point.score) for point in answer.points]

    def _listed_points(self, conditions: list[Any]) -> Iterator[tuple[bytes, bool]]:
        """Points with whether they have their vector: these are listed once more by themselves."""
        complete = set(
            self._ids(
                [*conditions, self._models.HasVectorCondition(has_vector="vector")]
            )
        )
        return ((id_, id_ in complete) for id_ in self._ids(conditions))

    def _ids(self, conditions: list[Any]) -> Iterator[bytes]:
        chosen = self._own_filter(None, conditions)
        offset = None
        while True:
            points, offset = self._page(chosen, offset)
            yield from (UUID(str(point.id)).bytes for point in points)
            if offset is None:
                return

    def _page(self, chosen: Any, offset: Any) -> tuple[list[Any], Any]:
        return self._ask(
            lambda node: node.scroll(
                self._collection,
                chosen,
                limit=PAGE,
                offset=offset,
                with_payload=False,
                with_vectors=False,
            )
        )

    def _own_filter(
        self, scopes: Sequence[str] | None, conditions: Sequence[Any] = ()
    ) -> Any:
        must = [
            self._models.FieldCondition(
                key="workspace", match=self._models.MatchValue(value=self._name)
            ),
            *conditions,
        ]
        if scopes is not None:
            must.append(
                self._models.FieldCondition(
                    key="scope", match=self._models.MatchAny(any=[*scopes])
                )
            )
        return self._models.Filter(must=must)

    def _prepare(self) -> None:
        """Make the collection where it is missing; another machine may be at it too."""
        if not self._ask(lambda node: node.collection_exists(self._collection)):
            self._create()
        known = self._ask(
            lambda node: node.get_collection(self._collection)
        ).payload_schema
        for field, is_tenant in (("workspace", True), ("scope", None)):
            if field not in known:
                schema = self._models.KeywordIndexParams(
                    type=self._models.KeywordIndexType.KEYWORD, is_tenant=is_tenant
                )
                self._index(field, schema)

    def _create(self) -> None:
        vectors = self._models.VectorParams(
            size=self._dim,
            distance=self._models.Distance.COSINE,
            datatype=self._models.Datatype.FLOAT16,
        )
        # a graph for each tenant, and none over all of them
        graph = self._models.HnswConfigDiff(m=0, payload_m=LINKS)
        # the other one was faster; what is wrong otherwise shows below
        with contextlib.suppress(EngineUnavailable):
            self._ask(
                lambda node: node.create_collection(
                    self._collection,
                    vectors_config={"vector": vectors},
                    sparse_vectors_config={"words": self._models.SparseVectorParams()},
                    hnsw_config=graph,
                )
            )

    def _index(self, field: str, schema: Any) -> None:
        self._ask(
            lambda node: node.create_payload_index(
                self._collection, field, schema, wait=True
            )
        )

    def _sparse(self, words: Mapping[int, float]) -> Any:
        numbers = sorted(words)
        values = [words[number] for number in numbers]
        return self._models.SparseVector(indices=numbers, values=values)

    def _ask(self, ask: Callable[[QdrantClient], _T]) -> _T:
        """Ask one node after the other; the one that answered is asked first the next time."""
        from qdrant_client.http.exceptions import (  # here, as above
            ApiException,
            UnexpectedResponse,
        )

        message = "there is no node to ask"
        for node in list(self._nodes):
            try:
                answer = ask(node)
            except UnexpectedResponse as e:
                message = f"{e.status_code} {e.reason_phrase}"
                if (e.status_code or 500) < 500:  # another node would say the same
                    break
            except (ApiException, OSError, ValueError) as e:
                message = " ".join(str(e).split()) or type(e).__name__
            else:
                self._nodes.remove(node)
                self._nodes.insert(0, node)
                return answer
        raise EngineUnavailable(
            f"Qdrant: {message}",
            "Look at `index: url:` in keeplore.yaml, and at the cluster",
        )


def _uuid(id_: bytes) -> str:
    return str(UUID(bytes=id_))
