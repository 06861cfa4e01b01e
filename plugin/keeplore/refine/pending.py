"""What of a conversation nobody has asked a model about yet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from keeplore.errors import NotFound
from keeplore.llm.base import tokens
from keeplore.memory import Conversation, Exchange, Memory
from keeplore.refine.changes import DONE
from keeplore.refine.deps import RefineDeps
from keeplore.refine.gates import SHADOW
from keeplore.refine.window import (
    LEAST,
    Segment,
    Window,
    segments_of,
    size_of,
    unasked_exchanges,
    windows,
)

# conversation → keys of the exchanges about which a model was asked
AskedExchanges = Mapping[str, frozenset[str]]


@dataclass(frozen=True, slots=True)
class PendingPart:
    """``wanted`` are those of the exchanges to ask about; ``why`` says why there is nothing to ask,
    "" otherwise.
    """

    memory: Memory
    exchanges: tuple[Exchange, ...] = ()
    wanted: tuple[Exchange, ...] = ()
    segments: tuple[Segment, ...] = ()
    why: str = ""

    @property
    def windows(self) -> tuple[Window, ...]:
        return windows(self.segments)

    @property
    def said_tokens(self) -> int:
        """All that was said, code and all."""
        pieces = {
            (segment.number, segment.speaker, segment.text) for segment in self.segments
        }
        return sum(tokens(text) for _, _, text in pieces)


def pending_part(
    deps: RefineDeps, memory_id: str, known: AskedExchanges, *, anywhere: bool = False
) -> PendingPart:
    """What is left of a conversation, which the index knows. Raises NotFound.

    Only what this machine captured, unless ``anywhere``; never what another person's machine wrote.
    """
    memory = _memory_of(deps, memory_id)
    if why := _why_not(deps, memory, anywhere=anywhere):
        return PendingPart(memory, why=why)
    exchanges = Conversation.from_markdown(memory.body).exchanges
    asked = known.get(memory_id, frozenset())
    wanted = unasked_exchanges(exchanges, asked, is_open=memory.is_open)
    segments = segments_of(exchanges, wanted, deps.is_document)
    why = "" if wanted else "it was refined before"
    if not why and size_of(segments) < LEAST:
        why = "too little was said"
    return PendingPart(memory, exchanges, wanted, segments, why)


def _memory_of(deps: RefineDeps, memory_id: str) -> Memory:
    """The memory of an id. Raises NotFound."""
    path = deps.search.index.path_of(memory_id)
    memory = deps.search.load(path) if path else None
    if memory is None or deps.store.is_forgotten(memory_id):
        raise NotFound(
            f"there is no memory {memory_id!r}", "`keeplore list` prints ids"
        )
    return memory


def _why_not(deps: RefineDeps, memory: Memory, *, anywhere: bool) -> str:
    """Why a memory is not to be refined, whatever was said in it; "" where it may be."""
    if memory.kind != "conversation":
        return "it is no conversation"
    if memory.source.get("machine") not in deps.own_machines and not anywhere:
        return "another machine captured it"
    if deps.search.trust(memory) == "foreign":
        return "another person's machine wrote it"
    return ""


def refined_exchanges(
    records: Iterable[Mapping[str, Any]], mode: str
) -> dict[str, frozenset[str]]:
    """What the audit says was asked about; what was only tried in the shadow is asked again where
    it shall count.
    """
    found: dict[str, frozenset[str]] = {}
    for entry in records:
        keys = entry.get("exchanges")
        counts = entry.get("mode") != SHADOW or mode == SHADOW
        if entry.get("event") == DONE and counts and isinstance(keys, list):
            id_ = str(entry.get("conversation"))
            found[id_] = found.get(id_, frozenset()) | frozenset(map(str, keys))
    return found
