"""What a reply asks at its end, and what the message after it answers."""

from __future__ import annotations

import pytest

from keeplore.capture.adjacency import closing_questions, told_answer


def test_a_question_that_adds_a_way_is_of_the_question_before_it() -> None:
    reply = 'It logs as "stop". Should I log it as "session-end" too? Or leave that as a cleanup?'
    question = 'Should I log it as "session-end" too? Or leave that as a cleanup?'
    assert [one.text for one in closing_questions(reply)] == [question]
    apart = reply.replace("too? Or", "**too?**\n\nOr")
    assert len(closing_questions(apart)) == 2  # no words of the message in a row


ANSWERED = (
    ("What is the timeout of the payment provider?", "40s"),
    ("Is the staging database a copy of production?", "no it's synthetic data"),
    ("Does anyone still use the v1 endpoints?", "not that i know"),
    ("Which port should it listen on?", "8081, 8080 is taken"),
    ("What should happen when the payment fails?", "show an error and keep the cart"),
    ("How should I name the new table?", "order_events"),
    ("How should the list be sorted?", "list the newest first"),
    ("What should happen to old sessions?", "let them expire after 30 days"),
    ("What should it do when the server is busy?", "wait 5 seconds and retry"),
    ("What should happen on a double click?", "first click wins"),
    ("Which columns shall the report have?", "list all but the internal id"),
    ("What do you want to see on the start page?", "i want to see the totals"),
    ("Should it deploy by itself?", "no, i want to look at it first"),
    ("How shall errors be told?", "show them in red"),
    ("How long shall it last?", "give them 30 days"),
    ("Who approves?", "anna from legal. she's back on the 12th"),
    ("Can I delete `orders_old`?", "not yet, the finance report still reads them"),
    (
        "Before I start: which sender address, and is there a limit of mails an hour?",
        "news@acme.example, 500 per hour",
    ),
    ("Wie lange bewahrt ihr die Belege auf?", "zehn Jahre"),
    ("Où sont les originaux ?", "sur le NAS de Max"),
    ("¿Quién aprueba el texto?", "Ana, de legal"),
    ("Onde ficam os originais?", "no NAS do Max"),
    ("生产环境用的是哪个版本？", "22"),
    ("本番のバージョンは何ですか？", "22です"),
)


@pytest.mark.parametrize(("question", "message"), ANSWERED)
def test_a_brief_message_answers_what_was_asked_last(
    question: str, message: str
) -> None:
    line = f"{question} → {message}"
    assert told_answer(question, message) == line
    assert told_answer(f"I looked at it.\n\n{question}", message) == line


def test_what_was_asked_in_a_row_is_answered_together() -> None:
    reply = "Where should they go? How long do you keep them?"
    assert told_answer(reply, "s3, 30 days") == f"{reply} → s3, 30 days"
    apart = "Where should they go?\n\nThey are large. How long do you keep them?"
    question = "How long do you keep them?"
    assert told_answer(apart, "30 days") == f"{question} → 30 days"


LONG = "it went on like this " * 8


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        ("The export is there.", "40s"),
        ("Want me to look at the timeout?", "40s"),  # for leave to go on
        ("Should I commit this?", "the button is too wide"),
        ("What do you prefer?", "no idea"),  # of what, it does not say
        ("What do you think?", "looks fine to me"),
        ("How long is the timeout?", "why do you ask?"),
        ("How long is the timeout?", "fix the header first"),
        ("How long is the timeout?", LONG),
        ("How long is the timeout?", ""),
        ("1. How long is the timeout?\n2. Who pays?", "it is slow"),  # by its number
        # asks in return
        ("Where should it write?", "can you first show me what changed"),
        ("Where should it write?", "hold on, explain the cron part again"),
        ("Where should it write?", "i want to check the disk first"),
        ("Which columns shall it have?", "can you list the ones we have now"),
        ("How many workers shall run?", "one moment, i'll ask our admin"),
        ("How long shall it last?", "give me a minute"),
        ("Which database should we use?", "first tell me what we have"),
        ("Should I drop the column?", "hold on, let me ask Maria"),
        ("Which layout do you want for it?", "let me think about it"),
    ],
)
def test_another_message_answers_nothing(reply: str, message: str) -> None:
    assert told_answer(reply, message) == ""
