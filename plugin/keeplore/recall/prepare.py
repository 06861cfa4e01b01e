"""A question before it is searched for: the index brought up to date, the vector, the times that it
names.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from functools import cached_property
from typing import TYPE_CHECKING

from keeplore.errors import IndexUnavailable, ModelUnavailable, RepositoryError
from keeplore.index import IndexState, MemoryRow, ScopeFilter, load_or_none
from keeplore.index.embedding.capabilities import embed_questions
from keeplore.index.embedding.foreign_scripts import reads_script_of
from keeplore.index.refresh import lag_note
from keeplore.memory import Conversation, Exchange, Memory
from keeplore.recall.question import ParsedQuestion, parse_question, stems_of
from keeplore.recall.ranking.model import Standing
from keeplore.recall.request import SIBLING, HeldStatement, RecallRequest, SearchScope
from keeplore.recall.since.named_files import FilesSince, nothing_known
from keeplore.recall.statement_reader import StatementReader
from keeplore.recall.unasked.origin import SourceOf, only_own
from keeplore.recall.unasked.prompt_injection import stated_trust
from keeplore.recall.weights import WEIGHTS, Weights
from keeplore.text.agent_scope import agent_of
from keeplore.text.counts import counted
from keeplore.text.dates import day_of, on_clocks_here
from keeplore.text.times.event_expressions import event_in
from keeplore.text.times.session_expressions import sessions_in
from keeplore.text.times.time_expressions import Span

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from keeplore.index import Embedder, Index, TextSource

REFRESH_S = 1.5  # for reading what has changed, which after a clone is everything
WRITER_S = 1.0  # a person waits: what another process is writing just now is not waited for longer
_DAY_S = 86_400
EVENTS = 10  # passages among which one tells an event
UNREAD = (
    "searched by text alone: the embedding model does not read this script; `keeplore embedding "
    "use` changes to one that does"
)


@dataclass(frozen=True, slots=True)
class RecallDeps:
    """What questions of a workspace are answered with.

    ``trust`` says how far a memory is believed, ``sources`` from whom it is. ``graph`` lifts
    what is about the things that a question names, ``feedback`` what was of use before;
    ``freshness`` says what became of the files that a passage names, ``held`` what holds of what
    was said in a conversation.
    """

    index: Index
    store: TextSource
    embedder: Embedder | None = None
    trust: Callable[[Memory], str] = stated_trust
    weights: Weights = WEIGHTS
    sources: Callable[[], SourceOf] = only_own
    graph: bool = False
    feedback: bool = False
    freshness: FilesSince = nothing_known
    held: Callable[[Conversation], Sequence[HeldStatement]] | None = None


@dataclass(frozen=True)
class OpenedMemory:
    """A memory as its file has it now."""

    memory: Memory

    @cached_property
    def conversation(self) -> Conversation | None:
        """What was said in it; a document holds no exchanges."""
        is_document = self.memory.kind == "document"
        return None if is_document else Conversation.from_markdown(self.memory.body)

    def exchange(self, turn: str) -> Exchange | None:
        exchanges = self.conversation.exchanges if self.conversation else ()
        return next((e for e in exchanges if e.id == turn), None)

    def time_of(self, turn: str) -> str:
        """When a turn was; "" where there is no such turn."""
        exchange = self.exchange(turn)
        return exchange.at if exchange else ""


@dataclass(frozen=True, slots=True)
class RecallContext:
    """What stays the same however often the index is searched for one question."""

    deps: RecallDeps
    request: RecallRequest
    scope: SearchScope
    now: datetime
    _opened: dict[str, OpenedMemory | None] = field(default_factory=dict)

    def opened(self, path: str) -> OpenedMemory | None:
        """A memory, read once for the question; None where it cannot be read."""
        if path not in self._opened:
            memory = load_or_none(self.deps.store, path)
            self._opened[path] = OpenedMemory(memory) if memory else None
        return self._opened[path]

    def loaded(self, path: str) -> Memory | None:
        opened = self.opened(path)
        return opened.memory if opened else None

    @property
    def today(self) -> date:
        """The date in this place."""
        return on_clocks_here(self.now).date()

    @property
    def threshold(self) -> float:
        """The score that a memory must have to be shown."""
        return max(self.request.filter.at_least, self.deps.weights.hidden_below)

    @property
    def ranking(self) -> Weights:
        """The weights of the ranking: outside of all projects no memory is of another one."""
        w = self.deps.weights
        return w if self.scope.project else replace(w, sibling=0.0)

    def allowed(self, *, is_wide: bool) -> ScopeFilter:
        """The scopes that are searched; what other agents keep for themselves only where it is
        asked for.
        """
        if not is_wide:
            return ScopeFilter(self.scope.scopes)
        every = () if self.request.wide else self.deps.index.scopes()
        shared = tuple(pair for pair in every if self._is_open(*pair))
        if len(shared) == len(every):  # naming them all costs more than no filter
            return ScopeFilter()
        return ScopeFilter(shared or self.scope.scopes)

    def may_show(self, row: MemoryRow, *, is_wide: bool) -> bool:
        if not is_wide:
            return self.scope.distance(row.scope, row.project) != SIBLING
        return self.request.wide or self._is_open(row.scope, row.project)

    def _is_open(self, scope: str, project: str) -> bool:
        return not agent_of(scope) or (scope, project) in self.scope.own

    def standing_of(self, row: MemoryRow) -> Standing:
        """What is known of a memory, as seen from here; without graph and feedback."""
        return Standing(
            self.scope.distance(row.scope, row.project),
            age_days(row.updated_at or row.created_at, self.now),
            row.permanent,
            row.is_archived,
            is_summary=row.kind == "document" and bool(row.session),
            head=row.superseded_by,
            place=f"{row.scope}/{row.project}",
        )


@dataclass(frozen=True, slots=True)
class PreparedQuery:
    """A question with its vector, where the model gives one; ``floor`` is the model's, None without
    a vector, as is ``reader``, which compares statements with it.
    """

    question: ParsedQuestion
    vector: NDArray[np.float32] | None = None
    floor: float | None = None
    model: str = ""  # fingerprint of the model that made the vector
    reader: StatementReader | None = None
    is_patient: bool = False  # where no host waits for its prompt
    spans: tuple[Span, ...] = ()  # times that the question names
    passages: int = 0  # that there are

    def silence(self, w: Weights) -> float:
        """The score below which nothing is shown, unless the best memory has more."""
        is_unread = self.vector is None and bool(self.question.parts)
        return w.unread_below if is_unread else w.nothing_below

    def without_vector(self) -> PreparedQuery:
        return replace(self, vector=None, floor=None, model="", reader=None)


def age_days(at: str, now: datetime) -> float:
    """Days since a moment of a front matter; one that cannot be read counts as ten years ago."""
    try:
        then = datetime.fromisoformat(at)
    except ValueError:
        return 3650.0
    then = then if then.tzinfo else then.replace(tzinfo=UTC)
    return max(0.0, (now - then).total_seconds() / _DAY_S)


def refresh(index: Index) -> list[str]:
    """Bring the index up to date. Returns what has to be told where it is still behind.

    Raises IndexUnavailable where it can neither be read nor made.
    """
    if index.is_in_step():
        return []
    try:
        left = index.refresh(wait_s=WRITER_S, within_s=REFRESH_S).left
    except (IndexUnavailable, RepositoryError) as e:
        note = lag_note(index.lag(), e)
        return [note] if note else []
    if not left:
        return []
    return [
        f"the index is being made, the newest first: still to be read: {counted(left, 'file')}"
    ]


def unreadable_files(index: Index) -> list[str]:
    """A note on the memory files that cannot be read, which nothing finds; [] for none."""
    if not (count := index.count_unreadable()):
        return []
    files = counted(
        count,
        "memory file cannot be read and is",
        "memory files cannot be read and are",
    )
    return [f"{files} not searched: `keeplore lint` says what is wrong"]


def named_span(
    context: RecallContext, question: ParsedQuestion
) -> tuple[Span | None, str]:
    """When the sessions or the event were that the question names, None where nothing is known of
    them; and what it says beside the event.
    """
    session = session_span(context, question)
    event = None if session else event_in(question.text)
    day = _day_of(context, event.event) if event else None
    if not event or not day:
        return session, question.text
    # "what did we use before the change?" asks for one thing
    is_of_one = event.is_open and not parse_question(event.rest).says_something
    rest = question.text if is_of_one else event.rest
    return Span(*event.around(day, context.today)).in_utc(), rest


def _day_of(context: RecallContext, event: str) -> date | None:
    """The day on which something was said that has all words of an event; of more than one the
    first for what somebody did, the last for a name, as "the release".
    """
    asked, index = parse_question(event), context.deps.index
    if not asked.says_something:
        return None
    allowed = context.allowed(is_wide=context.request.wide)
    best = index.text_search(event, allowed, EVENTS)
    rows = index.passages([match.passage for match in best])
    covering = [row for row in rows if asked.coverage(stems_of(row.text)) == 1.0]
    memories = index.memories(sorted({row.memory_id for row in covering}))
    days = [
        row.at or memories[row.memory_id].created_at
        for row in covering
        if row.memory_id in memories
    ]
    if not days:
        return None
    is_done = event.split()[0].lower() in {"we", "i", "you"}
    with contextlib.suppress(ValueError):
        return date.fromisoformat(day_of(min(days) if is_done else max(days)))
    return None


def session_span(context: RecallContext, question: ParsedQuestion) -> Span | None:
    """When the sessions took place that the question names; None where it names none, or none that
    there was.
    """
    numbers = sessions_in(question.text)
    if not numbers:
        return None
    allowed = context.allowed(is_wide=context.request.wide)
    index = context.deps.index
    first, last = (index.session_span(allowed, number) for number in numbers)
    if numbers[0] < numbers[1]:
        if first is None and numbers[0] < 0:  # of "the last ten" there are but six
            first = index.session_span(allowed, 1)
        if last is None:  # of "8 to 10" the tenth is still to come
            last = index.session_span(allowed, -1)
    return Span(first[0], last[1]) if first and last else None


def prepare(
    deps: RecallDeps, question: ParsedQuestion, stamp: IndexState
) -> tuple[PreparedQuery, list[str]]:
    """The question as it is searched for with a model, and what has to be told of that."""
    # while the model is being changed, the one before has the vectors
    embedder = (
        deps.index.answering(deps.embedder) if deps.embedder is not None else None
    )
    bare = PreparedQuery(question)
    if embedder is None:
        return bare, ["searched by text alone: no embedding model is set"]
    if not stamp.vectors:
        return bare, ["searched by text alone: no vectors have been made yet"]
    if not question.says_something:
        return bare, []
    try:
        if not reads_script_of(embedder, question.text):
            return bare, [UNREAD]
        return embed_query(question, embedder), _missing_vectors(stamp)
    except ModelUnavailable as e:
        return bare, [f"searched by text alone: {e}"]


def embed_query(question: ParsedQuestion, embedder: Embedder) -> PreparedQuery:
    """The question with its vector. Raises ModelUnavailable."""
    vector = embed_questions(embedder, [question.subject])[0]
    reader = StatementReader(embedder, vector)
    return PreparedQuery(question, vector, embedder.floor, embedder.fingerprint, reader)


def _missing_vectors(stamp: IndexState) -> list[str]:
    """What the vectors do not tell yet."""
    notes = [str(stamp.switch)] if stamp.switch else []
    missing = stamp.passages - stamp.vectors
    if missing > 0:
        notes.append(f"{missing} of {stamp.passages} passages have no vector yet")
    return notes
