"""Talk that says too little to stand for itself: it opens no conversation, and alone it makes no file."""

from __future__ import annotations

from keeplore.capture.segment import is_confirmation
from keeplore.capture.terms import terms
from keeplore.memory import Asked, Conversation, Exchange
from keeplore.memory.conversation import NO_WORK
from keeplore_hooks.events import Work

FEW_TERMS = 4  # content words of a message
FEW_CHARS = 200  # characters of an answer


def says_little(exchange: Exchange, work: Work) -> bool:
    """True for a remark: few words, hardly an answer, nothing done."""
    return len(set(terms(exchange.user))) < FEW_TERMS and work == NO_WORK and _is_hardly_answered(exchange)


def is_hollow(conversation: Conversation) -> bool:
    """True where nothing but greetings and one-word answers was said."""
    return conversation.work == NO_WORK and all(
        bool(exchange.user) and is_confirmation(exchange.user) and _is_hardly_answered(exchange)
        for exchange in conversation.exchanges
    )


def _is_hardly_answered(exchange: Exchange) -> bool:
    has_asked = any(isinstance(reply, Asked) for reply in exchange.replies)
    return not has_asked and len(exchange.assistant) < FEW_CHARS
