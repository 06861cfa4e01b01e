"""A pick is told with the question that it answers."""

from keeplore.capture.distill.held_statements import held_statements
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


def test_an_option_that_was_picked_is_told_behind_its_question() -> None:
    offer = Exchange(
        "t-1",
        "2026-02-09T14:03:11Z",
        "How should we store money amounts?",
        ("Options:\n\nA) floats: easy\nB) integer cents: exact\n\nWhich one?",),
    )
    pick = Exchange("t-2", "2026-02-09T14:04:11Z", "B", ("The column is in place.",))
    line = "How should we store money amounts? → integer cents: exact"
    decision = Quote(line, "assistant", "t-1")
    conversation = Conversation("Money", decision=(decision,), exchanges=(offer, pick))
    held = [(h.text, h.turn, h.is_decision) for h in held_statements(conversation)]
    assert held == [
        ("How should we store money amounts?", "t-1", False),
        ("floats: easy", "t-1", False),
        ("Which one?", "t-1", False),
        ("B", "t-2", False),
        ("The column is in place.", "t-2", False),
        (line, "t-1", True),
    ]
