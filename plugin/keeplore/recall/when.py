"""Times that a question names ("last week", "on 3 July", "in the fifth session") as spans of days."""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta

from keeplore.index.words import DAYS, MONTHS

_NUMBERS = ("a", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_MONTH = "|".join(("Sept", *(f"{month}|{month[:3]}" for month in MONTHS)))
_DAY = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_ANY_NUMBER = rf"(?P<number>\d{{1,3}}|{'|'.join(_NUMBERS)})"
_OPEN = re.compile(r"\b(?P<way>since|after|before|until) (?:the )?\Z", re.IGNORECASE)  # in front of a time
_UNITS = {"day": 1, "week": 7, "month": 30, "year": 365}


@dataclass(frozen=True, slots=True)
class Span:
    """From and to, both within; RFC 3339 or a beginning of it."""

    first: str
    last: str

    def holds(self, at: str) -> bool:
        return bool(at) and self.first <= at[: len(self.first)] and at[: len(self.last)] <= self.last


def spans_in(text: str, today: date) -> tuple[Span, ...]:
    """The times that a text names, a day without a year being the last one that has passed; none for most texts.

    What was "since" a time lasts until today; what was "before" one has no beginning, and is no span.
    """
    found: dict[Span, None] = {}
    taken: list[tuple[int, int]] = []
    for pattern, read in _FORMS:
        for match in pattern.finditer(text):
            if any(match.start() < end and start < match.end() for start, end in taken):
                continue
            way = _OPEN.search(text[: match.start()])
            is_since = match[0][:5].lower() == "since" or (way is not None and way["way"].lower() in {"since", "after"})
            for first, last in read(match, today):
                taken.append(match.span())
                if is_since or way is None:
                    end = max(last, today) if is_since else last
                    found[Span(first.isoformat(), end.isoformat())] = None
    return tuple(found)


def session_in(text: str) -> int:
    """Which session a text names: 5 for the fifth, -1 for the last one, 0 for none."""
    match = _SESSION.search(text)
    if not match:
        return 0
    word = (match["word"] or "").lower()
    if word in {"last", "previous", "latest"}:
        return -1
    return _ORDINALS.index(word) + 1 if word in _ORDINALS else int(match["nth"] or match["plain"])


_SESSION = re.compile(
    rf"\b(?:(?:(?P<word>{'|'.join(_ORDINALS)}|last|previous|latest)|(?P<nth>[1-9]\d{{0,3}})(?:st|nd|rd|th)) "
    r"(?:session|conversation|chat)|session (?:number |no\. ?|#)?(?P<plain>[1-9]\d{0,3}))\b",
    re.IGNORECASE,
)

_Read = Callable[[re.Match[str], date], Iterator[tuple[date, date]]]


def _day(match: re.Match[str], today: date) -> Iterator[tuple[date, date]]:
    month = _month_of(match["month"])
    year = match["year"]
    years = [int(year)] if year else [today.year, today.year - 1, today.year - 2, today.year - 3, today.year - 4]
    for candidate in years:  # 29 February is not in every year
        try:
            day = date(candidate, month, int(match["day"]))
        except ValueError:
            continue
        if year or day <= today:
            yield day, day
            return


def _iso(match: re.Match[str], _today: date) -> Iterator[tuple[date, date]]:
    try:
        day = date.fromisoformat(match[0].replace("/", "-"))
    except ValueError:
        return
    yield day, day


def _month(match: re.Match[str], today: date) -> Iterator[tuple[date, date]]:
    month = _month_of(match["month"])
    year = int(match["year"] or (today.year if month <= today.month else today.year - 1))
    yield date(year, month, 1), date(year, month, calendar.monthrange(year, month)[1])


def _year(match: re.Match[str], _today: date) -> Iterator[tuple[date, date]]:
    year = int(match["year"])
    yield date(year, 1, 1), date(year, 12, 31)


def _near(match: re.Match[str], today: date) -> Iterator[tuple[date, date]]:
    day = today - timedelta(days=2 if match["before"] else {"today": 0, "yesterday": 1}[match["near"].lower()])
    yield day, day


def _unit(match: re.Match[str], today: date) -> Iterator[tuple[date, date]]:
    unit, which = match["unit"].lower(), match["which"].lower()
    is_this = which == "this"
    if which == "past":
        yield today - timedelta(days=_UNITS[unit]), today
    elif unit == "week":
        first = today - timedelta(days=today.weekday() + (0 if is_this else 7))
        yield first, min(today, first + timedelta(days=6))
    elif unit == "month":
        last = today if is_this else today.replace(day=1) - timedelta(days=1)
        yield last.replace(day=1), last
    else:
        year = today.year - (not is_this)
        yield date(year, 1, 1), min(today, date(year, 12, 31))


def _ago(match: re.Match[str], today: date) -> Iterator[tuple[date, date]]:
    word = match["number"].lower()
    number = int(word) if word.isdigit() else max(1, _NUMBERS.index(word))
    size = _UNITS[match["unit"].lower()]
    if number * size < today.toordinal():
        day = today - timedelta(days=number * size)
        yield day - timedelta(days=size // 2), day + timedelta(days=size // 2)


def _weekday(match: re.Match[str], today: date) -> Iterator[tuple[date, date]]:
    back = (today.weekday() - DAYS.index(match["weekday"].title())) % 7 or 7
    day = today - timedelta(days=back)
    yield day, day


def _month_of(name: str) -> int:
    return next(number for number, month in enumerate(MONTHS, start=1) if month[:3].lower() == name[:3].lower())


def _form(pattern: str, read: _Read, flags: re.RegexFlag = re.IGNORECASE) -> tuple[re.Pattern[str], _Read]:
    return re.compile(pattern, flags), read


_FORMS = (
    _form(r"\b\d{4}([-/])\d\d\1\d\d\b", _iso),
    _form(rf"\b{_DAY} (?:of )?(?P<month>{_MONTH})\b\.?(?:,? {_YEAR})?", _day),
    _form(rf"\b(?P<month>{_MONTH})\.? {_DAY}\b(?:,? {_YEAR})?", _day),
    _form(rf"\b(?P<month>{_MONTH}),? {_YEAR}\b", _month),
    # "may" and "march" are words too: a month alone needs a word before it and its capital letter
    _form(rf"\b(?:[Ii]n|[Ss]ince|[Dd]uring|[Ll]ast|[Oo]f) (?P<month>{_MONTH})\b(?P<year>)", _month, re.RegexFlag(0)),
    _form(rf"\b(?:in|of|during|since) {_YEAR}\b", _year),
    _form(r"\b(?:(?P<before>day before) )?(?P<near>today|yesterday)\b", _near),
    _form(r"\b(?P<which>this|last|past|previous) (?P<unit>week|month|year)\b", _unit),
    _form(rf"\b{_ANY_NUMBER} (?P<unit>day|week|month|year)s? ago\b", _ago),
    _form(rf"\b(?:on|last) (?P<weekday>{'|'.join(DAYS)})\b", _weekday),
)
