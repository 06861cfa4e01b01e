"""Talk that says too little to stand for itself: it opens no conversation, and alone it makes no
file.

What a person asks Keeplore itself is no talk at all: a question to memory would be found in the
place of its answer.
"""

from __future__ import annotations

from collections.abc import Container

from keeplore.capture.segmenter import is_confirmation
from keeplore.memory import AnsweredQuestion, Conversation, Exchange
from keeplore.memory.conversation_body import NO_WORK
from keeplore.text.terms import terms
from keeplore_hooks.events import Turn, Work
from keeplore_hooks.hosts.prompt_text import own_command

FEW_TERMS = 4  # content words of a message
FEW_CHARS = 200  # characters of an answer


def is_own_command(turn: Turn, told: Container[str]) -> bool:
    """Is the turn a command of Keeplore's with what was answered to it? Files and commits are work,
    and stay.

    ``told`` are ids of turns that are known to be one: a short name may be a command of somebody
    else's.
    """
    if turn.work.files or turn.work.commits:
        return False
    form = own_command(turn.user)
    return form == "named" or (form == "bare" and (turn.is_provisional or turn.id in told))


def says_little(exchange: Exchange, work: Work) -> bool:
    """True for a remark: few words, hardly an answer, nothing done."""
    return (
        len(set(terms(exchange.user))) < FEW_TERMS
        and work == NO_WORK
        and _is_hardly_answered(exchange)
    )


def is_hollow(conversation: Conversation) -> bool:
    """True where nothing but greetings and one-word answers was said."""
    return conversation.work == NO_WORK and all(
        bool(exchange.user) and is_confirmation(exchange.user) and _is_hardly_answered(exchange)
        for exchange in conversation.exchanges
    )


def _is_hardly_answered(exchange: Exchange) -> bool:
    has_asked = any(isinstance(reply, AnsweredQuestion) for reply in exchange.replies)
    return not has_asked and len(exchange.assistant) < FEW_CHARS
