"""What people do to the file of a conversation that its session still writes: an edit stays,
whatever is said next.

Of an open conversation the session keeps what it last made of it, so that it can tell its own lines
from a person's. Which exchanges a file knew is told by ``source.turns``: one that is named there
and missing was taken out, one that is not named came after the text was opened in an editor, or
went back to an older state with git.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from keeplore.errors import Corrupt
from keeplore.memory import Conversation, Exchange, Memory, parse
from keeplore.memory.merge.memory_merge import merge_session

PROVISIONAL = "prompt:"  # how the id of a turn begins of which only the prompt is known


def with_missing(conversation: Conversation, memory: Memory, made: Sequence[str]) -> Conversation:
    """What a file holds, with the exchanges that were made before and of which it knows nothing.

    A prompt whose turn is among them has become that turn.
    """
    last = _parsed(made[0]) if made else None
    known = {*memory.turns, *(exchange.id for exchange in conversation.exchanges)}
    written = Conversation.from_markdown(last.body) if last else conversation
    missing = [exchange for exchange in written.exchanges if exchange.id not in known]
    if not missing:
        return conversation
    ids = {exchange.id for exchange in written.exchanges}
    kept = [e for e in conversation.exchanges if e.id in ids or not e.id.startswith(PROVISIONAL)]
    exchanges = tuple(sorted((*kept, *missing), key=lambda exchange: exchange.at))
    return replace(conversation, exchanges=exchanges)


def joined(made: Sequence[str], ours: Memory, file: Memory) -> tuple[Memory, Memory | None]:
    """What is to be written, and a second memory for what could not be joined; ``file`` is what is
    on disk.
    """
    base = _base(made, file)
    if base is not None and (base.meta, base.body) == (file.meta, file.body):
        return ours, None
    turns = [turn for turn in file.turns if not turn.startswith(PROVISIONAL)]
    own = ours.with_meta(
        source={**ours.source, "turns": list(dict.fromkeys((*turns, *ours.turns)))}
    )
    return merge_session(base, own, file)


def is_edited(made: Sequence[str], file: Memory) -> bool:
    """Whether somebody has changed an open conversation's file since the session wrote it."""
    base = _base(made, file)
    return base is not None and (base.meta, base.body) != (file.meta, file.body)


def _base(made: Sequence[str], file: Memory) -> Memory | None:
    """What the session had written where somebody made this file of it, without exchanges that it
    does not know of.

    The file may be from the time before: a kill between the two writes, or an editor, leaves it so.
    """
    lines = {*file.body.split("\n")}
    texts = [memory for text in made if (memory := _parsed(text))]
    nearest = min(
        reversed(texts), key=lambda memory: len(lines ^ {*memory.body.split("\n")}), default=None
    )
    if nearest is None:
        return None
    was, now = (Conversation.from_markdown(memory.body) for memory in (nearest, file))
    known = {*file.turns, *(exchange.id for exchange in now.exchanges)}
    ids = {exchange.id for exchange in was.exchanges}
    # nobody adds a prompt of ours by hand: it is one of the session, whose turn has come since
    prompts = [e for e in now.exchanges if e.id.startswith(PROVISIONAL) and e.id not in ids]
    exchanges: tuple[Exchange, ...] = (*(e for e in was.exchanges if e.id in known), *prompts)
    if exchanges == was.exchanges:
        return nearest
    return Memory(nearest.meta, replace(was, exchanges=exchanges).to_markdown())


def _parsed(text: str) -> Memory | None:
    try:
        return parse(text)
    except Corrupt:
        return None
