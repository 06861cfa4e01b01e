"""Reading a Cursor transcript from a cursor: lines without ids, mostly without times; before 2026 a
text.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from keeplore_hooks.events import Command, Origin, Turn
from keeplore_hooks.hosts import jsonl, prompt_text
from keeplore_hooks.hosts.base import Cursor, Recorded, prompt_key
from keeplore_hooks.hosts.cursor import cursor_lines as lines
from keeplore_hooks.hosts.jsonl import Json, text
from keeplore_hooks.hosts.turn_assembly import Assembler, Carry, OpenTurn, Read, digest

HOST = "cursor"
LOG, OLD = ".jsonl", ".txt"
COUNTED = 2000  # prompts whose repetition is counted
_HEAD_LINES = 20  # in which a session may say when it began
_SMALL = 1 << 20  # bytes; of a file that tells which directory a project is
_LISTED = 500  # directories that are looked into for the one that a project is named after
_RUN = re.compile(r"[^a-zA-Z0-9]+")

Counts = dict[str, int]  # key of a prompt → how often it was typed


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a transcript's turns from elsewhere."""

    before: Counts  # prompts before the place where reading goes on
    at: Callable[[str], str]  # turn → when its prompt was typed, "" where nobody told
    # turn, prompt, prompts before it (None for a turn that was read before) → the id under which
    # payloads told of it
    alias: Callable[[str, str, Counts | None], str]
    completed: Callable[[Turn], Turn]  # adds what payloads told of a turn


@dataclass(frozen=True, slots=True)
class Told:
    """A reading, with the prompts before the place where the next one goes on, and all of them."""

    read: Read
    before: Counts
    all: Counts


def turn_id(session: str, key: str, number: int) -> str:
    """The id of a turn: nothing in a transcript has one, so it comes of the words and how often
    they came before.
    """
    return digest(HOST, session, key, str(number))


def key_of(prompt: str) -> str:
    return hashlib.sha256(prompt_key(prompt).encode("utf-8", "surrogatepass")).hexdigest()[:12]


def read(
    path: Path,
    origin: Origin,
    cursor: Cursor,
    carry: Carry,
    known: Known,
    now: str,
    stopped_at: str,
) -> Told:
    """The events behind the cursor; ``now`` stands in for times, ``stopped_at`` as for other hosts.
    Raises OSError.
    """
    with jsonl.open_regular(path) as file:
        if path.suffix == OLD:
            return _read_text(file, origin, cursor, carry, known, now, stopped_at)
        return _read_log(file, origin, cursor, carry, known, now, stopped_at)


def recorded(base: Path) -> Iterator[Recorded]:
    """The sessions under a configuration directory in the order of their paths, without those of
    subagents.
    """
    folders = base.glob("projects/*/agent-transcripts")
    paths = [
        path for folder in folders for pattern in ("*", "*/*") for path in folder.glob(pattern)
    ]
    taken: set[str] = set()
    for path in sorted(
        paths, key=lambda path: (path.suffix == OLD, str(path))
    ):  # the text form is the poorer one
        is_own = path.parent.name in ("agent-transcripts", path.stem)
        if path.suffix not in (LOG, OLD) or not is_own or path.stem in taken:
            continue
        try:
            size, started_at = path.stat().st_size, _started_at(path)
        except OSError:
            continue  # it went away, or is no regular file
        if size:
            taken.add(path.stem)
            yield Recorded(path, path.stem, directory_of(path), started_at, size)


def directory_of(path: Path) -> str:
    """The directory that a transcript is about, ``""`` where nothing tells it or several might be
    meant.

    Its project's folder says so where the person was asked to trust it; else its name is the path
    with every run of other characters than letters and digits as a dash, which is looked for on
    this machine.
    """
    folder = next(
        (parent.parent for parent in path.parents if parent.name == "agent-transcripts"), None
    )
    if folder is None:
        return ""
    try:
        with jsonl.open_regular(folder / ".workspace-trusted") as file:
            if told := text(jsonl.load(file.read(_SMALL)), "workspacePath"):
                return told
    except OSError:
        pass
    found: list[str] = []
    _look_for(Path(folder.anchor), _slug(folder.name), found, [0])
    return found[0] if len(found) == 1 else ""


def _read_log(
    file: BinaryIO,
    origin: Origin,
    cursor: Cursor,
    carry: Carry,
    known: Known,
    now: str,
    stopped_at: str,
) -> Told:
    offset, problems, before = cursor.offset, jsonl.Problems(), known.before
    if not 0 <= offset <= carry.known or jsonl.fingerprint(file, offset) != cursor.fingerprint:
        carry, offset, before = Carry(), 0, {}
    assembler = Assembler(origin, carry, now, known.completed)
    assembler.resume = offset
    messages = _Messages(assembler, known, before, now, carry)
    end = carry.known
    for line in jsonl.read_lines(file, offset, problems, report_from=end):
        messages.take(line.data, line.start, str(line.start))
        end = max(end, line.end)
    if not messages.is_known and not offset and end > carry.known:
        problems.add(f"no line is of a form that is known here; a newer {HOST} may have written it")
    assembler.finish(stopped_at)
    read = Read(
        tuple(assembler.events),
        assembler.resume,
        jsonl.fingerprint(file, assembler.resume),
        assembler.carry(end, origin.cwd),
        assembler.last(),
        problems.all() if end > carry.known else (),
    )
    return Told(read, messages.before, messages.all)


def _read_text(
    file: BinaryIO,
    origin: Origin,
    cursor: Cursor,
    carry: Carry,
    known: Known,
    now: str,
    stopped_at: str,
) -> Told:
    raw = file.read(jsonl.LINE_LIMIT)
    fingerprint = hashlib.sha256(raw).hexdigest()[:16]
    assembler = Assembler(origin, Carry(began=carry.began, given=carry.given), now, known.completed)
    messages = _Messages(assembler, known, {}, now, carry)
    for number, record in enumerate(
        lines.records_in_text(jsonl.clean(raw.decode("utf-8", "replace")))
    ):
        messages.take(record, None, str(number))
    problems = (
        () if messages.is_known else (f"nobody speaks in it; a newer {HOST} may have written it",)
    )
    assembler.finish(stopped_at)
    kept = assembler.carry(len(raw), origin.cwd)
    listed = problems if fingerprint != cursor.fingerprint else ()
    return Told(
        Read(tuple(assembler.events), 0, fingerprint, kept, assembler.last(), listed),
        {},
        messages.all,
    )


class _Messages:
    """Takes the lines of a transcript and tells an assembler what they mean."""

    def __init__(
        self, assembler: Assembler, known: Known, before: Counts, now: str, carry: Carry
    ) -> None:
        self._assembler = assembler
        self._now, self._began, self._resumed = now, carry.began, assembler.resume
        self._known = known
        self.before, self.all = before, dict(before)
        self.is_known = False  # at least one line was of a form that is read here

    def take(self, record: Json, start: int | None, key: str) -> None:
        role = text(record, "role")
        turn = self._assembler.open
        if text(record, "type") == "turn_ended":
            if turn:
                turn.is_over = True
        elif role == "user":
            self._user(record, start)
        elif role == "assistant":
            self._assistant(record, key)
        else:
            return
        self.is_known = True

    def _user(self, record: Json, start: int | None) -> None:
        prompt = lines.prompt_in(record)
        if not prompt.text:
            return
        key = key_of(prompt.text)
        own = turn_id(self._assembler.origin.session, key, self.all.get(key, 0))
        # the turn that is read again keeps the time that it got when it was new
        is_again = start is None or (start == self._resumed and bool(self._began))
        now = (is_again and self._began) or self._now
        told = self._known.alias(own, prompt.text, None if is_again else self.all)
        at = prompt.at or self._known.at(told) or now
        if start is not None:
            self.before = dict(list(self.all.items())[-COUNTED:])
        self.all[key] = self.all.get(key, 0) + 1
        self._assembler.begin(OpenTurn(told, self._assembler.origin, at, prompt.text), start)
        self._assembler.note(own, at)
        if typed := prompt_text.slash_command(prompt.text):
            self._assembler.emit(Command(told, self._assembler.origin, at, *typed))

    def _assistant(self, record: Json, key: str) -> None:
        turn = self._assembler.open
        if turn is None:  # the transcript starts in the middle
            number = turn_id(self._assembler.origin.session, "", 0)
            at = self._assembler.time("")
            turn = self._assembler.begin(OpenTurn(number, self._assembler.origin, at, ""), None)
            self._assembler.note(number, at)
        for number_, block in enumerate(lines.blocks_in(record)):
            call = f"{key}.{number_}"
            turn.say(call, lines.words_in(block), "")
            if block.get("type") == "tool_use":
                given = jsonl.mapping(block, "input")
                lines.take_call(turn.log, call, text(block, "name"), given)
                if text(block, "name") == lines.ASK:
                    for question in lines.questions(given, self._assembler.origin, turn.at):
                        turn.ask(question)


def _started_at(path: Path) -> str:
    with jsonl.open_regular(path) as file:
        for number, line in enumerate(jsonl.read_lines(file, 0, jsonl.Problems())):
            if at := lines.prompt_in(line.data).at if text(line.data, "role") == "user" else "":
                return at
            if number >= _HEAD_LINES:
                break
    return ""


def _slug(name: str) -> str:
    return _RUN.sub("-", name).strip("-")


def _look_for(directory: Path, rest: str, found: list[str], looked_into: list[int]) -> None:
    looked_into[0] += 1
    if looked_into[0] > _LISTED or len(found) > 1:
        return
    try:
        with os.scandir(directory) as entries:
            names = sorted(entry.name for entry in entries if entry.is_dir())
    except OSError:
        return
    for name in names:
        slug = _slug(name)
        if slug and slug == rest:
            found.append(str(directory / name))
        elif slug and rest.startswith(f"{slug}-"):
            _look_for(directory / name, rest[len(slug) + 1 :], found, looked_into)
