"""The index of one workspace: what its files say, ready to be searched."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from keeplore.errors import EngineUnavailable, IndexUnavailable, ModelUnavailable
from keeplore.index import (
    consistency,
    file_rows,
    full_text,
    memory_queries,
    revision_rows,
    sql,
)
from keeplore.index.backends.embedded_engine import EmbeddedEngine
from keeplore.index.database import IndexDatabase
from keeplore.index.embedding.capabilities import batch_of, fingerprint_of, prepare
from keeplore.index.embedding.local_embedder import give_back
from keeplore.index.graph.graph_index import EntityGraph
from keeplore.index.model_switch import ActiveModel, Find, KeptVectors, ModelSwitch
from keeplore.index.refresh import IndexUpdater
from keeplore.index.rows import (
    IndexState,
    MemoryFilter,
    MemoryRow,
    PassageRow,
    RefreshResult,
)
from keeplore.index.timeline import Timeline
from keeplore.index.vectors import block_files, embedding_rows
from keeplore.index.vectors.quantization import quantize
from keeplore.memory.chains import Chain
from keeplore_hooks.contracts import (
    Embedder,
    EngineMaker,
    PassageMatch,
    ScopeFilter,
    SearchEngine,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# texts handed over at once: an embedder gives memory back after each call, a sixth of the time with
# one
TOGETHER = 8
# texts looked up at once for embedding, sorted by length before they are cut into batches
WINDOW = 64
Progress = Callable[[int, int], None]


class Index:
    """Safe to use from several threads, and from several processes in the same directory.

    The directory may be deleted at any time: what is asked then finds an empty index, and
    ``refresh`` fills it again.
    """

    def __init__(
        self,
        directory: Path,
        store: file_rows.TextSource,
        embedder: Embedder | None,
        *,
        engine: EngineMaker = EmbeddedEngine,
        graph_from: int | None = None,
        find: Find | None = None,
    ) -> None:
        """Open or create; a damaged file or one of another schema is begun anew. Where that cannot
        be, whoever asks later is told.

        ``find`` gives the embedder of a name, so that the model before can answer while
        ``embedder`` is new. ``engine`` makes what searches the passages, ``graph_from`` is that of
        the embedded one.
        """
        self._database = IndexDatabase(directory)
        self._store = store
        self._embedder = embedder
        make = (
            partial(EmbeddedEngine, graph_from=graph_from)
            if engine is EmbeddedEngine
            else engine
        )
        self._switch = ModelSwitch(self._database, embedder, make, find)
        self.graph = EntityGraph(self._database)
        self.timeline = Timeline(self._database)
        self._updater = IndexUpdater(self._database, store, self.graph)
        self._counted: tuple[object, tuple[int, int, int]] = (None, (0, 0, 0))
        # text is written and committed without an index
        with contextlib.suppress(IndexUnavailable):
            self._database.read(sql.state)

    def refresh(
        self,
        progress: Progress | None = None,
        *,
        wait_s: float | None = None,
        within_s: float | None = None,
    ) -> RefreshResult:
        """Read the files that changed, drop those that are gone; vectors follow with
        ``embed_pending``.

        ``progress`` is called with (files done, files to do). ``within_s`` ends it after a while,
        the newest files first; ``left`` then says how many are still to be read, and the next call
        goes on. Raises IndexUnavailable, where another process is writing all through ``wait_s``
        (20 seconds if not given) too.
        """
        return self._updater.catch_up(progress, wait_s, within_s)

    def refresh_for_reading(self) -> None:
        """``refresh``, where the index answers as it is if it cannot be written just now; see
        ``behind``. Raises IndexUnavailable where it cannot be read either.
        """
        self._updater.catch_up_for_reading()

    @property
    def behind(self) -> str:
        """What to tell where ``refresh_for_reading`` could not write; else ""."""
        return self._updater.behind

    def listen(self, hears_of_changes: Callable[[], bool]) -> None:
        """Let ``is_in_step`` ask ``hears_of_changes``, somebody who is told of changes, whether
        every change is indexed.
        """
        self._updater.hears_of_changes = hears_of_changes

    def is_in_step(self) -> bool:
        """Whether ``refresh`` may be left out, where it takes long: nothing has changed since the
        last one.
        """
        return self._updater.is_in_step()

    def embed_pending(
        self, limit: int | None = None, progress: Progress | None = None
    ) -> int:
        """Fill in missing vectors, newest passages first; returns how many texts still lack one.

        At most ``limit`` texts in this call. ``progress`` is called with (done, to do) after each
        small batch; what it raises interrupts, and keeps what is done. Raises ModelUnavailable,
        IndexUnavailable.
        """
        if self._embedder is None:
            raise ModelUnavailable(
                "there is no embedding model",
                "Set `embedding: {model: packaged}` in keeplore.yaml",
            )
        prepare(self._embedder)
        self._switch.renewed()
        # first, for what another machine has embedded needs no vector here
        waiting = self._engine.bring_words(limit)
        done = self._embed_windows(self._embedder, limit, progress)
        self._switch.drop_orphans()
        waiting += self._engine.bring_vectors(limit, done)
        left = self._engine.count_pending() + waiting
        if not left:
            self._switch.mark_complete()
        return left

    def _embed_windows(
        self, embedder: Embedder, limit: int | None, progress: Progress | None
    ) -> int:
        """Window after window; returns for how many passages vectors were made."""
        missing = self._engine.count_pending()
        total = missing if limit is None else min(limit, missing)
        done = 0
        while done < total:
            texts = self._engine.pending(min(WINDOW, total - done))
            if not texts:  # someone else was faster
                break
            report = partial(_report, progress, done, total)
            done += self._embed(embedder, texts, report)
        return done

    def answering(self, wanted: Embedder | None = None) -> Embedder | None:
        """The embedder whose vectors answer now: that of the model before, while the one that is
        set lacks some.

        ``wanted`` stands for the one that is set, where it is not the index's own.
        """
        now = self._switch.now()
        return now.embedder if now.switch else wanted or now.embedder

    def kept_vectors(self) -> list[KeptVectors]:
        """What is held of each model, that of the one that is set first."""
        return self._switch.kept_vectors()

    @property
    def is_remote(self) -> bool:
        """Whether the engine waits for a server, so that vectors are best brought to it where
        nobody else waits.
        """
        return self._engine.is_remote

    @property
    def note(self) -> str:
        """Why the configured engine does not serve, "" where it does."""
        return self._engine.note

    def rebuild(self) -> None:
        """Forget what the engine has; ``refresh`` and ``embed_pending`` make it anew. Raises
        IndexUnavailable.
        """
        self._engine.rebuild()

    @property
    def is_warm(self) -> bool:
        """Whether a search by vector reads nothing but what it finds."""
        return self._switch.now().engine.is_warm

    def warm_up(self) -> None:
        """Read the vectors into memory. Raises ModelUnavailable, IndexUnavailable."""
        if self._embedder is not None:
            self._switch.now().engine.warm_up()
            give_back()

    def scrub(self) -> None:
        """Bring the index up to date and leave no trace of what is gone in its files. Raises
        IndexUnavailable.
        """
        self.refresh()
        # the table of points remembers what has to go there
        with contextlib.suppress(EngineUnavailable):
            self._engine.bring_words(None)
        self._database.write(embedding_rows.drop_traces)
        self._database.vacuum()
        # the files that held the vectors of what is gone
        block_files.drop_strays(self._database)

    def state(self, *, of_text: bool = False) -> IndexState:
        """What the index reflects; ``of_text`` does not look at the model, and counts no
        vectors.
        """
        active = None if of_text else self._switch.now()
        fingerprint = fingerprint_of(active.embedder) if active else ""
        return self._database.read(self._state, active, fingerprint)

    def _state(
        self,
        connection: sqlite3.Connection,
        active: ActiveModel | None,
        fingerprint: str,
    ) -> IndexState:
        # every recall asks, and counting takes longer than many a search
        known = (*sql.state(connection), fingerprint)
        if self._counted[0] != known:
            vectors = (
                active.engine.count_vectors(connection) if active and fingerprint else 0
            )
            memories = memory_queries.count_memories(connection)
            self._counted = (known, (memories, sql.count_passages(connection), vectors))
        return IndexState(
            sql.meta(connection, "commit"),
            *self._counted[1],
            fingerprint,
            sql.meta(connection, "updated_at"),
            active.switch if active else None,
        )

    def lag(self) -> int:
        """How many files differ from what the index reflects, by their time, size and inode."""
        return self._updater.lag()

    @property
    def directory(self) -> Path:
        return self._database.directory

    def was_interrupted(self) -> bool:
        """Whether a writer of this index was killed and nobody has checked the file since."""
        return self._database.was_interrupted()

    def size_bytes(self) -> int:
        return self._database.size_bytes()

    def flaws(
        self, progress: Progress | None = None
    ) -> Iterator[consistency.IndexFlaw]:
        """Every difference between the index and the text: all files are read again and all vectors
        checked.

        Refresh it first. Raises IndexUnavailable, or ModelUnavailable after all else was looked at.
        """
        yield from consistency.database_flaws(self._database)
        files = sorted(self._store.indexed(), key=lambda file: file.path)
        yield from consistency.text_flaws(
            self._database, files, self._store, progress or (lambda *_: None)
        )
        if self._embedder is not None:
            yield from consistency.vector_flaws(self._database, self._embedder)
            if damage := self._engine.damage():
                yield consistency.IndexFlaw("engine", "", damage)

    def mend(
        self, flaws: Iterable[consistency.IndexFlaw], progress: Progress | None = None
    ) -> RefreshResult:
        """Make anew from the text what ``flaws`` found; vectors follow with ``embed_pending``."""
        found = list(flaws)
        consistency.take_out(self._database, found)
        if any(flaw.part == "engine" for flaw in found):
            self._engine.mend()
        return self.refresh(progress)

    def text_search(
        self, query: str, allowed: ScopeFilter, limit: int, *, is_patient: bool = False
    ) -> list[PassageMatch]:
        """Passages by their words, best first; any text is a query.

        Where the engine does not answer, or not as soon as a waiting host needs it, this machine's
        own full text does.
        """
        try:
            return self._engine.text_search(
                query, allowed, limit, is_patient=is_patient
            )
        except EngineUnavailable:
            return self._database.read(full_text.text_search, query, allowed, limit)

    def memory_scores(self, query: str, memories: Sequence[str]) -> dict[str, float]:
        """How much of a query each of these memories (ids) speaks of as a whole, 0 and more."""
        return self._database.read(full_text.memory_scores, query, memories)

    def vector_search(
        self,
        vector: NDArray[np.float32],
        allowed: ScopeFilter,
        limit: int,
        *,
        model: str = "",
        is_patient: bool = False,
    ) -> list[PassageMatch]:
        """Passages by cosine to ``vector`` (float32, (dim,), L2-normalised), best first; none
        without a model.

        ``model`` is the fingerprint of the one that made it, the one that is set if not given.
        Raises ValueError for a vector of another dimension than that of the model that is set, and
        EngineUnavailable.
        """
        if self._embedder is None:
            return []
        engine = self._switch.engine_for(model) if model else self._switch.renewed()
        if engine is self._engine and vector.shape != (self._embedder.dim,):
            raise ValueError(
                f"the vector has the shape {vector.shape}, this model has ({self._embedder.dim},)"
            )
        return (
            engine.vector_search(vector, allowed, limit, is_patient=is_patient)
            if engine
            else []
        )

    def cosines(
        self, vector: NDArray[np.float32], passages: Sequence[int], *, model: str
    ) -> dict[int, float]:
        """The cosine of each passage (id) to ``vector`` (float32, (dim,), L2-normalised) of the
        model with this fingerprint; none for one without a vector.
        """
        return self._database.read(embedding_rows.cosines, model, vector, passages)

    def passages_of(self, memory_id: str, kinds: Collection[str]) -> list[PassageRow]:
        """The passages of a memory that are of these kinds, in their order."""
        return self._database.read(memory_queries.passages_of, memory_id, kinds)

    def revising(
        self, allowed: ScopeFilter, terms: Collection[str]
    ) -> list[PassageRow]:
        """The decisions and notes of these scopes that replace something with one of these words
        (``stems`` of ``keeplore.text.terms``).
        """
        ids = self._database.read(revision_rows.revising, allowed, terms)
        return self.passages(ids)

    def endings(self, turns: Collection[str]) -> list[tuple[str, str]]:
        """The words from these turns that no longer hold, each with the note (id) that says so."""
        return self._database.read(revision_rows.ended_statements, turns)

    def passages(self, ids: Sequence[int]) -> list[PassageRow]:
        """The passages with these ids, in their order; one that is gone meanwhile is left out."""
        return self._database.read(memory_queries.passage_rows, ids)

    def memories(self, ids: Sequence[str]) -> dict[str, MemoryRow]:
        return self._database.read(memory_queries.memory_rows, ids)

    def path_of(self, memory_id: str) -> str | None:
        """Where the file of an id is, None where no file has it."""
        return self._database.read(memory_queries.path_of, memory_id)

    def listed(
        self, wanted: MemoryFilter, keep: Callable[[MemoryRow], bool] = lambda _: True
    ) -> list[MemoryRow]:
        """The memories that fit and are to be kept, the one changed last first."""
        return self._database.read(memory_queries.listed, wanted, keep)

    def count(self, wanted: MemoryFilter) -> int:
        """How many memories fit, whatever the limit."""
        return self._database.read(memory_queries.count_listed, wanted)

    def session_span(self, allowed: ScopeFilter, number: int) -> tuple[str, str] | None:
        """When the n-th session in these scopes began and ended, the last one for -1; None where
        there are fewer.
        """
        return self._database.read(memory_queries.session_span, allowed, number)

    def said_between(
        self, allowed: ScopeFilter, first: str, last: str, limit: int
    ) -> list[PassageRow]:
        """The newest ``limit`` memories of a time; see ``memory_queries.said_between``."""
        return self._database.read(
            memory_queries.said_between, allowed, first, last, limit
        )

    def scopes(self) -> tuple[tuple[str, str], ...]:
        """Every scope that there ever was memory of, with its project."""
        return self._database.read(memory_queries.scopes)

    def find(self, reference: str) -> list[MemoryRow]:
        """What an id, the beginning of one (4 digits at least), a path or a file's name may mean;
        20 at most.
        """
        return self._database.read(memory_queries.referenced_memories, reference)

    def ids_saying(self, content: str, scope: str, project: str) -> list[str]:
        """Ids of the notes of a scope that say exactly what this content hash stands for."""
        return self._database.read(memory_queries.ids_saying, content, scope, project)

    def versions(self, memory_id: str) -> tuple[str, ...]:
        """Every version of a memory, oldest first; none where it never changed."""
        return self._database.read(memory_queries.versions, memory_id)

    def chains(self) -> list[Chain]:
        """Every chain of memories that replaced one another."""
        return self._database.read(memory_queries.all_chains)

    def dangling_links(self) -> list[tuple[str, str, str]]:
        """Path, relationship and target of every link to a memory that does not exist."""
        return self._database.read(memory_queries.dangling_links)

    def linking(self, memory_id: str) -> list[tuple[str, str]]:
        """Relationship and id of every memory that names this one."""
        return self._database.read(memory_queries.linking, memory_id)

    def linked(self, relationship: str) -> list[tuple[str, str]]:
        """Memory and target of every link of this relationship."""
        return self._database.read(memory_queries.links_of_kind, relationship)

    def known_turns(self, ids: Iterable[str]) -> dict[str, str]:
        """Turn id → id of the conversation that holds it."""
        return self._database.read(memory_queries.known_turns, list(ids))

    def problems(self) -> list[tuple[str, str]]:
        """Path and message of every file that is not as it should be."""
        return self._database.read(memory_queries.problems)

    def count_unreadable(self) -> int:
        """How many memory files cannot be read, so that nothing in them is found."""
        return self._database.read(memory_queries.count_unreadable)

    def close(self) -> None:
        self._switch.close()
        self._database.close()

    def _embed(
        self,
        embedder: Embedder,
        texts: list[tuple[bytes, str]],
        report: Callable[[int], None],
    ) -> int:
        """Make and store the vectors of texts; returns for how many passages. What interrupts keeps
        what is done.
        """
        texts.sort(key=lambda text: len(text[1]))
        size = max(TOGETHER, batch_of(embedder))
        made: list[tuple[bytes, bytes]] = []
        placed = 0
        try:
            for start in range(0, len(texts), size):
                keys, batch = zip(*texts[start : start + size], strict=True)
                made += zip(keys, quantize(embedder.embed(batch)), strict=True)
                report(len(made))
        finally:
            placed = self._database.write(
                embedding_rows.add_vectors, embedder.fingerprint, made
            )
        return placed

    @property
    def _engine(self) -> SearchEngine:
        return self._switch.engine


def _report(progress: Progress | None, done: int, total: int, made: int) -> None:
    """Tell how far all is, where somebody wants to know."""
    if progress:
        progress(min(done + made, total), total)
