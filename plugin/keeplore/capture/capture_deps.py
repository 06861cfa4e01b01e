"""What capture needs of its surroundings, each a plain function: it knows of no workspace."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from keeplore.memory import Memory
from keeplore_hooks.events import Origin, Turn, Work


@dataclass(frozen=True, slots=True)
class MemoryPlace:
    """Where a memory made at an origin belongs."""

    scope: str  # user | workspace | project | agent:NAME
    project: str = ""
    branch: str = ""


@dataclass(frozen=True, slots=True)
class CaptureDeps:
    place: Callable[[Origin], MemoryPlace]
    # of a text and the directory in which it was said
    redact: Callable[[str, str], str]
    segment: Callable[[Sequence[Mapping[str, Any]], Turn, Work], str]
    known_turns: Callable[[Iterable[str]], Mapping[str, str]]
    written: Callable[[str, str], None]
    closing: Callable[[Mapping[str, Any], str], None]
    # recent conversations of a place, closed before a time
    earlier: Callable[[MemoryPlace, str], Iterable[Memory]]
    embed: Callable[[Sequence[str]], Any] | None
    # the commit checked out there, if that time is not long ago
    head: Callable[[Origin, MemoryPlace, str], str]
    machine: str
