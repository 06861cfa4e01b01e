import time
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest
import yaml

from keeplore.text.times.session_expressions import sessions_in
from keeplore.text.times.time_expressions import Span, apart_from_times, spans_in

TODAY = date(2026, 11, 21)  # a Saturday
QUESTIONS = yaml.load(
    Path(__file__).with_name("time_questions.yaml").read_text(encoding="utf-8"),
    yaml.CSafeLoader,
)
ASKED_ON = date(2026, 5, 13)


def named(question: str) -> str:
    """The times that a question names, as time_questions.yaml writes them."""
    times = [(span.first, span.last) for span in spans_in(question, ASKED_ON)] + [
        tuple(f"#{n}" for n in numbers)
        for numbers in [sessions_in(question)]
        if numbers
    ]
    return ", ".join(
        first if first == last else f"{first} to {last}" for first, last in times
    )


@pytest.fixture
def _in_utc(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("_in_utc")
@pytest.mark.parametrize("kind", [kind for kind in QUESTIONS if kind != "no time"])
def test_times_are_read_as_people_put_them(kind: str) -> None:
    expected = dict(QUESTIONS[kind])
    assert {question: named(question) for question in expected} == expected


def test_words_that_are_not_about_when_something_was_said_name_no_time() -> None:
    assert {
        question: named(question) for question in QUESTIONS["no time"]
    } == dict.fromkeys(QUESTIONS["no time"], "")


@pytest.mark.parametrize(
    ("asked", "first", "last"),
    [
        ("what did we decide on 2026-07-03?", "2026-07-03", "2026-07-03"),
        ("on 3 July", "2026-07-03", "2026-07-03"),
        ("on the 3rd of July 2023", "2023-07-03", "2023-07-03"),
        ("July 3rd, 2023", "2023-07-03", "2023-07-03"),
        ("on 24 December", "2025-12-24", "2025-12-24"),
        ("on 29 February", "2024-02-29", "2024-02-29"),
        ("in May", "2026-05-01", "2026-05-31"),
        ("in December", "2025-12-01", "2025-12-31"),
        ("since February 2024", "2024-02-01", "2026-11-21"),
        ("after 3 July", "2026-07-03", "2026-11-21"),
        ("on 2026/07/03", "2026-07-03", "2026-07-03"),
        ("in Sept 2025", "2025-09-01", "2025-09-30"),
        ("the day before yesterday", "2026-11-19", "2026-11-19"),
        ("in 2024", "2024-01-01", "2024-12-31"),
        ("yesterday", "2026-11-20", "2026-11-20"),
        ("last week", "2026-11-09", "2026-11-15"),
        ("this week", "2026-11-16", "2026-11-21"),
        ("the past week", "2026-11-14", "2026-11-21"),
        ("last month", "2026-10-01", "2026-10-31"),
        ("two weeks ago", "2026-11-04", "2026-11-10"),
        ("on Monday", "2026-11-16", "2026-11-16"),
        ("last Saturday", "2026-11-14", "2026-11-14"),
        ("since Monday", "2026-11-16", "2026-11-21"),
        ("a fortnight ago", "2026-10-31", "2026-11-14"),
        ("last quarter", "2026-07-01", "2026-09-30"),
        ("this quarter", "2026-10-01", "2026-11-21"),
        ("in Q2", "2026-04-01", "2026-06-30"),
        ("in Q4 2025", "2025-10-01", "2025-12-31"),
        ("between March and May", "2026-03-01", "2026-05-31"),
        ("from November to February 2025", "2024-11-01", "2025-02-28"),
        ("in early June", "2026-06-01", "2026-06-10"),
        ("mid-June", "2026-06-11", "2026-06-20"),
        ("late February 2024", "2024-02-21", "2024-02-29"),
    ],
)
def test_a_time_becomes_its_days(asked: str, first: str, last: str) -> None:
    assert spans_in(asked, TODAY) == (Span(first, last),)


@pytest.mark.parametrize(
    "asked",
    [
        "you may do 3 things",
        "march on",
        "2026-02-30",
        "version 2024",
        "0 weeks",
        "before 3 July",
        "too late may it be",
        "before Monday",
        "the Q5 port",
    ],
)
def test_words_and_numbers_that_are_no_time_are_left_alone(asked: str) -> None:
    assert spans_in(asked, TODAY) == ()


def test_a_span_holds_moments_of_its_days() -> None:
    span = Span("2026-07-03", "2026-07-04")
    assert span.holds("2026-07-03T00:00:00Z")
    assert span.holds("2026-07-04T23:59:59Z")
    assert not span.holds("2026-07-05T00:00:00Z")
    assert not span.holds("")


@pytest.mark.parametrize(
    ("asked", "numbers"),
    [
        ("in the fifth session", (5, 5)),
        ("the sixteenth session", (16, 16)),
        ("our 21st conversation", (21, 21)),
        ("session 3", (3, 3)),
        ("session #12", (12, 12)),
        ("sessions 8 through 10", (8, 10)),
        ("sessions 8-10", (8, 10)),
        ("the previous session", (-1, -1)),
        ("our last chat", (-1, -1)),
        ("6 sessions ago", (-6, -6)),
        ("three conversations ago", (-3, -3)),
        ("the last two sessions", (-2, -1)),
        ("in the first three sessions", (1, 3)),
        ("session ids", None),
        ("the sessions table", None),
    ],
)
def test_sessions_are_named_by_their_numbers(
    asked: str, numbers: tuple[int, int] | None
) -> None:
    assert sessions_in(asked) == numbers


@pytest.mark.parametrize(
    ("asked", "today", "expected"),
    [
        ("this quarter", "2026-03-31", ("2026-01-01", "2026-03-31")),
        ("this quarter", "2026-04-01", ("2026-04-01", "2026-04-01")),
        ("last quarter", "2026-03-31", ("2025-10-01", "2025-12-31")),
        ("last quarter", "2026-04-01", ("2026-01-01", "2026-03-31")),
        ("last month", "2026-03-01", ("2026-02-01", "2026-02-28")),
        ("this week", "2026-11-16", ("2026-11-16", "2026-11-16")),
        ("last week", "2026-11-22", ("2026-11-09", "2026-11-15")),
        ("this year", "2026-12-31", ("2026-01-01", "2026-12-31")),
        ("last year", "2026-01-01", ("2025-01-01", "2025-12-31")),
        ("the fourth week of March", "2026-11-21", ("2026-03-22", "2026-03-28")),
    ],
)
def test_a_time_is_told_on_its_first_and_last_day(
    asked: str, today: str, expected: tuple[str, str]
) -> None:
    spans = spans_in(f"what did we do {asked}?", date.fromisoformat(today))
    assert [(span.first, span.last) for span in spans] == [expected]


@pytest.mark.parametrize(
    ("asked", "times"),
    [
        ("from the 3rd to the 4th of April", "2026-04-03 to 2026-04-04"),
        ("from the 4th to the 4th of April", "2026-04-04"),
        ("from the 1st to the 30th of April", "2026-04-01 to 2026-04-30"),
        ("from 1 to 4 April", "2026-04-01 to 2026-04-04"),
        ("April 4-4", "2026-04-04"),
        ("April 3-4", "2026-04-03 to 2026-04-04"),
        # of what is no span the day that it names
        ("from the 5th to the 4th of April", "2026-04-04"),
        ("from 0 to 4 April", "2026-04-04"),
        # the last that has passed
        ("on the 13th", "2026-05-13"),
        ("on the 14th", "2026-04-14"),
        ("on the 31st", "2026-03-31"),
        ("2026-02-28", "2026-02-28"),
        ("2026/02/28", "2026-02-28"),
        ("2026-02-30", ""),
    ],
)
def test_days_of_a_month_to_their_borders(asked: str, times: str) -> None:
    assert named(asked) == times


def days_of(asked: str, today: date) -> str:
    return ", ".join(
        f"{span.first[2:]} to {span.last[2:]}" for span in spans_in(asked, today)
    )


@pytest.mark.parametrize(
    ("asked", "first_of_this_year", "this_year", "last_year"),
    [
        ("in January", 1, "26-01-01 to 26-01-31", "25-01-01 to 25-01-31"),
        ("in May", 5, "26-05-01 to 26-05-31", "25-05-01 to 25-05-31"),
        ("in December", 12, "26-12-01 to 26-12-31", "25-12-01 to 25-12-31"),
        ("in Q1", 1, "26-01-01 to 26-03-31", "25-01-01 to 25-03-31"),
        ("in Q2", 4, "26-04-01 to 26-06-30", "25-04-01 to 25-06-30"),
        ("in Q3", 7, "26-07-01 to 26-09-30", "25-07-01 to 25-09-30"),
        ("in Q4", 10, "26-10-01 to 26-12-31", "25-10-01 to 25-12-31"),
        ("late May", 5, "26-05-21 to 26-05-31", "25-05-21 to 25-05-31"),
        ("last week of May", 5, "26-05-25 to 26-05-31", "25-05-25 to 25-05-31"),
        ("last spring", 6, "26-03-01 to 26-05-31", "25-03-01 to 25-05-31"),
        ("last summer", 9, "26-06-01 to 26-08-31", "25-06-01 to 25-08-31"),
        ("last fall", 12, "26-09-01 to 26-11-30", "25-09-01 to 25-11-30"),
        ("last winter", 3, "25-12-01 to 26-02-28", "24-12-01 to 25-02-28"),
    ],
)
def test_a_part_of_a_year_is_the_last_one_in_every_month(
    asked: str, first_of_this_year: int, this_year: str, last_year: str
) -> None:
    told = [days_of(asked, date(2026, month, 20)) for month in range(1, 13)]
    before = first_of_this_year - 1
    assert told == [last_year] * before + [this_year] * (12 - before)


@pytest.mark.parametrize(
    ("asked", "monday", "tuesday", "thursday", "saturday", "sunday"),
    [
        ("on Monday", "09", "16", "16", "16", "16"),
        ("last Saturday", "14", "14", "14", "14", "21"),
        ("on Friday last week", "13", "13", "13", "13", "13"),
        ("Monday before last", "02", "09", "09", "09", "09"),
        ("between Monday and Wednesday", "09-11", "09-11", "16-18", "16-18", "16-18"),
        ("between Friday and Monday", "06-09", "13-16", "13-16", "13-16", "13-16"),
        ("this weekend", "14-15", "14-15", "14-15", "21", "21-22"),
        ("last weekend", "14-15", "14-15", "14-15", "14-15", "14-15"),
        ("on the weekend", "14-15", "14-15", "14-15", "21", "21-22"),
        ("two weekends ago", "07-08", "07-08", "07-08", "14-15", "14-15"),
        ("the weekend before last", "07-08", "07-08", "07-08", "14-15", "14-15"),
        ("week before last", "02-08", "02-08", "02-08", "02-08", "02-08"),
        ("this week", "16", "16-17", "16-19", "16-21", "16-22"),
        ("last week", "09-15", "09-15", "09-15", "09-15", "09-15"),
    ],
)
def test_days_of_a_week_are_the_last_ones_on_every_day(
    asked: str, monday: str, tuesday: str, thursday: str, saturday: str, sunday: str
) -> None:
    told = []
    for day in (16, 17, 19, 21, 22):
        [span] = spans_in(asked, date(2026, 11, day))
        told.append("-".join(dict.fromkeys((span.first[8:], span.last[8:]))))
    assert told == [monday, tuesday, thursday, saturday, sunday]


@pytest.mark.parametrize(
    ("asked", "times"),
    [
        ("half an hour ago", "26-11-21 to 26-11-21"),
        ("20 minutes ago", "26-11-21 to 26-11-21"),
        ("3 hours ago", "26-11-21 to 26-11-21"),
        ("30 hours ago", "26-11-20 to 26-11-20"),
        ("1 day ago", "26-11-20 to 26-11-20"),
        ("a week ago", "26-11-11 to 26-11-17"),
        ("a fortnight ago", "26-10-31 to 26-11-14"),
        ("a month ago", "26-10-07 to 26-11-06"),
        ("a quarter ago", "26-07-08 to 26-10-06"),
        ("a year ago", "25-05-23 to 26-05-22"),
        ("the last 3 hours", "26-11-20 to 26-11-21"),
        ("the last 25 hours", "26-11-19 to 26-11-21"),
        ("last 2 days", "26-11-19 to 26-11-21"),
        ("past 2 weeks", "26-11-07 to 26-11-21"),
        ("in the past month", "26-10-22 to 26-11-21"),
        ("in the last year", "25-11-21 to 26-11-21"),
        ("past 3 quarters", "26-02-21 to 26-11-21"),
        # from before there were years
        ("800000 days ago", ""),
        ("the last 800000 days", ""),
        ("the month before last", "26-09-01 to 26-09-30"),
        ("first half of 2025", "25-01-01 to 25-06-30"),
        ("second half of 2025", "25-07-01 to 25-12-31"),
        ("end of February 2024", "24-02-21 to 24-02-29"),
        ("middle of June", "26-06-11 to 26-06-20"),
        ("first week of March", "26-03-01 to 26-03-07"),
        ("second week of March", "26-03-08 to 26-03-14"),
        ("third week of March", "26-03-15 to 26-03-21"),
        ("week of 3 July", "26-06-29 to 26-07-05"),
        ("week beginning on the 6th of July", "26-07-06 to 26-07-12"),
        ("after 3 July", "26-07-03 to 26-11-21"),
        ("until 3 July", ""),
        ("3 July to 5 July", "26-07-03 to 26-07-05"),
        ("3 July and 5 July", "26-07-03 to 26-07-03, 26-07-05 to 26-07-05"),
        ("between 3 July and 5 July", "26-07-03 to 26-07-05"),
        ("from 5 July to 3 July", "26-07-05 to 26-07-05, 26-07-03 to 26-07-03"),
        ("from 3 July 2025 until 5 July", "25-07-03 to 26-07-05"),
        ("in the afternoon of 3 July", "26-07-03T12:00 to 26-07-03T17:59"),
        ("3 July in the morning", "26-07-03T05:00 to 26-07-03T11:59"),
    ],
)
@pytest.mark.usefixtures("_in_utc")
@pytest.mark.parametrize("write", [str, str.upper])
def test_times_are_told_in_full_whatever_the_case_of_their_letters(
    asked: str, times: str, write: Callable[[str], str]
) -> None:
    assert days_of(write(asked), TODAY) == times


@pytest.mark.parametrize(
    ("asked", "times"),
    [
        ("early May 2025", "25-05-01 to 25-05-10"),
        ("Early May 2025", "25-05-01 to 25-05-10"),
        ("in fall 2025", "25-09-01 to 25-11-30"),
        ("in Fall 2025", ""),
        ("over the winter of 2023", "23-12-01 to 24-02-29"),
        ("in may", ""),
    ],
)
def test_words_that_have_other_meanings_are_times_as_they_are_written(
    asked: str, times: str
) -> None:
    assert days_of(asked, TODAY) == times


@pytest.mark.parametrize(
    ("asked", "rest", "times"),
    [
        ("the ledger", "the ledger", []),
        ("the ledger on 3 July", "the ledger on", [("2026-07-03", "2026-07-03")]),
        ("on 3 July the ledger", "on the ledger", [("2026-07-03", "2026-07-03")]),
        (
            "since 3 July the ledger, and the tax in May",
            "the ledger, and the tax",
            [("2026-07-03", "2026-11-21"), ("2026-05-01", "2026-05-31")],
        ),
        # what only a question about nothing else means
        ("lately, the ledger", ", the ledger", [("2026-11-07", "2026-11-21")]),
        ("the other day", "", [("2026-11-07", "2026-11-21")]),
        (
            "which Monday, the ledger",
            "which , the ledger",
            [("2026-11-16", "2026-11-16")],
        ),
        ("the ledger every Monday", "the ledger every Monday", []),
        ("before 3 July the ledger", "the ledger", [("", "2026-07-02")]),
        ("until 3 July", "", [("", "2026-07-03")]),
        ("before Monday", "", [("", "2026-11-15")]),
        (
            "the third session about the ledger on 3 July",
            "the about the ledger on",
            [("2026-07-03", "2026-07-03")],
        ),
        ("today and today", "and", [("2026-11-21", "2026-11-21")]),
    ],
)
def test_what_a_question_asks_beside_its_times(
    asked: str, rest: str, times: list[tuple[str, str]]
) -> None:
    left, spans = apart_from_times(asked, TODAY)
    assert (" ".join(left.split()), [*spans]) == (rest, [Span(*days) for days in times])
