"""Which questions of a conversation still wait: a later conversation may have answered them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from keeplore.memory import Quote
from keeplore.memory.model import Trust
from keeplore.recall.question import looks_up_decision, parse_question, stems_of
from keeplore.recall.unasked.memory_lines import LoadedMemory, decided_in

# share of a question's words that a decision must have to answer it; judgement
ANSWERED = 0.7
ANSWERED_IN_SESSION = 0.6  # where the same session went on to decide it
LEAST_WORDS = 2  # a question with fewer is met by chance
_DASH = re.compile(r"\s[-–—]\s")


def waiting_questions(
    talks: Iterable[LoadedMemory],
) -> Iterator[tuple[LoadedMemory, Quote]]:
    """The open questions that no newer one of these conversations has answered; ``talks`` come the
    newest first.
    """
    decided: list[Quote] = []
    of_session: dict[str, list[Quote]] = {}
    for read in talks:
        own = of_session.get(read.row.session)
        for asked in read.talk.open_questions if read.talk else ():
            is_heard = own is not None and _is_last_of_agent(read, asked)
            is_settled = is_answered(asked.text, own or (), ANSWERED_IN_SESSION)
            is_over = is_heard or is_settled or looks_up_decision(asked.text)
            if not (is_over or is_answered(asked.text, decided)):
                yield read, asked
        decided += decided_in(read)
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


def _is_last_of_agent(read: LoadedMemory, asked: Quote) -> bool:
    """Did the agent end with this question? Who goes on with the session has heard it."""
    exchanges = read.talk.exchanges if read.talk else ()
    is_last = bool(exchanges) and asked.turn == exchanges[-1].id
    # what there is to choose from may stand behind the question
    is_question = any(mark in asked.text for mark in "?？")
    return is_last and asked.speaker == Trust.ASSISTANT and is_question
