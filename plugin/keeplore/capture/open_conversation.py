"""A conversation in the making: which of its exchanges a turn is, and what a turn changes in it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from keeplore.capture.capture_deps import MemoryPlace
from keeplore.capture.follow_ups import is_confirmation
from keeplore.capture.notable_commands import most_notable
from keeplore.memory import AgentQuestion, Conversation, ConversationLink, Exchange
from keeplore.memory.conversation_body import NO_WORK
from keeplore.text.terms import count_terms
from keeplore_hooks.events import Turn, Work
from keeplore_hooks.hosts import prompt_key

PROVISIONAL = "prompt:"  # how the id of a turn begins of which only the prompt is known
MAX_WORK = 200  # references of one kind that a conversation lists
FEW_TERMS = 4  # content words of a remark
FEW_CHARS = 200  # characters of hardly an answer
# how the parts of a session name one another: titles change, and may be forgotten
EARLIER, LATER = "Earlier in this session", "Later in this session"


@dataclass(frozen=True, slots=True)
class NewConversation:
    """The conversation that is to begin, and why it is not the one before."""

    id: str
    place: MemoryPlace
    reason: str = ""

    @property
    def relationship(self) -> str:
        """What it is to the part before: of a file that was full it is more of the same."""
        return "refines" if self.reason == "size" else "relates-to"


@dataclass(slots=True)
class OpenConversation:
    id: str
    place: MemoryPlace
    conversation: Conversation
    created_at: str
    commit: str = ""  # what was checked out when it was last spoken
    is_dirty: bool = False
    path: str = ""  # where its file is, "" before the first

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        return self.conversation.exchanges

    @property
    def first_at(self) -> str:
        """When the first exchange began; kept to the month in which the file was first written,
        whose folder it is in.
        """
        first = self.exchanges[0].at
        return first if first[:7] == self.created_at[:7] else self.created_at

    def position(self, exchange: Exchange, turn: Turn) -> int | None:
        """The place of this turn among the exchanges: found by its id, or as the same prompt under
        its other id; None where it is new.
        """
        for at, known in enumerate(self.exchanges):
            if known.id == exchange.id:
                return at
        key = prompt_key(exchange.user)
        # several may wait for their turns: prompts that were typed ahead, or in two terminals. But
        # two that only announce a prompt are two prompts, even in the same words
        places = range(len(self.exchanges))
        for at in places[-1:] if turn.is_provisional else places:
            known = self.exchanges[at]
            is_counterpart = is_provisional(known) != turn.is_provisional
            if is_counterpart and prompt_key(known.user) == key:
                return at
        return None

    def drop_placeholder(self, exchange: Exchange, turn: Turn) -> bool:
        """Drop the last exchange where it only announced the prompt of this one, which now counts
        as new. Returns whether it was dropped; a conversation's only exchange never is.
        """
        last = len(self.exchanges) - 1
        is_placeholder = last > 0 and is_tentative(self.exchanges[last])
        is_replaceable = is_placeholder and not is_tentative(exchange)
        if not is_replaceable or self.position(exchange, turn) != last:
            return False
        self.conversation = replace(self.conversation, exchanges=self.exchanges[:last])
        return True

    def put(self, at: int, exchange: Exchange, work: Work) -> None:
        """Set the exchange at this place, or behind the last one, and add what was done in it."""
        old = self.exchanges[at : at + 1]
        if old and is_provisional(exchange) and not is_provisional(old[0]):
            # the transcript was faster than the payload that announces the prompt: it knows more
            return
        everything = _joined_work(self.conversation.work, work)
        if old == (exchange,) and everything == self.conversation.work:
            return
        changed = (*self.exchanges[:at], exchange, *self.exchanges[at + 1 :])
        self.conversation = replace(
            self.conversation, exchanges=changed, work=everything
        )
        self.is_dirty = True

    def link(self, title: str, other: str, relationship: str = "relates-to") -> None:
        """Name another conversation by its id, once."""
        known = self.conversation.related
        if all(link.id != other for link in known):
            related = (*known, ConversationLink(title, other, relationship))
            self.conversation = replace(self.conversation, related=related)

    @property
    def is_hollow(self) -> bool:
        """True where nothing but greetings and one-word answers was said."""
        return self.conversation.work == NO_WORK and all(
            map(_is_hollow, self.exchanges)
        )


def is_provisional(exchange: Exchange) -> bool:
    return exchange.id.startswith(PROVISIONAL)


def is_tentative(exchange: Exchange) -> bool:
    return is_provisional(exchange) and not exchange.replies


def says_little(exchange: Exchange, work: Work) -> bool:
    """True for a remark: few words, hardly an answer, nothing done."""
    is_short = count_terms(exchange.user) < FEW_TERMS
    return is_short and work == NO_WORK and _is_hardly_answered(exchange)


def _is_hollow(exchange: Exchange) -> bool:
    is_greeting = bool(exchange.user) and is_confirmation(exchange.user)
    return is_greeting and _is_hardly_answered(exchange)


def _is_hardly_answered(exchange: Exchange) -> bool:
    has_asked = any(isinstance(reply, AgentQuestion) for reply in exchange.replies)
    return not has_asked and len(exchange.assistant) < FEW_CHARS


def _joined_work(old: Work, new: Work) -> Work:
    """The references of both, each once, as many as a conversation lists."""

    def both(name: str) -> tuple[str, ...]:
        found = dict.fromkeys((*getattr(old, name), *getattr(new, name)))
        return tuple(found)[:MAX_WORK]

    commits = both("commits")
    commands = most_notable((*old.commands, *new.commands), has_commits=bool(commits))
    return Work(both("files"), commands, commits, both("links"), both("agents"))
