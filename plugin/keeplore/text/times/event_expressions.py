"""Times that a question names by what happened then ("since the release", "before we moved to
pnpm").
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta

WEEK, MONTH = 7, 30  # days
# who asks what was; "what runs before the merge?" asks for an order of steps
_WAS = re.compile(
    r"\b(?:did|was|were|had|happened|(?:have|has) (?:we|i|you|been|\w+ed))\b",
    re.IGNORECASE,
)
_EVENT = re.compile(
    r",?\s*\b(?:(?:in|on|during) )?(?:the (?P<unit>day|week|month) )?(?:right |just |shortly )?"
    r"(?P<way>before|after|since) "
    r"(?P<event>(?:the|our|we|i|you) (?:[\w'’./-]+ ){0,7}?[\w'’./-]+?)\s*(?=\Z|[?,;!]|\. )",
    re.IGNORECASE,
)
_UNITS = {"day": 1, "week": WEEK, "month": MONTH}


@dataclass(frozen=True, slots=True)
class EventTime:
    """A time as a question names it by an event."""

    event: str  # "the release", "we moved to pnpm"
    way: str  # before | after | since
    days: int  # how long it lasts, 0 for without an end
    rest: str  # what the question says beside it

    @property
    def is_open(self) -> bool:
        """True for whatever was before."""
        return self.way == "before" and not self.days

    def around(self, day: date, today: date) -> tuple[str, str]:
        """The first and the last day of it, where that happened on ``day``; "" is the beginning."""
        if self.way == "before":
            first = (day - timedelta(days=self.days)).isoformat() if self.days else ""
            return first, day.isoformat()
        last = min(today, day + timedelta(days=self.days)) if self.days else today
        return day.isoformat(), max(day, last).isoformat()


def event_in(text: str) -> EventTime | None:
    """What happened at the time that a question about the past names; None for most questions."""
    match = _EVENT.search(text)
    if not match or not _WAS.search(text[: match.start()] + text[match.end() :]):
        return None
    days = _UNITS.get((match["unit"] or "").lower(), 0)
    rest = f"{text[: match.start()]} {text[match.end() :]}"
    return EventTime(match["event"], match["way"].lower(), days, rest)
