"""What was said later in the place of what a memory says, as far as that is sure.

Derived from the text alone, each time that something is shown: a note that a language model made
and that names the words which it puts an end to; that with which the person's next message took
back the exchange; else what the person said further on in the same conversation, or a decision or a
note of the same scope, that replaces it (``keeplore.text.revisions``), later by its time. All
believed here and still in their files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from keeplore.index import MemoryRow, PassageRow, ScopeFilter
from keeplore.index.passages import still_says
from keeplore.memory import Conversation, Exchange, Memory
from keeplore.memory.model import BELIEVED, Trust
from keeplore.memory.note import statement_of
from keeplore.recall.request import BREAK, LaterStatement
from keeplore.text.pasted import is_pasted_into
from keeplore.text.revisions import (
    Revision,
    is_choice,
    is_correction,
    replaces,
    revision_of,
    revisions_in,
)
from keeplore.text.sentences import answer_in, clip, plain_words, sentences
from keeplore.text.similarity import normalised
from keeplore.text.terms import stems

if TYPE_CHECKING:
    from keeplore.index import Index

MOST_STEPS = 4  # from what was replaced to what holds now
REPLY = 8  # content words of a message that is an answer to the one before it
MOST_SAID = 12  # sentences of what is shown that are looked at
NAMED = 2  # content words of a claim from which an objection speaks of it
TALKED = 8  # exchanges that tell what a name that is dropped was talked about with
READ = 4_000  # characters of each message of them
FOLLOWING = 60  # exchanges of the same talk in which it may be replaced


@dataclass(frozen=True, slots=True)
class _Said:
    """A sentence with the stems of what was talked about when it was said."""

    text: str
    around: frozenset[str]
    at: str
    decides: bool

    @property
    def words(self) -> frozenset[str]:
        return self.around | frozenset(stems(self.text))


@dataclass(frozen=True, slots=True)
class ReplacementLookup:
    """Looks up what replaced what a workspace's memories say; ``load`` reads a file, ``trust`` says
    how far a memory is believed, ``is_told`` whether it may end anything, as what waits for its
    machine may not.
    """

    index: Index
    load: Callable[[str], Memory | None]
    trust: Callable[[Memory], str]
    is_told: Callable[[MemoryRow], bool]

    def of(
        self,
        row: MemoryRow,
        conversation: Conversation | None,
        shown: str,
        turn: str = "",
        beside: Sequence[str] = (),
    ) -> LaterStatement | None:
        """The statement that holds now in place of what is shown of a memory; None where none is
        known. ``turn`` is where the shown text comes from, ``beside`` further turns of it.
        """
        if row.kind in ("document", "digest"):
            return None
        if row.superseded_by:
            return self._head_statement(row.superseded_by)
        shown = plain_words(shown)  # as quotations are
        if judged := self._judged(conversation, shown, turn):
            return judged
        if conversation and (said := _corrected(conversation, shown, turn)):
            text, exchange = said
            return LaterStatement(clip(text), row.id, exchange.id, exchange.at)
        scope = ScopeFilter(((row.scope, row.project),))
        sayings = [*_sayings(row, conversation, shown, (turn, *beside))]
        last: LaterStatement | None = None
        if conversation and (said := _changed_sentence(conversation, sayings)):
            text, exchange = said
            last = LaterStatement(clip(text), row.id, exchange.id, exchange.at)
            sayings = [_Said(text, frozenset(), exchange.at, decides=True)]
        for _ in range(MOST_STEPS):
            found = self._next_statement(sayings, scope, row.session)
            if found is None:
                break
            last = found  # and what replaced it may be replaced
            sayings = [_Said(found.text, frozenset(), found.at, decides=True)]
        return last if last and last.text not in shown else None

    def _judged(
        self, conversation: Conversation | None, shown: str, turn: str
    ) -> LaterStatement | None:
        """The statement of a note that was made because it ends the shown words."""
        quotes = conversation.quotes if conversation else ()
        turns = {turn, *(quote.turn for quote in quotes if quote.text in shown)}
        words = normalised(shown)
        endings = self.index.endings(turns - {""}) if conversation else ()
        notes = (
            self._head_statement(id_)
            for said, id_ in endings
            if normalised(plain_words(said)) in words
        )
        found = [note for note in notes if note and note.text not in shown]
        return max(found, key=lambda note: (note.at, note.memory_id), default=None)

    def _head_statement(self, memory_id: str) -> LaterStatement | None:
        """What a memory states, in its newest version."""
        row = self.index.memories([memory_id]).get(memory_id)
        if row and row.superseded_by:
            row = self.index.memories([row.superseded_by]).get(row.superseded_by)
        memory = self._load_believed(row.path) if row and self.is_told(row) else None
        if row is None or memory is None:
            return None
        at = row.updated_at or row.created_at
        return LaterStatement(clip(_stated(memory)), row.id, "", at)

    def _next_statement(
        self, sayings: Sequence[_Said], scope: ScopeFilter, session: str
    ) -> LaterStatement | None:
        """The latest statement that replaces one of these of a session, as it was said rather than
        as a note puts it.
        """
        words = frozenset().union(*(said.words for said in sayings))
        rows = self.index.revising(scope, words)
        memories = self.index.memories(sorted({row.memory_id for row in rows}))
        found: list[LaterStatement] = []
        for row in rows:
            memory = memories.get(row.memory_id)
            if memory is None or memory.superseded_by or memory.is_archived:
                continue
            at = row.at or memory.updated_at or memory.created_at
            earlier = [said for said in sayings if at > said.at]
            if not earlier:
                continue
            is_same = bool(session) and memory.session == session
            text = self._replacing(row, earlier, is_same_talk=is_same)
            if text and self.is_told(memory) and self._is_still_stated(row):
                found.append(LaterStatement(text, row.memory_id, row.turn, at))
        return max(found, key=_lateness, default=None)

    def _replacing(
        self, row: PassageRow, sayings: Sequence[_Said], *, is_same_talk: bool
    ) -> str:
        """The sentence of a passage that replaces one of these, "" for none."""
        for text, revision in revisions_in(row.said):
            of_it = [said for said in sayings if revision.key & said.words]
            needs_talk = of_it and not (revision.about or is_same_talk)
            talk = self._conversation_stems(row) if needs_talk else None
            if _is_replaced(of_it, revision, talk):
                return text
        return ""

    def _conversation_stems(self, row: PassageRow) -> frozenset[str]:
        """The stems of what was said shortly before a passage of a conversation, and in it."""
        memory = self._load_believed(row.path)
        exchanges = Conversation.from_markdown(memory.body).exchanges if memory else ()
        turns = [exchange.id for exchange in exchanges]
        if memory is None or row.turn not in turns:
            return frozenset()
        end = turns.index(row.turn) + 1
        said = [memory.title]
        for exchange in exchanges[max(0, end - TALKED) : end]:
            said += (exchange.user[:READ], exchange.assistant[:READ])
        return frozenset(stems("\n".join(said)))

    def _is_still_stated(self, row: PassageRow) -> bool:
        """Is it in its file, which is believed?"""
        memory = self._load_believed(row.path)
        return memory is not None and still_says(memory, None, row.turn, row.text)

    def _load_believed(self, path: str) -> Memory | None:
        memory = self.load(path)
        return memory if memory and self.trust(memory) in BELIEVED else None


def _stated(memory: Memory) -> str:
    """What a memory states; of a conversation its title, for its parts are no statement."""
    return memory.title if memory.kind == "conversation" else statement_of(memory)


def _lateness(later: LaterStatement) -> tuple[str, bool, str]:
    return later.at, bool(later.turn), later.memory_id


def _corrected(
    conversation: Conversation, shown: str, turn: str
) -> tuple[str, Exchange] | None:
    """What the person said in the next message to take back what is shown of an exchange: their
    decision in it, else the sentence that objects. None where they said neither, or where the shown
    text stands in the head.
    """
    decided = {quote.turn: quote for quote in conversation.decided}
    for exchange, following in pairwise(conversation.exchanges):
        if exchange.id != turn or not is_correction(following.user):
            continue
        quote = decided.get(following.id)
        if quote is None:
            text = _objection(conversation, exchange, following, shown)
        else:
            is_spoken = quote.speaker == Trust.USER and turn not in decided
            is_own = is_spoken and not _is_of_other(quote.text, exchange)
            is_held = any(
                q.turn == turn and q.text in shown for q in conversation.quotes
            )
            text = quote.text if is_own and not is_held else ""
        return (text, following) if text and text not in shown else None
    return None


def _is_of_other(text: str, exchange: Exchange) -> bool:
    """Does a correction name a matter of which an exchange does not speak?"""
    revision = revision_of(text, corrects=True)
    about = revision.about if revision else frozenset()
    spoken = (*stems(exchange.user), *stems(exchange.assistant))
    return bool(about) and about.isdisjoint(spoken)


def _objection(
    conversation: Conversation, exchange: Exchange, following: Exchange, shown: str
) -> str:
    """The sentence that rejects the agent's shown words; "" for none."""
    stands = any(
        q.turn == exchange.id and q.speaker == Trust.ASSISTANT and q.text in shown
        for q in conversation.quotes
    )
    first = sentences(following.user)[:1]
    if stands or not first or first[0].is_question:
        return ""
    claimed = {*stems(shown)} & {*stems(exchange.assistant)}
    is_about = len(claimed.intersection(stems(first[0].text))) >= NAMED
    return first[0].text if is_about else ""


def _changed_sentence(
    conversation: Conversation, sayings: Sequence[_Said]
) -> tuple[str, Exchange] | None:
    """The last sentence with which the person replaced one of these in the same conversation,
    judged by its own words: what was talked about around it may be what another sentence is about.
    """
    alone = [replace(said, around=frozenset()) for said in sayings]
    first = min((said.at for said in alone), default="~")
    following = [e for e in conversation.exchanges if e.at > first][:FOLLOWING]
    for exchange in reversed(following):
        earlier = [said for said in alone if exchange.at > said.at]
        corrects = is_correction(exchange.user)
        for text, revision in revisions_in(exchange.user, corrects=corrects):
            is_own = not is_pasted_into(exchange.user, text)
            if is_own and _is_replaced(earlier, revision):
                return text, exchange
    return None


def _is_replaced(
    sayings: Sequence[_Said], revision: Revision, talk: Set[str] | None = None
) -> bool:
    return any(
        replaces(revision, said.text, said.around, decides=said.decides, talk=talk)
        for said in sayings
    )


def _sayings(
    row: MemoryRow, conversation: Conversation | None, shown: str, turns: Sequence[str]
) -> Iterator[_Said]:
    """The sentences of what is shown, with the decisions of its exchanges."""
    if conversation is None or not conversation.exchanges:
        at = row.updated_at or row.created_at
        context_stems = frozenset(stems(row.title))
        for sentence in sentences(shown)[:MOST_SAID]:
            yield _Said(sentence.text, context_stems, at, decides=row.kind == "note")
        return
    decided = {*conversation.decided}
    quotes = {answer_in(q.text): q for q in conversation.quotes}
    stated = BREAK.join(map(answer_in, shown.split(BREAK)))
    for sentence in sentences(stated)[:MOST_SAID]:
        quote = quotes.get(sentence.text)
        of_turn = quote.turn if quote else turns[0]
        decides = quote in decided or is_choice(sentence.text)
        yield _saying_at(conversation, sentence.text, of_turn, decides=decides)
    for quote in decided:
        if quote.turn in turns and quote.text not in shown:
            text = answer_in(quote.text)
            yield _saying_at(conversation, text, quote.turn, decides=True)


def _saying_at(
    conversation: Conversation, text: str, turn: str, *, decides: bool
) -> _Said:
    before: Exchange | None = None
    for exchange in conversation.exchanges:
        if exchange.id == turn:
            context_stems = frozenset(stems(exchange.user))
            if before and len(context_stems) < REPLY:
                context_stems |= frozenset(stems(before.user))
            return _Said(text, context_stems, exchange.ended_at or exchange.at, decides)
        before = exchange
    return _Said(text, frozenset(), "~", decides)  # of no time: nothing is later
