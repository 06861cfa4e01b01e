"""Whether a defect of which a conversation tells was repaired in it.

The agent says so later: of the thing that the defect is of, by its name, that it made it otherwise
or that it is otherwise now, or it says most of the defect again as what it repaired.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import dropwhile

from keeplore.capture.cues import opens_with, pattern, says
from keeplore.capture.discourse.statements import DialogueAct, Statement
from keeplore.capture.notes.lasting_model import is_symbol, names
from keeplore.memory import Quote
from keeplore.text.sentences import clip
from keeplore.text.terms import overlap, terms

LEAST_TERMS = (
    3  # content words that a repair shares with the defect that it does not name
)
SHARED = 0.5  # of the content words of the shorter of both
# by which something is wrong or missing
_DEFECTS = (
    "states_negated",
    "states_trap",
    "states_limited",
    "states_contrasted",
    "trouble",
)
_TOLD = frozenset({DialogueAct.REPORT, DialogueAct.FINDING})


def is_repaired(text: str, quote: Quote, statements: Sequence[Statement]) -> bool:
    """True where one of the statements behind the quotation tells of the repair of the defect that
    the text states: of any, where the quotation announces it as found.
    """
    if not any(says(text, name) for name in _DEFECTS):
        return False
    subject, said = subject_of(text), frozenset(terms(text))
    later = dropwhile(lambda statement: not _is_quoted(statement, quote), statements)
    next(later, None)
    told = [s for s in later if not s.is_of_person and s.act in _TOLD]
    if says(quote.text, "found_defect") and any(map(_is_repair, told)):
        return True
    return any(
        _is_repair_of(subject, s.text) or _is_repair_in_words(said, s) for s in told
    )


def is_complaint(quote: Quote, statements: Sequence[Statement]) -> bool:
    """True for the trouble that a conversation begins with: its first message says nothing else,
    but for questions, and the agent reports later what it did.
    """
    opening = [s for s in statements if s.is_of_person and not s.exchange]
    is_first = any(_is_quoted(s, quote) for s in opening)
    is_alone = sum(not s.sentence.is_question for s in opening) == 1
    is_rule = says(quote.text, "firm") or opens_with(quote.text, "volunteered")
    if not (is_first and is_alone) or is_rule:
        return False
    return any(s.act is DialogueAct.REPORT for s in statements if not s.is_of_person)


def subject_of(text: str) -> str:
    """The name out of the code that stands before the text's verb; "" for none: a product of others
    is not what is repaired.
    """
    verb = pattern("states_present").search(text)
    beginning = text[: verb.start()] if verb else ""
    named = filter(is_symbol, names(beginning))
    return min(named, key=lambda name: (beginning.find(name), -len(name)), default="")


def _is_quoted(statement: Statement, quote: Quote) -> bool:
    return statement.turn == quote.turn and clip(statement.text) == quote.text


def _is_repair_of(name: str, text: str) -> bool:
    """Does the text say that the thing was changed, or is otherwise now?"""
    plain = text.replace("**", "")
    before, found, after = plain.partition(name) if name else ("", "", "")
    if not found:
        return False
    return opens_with(before, "repaired") or says(after, "otherwise_now")


def _is_repair(statement: Statement) -> bool:
    return opens_with(statement.text, "repaired")


def _is_repair_in_words(said: frozenset[str], statement: Statement) -> bool:
    """Does a statement tell of the repair of a defect in most of its words?"""
    if not _is_repair(statement):
        return False
    is_enough = len(said & statement.terms) >= LEAST_TERMS
    return is_enough and overlap(said, statement.terms) >= SHARED
