"""The notes that are known already: those near a text, as a model is shown them, and by which it
may name them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from keeplore.errors import IndexUnavailable, ModelUnavailable
from keeplore.index import Embedder, Index, MemoryRow, ScopeFilter, load_or_none
from keeplore.memory import Memory
from keeplore.memory.names import short_id
from keeplore.memory.note import statement_of
from keeplore.recall.question import STOP_STEMS, parse_question, stems_of
from keeplore.recall.request import SearchScope
from keeplore.store import Store
from keeplore.text.fences import sanitise
from keeplore.text.folding import shortened

NEAREST = 5  # notes that a fact is compared with
PASSAGES = 40  # that either search gives
FUSION = 60  # of reciprocal ranks (Cormack, Clarke and Büttcher 2009)
# share and number of a note's content words that a text about the same thing has
SHARED, MIN_SHARED = 0.34, 2
ALIKE = 0.35  # of the way from the cosine of unrelated texts to that of equal ones
LINE = 160  # characters of a note that a model is shown


@dataclass(frozen=True, slots=True)
class CandidateNote:
    """``trust`` is what it is believed for here: ``foreign`` where another person's machine wrote
    it.
    """

    id: str
    path: str
    memory: Memory
    trust: str

    @property
    def label(self) -> str:
        return short_id(self.id)

    @property
    def statement(self) -> str:
        return statement_of(self.memory)

    @property
    def line(self) -> str:
        words = " ".join(sanitise(self.statement).split())
        place = f"{self.memory.scope}/{self.memory.category}"
        return f"- [{self.label}] ({place}) {shortened(words, LINE)}"


@dataclass(frozen=True, slots=True)
class NoteSearch:
    """Finds the notes near a text: by words and, where a model is there, by meaning."""

    index: Index
    store: Store
    embedder: Embedder | None
    trust: Callable[[Memory], str]

    def near(
        self, text: str, here: SearchScope, limit: int = NEAREST
    ) -> tuple[CandidateNote, ...]:
        """Current notes that may be seen from ``here``, the nearest first; the index is taken as it
        is.

        Recall asks whether a memory answers a question; here it counts whether a note is about the
        same thing, though it says the opposite.
        """
        scores, alike = self._scores(
            parse_question(text).text, ScopeFilter(here.scopes)
        )
        rows = self.index.memories(sorted(scores))
        nearest = sorted(rows, key=lambda id_: (-scores[id_], id_))
        current = (rows[id_] for id_ in nearest if _is_current_note(rows[id_]))
        return tuple(islice(self._notes_about(text, current, alike), limit))

    def _notes_about(
        self, text: str, rows: Iterable[MemoryRow], alike: Collection[str]
    ) -> Iterator[CandidateNote]:
        """The notes that are about the same thing as a text; those of ``alike`` are."""
        for row in rows:
            memory = self.load(row.path)
            if memory and (
                row.id in alike or _shares_words(text, statement_of(memory))
            ):
                yield self._candidate(row, memory)

    def _scores(
        self, text: str, allowed: ScopeFilter
    ) -> tuple[dict[str, float], set[str]]:
        """Memories with their fused ranks by words and by meaning, and those near in meaning."""
        words = [
            match.passage for match in self.index.text_search(text, allowed, PASSAGES)
        ]
        meant = self._nearest_passages(text, allowed)
        rows = self.index.passages([*dict.fromkeys((*words, *meant))])
        memory_of = {row.id: row.memory_id for row in rows}
        near = [id_ for id_, is_alike in meant.items() if is_alike]
        legs = (_memories_of(words, memory_of), _memories_of(meant, memory_of))
        return _fused_ranks(legs), set(_memories_of(near, memory_of))

    def note(self, row: MemoryRow) -> CandidateNote | None:
        """The note of a row; None where its file cannot be read."""
        memory = self.load(row.path)
        return self._candidate(row, memory) if memory else None

    def _candidate(self, row: MemoryRow, memory: Memory) -> CandidateNote:
        return CandidateNote(row.id, row.path, memory, self.trust(memory))

    def load(self, path: str) -> Memory | None:
        return load_or_none(self.store, path)

    def _nearest_passages(self, text: str, allowed: ScopeFilter) -> dict[int, bool]:
        """The passages nearest in meaning, best first, with whether they are near enough to be
        about the same.
        """
        if self.embedder is None:
            return {}
        try:
            vector = self.embedder.embed([text])[0]
            found = self.index.vector_search(vector, allowed, PASSAGES)
            least = self.embedder.floor + ALIKE * (1 - self.embedder.floor)
        except (ModelUnavailable, IndexUnavailable, ValueError):  # words serve alone
            return {}
        return {match.passage: match.score >= least for match in found}


def _memories_of(passages: Iterable[int], memory_of: Mapping[int, str]) -> list[str]:
    """The memories of passages, those left out that are gone by now."""
    return [memory_of[id_] for id_ in passages if id_ in memory_of]


def _fused_ranks(legs: Iterable[Iterable[str]]) -> dict[str, float]:
    """The memories of several rankings with the sum of their reciprocal ranks."""
    scores: dict[str, float] = {}
    for leg in legs:
        for rank, memory_id in enumerate(dict.fromkeys(leg)):
            scores[memory_id] = scores.get(memory_id, 0.0) + 1 / (FUSION + rank)
    return scores


def _is_current_note(row: MemoryRow) -> bool:
    return row.kind == "note" and not row.is_archived and not row.superseded_by


def _shares_words(text: str, statement: str) -> bool:
    """Whether a text has enough of the words that say what a note is about."""
    words = stems_of(statement) - STOP_STEMS
    return len(words & stems_of(text)) >= max(MIN_SHARED, SHARED * len(words))


def fitting_notes(
    notes: Iterable[CandidateNote], room: int
) -> tuple[CandidateNote, ...]:
    """The first notes that fit into ``room`` characters, each once."""
    kept: dict[str, CandidateNote] = {}
    for note in notes:
        if note.label in kept:
            continue
        room -= len(note.line) + 1
        if room < 0:
            break
        kept[note.label] = note
    return tuple(kept.values())


def listed_note(label: str, notes: Sequence[CandidateNote]) -> CandidateNote | None:
    """The listed note that a model means; None for an id that it was not shown."""
    plain = label.strip().strip("[]").removeprefix("mem_").lower()
    return next(
        (note for note in notes if plain and plain in (note.label, note.id[4:])), None
    )
