"""A pick that stands in the head with its question is told like what was said."""

from keeplore.capture.discourse.held_statements import held_statements
from keeplore.memory import Conversation, Exchange, Quote

LINE = "Which session store? → SQLite file"


def test_a_line_of_question_and_answer_is_held_as_a_decision() -> None:
    exchange = Exchange(
        "t-1", "2026-02-09T14:03:11Z", "Actually, SQLite.", ("Switched the store.",)
    )
    conversation = Conversation(
        "Session store", decision=(Quote(LINE, "user", "t-1"),), exchanges=(exchange,)
    )
    held = [(h.text, h.turn, h.is_decision) for h in held_statements(conversation)]
    assert held == [
        ("Actually, SQLite.", "t-1", False),
        ("Switched the store.", "t-1", False),
        (LINE, "t-1", True),
    ]
