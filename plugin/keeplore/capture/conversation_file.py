"""The file of a conversation that its session still writes: what a person does to it stays,
whatever is said next.

Of an open conversation the session keeps what it last made of it, so that it can tell its own lines
from a person's. Which exchanges a file knew is told by ``source.turns``: one that is named there
and missing was taken out, one that is not named came after the text was opened in an editor, or
went back to an older state with git.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from keeplore.capture.capture_deps import CaptureDeps, MemoryPlace
from keeplore.capture.distill.distiller import distill
from keeplore.capture.open_conversation import (
    PROVISIONAL,
    OpenConversation,
    is_provisional,
)
from keeplore.capture.open_sessions import SessionState
from keeplore.capture.titles.titles import title_of
from keeplore.errors import Corrupt, NotFound, StoreError
from keeplore.memory import (
    Conversation,
    ConversationLink,
    Exchange,
    Memory,
    new_meta,
    parse,
)
from keeplore.memory.merge.memory_merge import merge_session
from keeplore.memory.model import without_empty
from keeplore.store import Store
from keeplore.text import agent_scope
from keeplore.text.terms import cosine, weighted

# conversations of the same project of which a new one may take up the subject
RECENT = 20
HEAD_USER, HEAD_ASSISTANT = 800, 400  # characters of each exchange that are compared
# cosine of words. Where a real conversation of four exchanges and more was halved and the halves
# looked for each other among the others of the project, 14 of 16 found so were right (at .2: 16 of
# 20, at .3: 8 of 9)
TAKEN_UP = 0.25


def load(store: Store, state: SessionState) -> OpenConversation | None:
    """The session's open conversation as its file has it; None where it is closed or gone."""
    path = store.find(state.open_id)
    if path is None or store.is_forgotten(state.open_id):
        return None
    try:
        memory = store.load(path)
    except StoreError:
        return None
    if not memory.is_open:  # a person closed it, or another process did
        return None
    place = MemoryPlace(
        memory.scope, memory.project, str(memory.source.get("branch", ""))
    )
    conversation = with_missing(
        Conversation.from_markdown(memory.body), memory, state.made
    )
    commit = str(memory.source.get("commit", ""))
    return OpenConversation(
        memory.id, place, conversation, memory.created_at, commit, path=path
    )


def load_file(store: Store, current: OpenConversation) -> Memory | None:
    """The conversation's file as it is now, wherever a person may have moved it; None before the
    first.
    """
    try:
        return store.load(current.path) if current.path else None
    except NotFound:
        current.path = store.find(current.id) or ""
        return store.load(current.path) if current.path else None


def made_of(
    current: OpenConversation, state: SessionState, deps: CaptureDeps, *, is_open: bool
) -> tuple[Memory, Conversation]:
    """The memory that a conversation makes now, with its parts, title and links."""
    exchanges = current.exchanges
    ended_at = exchanges[-1].ended_at or exchanges[-1].at
    current.commit = deps.head(state.origin, current.place, ended_at) or current.commit
    # the model's say in which quotations are central is worth its time once, not at every turn
    parts: dict[str, Any] = dict(distill(exchanges, None if is_open else deps.embed))
    title = title_of(exchanges, parts, current.conversation.work)
    if not is_open:
        link_earlier(current, deps)
    related = current.conversation.related
    conversation = replace(current.conversation, title=title, related=related, **parts)
    meta = new_meta(
        id=current.id,
        kind="conversation",
        status="open" if is_open else None,
        title=title,
        created_at=current.first_at,
        updated_at=ended_at,
        version=1,
        **agent_scope.scope_meta(current.place.scope, current.place.project),
        trust="assistant",  # the lower of the two who speak
        trigger=state.trigger,
        source=_source(current, state, deps.machine),
        related=[
            {"id": link.id, "relationship": link.relationship} for link in related
        ],
    )
    return Memory(meta, conversation.to_markdown()), conversation


def _source(
    current: OpenConversation, state: SessionState, machine: str
) -> dict[str, Any]:
    source = {
        "host": state.origin.host,
        "session": state.origin.session,
        "turns": [exchange.id for exchange in current.exchanges],
        "machine": machine,
        "branch": current.place.branch,
        "commit": current.commit,
    }
    return without_empty(source)


def link_earlier(current: OpenConversation, deps: CaptureDeps) -> None:
    """Name earlier conversations that this one goes on with, by a pull request or by its subject: a
    closed file never grows.
    """
    known = {current.id, *(link.id for link in current.conversation.related)}
    links = set(current.conversation.work.links)
    earlier = []
    for memory in deps.earlier(current.place, current.exchanges[0].at):
        conversation = Conversation.from_markdown(memory.body)
        link = ConversationLink(memory.title, memory.id, "relates-to")
        if memory.id in known:
            continue
        if links.intersection(conversation.work.links):
            links.clear()  # the newest that has it: the next step back is its own
            current.link(memory.title, memory.id, "refines")
        else:
            earlier.append((link, conversation.exchanges))
    if found := continued_conversation(current.exchanges, earlier):
        current.link(found.title, found.id)


def continued_conversation(
    exchanges: Sequence[Exchange],
    earlier: Sequence[tuple[ConversationLink, Sequence[Exchange]]],
) -> ConversationLink | None:
    """The earlier conversation that is most alike by rare words, if any is alike enough."""
    *bags, own = weighted([*(_heads(said) for _, said in earlier), _heads(exchanges)])
    alike = [cosine(own, bag) for bag in bags]
    best = max(alike, default=0.0)
    return earlier[alike.index(best)][0] if best >= TAKEN_UP else None


def _heads(exchanges: Sequence[Exchange]) -> str:
    return "\n".join(
        f"{e.user[:HEAD_USER]}\n{e.assistant[:HEAD_ASSISTANT]}" for e in exchanges
    )


def with_missing(
    conversation: Conversation, memory: Memory, made: Sequence[str]
) -> Conversation:
    """What a file holds, with the exchanges that were made before and of which it knows nothing.

    A prompt whose turn is among them has become that turn.
    """
    last = _parse_or_none(made[0]) if made else None
    known = {*memory.turns, *(exchange.id for exchange in conversation.exchanges)}
    written = Conversation.from_markdown(last.body) if last else conversation
    missing = [exchange for exchange in written.exchanges if exchange.id not in known]
    if not missing:
        return conversation
    ids = {exchange.id for exchange in written.exchanges}
    kept = [e for e in conversation.exchanges if e.id in ids or not is_provisional(e)]
    exchanges = tuple(sorted((*kept, *missing), key=lambda exchange: exchange.at))
    return replace(conversation, exchanges=exchanges)


def merge_into_file(
    made: Sequence[str], ours: Memory, file: Memory
) -> tuple[Memory, Memory | None]:
    """What is to be written, and a second memory for what could not be joined; ``file`` is what is
    on disk.
    """
    base = _base(made, file)
    if base is not None and _is_same(base, file):
        return ours, None
    turns = [turn for turn in file.turns if not turn.startswith(PROVISIONAL)]
    all_turns = list(dict.fromkeys((*turns, *ours.turns)))
    return merge_session(
        base, ours.with_meta(source={**ours.source, "turns": all_turns}), file
    )


def is_edited(made: Sequence[str], file: Memory) -> bool:
    """Whether somebody has changed an open conversation's file since the session wrote it."""
    base = _base(made, file)
    return base is not None and not _is_same(base, file)


def _is_same(one: Memory, other: Memory) -> bool:
    return (one.meta, one.body) == (other.meta, other.body)


def _base(made: Sequence[str], file: Memory) -> Memory | None:
    """The version of the conversation that a person's file was edited from, without exchanges that
    the file has never had; None where there is none.

    The file may be from the time before: a kill between the two writes, or an editor, leaves it so.
    """
    nearest = _nearest(made, file.body)
    if nearest is None:
        return None
    was, now = (Conversation.from_markdown(memory.body) for memory in (nearest, file))
    known = {*file.turns, *(exchange.id for exchange in now.exchanges)}
    ids = {exchange.id for exchange in was.exchanges}
    kept = [exchange for exchange in was.exchanges if exchange.id in known]
    # nobody adds a prompt of ours by hand: it is one of the session, whose turn has come since
    prompts = [e for e in now.exchanges if is_provisional(e) and e.id not in ids]
    exchanges = (*kept, *prompts)
    if exchanges == was.exchanges:
        return nearest
    return Memory(nearest.meta, replace(was, exchanges=exchanges).to_markdown())


def _nearest(made: Sequence[str], body: str) -> Memory | None:
    """The memory among those that the session made that shares the most lines with a file."""
    lines = {*body.split("\n")}
    parsed = filter(None, map(_parse_or_none, reversed(made)))
    return min(
        parsed, key=lambda memory: len(lines ^ {*memory.body.split("\n")}), default=None
    )


def _parse_or_none(text: str) -> Memory | None:
    try:
        return parse(text)
    except Corrupt:
        return None
