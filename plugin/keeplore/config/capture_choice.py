"""What a person chose about capture: rules in words, as settings hold them, and the pauses of this
machine: ``pauses.json`` in the state directory.
"""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from keeplore.config.places import Places
from keeplore.errors import ConfigError, reason_of
from keeplore_hooks import durable

FILE = "pauses.json"
# for clients: its presence says that nothing is to be kept, its content until when
MARKER = "paused"
SCHEMA = 1
MAX_VALUE = 500  # characters
MAX_PAUSES = 1000


class RuleKind(StrEnum):
    """What a rule names: a directory, a project, a git remote, or directories by a glob."""

    PATH = "path"
    PROJECT = "project"
    REMOTE = "remote"
    PATTERN = "pattern"


@dataclass(frozen=True, slots=True)
class CaptureRule:
    """Written as ``kind:value``; a path may begin with ``~``, the others may be globs."""

    kind: RuleKind
    value: str

    @classmethod
    def parse(cls, text: str) -> CaptureRule:
        """The rule that a text such as "path:~/private" states. Raises ValueError that says what is
        wrong.
        """
        kind, _, value = text.partition(":")
        if kind not in list(RuleKind) or not value.strip():
            kinds = ", ".join(f"{kind}:…" for kind in RuleKind)
            raise ValueError(f"{text!r} should be one of {kinds}")
        return cls.of(RuleKind(kind), value.strip())

    @classmethod
    def of(cls, kind: RuleKind, value: str) -> CaptureRule:
        """A rule whose value was checked. Raises ValueError."""
        if len(value) > MAX_VALUE or not value.isprintable():
            raise ValueError(
                f"{kind}: it should be one line of {MAX_VALUE} characters at most"
            )
        is_place = value.startswith(("/", "~")) or Path(value).is_absolute()
        if kind is RuleKind.PATH and not is_place:
            raise ValueError(f"{kind}:{value} should begin with / or ~")
        return cls(kind, value)

    def __str__(self) -> str:
        return f"{self.kind}:{self.value}"


@dataclass(frozen=True, slots=True)
class CaptureRules:
    """The capture rules of one machine or of one workspace."""

    exclude: tuple[CaptureRule, ...] = ()
    include: tuple[CaptureRule, ...] = ()


@dataclass(frozen=True, slots=True)
class Pause:
    """A time in which nothing is captured; ``since`` and ``until`` are RFC 3339 in UTC, ``until``
    is "" while no end is set.
    """

    since: str
    until: str = ""

    def overlaps(self, begin: str, end: str) -> bool:
        """Whether something that began and ended then was said in it, at least in part."""
        return max(begin, end) >= self.since and (not self.until or begin < self.until)


@dataclass(frozen=True, slots=True)
class Pauses:
    """The pauses of this machine, the oldest first."""

    known: tuple[Pause, ...] = ()

    @classmethod
    def load(cls, places: Places) -> Pauses:
        """None where there is no file. Raises ConfigError for one that cannot be read: what may not
        be captured is not known then.
        """
        path = places.state / FILE
        try:
            data = json.loads(path.read_bytes())
            known = (Pause(str(since), str(until)) for since, until in data["pauses"])
            return cls(tuple(known))
        except FileNotFoundError:
            return cls()
        except (OSError, ValueError, TypeError, LookupError, RecursionError) as e:
            raise ConfigError(
                f"{path} cannot be read, so nothing is captured: {reason_of(e)}",
                "Mend or remove it",
            ) from e

    def save(self, places: Places) -> None:
        """Write the pauses into the state directory. Raises OSError."""
        pauses = [[pause.since, pause.until] for pause in self.known]
        text = json.dumps({"schema": SCHEMA, "pauses": pauses}, indent=2) + "\n"
        places.create()
        durable.write(places.state / FILE, text.encode())

    def tell_clients(self, places: Places, moment: str) -> None:
        """Leave word for the clients whether to keep anything. Raises OSError."""
        current, marker = self.at(moment), places.state / MARKER
        if current is None:
            with contextlib.suppress(FileNotFoundError):
                marker.unlink()
            return
        # digits alone, which a shell can compare
        until = "".join(filter(str.isdigit, current.until))
        durable.write(marker, f"{until}\n".encode())

    def at(self, moment: str) -> Pause | None:
        """The pause that a moment lies in."""
        found = (pause for pause in self.known if pause.overlaps(moment, moment))
        return next(found, None)

    def with_pause(self, since: str, until: str) -> Pauses:
        """These pauses with another one, which replaces one that is still going on."""
        current = self.at(since)
        kept = [pause for pause in self.known if pause is not current]
        begun = current.since if current else since
        return Pauses((*kept, Pause(begun, until))[-MAX_PAUSES:])

    def with_current_ended(self, moment: str) -> Pauses:
        """These pauses with the one that is going on ended."""
        current = self.at(moment)
        return Pauses(
            tuple(
                replace(pause, until=moment) if pause is current else pause
                for pause in self.known
            )
        )
