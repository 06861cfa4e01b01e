"""The hit of one memory, as its file has it now: the words that are told, and what became of
them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from keeplore.index import MemoryRow, PassageRow
from keeplore.index.passages import passages_of, still_says
from keeplore.memory import Conversation, Memory
from keeplore.memory.digest import KIND as DIGEST
from keeplore.memory.digest import sources_of
from keeplore.memory.model import BELIEVED, Trust
from keeplore.memory.note import statement_of
from keeplore.recall.digest_hits import told_lines
from keeplore.recall.excerpt import excerpt, sentences_of
from keeplore.recall.prepare import OpenedMemory, PreparedQuery, RecallContext
from keeplore.recall.question import ParsedQuestion, parse_question, stems_of
from keeplore.recall.request import BREAK, HeldStatement, RecallHit, Said, turns_of
from keeplore.recall.since.asked_figures import asked_figure
from keeplore.recall.since.later_figures import later_figure
from keeplore.recall.since.later_statements import ReplacementLookup
from keeplore.recall.since.named_files import named_files
from keeplore.recall.statements.shown_lines import (
    held_in,
    held_lines,
    line_marks,
    shown_lines,
)
from keeplore.recall.unasked.prompt_injection import is_doubtful, is_suspect
from keeplore.recall.weights import WITHIN_CHARS
from keeplore.text.pasted import is_pasted_into, pasted_words


def hit_within(
    context: RecallContext, query: PreparedQuery, row: MemoryRow
) -> RecallHit | None:
    """What one memory says to the question, of a conversation the earliest first; None where its
    file is gone. Its score is 0: nothing was compared.
    """
    opened = context.opened(row.path)
    if opened is None:
        return None
    if talk := opened.conversation:
        order = {exchange.id: place for place, exchange in enumerate(talk.exchanges)}
        said = held_lines(context, query, row, talk, WITHIN_CHARS)
        said.sort(key=lambda line: order.get(line[1], 0))
    else:
        text = excerpt(opened.memory.body, query.question, WITHIN_CHARS)
        said = [(text, "")] if row.kind == "document" else []
    if said:
        held = held_in(context, opened.conversation)
        hit = _hit_of(context, query, row, opened, said, 0.0, held)
        return replace(hit, times=tuple(opened.time_of(turn) for turn in hit.turns))
    return verified_hit(context, row, None, 0.0, query)


def verified_hit(
    context: RecallContext,
    row: MemoryRow,
    passage: PassageRow | None,
    score: float,
    query: PreparedQuery,
    *,
    is_exchange: bool = False,
) -> RecallHit | None:
    """The hit as its file has it now; None where the file is gone, unreadable, or no longer says
    it.

    Without a passage, what of the memory says most to the question is shown; of an exchange
    nothing else.
    """
    opened = context.opened(row.path)
    if opened is None:
        return None
    memory, conversation = opened.memory, opened.conversation
    found = _still_said(memory, conversation, passage, query)
    if found is None:
        return None
    text, turn = found
    if memory.kind == DIGEST:
        known = context.deps.index.memories(sorted(sources_of(memory)))
        text = told_lines(memory, query.question, known)
        return _hit(context, row, memory, score, (text, "", "")) if text else None
    # a note without the words that it was made from
    if row.kind == "note" and len(passages_of(memory)) == 1:
        text = statement_of(memory)
    if is_exchange:
        said = [(excerpt(text, query.question), turn)]
    else:
        said = shown_lines(context, query, row, passage, conversation, (text, turn))
    request = context.request
    is_quick = is_exchange or request.by_exchange or request.filter.is_unasked
    held = () if is_quick else held_in(context, conversation)
    return _hit_of(context, query, row, opened, said, score, held)


def held_hit(
    context: RecallContext,
    query: PreparedQuery,
    hit: RecallHit,
    row: MemoryRow,
    room: int,
) -> RecallHit | None:
    """The hit with what of all that was said and holds answers best, within ``room`` characters;
    None where that is nothing.
    """
    opened = context.opened(hit.path)
    if not (opened and opened.conversation and query.question.says_something):
        return None
    said = held_lines(context, query, row, opened.conversation, room)
    if not said:
        return None
    held = held_in(context, opened.conversation)
    return _hit_of(context, query, row, opened, said, hit.score, held)


def hit_of_lines(
    context: RecallContext, row: MemoryRow, opened: OpenedMemory, said: Sequence[Said]
) -> RecallHit:
    """The hit that tells these lines of a memory, to a question that names nothing."""
    held = held_in(context, opened.conversation)
    query = PreparedQuery(parse_question(""))
    return _hit_of(context, query, row, opened, said, 0.0, held)


def _hit_of(
    context: RecallContext,
    query: PreparedQuery,
    row: MemoryRow,
    opened: OpenedMemory,
    said: Sequence[Said],
    score: float,
    held: Sequence[HeldStatement],
) -> RecallHit:
    """The hit that tells these lines, with what became of them; ``held`` are the statements of its
    conversation, where they were read.
    """
    turn = said[0][1]
    memory, conversation = opened.memory, opened.conversation
    words = BREAK.join(line for line, _ in said)
    hit = _hit(context, row, memory, score, (words, turn, opened.time_of(turn)))
    trust = _trust_of(hit.trust, words, conversation)
    marks = line_marks(conversation, said, held)
    hit = replace(hit, trust=trust, turns=turns_of(said, turn), marks=marks)
    return _with_since(context, hit, row, memory, conversation, query)


def _still_said(
    memory: Memory,
    conversation: Conversation | None,
    passage: PassageRow | None,
    query: PreparedQuery,
) -> Said | None:
    """The passage, if the memory says it still; without one what covers most of the question."""
    if passage is None:
        return _most_covering(memory, query.question)
    if still_says(memory, conversation, passage.turn, passage.text):
        return passage.text, passage.turn
    return None


def _hit(
    context: RecallContext,
    row: MemoryRow,
    memory: Memory,
    score: float,
    said: tuple[str, str, str],
) -> RecallHit:
    """The hit of a memory; ``said`` are the words that are shown, their turn and its time."""
    shown, turn, at = said
    return RecallHit(
        row.id,
        row.title,
        row.updated_at or row.created_at,
        row.kind,
        row.scope,
        row.project,
        row.category,
        context.deps.trust(memory),
        round(score, 3),
        shown,
        turn,
        row.path,
        row.changes,
        row.session,
        row.superseded_by,
        at,
    )


def _with_since(
    context: RecallContext,
    hit: RecallHit,
    row: MemoryRow,
    memory: Memory,
    conversation: Conversation | None,
    query: PreparedQuery,
) -> RecallHit:
    """The hit with what became of the files that it names, of what it states, and of a figure that
    a question asks for.
    """
    deps = context.deps
    replacements = ReplacementLookup(
        deps.index,
        context.loaded,
        deps.trust,
        lambda later: deps.sources()(later).is_believed,
    )
    later = replacements.of(row, conversation, hit.passage, hit.turn, hit.turns)
    named = named_files(memory, hit.passage, conversation)
    since = deps.freshness([named])[0] if named.files else None
    changed, gone = (since.changed, since.gone) if since else ((), ())
    if later is None and conversation and (asked := asked_figure(query.question)):
        later = later_figure(hit, conversation, asked)
    return replace(hit, later=later, files_changed=changed, files_gone=gone)


def _trust_of(trust: str, shown: str, conversation: Conversation | None) -> str:
    """The trust of a passage. Pasted text that reads like an order is not the person's; a harmless
    passage that quotes only their own words is.
    """
    if trust not in BELIEVED or conversation is None:
        return trust
    messages = {e.id: e.user for e in conversation.exchanges}
    pasted = [said for said in messages.values() if pasted_words(said)]
    for sentence in sentences_of(shown) if pasted else ():
        is_theirs = any(is_pasted_into(message, sentence) for message in pasted)
        if is_theirs and is_suspect(sentence):
            return Trust.DOCUMENT
    own = {
        quote.text
        for quote in conversation.quotes
        if quote.speaker == Trust.USER
        and not is_pasted_into(messages.get(quote.turn, ""), quote.text)
    }
    is_own = own.issuperset(shown.split(BREAK)) and not is_doubtful(trust, shown)
    return Trust.USER if is_own else trust


def _most_covering(memory: Memory, question: ParsedQuestion) -> tuple[str, str]:
    """The text with the most of the question's words, and its turn."""
    passages = [(passage.body, passage.turn) for passage in passages_of(memory)]
    return max(
        passages, key=lambda p: question.coverage(stems_of(p[0])), default=("", "")
    )
