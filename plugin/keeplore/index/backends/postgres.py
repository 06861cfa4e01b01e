"""PostgreSQL with pgvector: one schema for each workspace, one table for each model, found through
three indexes.

A schema is what an administrator grants, copies to another server or drops: one workspace. Words
stand as numbers in an array, which a GIN index finds, and with their weights in a sparse vector,
whose product with the question's is BM25.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from uuid import UUID

from keeplore.config.install_method import install_hint
from keeplore.errors import EngineUnavailable
from keeplore.index.backends.sparse_bm25 import NUMBERS
from keeplore_hooks.contracts import FoundPoints, Point

if TYPE_CHECKING:
    import psycopg

CONNECT_S = 4
# whoever waits has gone long before: this is for what was left running
STATEMENT_MS = 60_000
# dimensions that pgvector's graph takes; longer vectors are gone over
MOST_INDEXED = 4000
# measured: with these the nearest 200 of 20,000 are those of going over all in 99 of 100 cases
SEARCHED = 400


class Postgres:
    """See ``EngineServer``. Raises EngineUnavailable where psycopg is missing or nobody answers."""

    def __init__(self, url: str, name: str, layout: str, dim: int) -> None:
        """``url`` is libpq's, several hosts too; passwords and certificates come as libpq finds
        them.
        """
        try:
            # here, because it is there with the extra `postgres` alone
            import psycopg
        except ImportError as e:
            raise EngineUnavailable(
                "psycopg is not installed", install_hint("postgres")
            ) from e
        self._dim = dim
        self._psycopg = psycopg
        self._schema = psycopg.sql.Identifier(f"keeplore_{name}")
        self._table = psycopg.sql.Identifier(f"keeplore_{name}", f"passages_{layout}")
        self._layout = layout
        try:
            # without prepared statements, so that it also works through a pool
            self._connection: psycopg.Connection[Any] = psycopg.connect(
                url,
                autocommit=True,
                prepare_threshold=None,
                connect_timeout=CONNECT_S,
                application_name="keeplore",
                # compiling takes longer than searching
                options=f"-c statement_timeout={STATEMENT_MS} -c jit=off",
            )
            self._prepare()
        except psycopg.Error as e:
            raise _unavailable(e) from e

    def put(self, points: Sequence[Point]) -> None:
        rows = [
            (
                UUID(bytes=p.id),
                p.scope,
                sorted(p.words),
                _sparse_literal(p.words),
                p.vector and _vector_literal(p.vector),
            )
            for p in points
        ]
        self._run_each(
            "INSERT INTO {table} (id, scope, terms, words, vector) VALUES (%s, %s, %s, "
            "%s::sparsevec, %s::halfvec)"
            " ON CONFLICT (id) DO NOTHING",
            rows,
        )

    def add_vectors(self, vectors: Mapping[bytes, Sequence[float]]) -> None:
        rows = [
            (_vector_literal(vector), UUID(bytes=id_))
            for id_, vector in vectors.items()
        ]
        self._run_each("UPDATE {table} SET vector = %s::halfvec WHERE id = %s", rows)

    def remove(self, ids: Collection[bytes]) -> None:
        self._run("DELETE FROM {table} WHERE id = ANY(%s)", (_uuids(ids),))

    def held(self, ids: Collection[bytes]) -> dict[bytes, bool]:
        rows = self._run(
            "SELECT id, vector IS NOT NULL FROM {table} WHERE id = ANY(%s)",
            (_uuids(ids),),
        )
        return {id_.bytes: has_vector for id_, has_vector in rows}

    def all_held(self) -> Iterator[tuple[bytes, bool]]:
        return (
            (id_.bytes, has_vector)
            for id_, has_vector in self._run(
                "SELECT id, vector IS NOT NULL FROM {table}"
            )
        )

    def matching(
        self, words: Mapping[int, float], scopes: Sequence[str] | None, limit: int
    ) -> FoundPoints:
        rows = self._run(
            "SELECT id, -(words <#> %(asked)s::sparsevec) AS score FROM {table}"
            " WHERE terms && %(terms)s::int[] AND (%(scopes)s::text[] IS NULL OR scope = "
            "ANY(%(scopes)s))"
            " ORDER BY score DESC, id LIMIT %(limit)s",
            {
                "asked": _sparse_literal(words),
                "terms": sorted(words),
                "scopes": scopes,
                "limit": limit,
            },
        )
        return [(id_.bytes, float(score)) for id_, score in rows]

    def nearest(
        self, vector: Sequence[float], scopes: Sequence[str] | None, limit: int
    ) -> FoundPoints:
        rows = self._run(
            "SELECT id, 1 - (vector <=> %(asked)s::halfvec) FROM {table}"
            " WHERE vector IS NOT NULL AND (%(scopes)s::text[] IS NULL OR scope = ANY(%(scopes)s))"
            " ORDER BY vector <=> %(asked)s::halfvec LIMIT %(limit)s",
            {"asked": _vector_literal(vector), "scopes": scopes, "limit": limit},
        )
        return [(id_.bytes, float(score)) for id_, score in rows]

    def clear(self) -> None:
        self._run("TRUNCATE {table}")

    def close(self) -> None:
        self._connection.close()

    def _prepare(self) -> None:
        """Make what is missing; a role that may not must find it made."""
        name = self._table.as_string(self._connection)
        if self._run("SELECT to_regclass(%s)", (name,)) == [(None,)]:
            with self._connection.transaction():
                # two machines at once: the second one waits, and finds it made
                self._run("SELECT pg_advisory_xact_lock(hashtext('keeplore'))")
                self._run("CREATE EXTENSION IF NOT EXISTS vector")
                self._run("CREATE SCHEMA IF NOT EXISTS {schema}")
                for statement in self._tables():
                    self._run(statement)
        self._run(f"SET hnsw.ef_search = {SEARCHED}")
        # goes on where a filter leaves too few
        self._run("SET hnsw.iterative_scan = strict_order")

    def _tables(self) -> Iterator[str]:
        yield (
            "CREATE TABLE IF NOT EXISTS {table} (id uuid PRIMARY KEY, scope text NOT NULL, terms "
            "int[] NOT NULL,"
            f" words sparsevec({NUMBERS}) NOT NULL, vector halfvec({self._dim}))"
        )
        indexes = {"scope": "(scope)", "terms": "USING gin (terms)"}
        if self._dim <= MOST_INDEXED:
            indexes["vector"] = "USING hnsw (vector halfvec_cosine_ops)"
        for name, what in indexes.items():
            yield f"CREATE INDEX IF NOT EXISTS {name}_{self._layout} ON {{table}} {what}"

    def _run(self, text: str, values: Any = None) -> list[tuple[Any, ...]]:
        """``{table}`` and ``{schema}`` in our own words are filled in; whatever comes from
        elsewhere is a value.
        """
        try:
            cursor = self._connection.execute(self._sql(text), values)
            return cursor.fetchall() if cursor.description else []
        except self._psycopg.Error as e:
            raise _unavailable(e) from e

    def _run_each(self, text: str, rows: Sequence[tuple[Any, ...]]) -> None:
        """Run the statement for each row of values, all or none of them."""
        try:
            with self._connection.transaction(), self._connection.cursor() as cursor:
                cursor.executemany(self._sql(text), rows)
        except self._psycopg.Error as e:
            raise _unavailable(e) from e

    def _sql(self, text: str) -> Any:
        own: Any = text
        return self._psycopg.sql.SQL(own).format(table=self._table, schema=self._schema)


def _unavailable(error: Exception) -> EngineUnavailable:
    message = " ".join(str(error).split()) or type(error).__name__
    return EngineUnavailable(
        f"PostgreSQL: {message}",
        "Look at `index: url:` in keeplore.yaml, and at what libpq needs",
    )


def _uuids(ids: Collection[bytes]) -> list[UUID]:
    return [UUID(bytes=id_) for id_ in ids]


def _vector_literal(vector: Sequence[float]) -> str:
    return f"[{','.join(f'{number:.6g}' for number in vector)}]"


def _sparse_literal(words: Mapping[int, float]) -> str:
    pairs = ",".join(
        f"{number}:{weight:.6g}" for number, weight in sorted(words.items())
    )
    return f"{{{pairs}}}/{NUMBERS}"
