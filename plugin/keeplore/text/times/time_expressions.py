"""Times that a question names ("last week", "on 3 July", "in the fifth session") as spans of
days.
"""

from __future__ import annotations

import calendar
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from keeplore.text.dates import DAYS, MONTHS
from keeplore.text.times.day_parts import PART, minutes_of
from keeplore.text.times.numbers_in_words import ANY_NUMBER, number_of
from keeplore.text.times.session_expressions import without_sessions

_MONTH = "|".join(("Sept", *(f"{month}|{month[:3]}" for month in MONTHS)))
_DAY = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
# in front of a time
_OPEN = re.compile(r"\b(?P<way>since|after|before|until) (?:the )?\Z", re.IGNORECASE)
# in front of the first of two, and between the two
_RANGE = re.compile(r"\b(?:from|between) (?:the )?\Z", re.IGNORECASE)
_TO = re.compile(
    r"\s*(?:(?P<is_to>to|until|till|through|[-–—])|and)\s+(?:the )?", re.IGNORECASE
)
_NEAR = "today|yesterday|last (?=night)|to(?=night)|this (?=morning|afternoon|evening)"
_PART_AFTER = re.compile(rf"(?:,? in the |,? at |'s | )?{PART}\b", re.IGNORECASE)
_PART_BEFORE = re.compile(rf"\b{PART} (?:of|on) (?:the )?\Z", re.IGNORECASE)
_WEEK_OF = re.compile(
    r"\bweek (?:of|from|beginning|starting)(?: on)? (?:the )?\Z", re.IGNORECASE
)
LATELY = 14  # days
_UNITS = {
    "hour": 1 / 24,
    "day": 1,
    "week": 7,
    "fortnight": 14,
    "month": 30,
    "quarter": 91,
    "year": 365,
}
_UNIT = "|".join(_UNITS)
# the days of a month by which its parts are told
_PARTS = {"early": (1, 10), "mid": (11, 20), "late": (21, 31)}
_PARTS |= {"beginning": (1, 10), "start": (1, 10), "middle": (11, 20), "end": (21, 31)}
_WEEKS = {"first": (1, 7), "second": (8, 14), "third": (15, 21), "fourth": (22, 28)}
_PARTS |= {f"{nth} week": days for nth, days in _WEEKS.items()} | {
    "last week": (25, 31)
}
# their first months
_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of time from ``first`` to ``last``, both within; RFC 3339 or a beginning of it."""

    first: str
    last: str

    def holds(self, at: str) -> bool:
        return (
            bool(at)
            and self.first <= at[: len(self.first)]
            and at[: len(self.last)] <= self.last
        )

    def in_utc(self) -> Span:
        """The moments in UTC, to the minute, between which the days of this place lie."""
        return Span(
            minutes_of(self.first)[0] if _is_day(self.first) else self.first,
            minutes_of(self.last)[1] if _is_day(self.last) else self.last,
        )


@dataclass(frozen=True, slots=True)
class _Named:
    """A time as a text names it, with the words around it that belong to it."""

    start: int
    at: int  # where its own words begin
    end: int
    first: date
    last: date
    is_span: bool = True  # what was "before" a time has no beginning
    hours: str = ""  # a part of the day, where it is of one day

    @property
    def span(self) -> Span:
        if self.hours:
            return Span(*minutes_of(self.first.isoformat(), self.hours))
        first = self.first.isoformat() if self.is_span else ""
        return Span(first, self.last.isoformat())


def _is_day(moment: str) -> bool:
    return len(moment) == len("2026-01-31")


def spans_in(text: str, today: date) -> tuple[Span, ...]:
    """The times that a text names, a day without a year being the last one that has passed; none
    for most texts.

    What was "since" a time lasts until today; what was "before" one has no beginning, and is no
    span.
    """
    named = [m for m in _named_times(text, today, _FORMS) if m.is_span]
    return tuple(dict.fromkeys(mention.span for mention in named))


def apart_from_times(text: str, today: date) -> tuple[str, tuple[Span, ...]]:
    """What a text says beside the times and sessions that it names, and these times.

    Also those that only a text about nothing else can mean: "on which Monday", "lately", "before 3
    July".
    """
    named = _named_times(text, today, (*_FORMS, *_LOOSE_FORMS))
    rest = text
    for mention in sorted(named, key=lambda mention: mention.start, reverse=True):
        rest = f"{rest[: mention.start]} {rest[mention.end :]}"
    spans = (mention.span for mention in named)
    return without_sessions(rest), tuple(dict.fromkeys(spans))


def _named_times(text: str, today: date, forms: Sequence[_Form]) -> list[_Named]:
    """The times that a text names, in its order; two that are joined as in "from 3 July to 5 July"
    are one.
    """
    found: list[_Named] = []
    for pattern, read in forms:
        for match in pattern.finditer(text):
            if not _is_known(match, found):
                found += [
                    _with_neighbours(text, match, days, today)
                    for days in read(match, today)
                ]
    joined: list[_Named] = []
    for mention in sorted(found, key=lambda mention: mention.start):
        whole = _joined_times(text, joined[-1], mention) if joined else None
        if whole:
            joined[-1] = whole
        else:
            joined.append(mention)
    return joined


def _is_known(match: re.Match[str], mentions: Sequence[_Named]) -> bool:
    start, end = match.span()
    return any(start < mention.end and mention.start < end for mention in mentions)


def _joined_times(text: str, one: _Named, other: _Named) -> _Named | None:
    """The two times as one where the text says "from one to the other"; None elsewhere."""
    begins = _RANGE.search(text[: one.start])
    to = _TO.fullmatch(text[one.end : other.at])
    # without "between" an "and" may part two times
    if not to or one.last > other.last or not (begins or to["is_to"]):
        return None
    start = begins.start() if begins else one.start
    return _Named(start, one.at, other.end, one.first, other.last)


def _with_neighbours(
    text: str, match: re.Match[str], days: tuple[date, date], today: date
) -> _Named:
    first, last = days
    start, end, hours = match.start(), match.end(), ""
    if first == last and (part := _PART_BEFORE.search(text[:start])):
        start, hours = part.start(), part["hours"]
    elif first == last and (part := _PART_AFTER.match(text, end)):
        end, hours = part.end(), part["hours"]
    elif first == last and (week := _WEEK_OF.search(text[:start])):
        start = week.start()
        first -= timedelta(days=first.weekday())
        last = first + timedelta(days=6)
    before = _OPEN.search(text[:start])
    way = before["way"].lower() if before else ""
    if match[0][:5].lower() == "since" or way in {"since", "after"}:
        last, hours = max(last, today), ""
    elif way == "before":
        last = max(first, date.min + timedelta(days=1)) - timedelta(days=1)
    return _Named(
        before.start() if before else start,
        match.start(),
        end,
        first,
        last,
        is_span=way not in {"before", "until"},
        hours=hours,
    )


_Read = Callable[[re.Match[str], date], Iterator[tuple[date, date]]]
_Form = tuple[re.Pattern[str], _Read]


def _day(match: re.Match[str], today: date) -> Iterator[tuple[date, date]]:
    """A day of a month, in the named year or the last one that has it."""
    month = _month_of(match["month"])
    year = match["year"]
    # 29 February is not in every year
    for candidate in [int(year)] if year else range(today.year, today.year - 5, -1):
        try:
            day = date(candidate, month, int(match["day"]))
        except ValueError:
            continue
        if year or day <= today:
            yield day, day
            return


def _nth(match: re.Match[str], today: date) -> Iterator[tuple[date, date]]:
    """The last day with this number that has passed."""
    number = int(match["nth"])
    for back in range(62):  # each number is in one of two months
        day = today - timedelta(days=back)
        if day.day == number:
            yield day, day
            return


def _days(match: re.Match[str], today: date) -> Iterator[tuple[date, date]]:
    """The span from one day of a month to another."""
    for _, last in _day(match, today):
        if 0 < int(match["from"]) <= last.day:
            yield last.replace(day=int(match["from"])), last


def _iso(match: re.Match[str], _today: date) -> Iterator[tuple[date, date]]:
    try:
        day = date.fromisoformat(match[0].replace("/", "-"))
    except ValueError:
        return
    yield day, day


def _month(match: re.Match[str], today: date) -> Iterator[tuple[date, date]]:
    month = _month_of(match["month"])
    year = int(
        match["year"] or (today.year if month <= today.month else today.year - 1)
    )
    yield date(year, month, 1), date(year, month, calendar.monthrange(year, month)[1])


def _months(match: re.Match[str], today: date) -> Iterator[tuple[date, date]]:
    """The span from one month to another; the last one is of the named year, or the latest that has
    begun.
    """
    first, last = _month_of(match["from"]), _month_of(match["month"])
    for _, end in _month(match, today):
        yield date(end.year - (first > last), first, 1), end


def _part_of_month(match: re.Match[str], today: date) -> Iterator[tuple[date, date]]:
    first, last = _PARTS[match["part"].lower()]
    for begin, end in _month(match, today):
        yield begin.replace(day=first), begin.replace(day=min(last, end.day))


def _before_last(match: re.Match[str], today: date) -> Iterator[tuple[date, date]]:
    """The week or month before the last one."""
    this = today - timedelta(days=today.weekday())
    if match["unit"].lower() == "week":
        yield this - timedelta(days=14), this - timedelta(days=8)
        return
    last = today.replace(day=1) - timedelta(days=1)
    last = last.replace(day=1) - timedelta(days=1)
    yield last.replace(day=1), last


def _season(match: re.Match[str], today: date) -> Iterator[tuple[date, date]]:
    """The last one to begin; "last summer" is one that is over."""
    month = _SEASONS[match["season"]]
    year = int(match["year"] or today.year - (month > today.month))
    for begin in (date(year, month, 1), date(year - 1, month, 1)):
        ends = date(begin.year + (month > 10), (month + 1) % 12 + 1, 1)
        end = ends.replace(day=calendar.monthrange(ends.year, ends.month)[1])
        if match["year"] or end < today or match["which"] != "last":
            yield begin, end if match["year"] else min(end, today)
            return


def _half_year(match: re.Match[str], _today: date) -> Iterator[tuple[date, date]]:
    year = int(match["year"])
    if match["half"].lower() == "first":
        yield date(year, 1, 1), date(year, 6, 30)
    else:
        yield date(year, 7, 1), date(year, 12, 31)


def _numbered_quarter(match: re.Match[str], today: date) -> Iterator[tuple[date, date]]:
    number = int(match["quarter"])
    is_over = number <= (today.month + 2) // 3
    yield _quarter_of(int(match["year"] or today.year - (not is_over)), number)


def _quarter_of(year: int, number: int) -> tuple[date, date]:
    """``number`` is 1 to 4, or 0 for the last of the year before."""
    year, number = (year, number) if number else (year - 1, 4)
    last = 3 * number
    return date(year, last - 2, 1), date(year, last, calendar.monthrange(year, last)[1])


def _year(match: re.Match[str], _today: date) -> Iterator[tuple[date, date]]:
    year = int(_first_group(match, "year", "of"))
    yield date(year, 1, 1), date(year, 12, 31)


def _near_day(match: re.Match[str], today: date) -> Iterator[tuple[date, date]]:
    is_past = match["near"].lower() in {"yesterday", "last "}
    day = today - timedelta(days=2 if match["before"] else int(is_past))
    yield day, day


def _named_unit(match: re.Match[str], today: date) -> Iterator[tuple[date, date]]:
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
    elif unit == "quarter":
        first, last = _quarter_of(today.year, (today.month + 2) // 3 - (not is_this))
        yield first, min(today, last)
    elif unit == "year":
        year = today.year - (not is_this)
        yield date(year, 1, 1), min(today, date(year, 12, 31))


def _ago(match: re.Match[str], today: date) -> Iterator[tuple[date, date]]:
    size = _UNITS[(match["unit"] or "hour").lower()]
    days = int(number_of(match["number"]) * size)
    if days < today.toordinal():
        day, margin = today - timedelta(days=days), timedelta(days=math.ceil(size) // 2)
        yield day - margin, day + margin


def _last_units(match: re.Match[str], today: date) -> Iterator[tuple[date, date]]:
    size = math.ceil(number_of(match["number"] or "a") * _UNITS[match["unit"].lower()])
    if size < today.toordinal():
        yield today - timedelta(days=size), today


def _weekend(match: re.Match[str], today: date) -> Iterator[tuple[date, date]]:
    since = (today.weekday() - DAYS.index("Saturday")) % 7
    is_now = since < 2  # Saturday or Sunday
    is_over = (match["which"] or "").lower() in {"last", "past", "previous"} and is_now
    back = 1 if match["before"] else number_of(match["number"] or "a") - 1
    saturday = today - timedelta(days=since + 7 * (is_over + back))
    yield saturday, min(today, saturday + timedelta(days=1))


def _recent_days(_match: re.Match[str], today: date) -> Iterator[tuple[date, date]]:
    yield today - timedelta(days=LATELY), today


def _weekday(match: re.Match[str], today: date) -> Iterator[tuple[date, date]]:
    """The last one that is over; "before last" the one before; or that of last week."""
    number = DAYS.index(_first_group(match, "weekday", "other").title())
    back = (today.weekday() - number) % 7 or 7
    said = match[0].lower()
    if "week" in said:
        back = today.weekday() + 7 - number
    day = today - timedelta(days=back + 7 * ("before last" in said))
    yield day, day


def _weekdays(match: re.Match[str], today: date) -> Iterator[tuple[date, date]]:
    for _, last in _weekday(match, today):
        number = DAYS.index(match["from"].title())
        yield last - timedelta(days=(last.weekday() - number) % 7), last


def _first_group(match: re.Match[str], *names: str) -> str:
    """The text of the first of these groups that matched."""
    return next(filter(None, map(match.groupdict().get, names)), "")


def _month_of(name: str) -> int:
    """1 to 12, by the first three letters."""
    return next(
        number
        for number, month in enumerate(MONTHS, start=1)
        if month[:3].lower() == name[:3].lower()
    )


def _form(pattern: str, read: _Read, flags: re.RegexFlag = re.IGNORECASE) -> _Form:
    return re.compile(pattern, flags), read


_WEEKDAY = rf"(?P<weekday>{'|'.join(DAYS)})"
_TIL = r" ?(?:to|and|through|until|till|[-–—]) ?"
_FORMS = (
    _form(r"\b\d{4}([-/])\d\d\1\d\d\b", _iso),
    _form(
        rf"\b(?:from|between) (?:the )?(?P<from>[0-3]?\d)(?:st|nd|rd|th)?{_TIL}(?:the )?{_DAY} "
        rf"(?:of )?(?P<month>{_MONTH})\b\.?(?:,? {_YEAR})?",
        _days,
    ),
    _form(
        rf"\b(?P<month>{_MONTH})\.? (?P<from>[0-3]?\d)(?:st|nd|rd|th)? ?[-–—] ?{_DAY}\b"
        rf"(?:,? {_YEAR})?",
        _days,
    ),
    _form(rf"\b{_DAY} (?:of )?(?P<month>{_MONTH})\b\.?(?:,? {_YEAR})?", _day),
    _form(rf"\b(?P<month>{_MONTH})\.? {_DAY}\b(?:,? {_YEAR})?", _day),
    # "the 3rd retry" is no day
    _form(
        r"\b(?:on|of|from|since) the (?P<nth>[0-3]?\d)(?:st|nd|rd|th)\b"
        r"(?=\s*(?:\Z|[?.,;:!)]|(?:we|i|you|about)\b))",
        _nth,
    ),
    _form(
        rf"\b(?:between|from) (?P<from>{_MONTH}) (?:and|to|through|until) (?P<month>{_MONTH})\b"
        rf"(?:,? {_YEAR})?",
        _months,
    ),
    _form(
        rf"\b(?P<part>[Ee]arly|[Mm]id|[Ll]ate)[ -](?P<month>{_MONTH})\b(?:,? {_YEAR})?",
        _part_of_month,
        re.RegexFlag(0),
    ),
    _form(
        rf"\b(?P<part>beginning|start|middle|end|(?:{'|'.join(_WEEKS)}|last) week) (?:of|in) "
        rf"(?P<month>{_MONTH})\b(?:,? {_YEAR})?",
        _part_of_month,
    ),
    _form(rf"\bQ(?P<quarter>[1-4])\b(?:,? {_YEAR})?", _numbered_quarter),
    _form(rf"\b(?P<half>first|second) half of {_YEAR}\b", _half_year),
    _form(rf"\b(?P<month>{_MONTH}),? (?:of )?{_YEAR}\b", _month),
    # "may" and "march" are words too: a month alone needs a word before it and its capital letter
    _form(
        rf"\b(?:[Ii]n|[Ss]ince|[Dd]uring|[Tt]hroughout|[Ll]ast|[Oo]f) (?P<month>{_MONTH})\b"
        r"(?! [A-Z])(?P<year>)",
        _month,
        re.RegexFlag(0),
    ),
    # neither "spring framework" nor "in Spring Boot"
    _form(
        rf"\b(?P<which>this|last|in|over|during)(?: the)? (?P<season>{'|'.join(_SEASONS)})\b"
        rf"(?! (?:boot|break|framework|time|of (?!\d)))(?:(?: of)? {_YEAR})?",
        _season,
        re.RegexFlag(0),
    ),
    _form(
        rf"\b(?:in|during|since) {_YEAR}\b|\bof (?P<of>(?:19|20)\d\d)(?=\Z|[?.,;])",
        _year,
    ),
    _form(
        rf"\b(?:(?P<before>day before) )?(?P<near>{_NEAR})(?:\b(?!\()|(?=night))",
        _near_day,
    ),
    _form(r"\b(?P<unit>week|month) before last\b", _before_last),
    _form(
        rf"\b{_WEEKDAY} (?:before last|(?:of )?last week|a week ago)\b"
        rf"|\b(?:a week ago|last week)(?: on)? {_WEEKDAY.replace('weekday', 'other')}\b",
        _weekday,
    ),
    _form(
        r"\b(?:in|within|over|during) (?:the |these )?(?:last|past) "
        rf"(?P<number>)(?P<unit>{_UNIT})\b",
        _last_units,
    ),
    _form(
        r"\b(?P<which>this|last|past|previous) (?P<unit>week|month|quarter|year)\b",
        _named_unit,
    ),
    _form(rf"\b(?:last|past|previous) {ANY_NUMBER} (?P<unit>{_UNIT})s\b", _last_units),
    _form(
        r"\b(?:(?P<which>last|past|previous|this|(?:over|at|on|during) the"
        rf"|{ANY_NUMBER}(?= \w+ ago)) weekends?\b(?: ago)?|weekend (?P<before>before last))",
        _weekend,
    ),
    _form(
        rf"\b(?:half )?{ANY_NUMBER} (?:(?P<unit>{_UNIT})s? (?:ago|back|earlier)|minutes? ago)\b",
        _ago,
    ),
    _form(rf"\bbetween (?P<from>{'|'.join(DAYS)}) and {_WEEKDAY}\b", _weekdays),
    _form(
        r"(?:\b(?:on|last|this) |(?<=\bsince )|(?<=\bafter )|(?<=\bbefore )|(?<=\buntil ))"
        rf"{_WEEKDAY}\b|(?<!every )(?<!each )\b{_WEEKDAY.replace('weekday', 'other')}"
        r"(?='s\b| (?:morning|afternoon|evening|night)\b)",
        _weekday,
    ),
)
# only where a question is about nothing else: "recently" and "the Monday meeting" stand in
# questions about other things
_LOOSE_FORMS = (
    _form(rf"(?<!every )(?<!each )\b(?P<weekday>{'|'.join(DAYS)})\b", _weekday),
    _form(r"\b(?:recently|lately|these days|the other day)\b", _recent_days),
)
