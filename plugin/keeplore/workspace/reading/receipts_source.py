"""The way from a memory back to the words that it is from: the conversation of a note, and the
host's own record.
"""

from __future__ import annotations

from keeplore.config.places import Places
from keeplore.memory import Conversation, Exchange, Memory
from keeplore.memory.conversation_body import chosen_exchange
from keeplore.text.turn_ids import matches_turn
from keeplore.workspace.importing.session_ends import is_recorded
from keeplore.workspace.recording.cursors import Cursors
from keeplore.workspace.registry import FoundMemory
from keeplore_hooks.events import Origin


def exchange_of(found: FoundMemory, wanted: str) -> Exchange:
    """The exchange of a conversation by number or turn; of a note by the turn of its source. Raises
    NotFound.
    """
    turns = [turn for turn in found.memory.turns if matches_turn(turn, wanted)]
    if found.memory.kind != "conversation" and turns:
        index, store = found.workspace.index, found.workspace.store
        for memory_id in dict.fromkeys(index.known_turns(turns[:1]).values()):
            if path := index.path_of(memory_id):
                return chosen_exchange(
                    Conversation.from_markdown(store.load(path).body).exchanges,
                    turns[0],
                )
    return chosen_exchange(
        Conversation.from_markdown(found.memory.body).exchanges, wanted
    )


def transcript_of(places: Places, memory: Memory) -> str:
    """The host's record of the session, "" where it is not on this machine (any more)."""
    host, session = map(memory.source_text, ("host", "session"))
    path = (
        Cursors(places.sessions).get(Origin(host, session)).origin.transcript
        if session
        else ""
    )
    return path if path and is_recorded(path) else ""
