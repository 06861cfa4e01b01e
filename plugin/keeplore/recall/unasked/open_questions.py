"""Which questions of a conversation still wait: a later conversation may have answered them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from keeplore.memory import Exchange, Quote
from keeplore.memory.model import Trust
from keeplore.recall.question import looks_up_decision, parse_question, stems_of
from keeplore.recall.unasked.memory_lines import LoadedMemory, decided_in
from keeplore.text.pasted import is_copied_from

# share of a question's words that a decision must have to answer it; judgement
ANSWERED = 0.7
ANSWERED_IN_SESSION = 0.6  # where the same session went on to decide it
LEAST_WORDS = 2  # a question with fewer is met by chance
PLAN_WORDS = 30  # of a plan, by which it is known where a session begins with it
_DASH = re.compile(r"\s[-–—]\s")


def waiting_questions(
    talks: Iterable[LoadedMemory],
) -> Iterator[tuple[LoadedMemory, Quote]]:
    """The open questions that no newer one of these conversations has answered; ``talks`` come the
    newest first.
    """
    decided: list[Quote] = []
    begun: list[str] = []  # what newer conversations began with
    of_session: dict[str, list[Quote]] = {}
    for read in talks:
        own = of_session.get(read.row.session)
        for asked in read.talk.open_questions if read.talk else ():
            is_heard = own is not None and _is_last_of_agent(read, asked)
            is_settled = is_answered(asked.text, own or (), ANSWERED_IN_SESSION)
            is_done = is_settled or _is_carried_out(read, asked, begun)
            is_over = is_heard or is_done or looks_up_decision(asked.text)
            if not (is_over or is_answered(asked.text, decided)):
                yield read, asked
        decided += decided_in(read)
        begun += [exchange.user for exchange in _exchanges(read)[:1]]
        if read.row.session:
            of_session.setdefault(read.row.session, []).extend(decided_in(read))


def is_answered(
    question: str, decided: Iterable[Quote], share: float = ANSWERED
) -> bool:
    """True where a decision has nearly all words of the question, or of what stands before its
    dash.
    """
    asked = parse_question(_DASH.split(question, maxsplit=1)[0])
    return len(asked.words) >= LEAST_WORDS and any(
        asked.coverage(stems_of(quote.text)) >= share for quote in decided
    )


def _exchanges(read: LoadedMemory) -> Sequence[Exchange]:
    return read.talk.exchanges if read.talk else ()


def _is_carried_out(read: LoadedMemory, asked: Quote, begun: Sequence[str]) -> bool:
    """Did a newer conversation begin with the plan at which this one ended? A host that clears its
    context for a plan begins a session with it.
    """
    exchanges = _exchanges(read)
    if not exchanges or exchanges[-1].id != asked.turn:
        return False
    plan = next((r for r in exchanges[-1].replies[::-1] if isinstance(r, str)), "")
    beginning = " ".join(plan.split()[:PLAN_WORDS])
    return any(is_copied_from(message, beginning) for message in begun)


def _is_last_of_agent(read: LoadedMemory, asked: Quote) -> bool:
    """Did the agent end with this question? Who goes on with the session has heard it."""
    exchanges = _exchanges(read)
    is_last = bool(exchanges) and asked.turn == exchanges[-1].id
    # what there is to choose from may stand behind the question
    is_question = any(mark in asked.text for mark in "?？")
    return is_last and asked.speaker == Trust.ASSISTANT and is_question
