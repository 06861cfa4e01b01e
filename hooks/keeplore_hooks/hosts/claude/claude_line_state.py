"""What must be known of the lines of a Claude Code transcript before one of them can be understood:
where it stands, which turn it belongs to, and whether it was read before.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import Path

from keeplore_hooks.events import Origin
from keeplore_hooks.hosts.claude.claude_lines import HOST
from keeplore_hooks.hosts.claude.claude_open_turn import (
    ClaudeOpenTurn,
    ClaudeResumeState,
)
from keeplore_hooks.hosts.jsonl import (
    Json,
    JsonLine,
    first_text,
    short_digest,
    text,
    time_of_file,
    utc_time,
)
from keeplore_hooks.hosts.turn_assembly import ID_LENGTH, SEEN_LIMIT

_VERSION = re.compile(r"(\d{1,6})\.(\d{1,6})\.(\d{1,6})")
# from this version on queued prompts are attachments; before, only the queue has them
_WRITES_ATTACHMENTS = (2, 1, 92)


class ClaudeLineContext:
    """Where the line stands that is being read, and what the lines up to it told.

    Lines that start before ``known`` (bytes) were turned into events at an earlier time: they are
    needed to know the turn that they belong to, and give no event again.
    """

    def __init__(self, path: str, resume_state: ClaudeResumeState, known: int) -> None:
        self.state = resume_state  # behind the line
        self.before = resume_state  # before it
        self.start = 0  # of the line, in bytes
        self.is_new = False  # whether the line gives events
        self.latest = ""  # the newest time of all lines
        self._path = path
        self._known = known
        self._seen = set(resume_state.seen)  # of the prompts so far

    @property
    def origin(self) -> Origin:
        state = self.state
        return Origin(
            HOST,
            state.session,
            state.cwd,
            state.branch,
            self._path,
            agent_name=state.agent,
        )

    def is_behind_known(self, line: JsonLine) -> bool:
        return line.start >= self._known

    def enter(self, line: JsonLine) -> None:
        """Take what every line tells: time, version, session, directory."""
        self.before = state = self.state
        self.start, self.is_new = line.start, self.is_behind_known(line)
        data, at = line.data, utc_time(text(line.data, "timestamp"))
        self.latest = max(self.latest, at)
        is_old = _is_old(text(data, "version"), state.is_old)
        session = text(data, "sessionId") or state.session
        if "cwd" in data:
            state = replace(
                state, cwd=text(data, "cwd"), branch=text(data, "gitBranch")
            )
        at = at or state.at or self._file_time()
        self.state = replace(state, at=at, is_old=is_old, session=session)

    def _file_time(self) -> str:
        """When the transcript was written last, for lines before any that states a time; "" where
        that is not known.
        """
        try:
            return time_of_file(Path(self._path))
        except (OSError, ValueError, OverflowError):
            return ""

    def is_seen(self, uuid: str) -> bool:
        """Is it the prompt of an earlier turn?"""
        return short_digest(uuid) in self._seen

    def add_prompt(self, uuid: str) -> None:
        key = short_digest(uuid)
        self._seen.add(key)
        self.state = replace(self.state, seen=(*self.state.seen, key)[-SEEN_LIMIT:])

    def id_of(self, data: Json) -> str:
        """The id of what the line tells."""
        uuid = text(data, "uuid")
        if 0 < len(uuid) <= ID_LENGTH:
            return uuid
        return f"line:{short_digest(f'{self.state.session} {self.start} {uuid}')}"


class ClaudeTurnTree:
    """Which turn each line belongs to: that of the line that it names as its parent, which is not
    the last turn where two terminals run one session.
    """

    def __init__(self) -> None:
        self.has_parent = True  # the line goes on with one that was read
        # uuid of a line → its turn, None before the first
        self._owners: dict[str, ClaudeOpenTurn | None] = {}
        self._uuids: set[str] = set()  # of the lines before any turn

    def turn_of(
        self, data: Json, current: ClaudeOpenTurn | None
    ) -> ClaudeOpenTurn | None:
        """The turn that the line belongs to; ``current`` where nothing else is known."""
        parent, uuid = (
            first_text(data, "parentUuid", "logicalParentUuid"),
            text(data, "uuid"),
        )
        turn = self._owners.get(parent)
        while turn and turn.goes_on:
            turn = turn.goes_on
        turn = turn or current
        self.has_parent = not parent or parent in self._owners
        if uuid and self.has_parent:
            self._owners.setdefault(uuid, turn)
        return turn

    def begin_turn(self, turn: ClaudeOpenTurn) -> None:
        """Add the line with which a turn begins."""
        turn.uuids.add(turn.id)
        self._owners[turn.id] = turn

    def add_line(self, uuid: str, turn: ClaudeOpenTurn | None) -> bool:
        """Add a line to the turn; False for one that was read before."""
        known = self._uuids_of(turn)
        is_new = uuid not in known
        if uuid:
            known.add(uuid)
        return is_new

    def hand_over(self, command: ClaudeOpenTurn, turn: ClaudeOpenTurn | None) -> None:
        """Give the lines of a command that nobody answers to the turn before it."""
        self._owners.update(dict.fromkeys(command.uuids, turn))
        self._uuids_of(turn).update(command.uuids)

    def _uuids_of(self, turn: ClaudeOpenTurn | None) -> set[str]:
        return turn.uuids if turn else self._uuids


@dataclass(slots=True)
class ClaudeSideTurns:
    """Turns that have grown though they are not the last: those of other terminals."""

    given: dict[str, ClaudeOpenTurn] = field(default_factory=dict)
    # that have to be given
    grown: dict[str, ClaudeOpenTurn] = field(default_factory=dict)
    # start of a line (bytes) and its turn
    _places: list[tuple[int, ClaudeOpenTurn]] = field(default_factory=list)

    def note_growth(self, turn: ClaudeOpenTurn, start: int, *, is_new: bool) -> None:
        self._places.append((start, turn))
        if is_new:
            self.grown[turn.id] = turn

    def take_grown(self) -> list[ClaudeOpenTurn]:
        """The turns that have to be given as events, which count as given from now on."""
        grown, self.grown = self.grown, {}
        self.given |= grown
        return list(grown.values())

    def first_needed(self, last: ClaudeOpenTurn) -> ClaudeOpenTurn:
        """The first turn that has lines behind the start of the last one, or of one like it."""
        first = last
        for start, turn in reversed(self._places):
            if turn.prompt.start < first.prompt.start <= start:
                first = turn
        return first


def _is_old(version: str, before: bool) -> bool:  # noqa: FBT001 (the value so far)
    match = _VERSION.match(version)
    return tuple(map(int, match.groups())) < _WRITES_ATTACHMENTS if match else before
