"""An exchange as somebody reads it: who said what, without what was said only to go on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from itertools import groupby
from operator import itemgetter

from keeplore.capture.discourse.statements import DialogueAct, Statement, statements_of
from keeplore.memory import AgentQuestion, Exchange
from keeplore.text.counts import counted
from keeplore.text.folding import SHOWN, fold

DRAFT_LINES = 8  # from which a reply may be a draft of a later one
LINE_CHARS = 20  # shorter ones are alike in any two texts


def spoken_messages(exchange: Exchange, *, is_full: bool) -> Iterator[tuple[str, str]]:
    """Speaker and words of each message, in order; ``is_full`` gives them to the letter, otherwise
    what one says in several messages comes together.
    """
    if is_full:
        yield from _all_messages(exchange)
        return
    for speaker, messages in groupby(_shortened_messages(exchange), key=itemgetter(0)):
        yield speaker, "\n\n".join(words for _, words in messages)


def is_shortened(exchange: Exchange) -> bool:
    """Whether the short form leaves anything out."""
    return [*_shortened_messages(exchange)] != [*_all_messages(exchange)]


def _all_messages(exchange: Exchange) -> Iterator[tuple[str, str]]:
    yield ("user", exchange.user)
    for reply in exchange.replies:
        yield from _reply_messages(reply)


def _reply_messages(reply: str | AgentQuestion) -> Iterator[tuple[str, str]]:
    if isinstance(reply, str):
        yield ("assistant", reply)
    else:
        yield ("assistant asked", reply.question)
        yield ("user answered", reply.answer or "(declined)")


def _shortened_messages(exchange: Exchange) -> Iterator[tuple[str, str]]:
    """The messages, the agent's remarks on its next step counted, drafts of a later reply named."""
    yield ("user", fold(exchange.user, SHOWN))
    steps, drafts = _announcing_replies(exchange), _drafts(exchange.replies)
    remarks = 0
    for number, reply in enumerate(exchange.replies):
        if number in steps:
            remarks += 1
            continue
        if remarks:
            yield _left_out(counted(remarks, "remark"), "on the next step")
            remarks = 0
        if number in drafts:
            yield _left_out("a draft", "of what follows")
            continue
        for speaker, words in _reply_messages(reply):
            yield (speaker, fold(words, SHOWN))


def _left_out(what: str, which: str) -> tuple[str, str]:
    return ("assistant", f"[{what} {which} left out]")


def _announcing_replies(exchange: Exchange) -> set[int]:
    """Numbers of the replies that only announce what the agent does next; the last one stands for
    the turn, whatever it is.
    """
    said: dict[int, list[Statement]] = {}
    for statement in statements_of([exchange]):
        if statement.message and not statement.is_of_person:
            said.setdefault(statement.message - 1, []).append(statement)
    return {number for number, statements in said.items() if _only_announce(statements)}


def _only_announce(statements: Sequence[Statement]) -> bool:
    is_last = statements[0].is_final
    return not is_last and all(
        statement.act is DialogueAct.ANNOUNCEMENT for statement in statements
    )


def _drafts(replies: Sequence[str | AgentQuestion]) -> set[int]:
    """Numbers of the replies of which half of the lines, or more, stand in one later reply: plans
    that were revised.
    """
    lines = [_long_lines(reply) for reply in replies]
    return {
        number
        for number, own in enumerate(lines)
        if len(own) >= DRAFT_LINES and _is_repeated(own, lines[number + 1 :])
    }


def _is_repeated(lines: Set[str], later: Sequence[Set[str]]) -> bool:
    return any(2 * len(lines & other) >= len(lines) for other in later)


def _long_lines(reply: str | AgentQuestion) -> set[str]:
    if not isinstance(reply, str):
        return set()
    return {line for raw in reply.split("\n") if len(line := raw.strip()) >= LINE_CHARS}
