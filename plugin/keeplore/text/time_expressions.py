"""Times that a question names ("last week", "on 3 July", "in the fifth session") as spans of
days.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from keeplore.text.dates import DAYS, MONTHS

_FEW = {"couple": 2, "few": 3, "several": 5}
_NUMBER = "a|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
_NUMBERS = _NUMBER.split("|")
_ORDINAL = (
    "first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth|thirteenth|"
    "fourteenth|fifteenth|sixteenth|seventeenth|eighteenth|nineteenth|twentieth"
)
_ORDINALS = _ORDINAL.split("|")
_MONTH = "|".join(("Sept", *(f"{month}|{month[:3]}" for month in MONTHS)))
_DAY = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_COUNT = rf"\d{{1,3}}|(?:a )?(?:couple of|few|several)|{_NUMBER}"
_ANY_NUMBER = rf"(?P<number>{_COUNT})"
# in front of a time
_OPEN = re.compile(r"\b(?P<way>since|after|before|until) (?:the )?\Z", re.IGNORECASE)
# in front of the first of two, and between the two
_RANGE = re.compile(r"\b(?:from|between) (?:the )?\Z", re.IGNORECASE)
_TO = re.compile(r"\s*(?:to|and|until|till|through|[-–—])\s+(?:the )?", re.IGNORECASE)
_NEAR = "today|yesterday|last night|this (?:morning|afternoon|evening)"
LATELY = 14  # days
_UNITS = {
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


@dataclass(frozen=True, slots=True)
class Span:
    """From and to, both within; RFC 3339 or a beginning of it."""

    first: str
    last: str

    def holds(self, at: str) -> bool:
        return (
            bool(at)
            and self.first <= at[: len(self.first)]
            and at[: len(self.last)] <= self.last
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


def spans_in(text: str, today: date) -> tuple[Span, ...]:
    """The times that a text names, a day without a year being the last one that has passed; none
    for most texts.

    What was "since" a time lasts until today; what was "before" one has no beginning, and is no
    span.
    """
    named = [one for one in _named(text, today, _FORMS) if one.is_span]
    return tuple(
        dict.fromkeys(
            Span(one.first.isoformat(), one.last.isoformat()) for one in named
        )
    )


def apart_from_times(text: str, today: date) -> tuple[str, tuple[Span, ...]]:
    """What a text says beside the times and sessions that it names, and these times.

    Also those that only a text about nothing else can mean: "on which Monday", "lately", "before 3
    July".
    """
    named = _named(text, today, (*_FORMS, *_LOOSE_FORMS))
    rest = text
    for one in sorted(named, key=lambda one: one.start, reverse=True):
        rest = f"{rest[: one.start]} {rest[one.end :]}"
    spans = (
        Span(one.first.isoformat() if one.is_span else "", one.last.isoformat())
        for one in named
    )
    return _SESSION.sub(" ", rest), tuple(dict.fromkeys(spans))


def _named(text: str, today: date, forms: Sequence[_Form]) -> list[_Named]:
    """In the order in which the text names them; two that are joined as in "from 3 July to 5 July"
    are one.
    """
    found: list[_Named] = []
    for pattern, read in forms:
        for match in pattern.finditer(text):
            if not _is_known(match, found):
                found += [
                    _placed(text, match, days, today) for days in read(match, today)
                ]
    joined: list[_Named] = []
    for one in sorted(found, key=lambda one: one.start):
        whole = _joined(text, joined[-1], one) if joined else None
        if whole:
            joined[-1] = whole
        else:
            joined.append(one)
    return joined


def _is_known(match: re.Match[str], found: Sequence[_Named]) -> bool:
    start, end = match.span()
    return any(start < one.end and one.start < end for one in found)


def _joined(text: str, one: _Named, other: _Named) -> _Named | None:
    """Both as one where a text says from one to the other."""
    begins = _RANGE.search(text[: one.start])
    if begins and one.last <= other.last and _TO.fullmatch(text[one.end : other.at]):
        return _Named(begins.start(), one.at, other.end, one.first, other.last)
    return None


def _placed(
    text: str, match: re.Match[str], days: tuple[date, date], today: date
) -> _Named:
    first, last = days
    before = _OPEN.search(text[: match.start()])
    way = before["way"].lower() if before else ""
    if match[0][:5].lower() == "since" or way in {"since", "after"}:
        last = max(last, today)
    elif way == "before":
        last = max(first, date.min + timedelta(days=1)) - timedelta(days=1)
    start = before.start() if before else match.start()
    return _Named(
        start,
        match.start(),
        match.end(),
        first,
        last,
        is_span=way not in {"before", "until"},
    )


def sessions_in(text: str) -> tuple[int, int] | None:
    """The numbers of the first and the last of the sessions that a text names, counted from 1, or
    from -1 back from the last one; None where it names none.
    """
    match = _SESSION.search(text)
    if not match:
        return None
    if match["many"]:
        number = _number(match["many"])
        is_first = match["end"].lower() == "first"
        return (1, number) if is_first else (-number, -1)
    if match["ago"]:
        return -_number(match["ago"]), -_number(match["ago"])
    word = (match["word"] or "").lower()
    if word in _LATEST:
        return -1, -1
    digits = match["nth"] or match["plain"]
    number = _ORDINALS.index(word) + 1 if word in _ORDINALS else int(digits)
    return number, int(match["to"] or number)


_LATEST = frozenset({"last", "previous", "latest"})
_TALK = "session|conversation|chat"
_SESSION = re.compile(
    rf"\b(?:(?P<end>first|last|past|previous) (?P<many>{_COUNT}) (?:{_TALK})s"
    rf"|(?P<ago>{_COUNT}) (?:{_TALK})s? ago"
    rf"|(?:(?P<word>{_ORDINAL}|last|previous|latest)|(?P<nth>[1-9]\d{{0,3}})(?:st|nd|rd|th)) "
    rf"(?:{_TALK})"
    r"|sessions? (?:number |no\. ?|#)?(?P<plain>[1-9]\d{0,3})"
    r"(?: ?(?:to|through|until|and|[-–—]) ?(?P<to>[1-9]\d{0,3}))?)\b",
    re.IGNORECASE,
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
    """From one month to another, the last one being that of the named year or the last to begin."""
    first, last = _month_of(match["from"]), _month_of(match["month"])
    for _, end in _month(match, today):
        yield date(end.year - (first > last), first, 1), end


def _part_of_month(match: re.Match[str], today: date) -> Iterator[tuple[date, date]]:
    first, last = _PARTS[match["part"].lower()]
    for begin, end in _month(match, today):
        yield begin.replace(day=first), begin.replace(day=min(last, end.day))


def _quarter(match: re.Match[str], today: date) -> Iterator[tuple[date, date]]:
    number = int(match["quarter"])
    is_over = number <= (today.month + 2) // 3
    yield _quarter_of(int(match["year"] or today.year - (not is_over)), number)


def _quarter_of(year: int, number: int) -> tuple[date, date]:
    """``number`` is 1 to 4, or 0 for the last of the year before."""
    year, number = (year, number) if number else (year - 1, 4)
    last = 3 * number
    return date(year, last - 2, 1), date(year, last, calendar.monthrange(year, last)[1])


def _year(match: re.Match[str], _today: date) -> Iterator[tuple[date, date]]:
    year = int(match["year"])
    yield date(year, 1, 1), date(year, 12, 31)


def _near(match: re.Match[str], today: date) -> Iterator[tuple[date, date]]:
    is_past = match["near"].lower() in {"yesterday", "last night"}
    day = today - timedelta(days=2 if match["before"] else int(is_past))
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
    elif unit == "quarter":
        first, last = _quarter_of(today.year, (today.month + 2) // 3 - (not is_this))
        yield first, min(today, last)
    elif unit == "year":
        year = today.year - (not is_this)
        yield date(year, 1, 1), min(today, date(year, 12, 31))


def _ago(match: re.Match[str], today: date) -> Iterator[tuple[date, date]]:
    number = _number(match["number"])
    size = _UNITS[match["unit"].lower()]
    if number * size < today.toordinal():
        day, around = today - timedelta(days=number * size), timedelta(days=size // 2)
        yield day - around, day + around


def _lasting(match: re.Match[str], today: date) -> Iterator[tuple[date, date]]:
    size = _number(match["number"]) * _UNITS[match["unit"].lower()]
    if size < today.toordinal():
        yield today - timedelta(days=size), today


def _number(word: str) -> int:
    word = word.lower().removeprefix("a ").removesuffix(" of")
    return (
        int(word) if word.isdigit() else _FEW.get(word) or max(1, _NUMBERS.index(word))
    )


def _weekend(match: re.Match[str], today: date) -> Iterator[tuple[date, date]]:
    since = (today.weekday() - DAYS.index("Saturday")) % 7
    is_now = since < 2  # Saturday or Sunday
    is_over = match["which"].lower() in {"last", "past", "previous"} and is_now
    saturday = today - timedelta(days=since + 7 * is_over)
    yield saturday, min(today, saturday + timedelta(days=1))


def _lately(_match: re.Match[str], today: date) -> Iterator[tuple[date, date]]:
    yield today - timedelta(days=LATELY), today


def _weekday(match: re.Match[str], today: date) -> Iterator[tuple[date, date]]:
    back = (today.weekday() - DAYS.index(match["weekday"].title())) % 7 or 7
    day = today - timedelta(days=back)
    yield day, day


def _month_of(name: str) -> int:
    """1 to 12, by the first three letters."""
    return next(
        number
        for number, month in enumerate(MONTHS, start=1)
        if month[:3].lower() == name[:3].lower()
    )


def _form(pattern: str, read: _Read, flags: re.RegexFlag = re.IGNORECASE) -> _Form:
    return re.compile(pattern, flags), read


_FORMS = (
    _form(r"\b\d{4}([-/])\d\d\1\d\d\b", _iso),
    _form(rf"\b{_DAY} (?:of )?(?P<month>{_MONTH})\b\.?(?:,? {_YEAR})?", _day),
    _form(rf"\b(?P<month>{_MONTH})\.? {_DAY}\b(?:,? {_YEAR})?", _day),
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
    _form(rf"\bQ(?P<quarter>[1-4])\b(?:,? {_YEAR})?", _quarter),
    _form(rf"\b(?P<month>{_MONTH}),? {_YEAR}\b", _month),
    # "may" and "march" are words too: a month alone needs a word before it and its capital letter
    _form(
        rf"\b(?:[Ii]n|[Ss]ince|[Dd]uring|[Ll]ast|[Oo]f) (?P<month>{_MONTH})\b(?P<year>)",
        _month,
        re.RegexFlag(0),
    ),
    _form(rf"\b(?:in|of|during|since) {_YEAR}\b", _year),
    _form(rf"\b(?:(?P<before>day before) )?(?P<near>{_NEAR})\b", _near),
    _form(
        r"\b(?P<which>this|last|past|previous) (?P<unit>week|month|quarter|year)\b",
        _unit,
    ),
    _form(
        rf"\b(?:last|past|previous) {_ANY_NUMBER} (?P<unit>{_UNIT})s\b",
        _lasting,
    ),
    _form(
        r"\b(?P<which>last|past|previous|this|over the|at the|on the) weekend\b",
        _weekend,
    ),
    _form(rf"\b{_ANY_NUMBER} (?P<unit>{_UNIT})s? ago\b", _ago),
    _form(
        r"(?:\b(?:on|last) |(?<=\bsince )|(?<=\bafter )|(?<=\bbefore )|(?<=\buntil ))"
        rf"(?P<weekday>{'|'.join(DAYS)})\b",
        _weekday,
    ),
)
# only where a question is about nothing else: "recently" and "the Monday meeting" stand in
# questions about other things
_LOOSE_FORMS = (
    _form(rf"(?<!every )(?<!each )\b(?P<weekday>{'|'.join(DAYS)})\b", _weekday),
    _form(r"\b(?:recently|lately|these days|the other day)\b", _lately),
)
