"""Topic segmentation: is this turn still about the same topic? Asked once for each new turn, and
answered for good.

With the packaged embedding model the shift of subject is what ``topic_model`` makes of it, and
where an agent works, ``task_change``. With another one, or none, it is what ``text_tiling``
measures. Whatever the shift, ``follow_ups`` tells which messages open nothing.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from keeplore.capture import task_change, topic_model
from keeplore.capture.cues import opens_with
from keeplore.capture.follow_ups import (
    OPENING,
    PAUSE,
    is_again,
    is_confirmation,
    is_reply,
    takes_up,
)
from keeplore.capture.task_change import TaskEvidence, minutes_between
from keeplore.capture.text_tiling import compact, shift_by_rule, usual_need
from keeplore.errors import ModelUnavailable
from keeplore.memory.conversation_body import NO_WORK
from keeplore_hooks.events import Turn, Work
from keeplore_hooks.specs import hookimpl_last

if TYPE_CHECKING:
    from keeplore_hooks.contracts import Embedder

# minutes between a turn's end and the next prompt after which no other evidence is needed; after a
# PAUSE weaker evidence will do
LONG_PAUSE = 120
MAX_EXCHANGES = 100  # a safety against files that nobody can read, not a habit
MAX_SIZE = 200_000  # characters, likewise
NEED_MAYBE = 0.2  # shift by rule that is needed beside words like "now let's build …"
NEED_TASK = 0.45  # of the probability that another task begins, where an agent works
# the same, of the model's probability: where people chat, and with an assistant
LIKELY, LIKELY_ASSISTED, LIKELY_MAYBE = 0.4, 0.35, 0.25
ALONE = 0.35  # what more it needs to leave a single exchange with an assistant behind
# content words from which a message to an assistant can open a subject by its shift alone
SUBJECT_TERMS = 5
# what more it needs when the message takes up what was said ("and …", "but why …", "commit that")
CONTINUING = 0.2
# likewise when it names an option of the last answer, or accepts its offer
TAKEN_UP = 0.25
CACHED = 512  # embeddings kept


class TopicShift(NamedTuple):
    """How far a turn is from the conversation, and from where on that makes a boundary."""

    size: float
    need: float
    need_maybe: float  # beside words that may open a subject
    task: TaskEvidence | None = None  # where an agent works: silence says nothing there


def boundary(
    exchanges: Sequence[Mapping[str, Any]], turn: Turn, shift: TopicShift
) -> str:
    """Why the turn opens a new topic: ``pause``, ``words``, ``shift`` or ``size``, and ``""`` where
    it does not.

    ``exchanges`` are those of the open conversation, oldest first, with ``at``, ``user``,
    ``assistant`` and, if known, ``ended_at``.
    """
    if not exchanges:
        return ""
    if is_confirmation(turn.user):
        return _size_boundary(exchanges, 2 * MAX_EXCHANGES)
    last = exchanges[-1]
    minutes = minutes_between(str(last.get("ended_at") or last["at"]), turn.at)
    if shift.task is None and _is_pause(minutes, shift):
        return "pause"
    if is_again(turn.user, str(last["user"])):
        return ""
    opening = turn.user[:OPENING]
    if opens_with(opening, "new_topic"):
        return "words"
    if shift.task and is_reply(exchanges, turn.user, minutes):
        return ""
    if shift.size >= shift.need_maybe and opens_with(opening, "maybe_topic"):
        return "words"
    return (
        "shift"
        if shift.size >= shift.need
        else _size_boundary(exchanges, MAX_EXCHANGES)
    )


def _is_pause(minutes: float, shift: TopicShift) -> bool:
    is_likely = shift.size >= shift.need_maybe
    return minutes >= LONG_PAUSE or (minutes >= PAUSE and is_likely)


def _size_boundary(exchanges: Sequence[Mapping[str, Any]], most: int) -> str:
    """``size`` for an open conversation of ``most`` exchanges or of their length, else ""."""
    characters = sum(len(e["user"]) + len(e["assistant"]) for e in exchanges)
    is_full = characters >= MAX_SIZE * most / MAX_EXCHANGES
    return "size" if len(exchanges) >= most or is_full else ""


def learned_shift(
    chance: float, units: Sequence[topic_model.EmbeddedExchange]
) -> TopicShift:
    """The model's probability of a shift, and the threshold for it: that of a conversation with an
    assistant and that of a conversation between people, mixed by how much this is the former.
    """
    message = units[-1].user
    too_short = max(0.0, 1 - len(units[-1].own) / SUBJECT_TERMS)
    alone = ALONE if len(units) == 2 else 0.0
    assisted = LIKELY_ASSISTED + _continuation_weight(message) + too_short + alone
    share = topic_model.assistant_likeness(units)
    need = LIKELY * (1 - share) + assisted * share
    if takes_up(message, [unit.assistant for unit in units[:-1]]):
        need += TAKEN_UP
    return TopicShift(chance, need, LIKELY_MAYBE)


def _continuation_weight(message: str) -> float:
    going_on = ("continues", "finishes", "affirmed")
    opening = message[:OPENING]
    return CONTINUING if any(opens_with(opening, name) for name in going_on) else 0.0


class Segmenter:
    """The built-in plugin for ``keeplore_segment``. ``embedder`` may be None; one that fails is not
    asked again.
    """

    def __init__(self, embedder: Embedder | None) -> None:
        self._embedder = embedder
        self._vectors: OrderedDict[bytes, Any] = OrderedDict()

    @hookimpl_last
    def keeplore_segment(
        self, exchanges: Sequence[Mapping[str, Any]], turn: Turn, work: Work
    ) -> str | None:
        return boundary(exchanges, turn, self.shift_of(exchanges, turn, work))

    def shift_of(
        self, exchanges: Sequence[Mapping[str, Any]], turn: Turn, work: Work
    ) -> TopicShift:
        """The turn's shift of subject against the open conversation: learned where that is
        possible, else by rule.
        """
        recent = exchanges[-topic_model.SPAN :]
        said = [(str(e["user"]), str(e["assistant"])) for e in recent]
        said.append((turn.user, turn.assistant))
        texts = [compact(user, assistant) for user, assistant in said]
        vectors = self._embedded(texts) if recent else None
        embedder = self._embedder
        model = topic_model.model_for(embedder.fingerprint) if embedder else None
        if vectors is None or model is None:
            floor = embedder.floor if embedder else 0.0
            need = usual_need(len(exchanges)) + _continuation_weight(turn.user)
            return TopicShift(shift_by_rule(said, vectors, floor), need, NEED_MAYBE)
        pairs = zip(said, vectors, strict=True)
        units = [topic_model.EmbeddedExchange(*both, vector) for both, vector in pairs]
        if work == turn.work == NO_WORK:
            return learned_shift(model.chance(units), units)
        found = task_change.evidence(model.score(units), exchanges, turn, work)
        return TopicShift(task_change.chance(found), NEED_TASK, NEED_TASK, found)

    def _embedded(self, texts: Sequence[str]) -> list[Any] | None:
        """A vector for each text, or None without a model."""
        if self._embedder is None:
            return None
        keys = [
            hashlib.sha256(text.encode(errors="replace")).digest() for text in texts
        ]
        missing = dict(zip(keys, texts, strict=True))
        for key in missing.keys() & self._vectors.keys():
            del missing[key]
        if missing:
            try:
                vectors = self._embedder.embed(list(missing.values()))
            except ModelUnavailable:
                self._embedder = None
                return None
            self._vectors.update(zip(missing, vectors, strict=True))
        for key in keys:
            self._vectors.move_to_end(key)
        found = [self._vectors[key] for key in keys]
        while len(self._vectors) > CACHED:
            self._vectors.popitem(last=False)
        return found
